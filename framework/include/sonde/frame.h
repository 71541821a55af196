/* HTML: a JSON document inside a page that is there already, one file of markup, style and script (contrib/viewer). Inline
 * throughout; for sinks, of which more than one writes such documents. Needs _GNU_SOURCE. */
#ifndef SONDE_FRAME_H
#define SONDE_FRAME_H

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/page.h>

/* Where the document goes; contrib/viewer/build.mjs sees to it that it stands in a page once. */
static const char frame_place[] = "@DOCUMENT@";

enum { FRAME_MOST = 16 << 20 };

/* A descriptor of this file of the folder of pages, or -1. */
static inline int frame_open(const char *name)
{
	/* From build/plugins, build/asan/plugins and PREFIX/lib/sonde/plugins. */
	static const char *const beside[] = { "../web", "../../web", "../../../share/sonde/web" };
	char path[PATH_MAX];
	Dl_info self;
	int fd = -1;

	if (!dladdr(beside, &self) || !self.dli_fname || !strrchr(self.dli_fname, '/'))
		return -1;
	for (size_t i = 0; fd < 0 && i < sizeof beside / sizeof beside[0]; i++) {
		snprintf(path, sizeof path, "%.*s/%s/%s",
			 (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname,
			 beside[i], name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd;
}

static inline int frame_read_all(int fd, struct page *frame)
{
	char bytes[16384];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (frame->used > FRAME_MOST)
			return -EFBIG;
		page_add(frame, bytes, (size_t)n);
	}
	return frame->no_memory ? -ENOMEM : 0;
}

static inline const char *frame_at(const struct page *frame)
{
	if (!frame->bytes)
		return NULL;
	return memmem(frame->bytes, frame->used, frame_place, strlen(frame_place));
}

/* The page of this name, which `make web` made of contrib/viewer: read from where it lies beside this plugin. 0, or a
 * negative errno, which was logged; the caller frees frame->bytes either way. */
static inline int frame_read(struct sonde_instance *self, const char *name, struct page *frame)
{
	int fd = frame_open(name);
	int err = fd < 0 ? -ENOENT : frame_read_all(fd, frame);

	if (fd >= 0)
		close(fd);
	if (!err && !frame_at(frame))
		err = -EBADMSG;
	if (err == -ENOENT || err == -EBADMSG)
		sonde_log(
			self, SONDE_ERROR,
			"HTML needs the page %s, which %s: `make web` builds it with node and npm, "
			"`make install` brings it along once it is built",
			name, err == -ENOENT ? "is not there" : "has no place for a document");
	else if (err)
		sonde_log(self, SONDE_ERROR, "the page %s: %s", name, strerror(-err));
	return err;
}

/* A page that holds a JSON document in place of that document. */
static inline void frame_fill(const struct page *frame, struct page *document)
{
	const char *at = frame_at(frame), *end = frame->bytes + frame->used;
	struct page page = { .no_memory = document->no_memory };

	if (!at)
		return;
	page_add(&page, frame->bytes, (size_t)(at - frame->bytes));
	/* In JSON a < stands in strings alone. With it neither </script nor <!-- is there to be seen by HTML's parser (HTML
	 * Living Standard, 4.12.1.3, restrictions for contents of script elements). */
	for (size_t i = 0, n; i < document->used; i += n) {
		const char *open = memchr(document->bytes + i, '<', document->used - i);

		n = open ? (size_t)(open - document->bytes) - i : document->used - i;
		page_add(&page, document->bytes + i, n);
		if (!open)
			continue;
		page_add(&page, "\\u003c", 6);
		n++;
	}
	at += strlen(frame_place);
	page_add(&page, at, (size_t)(end - at));
	free(document->bytes);
	*document = page;
}

#endif
