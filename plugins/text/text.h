/* What the files of the collector `text` share: columns as the configuration declares them. */
#ifndef TEXT_COLLECTOR_H
#define TEXT_COLLECTOR_H

#include <sonde/plugin.h>

enum text_format { FORMAT_KEYED, FORMAT_COLUMNS, FORMAT_VERBATIM };

enum { FIELDS = 64, NAME_MOST = 64, FIRST_FIELD = 2 /* behind the keys `file` and `line` */ };

/* A column, and where its value stands in a text. */
struct text_field {
	char name[NAME_MOST], counted[NAME_MOST];
	uint32_t type, semantics; /* of <sonde/table.h> */
	uint32_t unit, mul, div;
	uint32_t digits; /* decimals that are kept */
	uint32_t
		word; /* number of the word: of the line (columns), behind the key (keyed); from 1 */
	const char *key; /* keyed: the word that the line begins with; in the option's text */
	uint32_t nkey;
	uint32_t slot;
};

/* "NAME KIND UNIT WHERE" as a field. 0; or -EINVAL, and a sentence in `why`. */
int text_declare(const char *text, enum text_format format, struct text_field *field, char *why,
		 size_t size);

/* The values of a text of lines "key value value ..." into its row. */
void text_parse_keyed(const struct text_field *fields, uint32_t count, const char *text,
		      size_t length, struct sonde_row *row);

/* The values of one line of words. False where it has none of them. */
bool text_parse_line(const struct text_field *fields, uint32_t count, struct cursor line,
		     struct sonde_row *row);

#endif
