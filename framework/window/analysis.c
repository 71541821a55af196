/* The analysis: analyzers and their streams, the machine that is judged, the gaps in what was seen of it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "window/analysis.h"
#include "window/formulas.h"
#include "window/gaps.h"
#include "window/live.h"
#include "window/needs.h"
#include "window/track.h"
#include "window/verdict.h"

enum { TRACKS_MOST = 1024 };

/* An analyzer. */
struct member {
	struct sonde_instance *self;
	const struct sonde_analyzer_ops *ops;
	struct stream *streams;
	struct series_list *lists; /* while it judges */
	bool *listed;
	uint32_t nstreams;
	struct sonde_catalogue *catalogue;
	uint32_t ncatalogue;
	struct hysteresis hysteresis;
	struct needs_holds holds;
	struct ignores ignores;
};

struct analysis {
	struct member **members;
	uint32_t nmembers;
	struct stream **streams; /* of all members, then of formulas */
	uint32_t nstreams;
	struct formulas formulas;
	struct names names;
	struct track **tracks;
	uint32_t ntracks;
	uint32_t hint; /* tables come in the same order at every instant */
	struct gaps gaps;
	struct needs_notes notes;
	struct sonde_slice window;
	uint64_t base;     /* begin of the window */
	uint64_t last;     /* the last instant */
	int64_t local;     /* and its local time, ns since 1970 */
	uint64_t observed; /* in all windows so far: stretches go on from one to the next */
	char *machine, *boot;
	uint64_t foreign;
	struct verdicts verdicts;
	bool over_time; /* metrics are told by slices too */
	struct live live;
};

/* Whose judge() is running on this thread. */
static _Thread_local struct {
	struct analysis *analysis;
	struct member *member;
} judging;

struct analysis *analysis_new(void)
{
	return calloc(1, sizeof(struct analysis));
}

/* ---- analyzers ---- */

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return -EINVAL;
}

/* An item of a plugin's array, whose items may be shorter or longer than this host's. */
static void take_item(void *to, size_t size, const struct sonde_array *array, uint32_t i)
{
	size_t take = array->stride < size ? array->stride : size;

	memset(to, 0, size);
	memcpy(to, (const char *)array->items + (size_t)i * array->stride, take);
}

static void tie(struct stream *stream, struct stream *also)
{
	stream->store.also = &also->store;
	also->store.asked = true;
	stream->tied = also->tied = true;
}

static int take_streams(struct analysis *analysis, struct member *member, char *why, size_t size)
{
	const struct sonde_array *array = &member->ops->streams;
	int err = 0;

	member->streams = calloc(array->count + 1, sizeof *member->streams);
	member->lists = calloc(array->count + 1, sizeof *member->lists);
	member->listed = calloc(array->count + 1, sizeof *member->listed);
	if (!member->streams || !member->lists || !member->listed)
		return -ENOMEM;
	for (uint32_t i = 0; i < array->count && !err; i++) {
		struct stream *stream = &member->streams[i];

		take_item(&stream->declared, sizeof stream->declared, array, i);
		err = bind_check(&stream->declared, i, why, size);
		if (!err)
			err = store_init(&stream->store, &analysis->names, &analysis->base,
					 stream->declared.keys);
		if (!err && stream->declared.also)
			tie(stream, &member->streams[stream->declared.also - 1]);
		member->nstreams++;
	}
	return err;
}

static int take_catalogue(struct member *member, char *why, size_t size)
{
	const struct sonde_array *array = &member->ops->catalogue;

	member->catalogue = calloc(array->count + 1, sizeof *member->catalogue);
	if (!member->catalogue)
		return -ENOMEM;
	for (uint32_t i = 0; i < array->count; i++) {
		struct sonde_catalogue *line = &member->catalogue[i];

		take_item(line, sizeof *line, array, i);
		if (!line->id || !line->title)
			return refuse(why, size, "line %u of its catalogue lacks an id or a title",
				      i);
		member->ncatalogue++;
	}
	return 0;
}

static void free_member(struct member *member)
{
	if (!member)
		return;
	for (uint32_t i = 0; i < member->nstreams; i++)
		store_free(&member->streams[i].store);
	ignores_free(&member->ignores);
	free(member->catalogue);
	free(member->listed);
	free(member->lists);
	free(member->streams);
	free(member);
}

