/* What is said where there is no plugin of a name. */
#include <errno.h>

#include "host/config.h"
#include "host/folders.h"
#include "host/loader.h"
#include "host/must.h"
#include "host/refuse.h"

int plugin_not_found(const char *path, uint32_t kind, const char *name, char *why, size_t size)
{
	size_t count, nalike = 0;
	char **files = folders_list(path, &count), other[64];
	const char **alike = NULL, *near;
	uint32_t other_kind = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t of = folders_split(files[i], other, sizeof other);

		if (of == kind) {
			alike = must_grow(alike, nalike, sizeof *alike);
			alike[nalike++] = must_copy(other);
		} else if (strcmp(other, name) == 0 && !other_kind) {
			other_kind = of;
		}
	}
	near = nearest(name, alike, nalike);
	if (!*path)
		refuse(why, size, "%s", folders_nowhere);
	else if (near)
		refuse(why, size, "there is no %s `%s`; did you mean `%s`?", kind_name(kind), name,
		       near);
	else if (other_kind == SONDE_KIND_COLLECTOR)
		refuse(why, size, "there is no %s `%s`, but a collector: [%s]", kind_name(kind),
		       name, name);
	else if (other_kind)
		refuse(why, size, "there is no %s `%s`, but %s %s: [%s:%s]", kind_name(kind), name,
		       other_kind == SONDE_KIND_ANALYZER ? "an" : "a", kind_name(other_kind),
		       kind_name(other_kind), name);
	else
		refuse(why, size, "there is no %s-%s.so in %s; `sonde plugins` lists what there is",
		       kind_name(kind), name, path);
	for (size_t i = 0; i < nalike; i++)
		free((char *)alike[i]);
	free(alike);
	folders_free(files, count);
	return -ENOENT;
}
