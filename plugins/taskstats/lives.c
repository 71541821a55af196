/* The pool of tasks that live, by tid. A process ends with its last thread; execve(2) of a thread ends the others, and the
 * thread takes the leader's number (de_thread() of fs/exec.c). */
#include "lives.h"

enum { AGROUP = 0x20, AFORK = 0x01 }; /* of ac_flag, include/uapi/linux/acct.h and taskstats.h */

enum { NONE = -1 };

int lives_start(struct sonde_instance *self, struct lives *lives)
{
	lives->asked = LIVES_AT_FIRST;
	lives->unused = NONE;
	for (int i = 0; i < LIVES_BUCKETS; i++)
		lives->bucket[i] = NONE;
	if (sonde_grow(self, &lives->task, LIVES_AT_FIRST * sizeof *lives->task) ||
	    sonde_grow(self, &lives->ended, ENDED_MOST * sizeof *lives->ended))
		return -ENOMEM;
	lives_begin(lives);
	return 0;
}

void lives_begin(struct lives *lives)
{
	lives->capacity = lives->asked;
	lives->lost = 0;
}

static struct life *find(const struct lives *lives, uint32_t tid)
{
	for (int32_t i = lives->bucket[tid % LIVES_BUCKETS]; i != NONE; i = lives->task[i].next)
		if (lives->task[i].tid == tid)
			return &lives->task[i];
	return NULL;
}

static void drop(struct lives *lives, struct life *life)
{
	int32_t index = (int32_t)(life - lives->task);
	int32_t *at = &lives->bucket[life->tid % LIVES_BUCKETS];

	while (*at != index)
		at = &lives->task[*at].next;
	*at = life->next;
	life->tid = 0;
	life->next = lives->unused;
	lives->unused = index;
}

/* NULL without room. */
static struct life *add(struct lives *lives, uint32_t tid, uint32_t pid)
{
	struct life *life = find(lives, tid);
	int32_t index = lives->unused;

	if (life)
		drop(lives, life); /* its end was lost */
	if (life || index != NONE) {
		index = lives->unused;
		lives->unused = lives->task[index].next;
	} else if (lives->used < lives->capacity) {
		index = (int32_t)lives->used++;
	} else {
		lives->lost++;
		return NULL;
	}
	life = &lives->task[index];
	*life = (struct life) { .tid = tid,
				.pid = pid,
				.next = lives->bucket[tid % LIVES_BUCKETS] };
	lives->bucket[tid % LIVES_BUCKETS] = index;
	return life;
}

void lives_seed(struct lives *lives, uint32_t pid)
{
	struct life *life = add(lives, pid, pid);

	lives->root = pid;
	if (life)
		life->threads = 1;
}

static void take_fork(struct lives *lives, const struct life_event *event)
{
	const struct life *parent = find(lives, event->parent_tid);
	struct life *life, *leader;
	char comm[sizeof parent->comm] = "";

	if (!parent)
		parent = find(lives, event->parent);
	if (!parent && lives->rooted)
		return;
	if (parent)
		memcpy(comm, parent->comm, sizeof comm);
	life = add(lives, event->tid, event->pid);
	if (!life)
		return;
	life->born = event->time;
	memcpy(life->comm, comm, sizeof life->comm);
	leader = find(lives, event->pid);
	if (leader)
		leader->threads++;
	if (event->pid != event->parent)
		life->forked_by = event->parent;
}

/* Those that execve(2) of another thread ended without a word. */
static void drop_threads(struct lives *lives, uint32_t pid)
{
	for (uint32_t b = 0; b < LIVES_BUCKETS; b++) {
		for (int32_t i = lives->bucket[b], next; i != NONE; i = next) {
			next = lives->task[i].next;
			if (lives->task[i].pid == pid && lives->task[i].tid != pid)
				drop(lives, &lives->task[i]);
		}
	}
}

static void take_exec(struct lives *lives, const struct life_event *event)
{
	struct life *leader = find(lives, event->pid);

	if (!leader)
		return;
	if (leader->dead || leader->threads > 1)
		drop_threads(lives, event->pid);
	leader->dead = false;
	leader->threads = 1;
	leader->execs++;
	memcpy(leader->comm, event->comm, sizeof leader->comm);
}

static void take_name(struct lives *lives, const struct life_event *event)
{
	struct life *life = find(lives, event->tid);

	if (life)
		memcpy(life->comm, event->comm, sizeof life->comm);
}

static void keep_end(struct lives *lives, const struct life *life)
{
	if (lives->nended == ENDED_MOST)
		lives->lost++;
	else
		lives->ended[lives->nended++] = *life;
}

