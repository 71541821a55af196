/* Foreign text in Markdown (GitHub Flavored Markdown 0.29, CommonMark 0.30). Inline throughout. */
#ifndef SONDE_MARKDOWN_H
#define SONDE_MARKDOWN_H

#include <sonde/page.h>

/* Escaped as for a terminal, and nothing in it is markup. */
static inline void page_markdown(struct page *page, const char *text)
{
	const char *end = text + strlen(text);
	char one[SONDE_ESCAPE_MOST];

	while (text < end) {
		unsigned n = sonde_escape_next(&text, end, one);

		for (unsigned i = 0; i < n; i++) {
			if (strchr("\\`*_[]<>|~&#!", one[i]))
				page_add(page, "\\", 1);
			page_add(page, &one[i], 1);
		}
	}
}

#endif
