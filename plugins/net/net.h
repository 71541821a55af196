/* What the files of the collector `net` share. */
#ifndef NET_H
#define NET_H

#include <sonde/plugin.h>

enum { TABLE_NET, TABLE_SOFTNET, TABLE_STACK };

/* ---- softnet.c */

enum {
	SOFTNET_CPU,
	PROCESSED,
	DROPPED,
	TIME_SQUEEZE,
	RECEIVED_RPS,
	FLOW_LIMIT_COUNT,
	BACKLOG_LEN,
	SOFTNET_COLUMNS
};

extern const struct sonde_column softnet_columns[SOFTNET_COLUMNS];

/* A line of /proc/net/softnet_stat into a row. False where it does not say of which CPU it is: before 5.10. */
bool softnet_parse(struct cursor *line, struct sonde_row *row);

/* The n-th number, from 0, of a list "0-3,8"; n where it has no such. */
uint64_t nth_of_list(const char *text, size_t length, uint64_t n);

/* ---- stack.c */

enum { STACK_COLUMNS = 63, STACK_GROUPS = 8, GROUP_FIELDS = 256 };

extern const struct sonde_column stack_columns[STACK_COLUMNS];

/* A pair of lines as it was learned: "Tcp: ActiveOpens ..." and where each of its values goes. */
struct stack_group {
	const char *names; /* in the block of the file; NULL: not learned */
	uint32_t length;
	uint8_t slot[GROUP_FIELDS]; /* NO_SLOT: it is not read */
};
enum { NO_SLOT = UINT8_MAX };

/* Learns the lines of names of /proc/net/snmp or /proc/net/netstat; `names` has `length` bytes and will hold them. */
void stack_learn(struct stack_group groups[STACK_GROUPS], char *names, const char *text,
		 size_t length);

/* The values of such a file. False where its names are not those that were learned: what follows is left out. */
bool stack_parse(const struct stack_group groups[STACK_GROUPS], const char *text, size_t length,
		 struct sonde_row *row);

/* /proc/net/snmp6: "Udp6InErrors  0". */
void stack_parse_snmp6(const char *text, size_t length, struct sonde_row *row);

#endif