static void take_exit(struct lives *lives, const struct life_event *event)
{
	struct life stranger = { .tid = event->tid, .pid = event->pid };
	struct life *life = find(lives, event->tid), *leader = find(lives, event->pid);

	if (!life && lives->rooted)
		return;
	/* Of one that was there before, its leader's end is the best that is known of its process's. */
	if (!life)
		life = &stranger;
	life->last = leader ? leader->threads <= 1 : event->tid == event->pid;
	life->ended = event->time;
	life->parent = event->parent;
	life->status = event->value;
	life->has_status = event->has_status;
	if (life == &stranger || !life->dead)
		keep_end(lives, life);
	if (life->last && event->pid == lives->root)
		lives->over = event->time;
	if (leader && leader->threads)
		leader->threads--;
	if (life != &stranger && life != leader)
		drop(lives, life);
	if (leader == life)
		leader->dead = true;
	if (leader && !leader->threads)
		drop(lives, leader);
}

/* It follows the end closely. */
static void take_cpu(struct lives *lives, const struct life_event *event)
{
	for (uint32_t i = lives->nended; i-- > 0;) {
		struct life *life = &lives->ended[i];

		if (life->tid != event->tid)
			continue;
		life->cpu += event->value;
		life->reads++;
		return;
	}
}

void lives_take(struct lives *lives, const struct life_event *event)
{
	static void (*const takers[])(struct lives * lives, const struct life_event *event) = {
		[LIFE_FORK] = take_fork, [LIFE_EXEC] = take_exec, [LIFE_NAME] = take_name,
		[LIFE_EXIT] = take_exit, [LIFE_CPU] = take_cpu,
	};

	if (event->what < sizeof takers / sizeof takers[0])
		takers[event->what](lives, event);
}

uint32_t lives_next(const struct lives *lives, uint32_t *at)
{
	while (*at < lives->used) {
		const struct life *life = &lives->task[(*at)++];

		if (life->tid && life->tid == life->pid && life->born)
			return life->pid;
	}
	return 0;
}

/* Of a process whose birth was told by an event, and not yet by a row. */
static void tell_birth(struct sonde_instance *self, struct sonde_frame *frame, struct life *life)
{
	struct sonde_row row;

	if (life->told || !life->born || !life->forked_by || life->tid != life->pid)
		return;
	life->told = true;
	if (!sonde_row(self, frame, TABLE_BIRTH, &row))
		return;
	sonde_set_u64(&row, BIRTH_PID, life->pid);
	sonde_set_u64(&row, BIRTH_FORKED_BY, life->forked_by);
	sonde_set_u64(&row, BIRTH_BORN, life->born);
}

static void set_row(const struct life *life, struct sonde_row *row)
{
	sonde_set_u64(row, EXIT_PID, life->tid);
	sonde_set_u64(row, EXIT_TGID, life->pid);
	sonde_set_u64(row, EXIT_GROUP, 0);
	sonde_set_u64(row, EXIT_FLAG,
		      (life->last ? AGROUP : 0) | (life->born && !life->execs ? AFORK : 0));
	sonde_set_u64(row, EXIT_ENDED, life->ended);
	if (life->parent && life->parent != life->pid)
		sonde_set_u64(row, EXIT_PPID, life->parent);
	if (life->forked_by)
		sonde_set_u64(row, EXIT_FORKED_BY, life->forked_by);
	if (life->comm[0])
		sonde_set_bytes(row, EXIT_COMM, life->comm,
				(uint32_t)strnlen(life->comm, sizeof life->comm));
	if (life->has_status)
		sonde_set_u64(row, EXIT_CODE, life->status);
	if (life->born && life->ended >= life->born)
		sonde_set_u64(row, EXIT_ETIME, (life->ended - life->born) / 1000);
	if (life->born)
		sonde_set_u64(row, EXIT_EXECS, life->execs);
	if (life->reads)
		sonde_set_u64(row, EXIT_TASK_CLOCK, life->cpu);
}

void lives_tell(struct sonde_instance *self, struct sonde_frame *frame, struct lives *lives,
		uint64_t until)
{
	struct sonde_row row;
	uint32_t told = 0;

	until = lives->over > until ? lives->over : until;
	for (; told < lives->nended; told++) {
		struct life *life = &lives->ended[told];

		if (life->reads < lives->reads && life->ended > until)
			break;
		if (lives->births)
			tell_birth(self, frame, life);
		else if (sonde_row(self, frame, TABLE_EXIT, &row))
			set_row(life, &row);
	}
	/* This may be the last sample. */
	for (uint32_t i = told; i < lives->nended; i++)
		tell_birth(self, frame, &lives->ended[i]);
	for (uint32_t i = 0; i < lives->used; i++)
		if (lives->task[i].tid)
			tell_birth(self, frame, &lives->task[i]);
	lives->nended -= told;
	memmove(lives->ended, lives->ended + told, lives->nended * sizeof *lives->ended);
	if (lives->lost && lives->asked < 1 << 20 &&
	    !sonde_grow(self, &lives->task, 2ull * lives->asked * sizeof *lives->task))
		lives->asked *= 2;
}
