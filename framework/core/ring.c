/* A ring of instants, bounded in bytes. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/ring.h"

/* An instant in the block. Those that wait lie in the order in which they came, going round; the held one is apart. */
struct place {
	size_t begin, end;
};

struct ring {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	char *block;
	size_t size;
	size_t head;    /* where the next one goes, if there is room */
	size_t enough;  /* bytes for which the consumer is woken */
	size_t reached; /* end of the block's memory that is in use, where beyond `2 * enough` */
	size_t used;    /* bytes of those that wait */
	struct place *places; /* a round of those that wait */
	size_t nplaces, first, waiting;
	struct place held;
	bool holding, eager;
	bool settled; /* the one that is held came to its end already */
	bool called,
		ready; /* why the consumer shall wake: ring_wake(), or there is enough for it */
	uint64_t lost; /* dropped since the newest one that the consumer was given */
	uint64_t taken;
	struct ring_counts counts;
};

/* Of instants smaller than this the ring holds fewer than its bytes could. */
enum { SMALLEST = 1024, PLACES = 64 };

/* The consumer is woken for half a ring, or this much; and beyond twice of it the ring begins anew wherever it can, so that
 * a large one costs memory only while its consumer is not ready. */
enum { ENOUGH = 256 << 10 };

struct ring *ring_new(size_t size, bool eager)
{
	struct ring *ring = calloc(1, sizeof *ring);
	pthread_condattr_t monotonic;

	if (!ring)
		return NULL;
	ring->size = size & ~(size_t)15;
	ring->eager = eager;
	ring->enough = size / 2 < ENOUGH ? size / 2 : ENOUGH;
	ring->nplaces = size / SMALLEST + PLACES;
	ring->block = aligned_alloc(16, ring->size ? ring->size : 16);
	ring->places = calloc(ring->nplaces, sizeof *ring->places);
	if (!ring->block || !ring->places) {
		free(ring->block);
		free(ring->places);
		free(ring);
		return NULL;
	}
	pthread_mutex_init(&ring->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&ring->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return ring;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	pthread_cond_destroy(&ring->wake);
	pthread_mutex_destroy(&ring->lock);
	free(ring->places);
	free(ring->block);
	free(ring);
}

static void forget_oldest(struct ring *ring)
{
	const struct place *place = &ring->places[ring->first];

	ring->used -= place->end - place->begin;
	ring->waiting--;
	ring->first = ring->waiting ? (ring->first + 1) % ring->nplaces : 0;
}

static void drop_oldest(struct ring *ring)
{
	forget_oldest(ring);
	ring->counts.settled[RING_DROPPED]++;
	ring->lost++;
}

static bool overlaps(const struct place *place, size_t begin, size_t end)
{
	return begin < place->end && place->begin < end;
}

/* Bytes at the start that nothing lies in, where all that waits lies between them and `at`; else 0. */
static size_t room_at_start(const struct ring *ring, size_t at)
{
	size_t room = ring->waiting ? ring->places[ring->first].begin : ring->size;

	if (room >= at && ring->waiting)
		return 0;
	return ring->holding && ring->held.begin < room ? ring->held.begin : room;
}

/* Room for `size` bytes: goes forward from the head, over what is oldest, past what is held, round at the end. What waits
 * lies in order behind the head, so only the oldest can be in the way. False: none even in an empty ring. */
static bool find_room(struct ring *ring, size_t size, size_t *begin)
{
	size_t at = ring->waiting || ring->holding ? ring->head : 0;
	unsigned rounds = 0;

	if (size > ring->size)
		return false;
	if (ring->waiting && ring->waiting == ring->nplaces)
		drop_oldest(ring);
	if (at + size > 2 * ring->enough && room_at_start(ring, at) >= size)
		at = 0;
	while (rounds < 3) {
		if (at + size > ring->size) {
			while (ring->waiting && ring->places[ring->first].begin >= at)
				drop_oldest(ring);
			at = 0;
			rounds++;
		} else if (ring->waiting && overlaps(&ring->places[ring->first], at, at + size)) {
			drop_oldest(ring);
		} else if (ring->holding && overlaps(&ring->held, at, at + size)) {
			at = ring->held.end;
		} else {
			*begin = at;
			return true;
		}
	}
	return false;
}

static void commit(struct ring *ring, size_t begin, size_t size)
{
	size_t last = (ring->first + ring->waiting) % ring->nplaces;

	ring->places[last] = (struct place) { begin, begin + size };
	ring->waiting++;
	ring->used += size;
}

void ring_push(struct ring *ring, const struct instant *instant, bool whole)
{
	size_t size = instant_size(instant, whole);
	size_t begin = 0;
	bool room, wake;

	pthread_mutex_lock(&ring->lock);
	ring->counts.produced++;
	room = find_room(ring, size, &begin);
	if (room) {
		ring->head = begin + size;
		if (ring->head > ring->reached)
			ring->reached = ring->head;
	} else {
		ring->counts.settled[RING_DROPPED]++;
		ring->lost++;
	}
	pthread_mutex_unlock(&ring->lock);
	if (!room)
		return;
	/* Nobody else touches this stretch: the consumer knows only what is committed, and there is one producer. */
	instant_copy(ring->block + begin, instant, whole);
	pthread_mutex_lock(&ring->lock);
	commit(ring, begin, size);
	wake = !ring->ready && (ring->eager || ring->used > ring->enough);
	if (wake)
		ring->ready = true;
	pthread_mutex_unlock(&ring->lock);
	if (wake)
		pthread_cond_signal(&ring->wake);
}

const struct instant *ring_peek(struct ring *ring, uint64_t *lost)
{
	const struct instant *instant = NULL;

	pthread_mutex_lock(&ring->lock);
	*lost = 0;
	if (!ring->holding && ring->waiting) {
		ring->held = ring->places[ring->first];
		ring->holding = true;
		forget_oldest(ring);
		*lost = ring->lost;
		ring->lost = 0;
	}
	if (ring->holding)
		instant = (const void *)(ring->block + ring->held.begin);
	pthread_mutex_unlock(&ring->lock);
	return instant;
}

/* What a consumer that was not ready made the ring touch goes back to the kernel as soon as nothing lies there: neither
 * what waits nor what a producer is copying, whose end is the head. */
static void give_back(struct ring *ring)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t block = (uintptr_t)ring->block;
	uintptr_t begin = (block + 2 * ring->enough + page - 1) & -page;
	uintptr_t end = (block + ring->reached) & -page;

