/* Files of a cgroup, and of cgroups as a whole: pure parsers (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1). */
#include "cgroup.h"

uint32_t cgroup_controllers(const char *text, size_t length, char separator)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} known[] = { { "cpu", CPU },       { "cpuacct", CPUACCT }, { "cpuset", CPUSET },
		      { "memory", MEMORY }, { "io", IO },           { "blkio", IO },
		      { "pids", PIDS } };
	const char *end = text + length;
	uint32_t found = 0;

	while (text < end) {
		const char *stop = memchr(text, separator, (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			if (strlen(known[i].name) == n && memcmp(known[i].name, text, n) == 0)
				found |= known[i].bit;
		text += n + 1;
	}
	return found;
}

/* Number of the key that this word is, looked for from `next` on: files keep their order. keys->count: none. */
static uint32_t find(const struct cgroup_keys *keys, uint32_t next, const char *word, size_t length)
{
	for (uint32_t i = 0; i < keys->count; i++, next++) {
		const char *name;

		if (next >= keys->count)
			next = 0;
		name = keys->keys[next].name;
		if (strlen(name) == length && memcmp(name, word, length) == 0)
			return next;
	}
	return keys->count;
}

void cgroup_parse_keys(const char *text, size_t length, const struct cgroup_keys *keys,
		       struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));
	uint32_t next = 0;

	while (next_line(&line)) {
		const char *word;
		size_t n = next_word(&line, &word);
		uint32_t found = n ? find(keys, next, word, n) : keys->count;
		uint64_t value;

		if (found == keys->count || !next_u64(&line, &value))
			continue;
		sonde_set_u64(row, keys->keys[found].slot, value * keys->keys[found].scale);
		next = found + 1;
	}
}

/* Version 1 says "no limit" by the largest number of whole pages: LONG_MAX less than a page, with pages of up to 256 KiB, or
 * 2^31 - 1 pages of 4 KiB on a 32-bit kernel; and kernels before 3.19 by 2^63 - 1 or more. */
bool cgroup_is_no_limit(uint64_t value)
{
	return value > INT64_MAX - (256u << 10) || value == (uint64_t)INT32_MAX * 4096;
}

bool cgroup_parse_limit(const char *text, size_t length, uint64_t *value)
{
	struct cursor line = cursor(text, whole_words(text, length));

	return next_line(&line) && next_u64(&line, value) && !cgroup_is_no_limit(*value);
}

void cgroup_parse_cpu_max(const char *text, size_t length, struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));

	if (next_line(&line) && (take_word(&line, "max") || take_u64(&line, row, CPU_QUOTA)))
		take_u64(&line, row, CPU_PERIOD);
}

void cgroup_parse_pressure(const char *text, size_t length, struct sonde_row *row)
{
	struct cursor line = cursor(text, whole_words(text, length));

	while (next_line(&line)) {
		bool some = take_word(&line, "some");

		if ((some || take_word(&line, "full")) && find_key(&line, "total="))
			take_u64(&line, row, some ? SOME_TOTAL : FULL_TOTAL);
	}
}

/* "8:0" at the cursor: that device, each once, or NULL. A device without a number ("(unknown)": it is gone) has no row. */
static struct cgroup_device *next_device(struct cursor *line, struct cgroup_io *io)
{
	uint64_t major, minor;
	uint32_t i = 0;

	if (!next_u64(line, &major) || !take(line, ":") || !next_u64(line, &minor))
		return NULL;
	while (i < io->count && (io->devices[i].major != major || io->devices[i].minor != minor))
		i++;
	if (i == IO_DEVICES)
		return NULL;
	if (i == io->count) {
		io->devices[i] = (struct cgroup_device) { .major = major, .minor = minor };
		io->count++;
	}
	return &io->devices[i];
}

static void set_io(struct cgroup_device *device, uint32_t column, uint64_t value)
{
	device->value[column - RBYTES] = value;
	device->have |= 1u << (column - RBYTES);
}

