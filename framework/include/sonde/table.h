/* Tables, columns, units: what a number is. Part of the plugin ABI; included by <sonde/plugin.h>. */
#ifndef SONDE_TABLE_H
#define SONDE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* An array in a shared struct: the stride lets a later header append fields to its items. */
struct sonde_array {
	const void *items;
	uint32_t count;
	uint32_t stride;
};

#define SONDE_ARRAY(a)                                                                             \
	{                                                                                          \
		(a), sizeof(a) / sizeof((a)[0]), sizeof((a)[0])                                    \
	}

/* What a slot holds. F64 is the IEEE 754 bit pattern; STR is made and read by the calls in <sonde/row.h>. */
enum sonde_type {
	SONDE_U64 = 1,
	SONDE_I64 = 2,
	SONDE_F64 = 3,
	SONDE_STR = 4,
	SONDE_HIST = 5, /* `slots` u64 counters; bucket n counts values of [2^n, 2^(n+1)) */
};

/* How a value behaves in time. */
enum sonde_semantics {
	SONDE_KEY = 1,     /* names the row; never changes while the row lives */
	SONDE_COUNTER = 2, /* only grows, until a reset or a wrap */
	SONDE_GAUGE = 3,   /* goes up and down; averages have a meaning */
	SONDE_STATE = 4,   /* one of a set (a mode, a policy): averages have none */
	SONDE_INFO = 5,    /* describes the row; changes seldom */
};

/* The closed list of base units. */
enum sonde_base {
	SONDE_BASE_NONE = 1,
	SONDE_BASE_COUNT = 2,
	SONDE_BASE_BYTES = 3,
	SONDE_BASE_NS = 4,
	SONDE_BASE_HZ = 5,
	SONDE_BASE_RATIO = 6,
	SONDE_BASE_CELSIUS = 7,
	SONDE_BASE_JOULE = 8,
	SONDE_BASE_WATT = 9,
	SONDE_BASE_VOLT = 10,
	SONDE_BASE_AMPERE = 11,
};

/* A unit as a column states it: base, multiplier and divisor to it, and what a count counts.
 * base value = slot * mul / div. A multiplier of 0 is the recorded machine's constant: 1e9 / USER_HZ. */
#define SONDE_NONE        SONDE_BASE_NONE, 1, 1, NULL
#define SONDE_COUNT(what) SONDE_BASE_COUNT, 1, 1, (what)
#define SONDE_BYTES       SONDE_BASE_BYTES, 1, 1, NULL
#define SONDE_KIB         SONDE_BASE_BYTES, 1024, 1, NULL
#define SONDE_MIB         SONDE_BASE_BYTES, 1048576, 1, NULL
#define SONDE_SECTORS     SONDE_BASE_BYTES, 512, 1, NULL /* the kernel's: always 512 bytes */
#define SONDE_NS          SONDE_BASE_NS, 1, 1, NULL
#define SONDE_US          SONDE_BASE_NS, 1000, 1, NULL
#define SONDE_MS          SONDE_BASE_NS, 1000000, 1, NULL
#define SONDE_SECONDS     SONDE_BASE_NS, 1000000000, 1, NULL
#define SONDE_TICKS       SONDE_BASE_NS, 0, 1, NULL /* USER_HZ ticks, sysconf(_SC_CLK_TCK) */
#define SONDE_HZ          SONDE_BASE_HZ, 1, 1, NULL
#define SONDE_KHZ         SONDE_BASE_HZ, 1000, 1, NULL
#define SONDE_RATIO       SONDE_BASE_RATIO, 1, 1, NULL
#define SONDE_PERCENT     SONDE_BASE_RATIO, 1, 100, NULL
#define SONDE_PERMILLE    SONDE_BASE_RATIO, 1, 1000, NULL
/* "12.34" taken as 1234: exact, and its changes pack as small integers. */
#define SONDE_PERCENT_CENTI     SONDE_BASE_RATIO, 1, 10000, NULL
#define SONDE_COUNT_CENTI(what) SONDE_BASE_COUNT, 1, 100, (what)

/* What a string column may give away; `privacy =` of a sink and `cmdline =` of process act on it. */
enum sonde_sensitivity {
	SONDE_PUBLIC = 0,
	SONDE_NAME = 1,
	SONDE_PATH = 2,
	SONDE_ARGUMENT = 3,
	SONDE_ADDRESS = 4,
};

struct sonde_column {
	const char *name;   /* [a-z][a-z0-9_]*, the kernel's own word where it has one */
	uint32_t type;      /* enum sonde_type */
	uint32_t semantics; /* enum sonde_semantics; required */
	uint32_t
		unit; /* enum sonde_base; required; the macros above give this and the next three */
	uint32_t scale_mul;  /* to the base unit; 0: USER_HZ */
	uint32_t scale_div;  /* not 0 */
	const char *counted; /* of a COUNT: "pages", "switches" */
	const char *origin;  /* where in the table's origin: "some total=", "field 14" */
	const char *help;    /* what it means, and what to beware of; one sentence or two */
	uint32_t
		wrap; /* bits after which a counter wraps: 32 or 64; 0: it never wraps, a decrease is a reset */
	uint32_t sensitivity; /* enum sonde_sensitivity, of a STR */
	uint32_t slots;       /* of a HIST: buckets, 1 to 64 */
	uint32_t reserved;
};

enum sonde_table_flags {
	SONDE_EVENTS =
		1
		<< 0, /* each row is an occurrence, sent once; without it a row is a state that lasts */
};

struct sonde_table {
	const char *name;           /* [a-z][a-z0-9_]* */
	struct sonde_array columns; /* of struct sonde_column; keys come first */
	const char *origin;         /* the kernel file or call that it is read from */
	const char *help;
	uint32_t flags;    /* enum sonde_table_flags */
	uint32_t rows;     /* expected at most, to size the arena; 0: 1 */
	uint32_t max_rows; /* the arena never grows beyond; 0: 1 << 20 */
	uint32_t reserved;
};

/* A table as the host knows it: checked, each column's slot found, the identity computed. Lives as long as the
 * instance or the recording that it came from; read-only. */
struct sonde_schema {
	const char *name;
	const char *origin;
	const char *help;
	const struct sonde_column *columns; /* full items of this header's layout */
	const uint32_t *slot;               /* first slot of each column */
	uint64_t
		hash; /* over names, types, units, semantics, scales, wraps; receivers key tables by it */
	uint32_t ncolumns;
	uint32_t nkeys;  /* the first nkeys columns are keys */
	uint32_t nslots; /* 64-bit slots of a row */
	uint32_t nhave;  /* words of its have-bitmap: (nslots + 63) / 64 */
	uint32_t flags;
	uint32_t nstrings; /* columns of type STR */
};

#endif
