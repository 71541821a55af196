/* Sampling: where walking all pages of a process would hold its memory lock too long, some of its addresses are asked after,
 * one in each interval, a few hundred a call (move_pages(2) without nodes; the kernel takes the lock anew for each 16). */
#include <sys/syscall.h>
#include <unistd.h>

#include "collect.h"

/* An odd number of pages: interleaved memory and huge pages repeat in powers of two. */
uint64_t sampled_interval(uint64_t space, uint64_t samples, uint64_t page_size)
{
	return (space / samples / page_size | 1) * page_size;
}

static bool take_hex(struct cursor *c, uint64_t *value)
{
	const char *start = c->at;

	for (*value = 0; c->at < c->end && c->at - start < 16; c->at++) {
		unsigned char digit = (unsigned char)*c->at;

		if (digit >= '0' && digit <= '9')
			*value = *value << 4 | (digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			*value = *value << 4 | (digit - 'a' + 10u);
		else
			break;
	}
	return c->at > start;
}

bool sampled_mapping(struct cursor *line, uint64_t *start, uint64_t *end, enum backing *backing,
		     struct mapping_name *name)
{
	const char *word, *address = line->at;

	if (!take_hex(line, start) || !take(line, "-") || !take_hex(line, end) || *end < *start)
		return false;
	mapping_set(name, address, strcspn(address, "-"));
	if (!next_word(line, &word) || *word == '-') /* reserved: nothing can be read there */
		return false;
	for (int i = 0; i < 3; i++) /* offset, device, inode */
		if (!next_word(line, &word))
			return false;
	skip_blanks(line);
	word = line->at;
	*backing = line->at == line->end  ? ANON
		   : take(line, "[heap]") ? HEAP
		   : take(line, "[stack") ? STACK
		   : take(line, "[anon")  ? ANON /* PR_SET_VMA_ANON_NAME; [anon_shmem:...] */
		   : take(line, "/anon_hugepage") ? HUGETLB
						  : FILE_OR_SHM;
	if (*backing == HEAP)
		mapping_set(name, "heap", 4);
	else if (*backing == STACK)
		mapping_set(name, "stack", 5);
	else if (word < line->end)
		mapping_set(name, word, (size_t)(line->end - word));
	return line->at == line->end || *line->at != '['; /* [vdso], [vvar], [vsyscall] */
}

struct question {
	uint32_t pid;
	struct walk *walk;
};

static int64_t ask(void *context, void *buffer, uint64_t size)
{
	struct question *question = context;
	struct walk *walk = question->walk;

	if (syscall(SYS_move_pages, question->pid, (unsigned long)walk->nbatch, walk->address, NULL,
		    buffer, 0))
		return -errno;
	return (int64_t)(size < walk->nbatch * sizeof(int32_t) ? size
							       : walk->nbatch * sizeof(int32_t));
}

int sampled_end(struct sonde_instance *self, struct walk *walk)
{
	const struct state *state = self->state;
	struct question question = { state->targets.seat[walk->seat].pid, walk };
	struct result *result = &walk->result;
	int32_t node[BATCH];
	char name[48];
	int64_t length;

	if (!walk->nbatch)
		return 0;
	snprintf(name, sizeof name, "move_pages %u", question.pid);
	length = sonde_obtain(self, name, ask, &question, node, sizeof node);
	if (length < 0)
		return (int)length;
	for (uint32_t i = 0; i < walk->nbatch && (i + 1) * sizeof node[0] <= (uint64_t)length; i++)
		if (node[i] >= 0 && /* else -ENOENT: no page there now */
		    pages_add(&result->pages, (uint64_t)node[i], (enum backing)walk->backing[i],
			      result->interval))
			stretches_add(&result->pages.stretches, &walk->name[walk->mapping[i]],
				      (uint64_t)node[i], result->interval);
	result->asked += walk->nbatch;
	walk->nbatch = walk->nnames = 0;
	return 0;
}

/* One more address to be asked after. */
static int put_question(struct sonde_instance *self, struct walk *walk, uint64_t address,
			enum backing backing, const struct mapping_name *name)
{
	bool again = walk->nnames && mapping_same(name, &walk->name[walk->nnames - 1]);

	if (!again)
		walk->name[walk->nnames++] = *name;
	walk->address[walk->nbatch] = (void *)(uintptr_t)address;
	walk->mapping[walk->nbatch] = (uint8_t)(walk->nnames - 1);
	walk->backing[walk->nbatch++] = (uint8_t)backing;
	return walk->nbatch == BATCH || walk->nnames == BATCH_MAPPINGS ? sampled_end(self, walk)
								       : 0;
}

int sampled_part(struct sonde_instance *self, struct walk *walk, const char *text, size_t length)
{
	struct cursor line = cursor(text, length);
	struct result *result = &walk->result;
	uint64_t start, end, interval = result->interval;
	struct mapping_name name;
	enum backing backing;
	int err = 0;

	while (!err && next_line(&line)) {
		result->pages.mappings++;
		if (!sampled_mapping(&line, &start, &end, &backing, &name))
			continue;
		result->space += end - start;
		for (uint64_t at = (start + interval - 1) / interval * interval;
		     !err && at >= start && at < end; at += interval)
			err = put_question(self, walk, at, backing, &name);
	}
	return err;
}