/* Thresholds are the configuration's. */
static void read_thresholds(struct member *member)
{
	const char *conf = member->self->conf;

	for (uint32_t i = 0; i < member->nstreams; i++) {
		const struct sonde_stream *declared = &member->streams[i].declared;
		struct store *store = &member->streams[i].store;

		store->has_threshold = declared->threshold != 0;
		if (declared->threshold)
			memcpy(&store->threshold, conf + declared->threshold,
			       sizeof store->threshold);
		if (declared->hold)
			memcpy(&store->hold, conf + declared->hold, sizeof store->hold);
		if (declared->floor)
			memcpy(&store->floor, conf + declared->floor, sizeof store->floor);
	}
}

int analysis_add(struct analysis *analysis, struct sonde_instance *self,
		 const struct sonde_analyzer_ops *ops, char *why, size_t size)
{
	struct member *member = calloc(1, sizeof *member);
	struct member **members;
	struct stream **streams;
	int err = -ENOMEM;

	if (!member)
		return -ENOMEM;
	member->self = self;
	member->ops = ops;
	err = take_streams(analysis, member, why, size);
	if (!err)
		err = take_catalogue(member, why, size);
	if (err)
		goto fail;
	err = -ENOMEM;
	members = realloc(analysis->members, (analysis->nmembers + 1) * sizeof *members);
	if (!members)
		goto fail;
	analysis->members = members;
	streams = realloc(analysis->streams,
			  (analysis->nstreams + member->nstreams + 1) * sizeof *streams);
	if (!streams)
		goto fail;
	analysis->streams = streams;
	for (uint32_t i = 0; i < member->nstreams; i++)
		streams[analysis->nstreams++] = &member->streams[i];
	members[analysis->nmembers++] = member;
	read_thresholds(member);
	return 0;
fail:
	free_member(member);
	return err;
}

/* ---- instants ---- */

/* Metrics that come with the tables of an instant, before any of these is tracked. */
static int take_formulas(struct analysis *analysis, const struct instant *instant)
{
	struct formulas_among among = { &analysis->names, &analysis->base, analysis->streams,
					analysis->nstreams };
	uint32_t before = analysis->formulas.count;
	int err = 0;

	for (uint32_t i = 0; i < instant->nviews && !err; i++)
		err = formulas_take(&analysis->formulas, &instant->views[i], &among);
	for (uint32_t i = before; i < analysis->formulas.count && !err; i++) {
		uint32_t count;
		struct stream *of = formulas_streams(&analysis->formulas, i, &count);
		struct stream **streams =
			realloc(analysis->streams, (analysis->nstreams + count) * sizeof *streams);

		if (!streams)
			return -ENOMEM;
		analysis->streams = streams;
		for (uint32_t k = 0; k < count; k++)
			streams[analysis->nstreams++] = &of[k];
	}
	return err;
}

