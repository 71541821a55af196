/* A lane: a thread that samples collectors back to back. Missed ticks are skipped and counted, never bunched. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "host/capture.h"
#include "host/lane.h"
#include "host/log.h"

struct lane *lane_new(const char *name, struct stream *stream)
{
	struct lane *lane = calloc(1, sizeof *lane);
	pthread_condattr_t monotonic;

	if (!lane)
		return NULL;
	snprintf(lane->name, sizeof lane->name, "%s", name);
	lane->stream = stream;
	pthread_mutex_init(&lane->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&lane->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return lane;
}

void lane_free(struct lane *lane)
{
	if (!lane)
		return;
	pthread_cond_destroy(&lane->wake);
	pthread_mutex_destroy(&lane->lock);
	free(lane->members);
	free(lane->views);
	free(lane);
}

int lane_add(struct lane *lane, struct instance *instance)
{
	struct instance **members = realloc(lane->members, (lane->nmembers + 1) * sizeof(void *));

	if (!members)
		return -ENOMEM;
	members[lane->nmembers++] = instance;
	lane->members = members;
	return 0;
}

void lane_remove(struct lane *lane, const struct instance *instance)
{
	for (size_t i = 0; i < lane->nmembers; i++) {
		if (lane->members[i] != instance)
			continue;
		lane->nmembers--;
		memmove(lane->members + i, lane->members + i + 1,
			(lane->nmembers - i) * sizeof(void *));
		return;
	}
}

/* ---- One sample of one collector */

static void tell_missed(struct lane *lane, struct instance *instance, uint64_t begin)
{
	struct gap gap = { instance->self.name,
			   "missed",
			   "ticks were skipped: the machine or this "
			   "collector was late",
			   instance->sampled,
			   begin,
			   instance->missed };

	if (instance->missed)
		stream_gap(lane->stream, &gap);
	instance->missed = 0;
}

/* What followed the first failure. */
static void tell_followed(struct lane *lane, struct instance *instance, uint64_t end,
			  const char *text)
{
	struct gap gap = { instance->self.name, instance->failed_as, text, instance->failed_at, end,
			   instance->failed };

	if (instance->failed)
		stream_gap(lane->stream, &gap);
	instance->failed = 0;
}

/* The first failure at once; how many followed, when they are over, or the lane ends. */
static void tell_failed(struct lane *lane, struct instance *instance, uint64_t begin, int err)
{
	const char *why = instance->failure ? instance->reason
			  : err > 0 ? "it returned a positive number; an error is a negative errno"
				    : strerror(-err);
	struct gap gap = { instance->self.name,
			   instance->failure ? instance->failure : "error",
			   why,
			   instance->sampled,
			   begin,
			   1 };

	if (err) {
		log_line(SONDE_WARNING, instance->self.name, "sample failed: %s", why);
		atomic_fetch_add(&instance->counts.errors, 1);
		if (!instance->failed_at) {
			instance->failed_at = begin;
			instance->failed_as = gap.reason;
			stream_gap(lane->stream, &gap);
		} else {
			instance->failed++;
		}
		return;
	}
	tell_followed(lane, instance, begin, "it works again");
	instance->failed_at = 0;
}

static void tell_lost_rows(struct lane *lane, struct instance *instance, uint64_t begin)
{
	uint64_t lost = instance->frame.lost_rows - instance->lost_rows;
	char text[96];

	if (!lost)
		return;
	instance->lost_rows = instance->frame.lost_rows;
	atomic_store(&instance->counts.lost_rows, instance->lost_rows);
	snprintf(text, sizeof text,
		 "%llu rows found no room; there is more from the next sample on",
		 (unsigned long long)lost);
	stream_gap(lane->stream,
		   &(struct gap) { instance->self.name, "rows", text, begin, begin, 0 });
}

static uint32_t sample(struct lane *lane, struct instance *instance, uint64_t begin,
		       struct sonde_view *views)
{
	uint64_t before = clock_now(CLOCK_MONOTONIC);
	uint32_t nviews = 0;
	int err;

	atomic_store(&lane->sampling, instance);
	err = instance_sample(instance);
	atomic_store(&lane->sampling, NULL);
	atomic_fetch_add(&instance->counts.samples, 1);
	atomic_fetch_add(&instance->counts.cost, clock_now(CLOCK_MONOTONIC) - before);
	tell_missed(lane, instance, begin);
	tell_failed(lane, instance, begin, err);
	tell_lost_rows(lane, instance, begin);
	if (!err) {
		nviews = instance_views(instance, views);
		instance->sampled = begin;
	}
	if (instance->keys.capture)
		nviews += capture_views(instance, views + nviews);
	/* A device's own time: an instant of its own. */
	if (nviews && instance->frame.own_time) {
		stream_publish(lane->stream, views, nviews, instance->frame.begin,
			       instance->frame.end);
		nviews = 0;
	}
	return nviews;
}

/* ---- The grid */

static uint64_t next_tick(const struct lane *lane)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < lane->nmembers; i++)
		if (lane->members[i]->next < next)
			next = lane->members[i]->next;
	return next;
}

