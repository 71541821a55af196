/* Texts of other tools. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text_file.h"
#include "import/import.h"

char *text_file(const char *path, size_t *length)
{
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size = 0;
	ssize_t n = -1;

	*length = 0;
	if (fd >= 0)
		do {
			if (*length == size) {
				char *more = realloc(text, size = size ? 2 * size : 65536);

				if (!more)
					break;
				text = more;
			}
			n = read(fd, text + *length, size - *length);
			*length += n > 0 ? (size_t)n : 0;
		} while ((n > 0 || (n < 0 && errno == EINTR)) && *length <= IMPORT_MOST);
	if (n)
		cli_error(EXIT_FAILED, "%s: %s", path,
			  n > 0 ? "more than 64 MiB are not read" : strerror(errno));
	if (fd > STDIN_FILENO)
		close(fd);
	if (n) {
		free(text);
		return NULL;
	}
	return text;
}