static struct track *track_for(struct analysis *analysis, const struct instant *instant,
			       const struct sonde_view *view)
{
	struct track **tracks;

	for (uint32_t i = 0, at = analysis->hint; i < analysis->ntracks; i++, at++) {
		if (at >= analysis->ntracks)
			at = 0;
		if (track_is(analysis->tracks[at], view)) {
			analysis->hint = at + 1;
			return analysis->tracks[at];
		}
	}
	if (analysis->ntracks == TRACKS_MOST || take_formulas(analysis, instant))
		return NULL;
	tracks = realloc(analysis->tracks, (analysis->ntracks + 1) * sizeof *tracks);
	if (!tracks)
		return NULL;
	analysis->tracks = tracks;
	tracks[analysis->ntracks] =
		track_new(view, analysis->streams, analysis->nstreams, &analysis->names);
	return tracks[analysis->ntracks] ? tracks[analysis->ntracks++] : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* The first machine, in its first boot: boot times of another one mean other moments. */
static int is_ours(struct analysis *analysis, const struct sonde_stream_header *header)
{
	if (!analysis->machine) {
		analysis->machine = strdup(header->machine_id ? header->machine_id : "");
		analysis->boot = strdup(header->boot_id ? header->boot_id : "");
		if (!analysis->machine || !analysis->boot)
			return -ENOMEM;
	}
	return same_text(analysis->machine, header->machine_id) &&
	       same_text(analysis->boot, header->boot_id);
}

static void observe(struct analysis *analysis, uint64_t from, uint64_t to)
{
	analysis->window.observed += to - from;
	analysis->observed += to - from;
}

/* Lanes take turns: an instant may begin before the one that came before it. */
static void follow_window(struct analysis *analysis, const struct instant *instant)
{
	uint64_t now = instant->begin;
	bool data = false;

	for (uint32_t i = 0; i < instant->nviews && !data; i++)
		data = !(instant->views[i].schema->flags & SONDE_EVENTS);
	if (!data)
		return;
	if (!analysis->window.count) {
		analysis->window.begin = now;
		analysis->base = analysis->last ? analysis->last : now;
		if (analysis->base > now)
			analysis->base = now;
		analysis->window.begin = analysis->base;
	}
	if (now > analysis->last) {
		if (analysis->last && !gaps_between(&analysis->gaps, "", analysis->last, now))
			observe(analysis, analysis->last, now);
		analysis->last = now;
	} else if (now < analysis->window.begin && !analysis->observed) {
		observe(analysis, now, analysis->window.begin);
		analysis->window.begin = now;
	}
	if (now > analysis->window.end)
		analysis->window.end = now;
	analysis->window.count++;
}

static int fold_view(struct analysis *analysis, const struct instant *instant, uint32_t i)
{
	const struct sonde_view *view = &instant->views[i];
	struct track *track;
	uint64_t from;

	if (view->schema->flags & SONDE_EVENTS)
		return 0;
	track = track_for(analysis, instant, view);
	if (!track)
		return analysis->ntracks == TRACKS_MOST ? 0 : -ENOMEM;
	from = track_time(track);
	return track_view(track, view, instant->changes ? &instant->changes[i] : NULL,
			  gaps_between(&analysis->gaps, view->instance ? view->instance : "", from,
				       view_time(view)));
}

int analysis_instant(struct analysis *analysis, const struct instant *instant)
{
	int ours = is_ours(analysis, instant->header);
	int err = 0;

	if (ours < 0)
		return ours;
	if (!ours) {
		analysis->foreign++;
		return 0;
	}
	for (uint32_t i = 0; i < instant->nviews; i++) {
		const struct sonde_view *view = &instant->views[i];

		if (!(view->schema->flags & SONDE_EVENTS))
			continue;
		if (record_view_is(view, RECORD_GAP))
			gaps_take(&analysis->gaps, view);
		else if (record_view_is(view, RECORD_NOTE))
			needs_take(&analysis->notes, view);
	}
	analysis->local = (int64_t)((uint64_t)instant->realtime +
				    (uint64_t)instant->header->utc_offset * 1000000000);
	follow_window(analysis, instant);
	for (uint32_t i = 0; i < instant->nviews && !err; i++)
		err = fold_view(analysis, instant, i);
	return err;
}

/* ---- judging ---- */

static struct stream *current(struct sonde_instance *self, uint32_t stream)
{
	struct member *member = judging.member;

	if (!member || member->self != self || stream >= member->nstreams)
		return NULL;
	if (!member->listed[stream]) {
		member->listed[stream] = true;
		if (store_list(&member->streams[stream].store, &member->lists[stream]))
			judging.analysis->verdicts.no_memory = true;
	}
	return &member->streams[stream];
}

static const struct sonde_series *service_series(struct sonde_instance *self, uint32_t stream,
						 uint32_t *count)
{
	*count = 0;
	if (!current(self, stream))
		return NULL;
	*count = judging.member->lists[stream].count;
	return judging.member->lists[stream].series;
}

static const struct sonde_slice *service_slices(struct sonde_instance *self, uint32_t stream,
						uint32_t series, uint32_t *count)
{
	const struct stream *of = current(self, stream);

	*count = 0;
	if (!of)
		return NULL;
	*count = store_slices(&of->store, &judging.member->lists[stream], series);
	return judging.member->lists[stream].buffer;
}

static const struct sonde_slice *service_window(struct sonde_instance *self)
{
	static const struct sonde_slice none;

	return judging.member && judging.member->self == self ? &judging.analysis->window : &none;
}

/* What is ignored is so on days of the recorded host: the same recording gives the same report on any day. */
static void service_finding(struct sonde_instance *self, const struct sonde_finding *finding)
{
	const struct member *member = judging.member;

	if (member && member->self == self)
		verdicts_finding(&judging.analysis->verdicts, finding, &member->hysteresis,
				 ignores_find(&member->ignores, finding->id, finding->about,
					      judging.analysis->local));
}

/* A metric of the host has the slices of the stream whose name it has: "as metrics and evidence cite it". */
static const struct sonde_slice *metric_slices(struct sonde_instance *self,
					       const struct sonde_metric *metric, uint32_t *count)
{
	const struct member *member = judging.member;

	*count = 0;
	if (!judging.analysis->over_time || (metric->about && *metric->about))
		return NULL;
	for (uint32_t i = 0; i < member->nstreams; i++)
		if (strcmp(member->streams[i].declared.name, metric->name) == 0 &&
		    current(self, i) && member->lists[i].count == 1)
			return service_slices(self, i, 0, count);
	return NULL;
}

static void service_metric(struct sonde_instance *self, const struct sonde_metric *metric)
{
	const struct sonde_slice *slices;
	uint32_t count;

	if (!judging.member || judging.member->self != self)
		return;
	slices = metric_slices(self, metric, &count);
	verdicts_metric(&judging.analysis->verdicts, metric, slices, count);
}

static void service_not_judged(struct sonde_instance *self, const char *id, const char *reason)
{
	if (judging.member && judging.member->self == self)
		verdicts_not_judged(&judging.analysis->verdicts, id, reason);
}

static const char *service_note(struct sonde_instance *self, const char *table)
{
	if (!judging.member || judging.member->self != self)
		return NULL;
	return needs_note_of(&judging.analysis->notes, judging.analysis->tracks,
			     judging.analysis->ntracks, table, strlen(table));
}

const struct sonde_analysis analysis_services = {
	.size = sizeof(struct sonde_analysis),
	.series = service_series,
	.slices = service_slices,
	.window = service_window,
	.finding = service_finding,
	.metric = service_metric,
	.not_judged = service_not_judged,
	.note = service_note,
};

static void open_catalogue(struct analysis *analysis, const struct member *member)
{
	for (uint32_t i = 0; i < member->ncatalogue; i++) {
		char reason[512];
		bool met = needs_met(member->catalogue[i].needs, analysis->tracks,
				     analysis->ntracks, &analysis->notes, reason, sizeof reason);

		if (met && analysis->window.count < 2) {
			snprintf(
				reason, sizeof reason,
				"there are fewer than two instants; record, or choose, a longer stretch");
			met = false;
		}
		met = met && needs_time(&member->catalogue[i], &member->holds, analysis->observed,
					reason, sizeof reason);
		verdicts_judgement(&analysis->verdicts, &member->catalogue[i], met ? NULL : reason);
	}
}

static int judge_member(struct analysis *analysis, struct member *member)
{
	int err;

	open_catalogue(analysis, member);
	judging.analysis = analysis;
	judging.member = member;
	err = member->ops->judge ? member->ops->judge(member->self) : 0;
	judging.member = NULL;
	for (uint32_t i = 0; i < member->nstreams; i++) {
		if (member->listed[i])
			series_list_free(&member->lists[i]);
		member->listed[i] = false;
		if (member->streams[i].store.no_memory)
			analysis->verdicts.no_memory = true;
	}
	return err;
}

/* Analyzers in the order of their sections' names, however they were loaded. */
static int by_name(const void *a, const void *b)
{
	const struct member *const *x = a, *const *y = b;

	return strcmp((*x)->self->name, (*y)->self->name);
}

static int judge_all(struct analysis *analysis)
{
	int err = 0;

	for (uint32_t i = 0; i < analysis->ntracks; i++)
		track_settle(analysis->tracks[i]);
	for (uint32_t i = 0; i < analysis->nstreams; i++)
		store_settle(&analysis->streams[i]->store);
	if (analysis->nmembers)
		qsort(analysis->members, analysis->nmembers, sizeof *analysis->members, by_name);
	for (uint32_t i = 0; i < analysis->nmembers && !err; i++)
		err = judge_member(analysis, analysis->members[i]);
	return err ? err : formulas_tell(&analysis->formulas, &analysis->verdicts);
}

__attribute__((format(printf, 2, 3))) static int note(struct sonde_frame *records,
						      const char *format, ...)
{
	struct sonde_row row;
	char text[256];
	int err = records_row(records, RECORD_NOTE, &row);

	if (err)
		return err;
	SONDE_FORMAT(text, format);
	records_str(records, &row, NOTE_INSTANCE, "");
	records_str(records, &row, NOTE_LEVEL, "notice");
	records_str(records, &row, NOTE_TEXT, text);
	return 0;
}

/* What a reader has to know of how it was judged: what was left out, what was merged. */
static int notes(struct analysis *analysis, struct sonde_frame *records)
{
	const struct ignore *over;
	int err = 0;

	if (analysis->foreign)
		err = note(records,
			   "%llu instants of other machines or other boots were not judged: report "
			   "on each alone",
			   (unsigned long long)analysis->foreign);
	for (uint32_t i = 0; i < analysis->nstreams && !err; i++) {
		const struct stream *stream = analysis->streams[i];

		if (stream->store.merged && !stream->declared.keys)
			err = note(
				records,
				"%s: where a slice of time had more than %d series, the lightest "
				"were added up as \"other\"",
				stream->declared.name, STORE_KEYS);
	}
	for (uint32_t i = 0; i < analysis->ntracks && !err; i++) {
		uint64_t resets = track_resets(analysis->tracks[i]);

		if (resets)
			err = note(
				records,
				"%s: counters began anew (%llu in all); what they counted in that "
				"interval is left out",
				track_table(analysis->tracks[i]), (unsigned long long)resets);
	}
	for (uint32_t i = 0; i < analysis->nmembers && !err; i++)
		while (!err &&
		       (over = ignores_ended(&analysis->members[i]->ignores, analysis->local)))
			err = note(records, "ignore = %s, %s ended with %s: it is told again",
				   over->id, over->about, over->until);
	analysis->foreign = 0;
	return err;
}

int analysis_judge(struct analysis *analysis, struct sonde_frame *records)
{
	int err;

	analysis->over_time = true;
	err = judge_all(analysis);
	analysis->over_time = false;
	if (!err)
		err = verdicts_rows(&analysis->verdicts, records);
	if (!err)
		err = notes(analysis, records);
	verdicts_free(&analysis->verdicts);
	return err;
}

static struct member *member_of(struct analysis *analysis, const struct sonde_instance *self)
{
	for (uint32_t i = 0; i < analysis->nmembers; i++)
		if (analysis->members[i]->self == self)
			return analysis->members[i];
	return NULL;
}

void analysis_options(struct analysis *analysis, const struct sonde_instance *self,
		      const struct sonde_option *options, size_t noptions)
{
	struct member *member = member_of(analysis, self);

	if (member)
		member->holds = (struct needs_holds) { member->streams, member->nstreams, options,
						       noptions, self->conf };
}

void analysis_hysteresis(struct analysis *analysis, const struct sonde_instance *self,
			 uint64_t hold, uint64_t clear, uint64_t repeat)
{
	struct member *member = member_of(analysis, self);

	if (member)
		member->hysteresis = (struct hysteresis) { hold, clear, repeat };
}

int analysis_ignore(struct analysis *analysis, const struct sonde_instance *self,
		    const struct sonde_list *lines)
{
	struct member *member = member_of(analysis, self);

	return member ? ignores_make(&member->ignores, lines->items, lines->count) : 0;
}

void analysis_inherit(struct analysis *to, struct analysis *from)
{
	live_free(&to->live);
	to->live = from->live;
	from->live = (struct live) { 0 };
}

int analysis_live(struct analysis *analysis, uint64_t now, struct sonde_frame *records)
{
	int err = judge_all(analysis);

	if (!err)
		err = live_states(&analysis->live, &analysis->verdicts, now);
	if (!err)
		err = verdicts_rows(&analysis->verdicts, records);
	if (!err)
		err = notes(analysis, records);
	verdicts_free(&analysis->verdicts);
	for (uint32_t i = 0; i < analysis->nstreams; i++)
		store_restart(&analysis->streams[i]->store);
	analysis->window = (struct sonde_slice) { 0 };
	analysis->base = analysis->last;
	for (uint32_t i = 0; i < analysis->ntracks; i++)
		track_restart(analysis->tracks[i], analysis->last);
	return err;
}

const struct sonde_slice *analysis_window(const struct analysis *analysis)
{
	return &analysis->window;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	for (uint32_t i = 0; i < analysis->ntracks; i++)
		track_free(analysis->tracks[i]);
	for (uint32_t i = 0; i < analysis->nmembers; i++)
		free_member(analysis->members[i]);
	formulas_free(&analysis->formulas);
	live_free(&analysis->live);
	needs_free(&analysis->notes);
	names_free(&analysis->names);
	free(analysis->tracks);
	free(analysis->streams);
	free(analysis->members);
	free(analysis->machine);
	free(analysis->boot);
	free(analysis);
}
