/* Lines of numa_maps: address, policy, then words and key=value pairs in any order (numa(7)):
 *     7f.. prefer (many):0-1 file=/dev/shm/a\040file anon=2 dirty=2 mapmax=2 active=0 N0=1 N1=1 kernelpagesize_kB=4
 * File names have their blanks and "=" escaped, so a line is split at blanks and nothing is unescaped. */
#include "pages.h"

static const char *const counted_keys[COUNTS] = {
	[COUNT_ANON] = "anon=",
	[COUNT_DIRTY] = "dirty=",
	[COUNT_SWAPCACHE] = "swapcache=",
	[COUNT_WRITEBACK] = "writeback=",
};

/* The word as what follows the policy; a policy itself may have several ("weighted interleave:0-1"). */
static bool begins_attributes(const char *word, size_t length)
{
	static const char *const words[] = { "file=",      "heap",    "stack",     "huge",
					     "anon=",      "dirty=",  "mapped=",   "mapmax=",
					     "swapcache=", "active=", "writeback=" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (length >= strlen(words[i]) && memcmp(word, words[i], strlen(words[i])) == 0)
			return true;
	return length > 1 && word[0] == 'N' && word[1] >= '0' && word[1] <= '9';
}

/* From the first word to the last before the attributes; the cursor stands there. */
static size_t take_policy(struct cursor *line, const char **policy)
{
	size_t length = next_word(line, policy);
	struct cursor next = *line;
	const char *word;
	size_t n;

	while ((n = next_word(&next, &word)) && !begins_attributes(word, n)) {
		length = (size_t)(word + n - *policy);
		*line = next;
	}
	return length;
}

/* What lies behind it; *name is then the file's, heap or stack, and stays what it was of anonymous memory. */
static enum backing backing_of(struct cursor line, struct mapping_name *name)
{
	enum backing backing = ANON;
	const char *word;
	size_t n;

	while ((n = next_word(&line, &word))) {
		struct cursor c = whole(word, n);

		if (take_word(&c, "huge"))
			return HUGETLB;
		if (take(&c, "file=")) {
			backing = FILE_OR_SHM;
			mapping_set(name, c.at, (size_t)(c.end - c.at));
		} else if (take_word(&c, "heap")) {
			backing = HEAP;
			mapping_set(name, "heap", 4);
		} else if (take(&c, "stack")) { /* of 3.4 to 4.4: stack:TID */
			backing = STACK;
			mapping_set(name, "stack", 5);
		}
	}
	return backing;
}

bool pages_add(struct pages *pages, uint64_t node, enum backing backing, uint64_t bytes)
{
	uint32_t n = 0;

	while (n < pages->nnodes && pages->node[n] != node)
		n++;
	if (n == NODES_MOST || node > UINT32_MAX)
		return false;
	pages->node[n] = (uint32_t)node;
	pages->nnodes += n == pages->nnodes;
	pages->bytes[n][backing] += bytes;
	pages->total += bytes;
	return true;
}

static void add_policy(struct pages *pages, const char *text, size_t length, uint64_t bytes)
{
	uint32_t n = 0, size = length < POLICY_LENGTH ? (uint32_t)length : POLICY_LENGTH;
	struct policy *policy;

	while (n < pages->npolicies &&
	       (pages->policy[n].length != size || memcmp(pages->policy[n].text, text, size) != 0))
		n++;
	if (n >= POLICIES_MOST - 1) {
		n = POLICIES_MOST - 1;
		text = "other";
		size = 5;
	}
	policy = &pages->policy[n];
	memcpy(policy->text, text, size);
	policy->length = size;
	pages->npolicies += n == pages->npolicies;
	policy->mappings++;
	policy->bytes += bytes;
}

/* `name`: the address at which the mapping begins. */
static void add_line(struct cursor line, struct mapping_name *name, uint64_t page_size,
		     struct pages *pages)
{
	uint64_t before = pages->total, kib, value, node;
	struct cursor at = line;
	const char *word, *policy;
	size_t n, length = take_policy(&at, &policy);
	enum backing backing = backing_of(at, name);

	line = at;
	if (find_key(&line, "kernelpagesize_kB=") && next_u64(&line, &kib))
		page_size = kib * 1024;
	while ((n = next_word(&at, &word))) {
		struct cursor c = whole(word, n);

		if (take(&c, "N") && next_u64(&c, &node)) {
			if (take(&c, "=") && next_u64(&c, &value) && page_size &&
			    pages_add(pages, node, backing, value * page_size))
				stretches_add(&pages->stretches, name, node, value * page_size);
			continue;
		}
		if (take(&c, "mapmax=") && next_u64(&c, &value) && value > pages->mapmax)
			pages->mapmax = value;
		for (uint32_t i = 0; i < COUNTS; i++)
			if (take(&c, counted_keys[i]) && next_u64(&c, &value))
				pages->counted[i] += value * page_size;
	}
	add_policy(pages, policy, length, pages->total - before);
	pages->mappings++;
}

static bool take_address(struct cursor *line, struct mapping_name *name)
{
	const char *word;
	size_t n = next_word(line, &word);

	for (size_t i = 0; i < n; i++)
		if (!((word[i] >= '0' && word[i] <= '9') || (word[i] >= 'a' && word[i] <= 'f')))
			return false;
	mapping_set(name, word, n);
	return n != 0;
}

void pages_parse(const char *text, size_t length, uint64_t page_size, struct pages *pages)
{
	struct cursor line;

	while (length && text[length - 1] != '\n') /* half a line is none */
		length--;
	line = cursor(text, length);
	while (next_line(&line)) {
		struct mapping_name name;

		if (take_address(&line, &name) && (skip_blanks(&line), line.at < line.end))
			add_line(line, &name, page_size, pages);
	}
}
