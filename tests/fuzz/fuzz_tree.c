/* Any bytes as the content of a recording, through the processes made of it and their documents. */
#include "sinks/tree/columns.h"
#include "file.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* No control character gets through but line feeds: both are read on terminals. */
static void check(struct page *page, void (*write)(struct page *, const struct tree *),
		  const struct tree *tree)
{
	page->used = 0;
	write(page, tree);
	for (size_t i = 0; i < page->used; i++)
		walk_require((unsigned char)page->bytes[i] >= 0x20 || page->bytes[i] == '\n');
}

static void write_all(struct file file)
{
	struct reader *reader = file_reader(&file);
	const struct instant *instant;
	struct tree tree = { .keeps_lanes = true };
	struct page page = { 0 };

	while (reader_next(reader, &instant) > 0)
		for (uint32_t i = 0; i < instant->nviews; i++)
			tree_view(&tree, &instant->views[i]);
	walk_require(tree_relate(&tree));
	check(&page, summary_text, &tree);
	check(&page, summary_json, &tree);
	check(&page, tree_text, &tree);
	check(&page, tree_json, &tree);
	check(&page, timeline_json, &tree);
	check(&page, timeline_perfetto, &tree);
	check(&page, timeline_speedscope, &tree);
	free(page.bytes);
	tree_free(&tree);
	reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (length <= 200000)
		write_all(file_of_content(bytes, length));
	return 0;
}
