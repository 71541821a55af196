/* Schemas of other hosts, which outlive the connection that brought them: each identity is kept once, within a budget. */
#ifndef HOST_FOREIGN_H
#define HOST_FOREIGN_H

#include <sonde/table.h>

struct foreign;

struct foreign *foreign_new(void);
void foreign_free(struct foreign *foreign);

/* A schema of this identity that lives as long as `foreign`. NULL where the budget is used up, or without memory. */
const struct sonde_schema *foreign_schema(struct foreign *foreign,
					  const struct sonde_schema *schema);

#endif
