/* Any bytes as the content of a recording, through the report and its writers: what a stream says of itself, tables that have
 * the names of the host's own with columns of another kind, any text. */
#include <sonde/frame.h>

#include "sinks/report/report.h"
#include "file.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* No control character gets through but line feeds: all three are read on terminals. */
static void check(struct page *page, void (*write)(struct page *, const struct gathered *),
		  const struct gathered *gathered)
{
	page->used = 0;
	write(page, gathered);
	for (size_t i = 0; i < page->used; i++)
		walk_require((unsigned char)page->bytes[i] >= 0x20 || page->bytes[i] == '\n');
}

/* The document that stands in a page has nothing that markup is made of. */
static void check_framed(struct page *page)
{
	char bytes[] = "@DOCUMENT@";
	const struct page frame = { .bytes = bytes, .used = strlen(bytes) };

	frame_fill(&frame, page);
	walk_require(!memchr(page->bytes, '<', page->used));
}

static void report_all(struct file file)
{
	struct reader *reader = file_reader(&file);
	struct gathered gathered = { 0 };
	const struct instant *instant;
	struct page page = { 0 };

	while (reader_next(reader, &instant) > 0)
		for (uint32_t i = 0; i < instant->nviews; i++)
			gathered_view(&gathered, &instant->views[i]);
	check(&page, report_text, &gathered);
	check(&page, report_markdown, &gathered);
	check(&page, report_json, &gathered);
	check_framed(&page);
	free(page.bytes);
	gathered_free(&gathered);
	reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (length <= 200000)
		report_all(file_of_content(bytes, length));
	return 0;
}
