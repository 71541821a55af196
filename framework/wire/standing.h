/* What stood when a stretch of a recording began: settings and notes are recorded once and when they change, which may be long
 * before. */
#ifndef WIRE_STANDING_H
#define WIRE_STANDING_H

#include "wire/tables.h"

struct standing;

/* NULL without memory. */
struct standing *standing_new(void);
void standing_free(struct standing *standing);

/* Copies the rows of the tables, which a segment's end takes; those that count only, and events, stand for nothing. 0 or -ENOMEM. */
int standing_keep(struct standing *standing, const struct tables *tables);

/* What a view of the table `note` says of sections, as long as there is room. 0 or -ENOMEM. */
int standing_note(struct standing *standing, const struct sonde_view *view);

/* Another sender's data follow. */
void standing_forget(struct standing *standing);

/* Adds to the first instant of the stretch, whose views are those of `tables`, the other tables as they were read last, without
 * their counters (nobody read them at this moment), and the notes. Its views and their changes are in `standing` from then on, with
 * room for one view more. 0 or -ENOMEM. */
int standing_join(struct standing *standing, const struct tables *tables, struct instant *instant);

/* The views of the instant that was joined. */
struct sonde_view *standing_views(struct standing *standing);

#endif