void cgroup_parse_io_stat(const char *text, size_t length, struct cgroup_io *io)
{
	static const char *const keys[] = {
		[RBYTES] = "rbytes=", [WBYTES] = "wbytes=", [RIOS] = "rios=",
		[WIOS] = "wios=",     [DBYTES] = "dbytes=", [DIOS] = "dios=",
	};
	struct cursor line = cursor(text, whole_words(text, length));
	const char *other;
	uint64_t value;

	while (next_line(&line)) {
		struct cgroup_device *device = next_device(&line, io);

		while (device && line.at < line.end) {
			uint32_t column = RBYTES;

			while (column < IO_COLUMNS && !take(&line, keys[column]))
				column++;
			if (column == IO_COLUMNS)
				next_word(&line, &other);
			else if (next_u64(&line, &value))
				set_io(device, column, value);
			skip_blanks(&line);
		}
	}
}

void cgroup_parse_blkio(const char *text, size_t length, bool bytes, struct cgroup_io *io)
{
	struct cursor line = cursor(text, whole_words(text, length));
	uint64_t value;

	while (next_line(&line)) {
		struct cgroup_device *device = next_device(&line, io);
		uint32_t column;

		if (!device)
			continue;
		if (take_word(&line, "Read"))
			column = bytes ? RBYTES : RIOS;
		else if (take_word(&line, "Write"))
			column = bytes ? WBYTES : WIOS;
		else if (take_word(&line, "Discard"))
			column = bytes ? DBYTES : DIOS;
		else
			continue;
		if (next_u64(&line, &value))
			set_io(device, column, value);
	}
}

/* ---- Mounts and membership (proc_pid_mountinfo(5), cgroups(7)) */

static bool is_octal(const char *p)
{
	return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' &&
	       p[2] <= '7';
}

/* A path of a mount, whose blanks, tabs, line feeds and backslashes stand as "\040". False where it is too long. */
static bool unescape(const char *from, size_t length, char *to, size_t size)
{
	const char *end = from + length;

	for (; from < end && size > 1; size--) {
		if (*from == '\\' && end - from >= 4 && is_octal(from + 1)) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return from == end;
}

bool cgroup_next_mount(struct cursor *line, bool short_form, struct cgroup_mount *mount)
{
	while (next_line(line)) {
		const char *word[4] = { "", "", "", "/" }, *super;
		size_t n[4] = { 0, 0, 0, 1 };

		/* id parent major:minor root point options [tags] - type source options, or: source point type options */
		if (short_form) {
			next_word(line, &word[0]);
		} else {
			for (int i = 0; i < 3; i++)
				next_word(line, &word[0]);
			n[3] = next_word(line, &word[3]);
		}
		n[1] = next_word(line, &word[1]);
		while (!short_form && next_word(line, &word[0]) && !take_word(line, "-"))
			;
		n[2] = next_word(line, &word[2]);
		if (!short_form)
			next_word(line, &word[0]);
		n[0] = next_word(line, &super);
		mount->unified = n[2] == 7 && memcmp(word[2], "cgroup2", 7) == 0;
		if (!mount->unified && (n[2] != 6 || memcmp(word[2], "cgroup", 6) != 0))
			continue;
		mount->controllers = mount->unified ? 0 : cgroup_controllers(super, n[0], ',');
		if ((mount->unified || mount->controllers) &&
		    unescape(word[1], n[1], mount->point, sizeof mount->point) &&
		    unescape(word[3], n[3], mount->root, sizeof mount->root)) {
			/* Seen from within a cgroup namespace, "/.." and "/" both are the topmost that is there to see. */
			if (mount->root[0] != '/' || !mount->root[1] ||
			    strncmp(mount->root, "/..", 3) == 0)
				mount->root[0] = '\0';
			return true;
		}
	}
	return false;
}

/* "4:memory:/docker/ID", "0::/docker/ID", "1:name=systemd:/": cut at the first two colons, for the path may hold more. */
bool cgroup_next_member(struct cursor *line, struct cgroup_member *member)
{
	while (next_line(line)) {
		const char *first = memchr(line->at, ':', (size_t)(line->end - line->at));
		const char *second =
			first ? memchr(first + 1, ':', (size_t)(line->end - first - 1)) : NULL;

		if (!second || second + 1 == line->end || second[1] != '/')
			continue;
		member->unified = second == first + 1;
		member->controllers =
			cgroup_controllers(first + 1, (size_t)(second - first - 1), ',');
		member->path = second + 1;
		/* What the reader's own cgroup namespace puts before cgroups outside of it. */
		while (line->end - member->path >= 4 && memcmp(member->path, "/../", 4) == 0)
			member->path += 3;
		member->length = (size_t)(line->end - member->path);
		return true;
	}
	return false;
}
