/* What vmstat(8) prints in its first mode, as rows: with -w, -a, -n, -t, in any order of its columns. Pure: no host, no allocation. */
#ifndef IMPORT_VMSTAT_H
#define IMPORT_VMSTAT_H

#include <sonde/text.h>

enum vmstat_field {
	VMSTAT_R,
	VMSTAT_B,
	VMSTAT_SWPD,
	VMSTAT_FREE,
	VMSTAT_BUFF,
	VMSTAT_CACHE,
	VMSTAT_INACT,
	VMSTAT_ACTIVE,
	VMSTAT_SI,
	VMSTAT_SO,
	VMSTAT_BI,
	VMSTAT_BO,
	VMSTAT_IN,
	VMSTAT_CS,
	VMSTAT_US,
	VMSTAT_SY,
	VMSTAT_ID,
	VMSTAT_WA,
	VMSTAT_ST,
	VMSTAT_GU,
	VMSTAT_FIELDS,
};

enum { VMSTAT_COLUMNS = 32, VMSTAT_ZONE = 32 };

struct vmstat_row {
	bool have[VMSTAT_FIELDS];
	uint64_t value[VMSTAT_FIELDS]; /* as printed */
	int64_t time;    /* of -t: seconds since 1970 as if its zone were UTC; below 0: not told */
	uint32_t missed; /* lines before it that begin like rows, and are none */
};

struct vmstat_text {
	struct cursor line;
	uint32_t number;                          /* of the line */
	uint32_t ncolumns;                        /* 0: no header yet */
	enum vmstat_field column[VMSTAT_COLUMNS]; /* VMSTAT_FIELDS: one that is not known */
	char zone[VMSTAT_ZONE];                   /* of -t, as the header says; "": not told */
	bool zoned;                               /* its UTC offset is known, and is: */
	int32_t utc_offset;                       /* seconds */
	uint32_t rows, unread, first_unread;      /* the last is a line's number */
	char why[200];
};

struct vmstat_text vmstat_text(const char *text, size_t length);

/* The next row: 1; 0 at the end; -EBADMSG, with a sentence in `why`, where nothing can be made of the text. */
int vmstat_next(struct vmstat_text *vmstat, struct vmstat_row *row);

#endif