/* To the next tick of its grid that is still to come. A first sample, or a last one, may lie between two ticks. */
static void advance(const struct lane *lane, struct instance *instance, uint64_t now)
{
	uint64_t interval = instance->keys.interval;
	uint64_t base = lane->origin + instance->keys.offset;
	uint64_t ticks = (now - base) / interval + 1;
	uint64_t sampled = (instance->next - base) / interval;

	if (instance->next > now)
		return;
	if (ticks > sampled + 1) {
		instance->missed += ticks - sampled - 1;
		atomic_fetch_add(&instance->counts.missed, ticks - sampled - 1);
	}
	instance->next = base + ticks * interval;
}

/* Woken too late: ticks that went by before this sample are not made up for. */
static void skip_late(struct instance *instance, uint64_t now)
{
	uint64_t late = (now - instance->next) / instance->keys.interval;

	instance->next += late * instance->keys.interval;
	instance->missed += late;
	atomic_fetch_add(&instance->counts.missed, late);
}

/* One wake-up: everything that is due by then, in one instant. */
static void tick(struct lane *lane, uint64_t now)
{
	uint64_t begin = clock_now(CLOCK_BOOTTIME), end;
	uint32_t nviews = 0;

	for (size_t i = 0; i < lane->nmembers; i++) {
		struct instance *instance = lane->members[i];

		instance->due = instance->next <= now;
		if (instance->due && now != UINT64_MAX)
			skip_late(instance, now);
		if (instance->due)
			nviews += sample(lane, instance, begin, lane->views + nviews);
	}
	end = clock_now(CLOCK_BOOTTIME);
	stream_publish(lane->stream, lane->views, nviews, begin, end);
	for (size_t i = 0; i < lane->nmembers; i++) {
		struct instance *instance = lane->members[i];

		if (!instance->due)
			continue;
		if (instance->keys.capture)
			capture_taken(instance);
		advance(lane, instance, clock_now(CLOCK_MONOTONIC));
	}
	lane->ticked = clock_now(CLOCK_MONOTONIC);
	atomic_fetch_add(&lane->instants, 1);
}

/* Everything once more, where the newest tick is a while ago or it must be. */
static void tick_last(struct lane *lane)
{
	uint64_t shortest = UINT64_MAX;
	uint64_t since = clock_now(CLOCK_MONOTONIC) - lane->ticked;

	for (size_t i = 0; i < lane->nmembers; i++)
		if (lane->members[i]->keys.interval < shortest)
			shortest = lane->members[i]->keys.interval;
	if (lane->nmembers && (lane->last_sample == LAST_ALWAYS || since > shortest / 4))
		tick(lane, UINT64_MAX);
}

/* Until the deadline. True: to stop. */
static bool wait_for(struct lane *lane, uint64_t deadline)
{
	struct timespec until = clock_timespec(deadline);
	bool stopping;

	pthread_mutex_lock(&lane->lock);
	while (!lane->stopping &&
	       pthread_cond_timedwait(&lane->wake, &lane->lock, &until) != ETIMEDOUT)
		;
	stopping = lane->stopping;
	pthread_mutex_unlock(&lane->lock);
	return stopping;
}

static void sample_until_stopped(struct lane *lane)
{
	while (!wait_for(lane, next_tick(lane))) {
		bool enough;

		atomic_fetch_add(&lane->wakeups, 1);
		tick(lane, clock_now(CLOCK_MONOTONIC));
		enough = atomic_load(&lane->instants) == lane->max_instants;
		if (!lane->sampled_once || enough) {
			lane->sampled_once = true;
			lane->happened(lane->context, lane);
		}
		if (enough)
			return;
	}
	if (lane->last_sample)
		tick_last(lane);
}

static void *run(void *context)
{
	struct lane *lane = context;

	sample_until_stopped(lane);
	for (size_t i = 0; i < lane->nmembers; i++)
		tell_followed(lane, lane->members[i], 0, "it had not worked again at the end");
	return NULL;
}

/* The first sample at once, the others on the grid, which its offset moves. */
static void set_grid(struct lane *lane)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	if (!lane->origin)
		lane->origin = now;
	for (size_t i = 0; i < lane->nmembers; i++) {
		struct instance *instance = lane->members[i];
		uint64_t first = lane->origin + instance->keys.offset;

		if (!instance->next)
			instance->next = first > now ? first : now;
	}
}

int lane_start(struct lane *lane)
{
	uint32_t nviews = 0;
	int err;

	for (size_t i = 0; i < lane->nmembers; i++)
		nviews += lane->members[i]->frame.ntables + 1;
	free(lane->views);
	lane->views = calloc(nviews ? nviews : 1, sizeof *lane->views);
	if (!lane->views)
		return -ENOMEM;
	set_grid(lane);
	lane->stopping = false;
	err = thread_start(&lane->thread, lane->name, run, lane);
	lane->running = !err;
	return err;
}

void lane_ask_stop(struct lane *lane, enum last_sample last_sample)
{
	pthread_mutex_lock(&lane->lock);
	lane->last_sample = last_sample;
	lane->stopping = true;
	pthread_cond_signal(&lane->wake);
	pthread_mutex_unlock(&lane->lock);
}

int lane_resume(struct lane *lane)
{
	/* It came back in between, and ended. */
	if (lane_join(lane, 1) == 0)
		return lane_start(lane);
	pthread_mutex_lock(&lane->lock);
	lane->stopping = false;
	pthread_mutex_unlock(&lane->lock);
	return 0;
}

int lane_join(struct lane *lane, uint64_t deadline)
{
	int err = lane->running ? thread_join(&lane->thread, deadline) : 0;

	if (!err)
		lane->running = false;
	return err;
}