	if (ring->waiting || ring->reached <= 2 * ring->enough || ring->head > 2 * ring->enough)
		return;
	if (end > begin)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
	ring->reached = ring->head;
}

static void take(struct ring *ring)
{
	ring->taken += ring->holding && !ring->settled;
	ring->holding = ring->settled = false;
	give_back(ring);
}

void ring_take(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	take(ring);
	pthread_mutex_unlock(&ring->lock);
}

static void settle(struct ring *ring, enum ring_outcome outcome, uint64_t instants)
{
	uint64_t taken = instants < ring->taken ? instants : ring->taken;

	ring->taken -= taken;
	ring->counts.settled[outcome] += taken;
	if (instants > taken && ring->holding && !ring->settled) {
		ring->settled = true;
		ring->counts.settled[outcome]++;
	}
}

void ring_settle(struct ring *ring, enum ring_outcome outcome, uint64_t instants)
{
	pthread_mutex_lock(&ring->lock);
	settle(ring, outcome, instants);
	pthread_mutex_unlock(&ring->lock);
}

uint64_t ring_in_flight(struct ring *ring)
{
	uint64_t taken;

	pthread_mutex_lock(&ring->lock);
	taken = ring->taken;
	pthread_mutex_unlock(&ring->lock);
	return taken;
}

void ring_abandon(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	while (ring->waiting)
		drop_oldest(ring);
	take(ring);
	settle(ring, RING_DROPPED, ring->taken);
	pthread_mutex_unlock(&ring->lock);
}

static void wait_until(struct ring *ring, uint64_t deadline, bool pausing)
{
	struct timespec until = clock_timespec(deadline);

	pthread_mutex_lock(&ring->lock);
	while (!ring->called && (pausing || !ring->ready)) {
		if (!deadline)
			pthread_cond_wait(&ring->wake, &ring->lock);
		else if (pthread_cond_timedwait(&ring->wake, &ring->lock, &until) == ETIMEDOUT)
			break;
	}
	ring->called = false;
	if (!pausing)
		ring->ready = false;
	ring->counts.wakeups++;
	pthread_mutex_unlock(&ring->lock);
}

void ring_wait(struct ring *ring, uint64_t deadline)
{
	wait_until(ring, deadline, false);
}

void ring_pause(struct ring *ring, uint64_t deadline)
{
	wait_until(ring, deadline, true);
}

void ring_wake(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	ring->called = true;
	pthread_mutex_unlock(&ring->lock);
	pthread_cond_signal(&ring->wake);
}

void ring_counts(struct ring *ring, struct ring_counts *counts)
{
	pthread_mutex_lock(&ring->lock);
	*counts = ring->counts;
	counts->queued = ring->waiting + (ring->holding && !ring->settled) + ring->taken;
	pthread_mutex_unlock(&ring->lock);
}
