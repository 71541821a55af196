/* Events as a section writes them: PMU/terms/, the kernel's names, raw numbers, tracepoints, and what libpfm knows. */
#include <stdlib.h>

#include "event.h"
#include "groupfile.h"
#include "libpfm.h"
#include "names.h"

/* A spec without its modifiers. */
struct wanted {
	const char *at;
	size_t length;
	const char *whole;
	const struct pmu *core; /* of core PMUs only this one; NULL: any */
	struct encoding code;
};

static const struct meaning plain = { SONDE_BASE_COUNT, 1, 1, "events", "" };

static void add(struct resolver *r, struct resolved *found, uint32_t *n, const struct pmu *pmu,
		const struct resolved *event)
{
	if (*n == PMUS_MOST) {
		snprintf(r->why, sizeof r->why, "more than %d PMUs count it", PMUS_MOST);
		return;
	}
	found[*n] = *event;
	found[(*n)++].pmu = pmu;
}

static struct pmu *find_pmu(struct resolver *r, const char *name)
{
	for (uint32_t i = 0; i < r->npmus; i++)
		if (strcmp(r->pmus[i].name, name) == 0)
			return &r->pmus[i];
	if (r->npmus == PMUS_MOST || pmu_load(r->self, name, &r->pmus[r->npmus]))
		return NULL;
	return &r->pmus[r->npmus++];
}

/* What the group files call it, of the first core PMU whose files name it. */
static void rename_known(const struct resolver *r, const char *spec, const struct pmu *pmu,
			 struct resolved *event)
{
	struct group_event known;

	for (uint32_t i = 0; i < r->ncores; i++) {
		if ((pmu->core && r->cores[i] != pmu) ||
		    !groupfile_event(r->text[i], r->length[i], spec, &known))
			continue;
		memcpy(event->column, known.column, sizeof event->column);
		memcpy(event->meaning.help, known.help, sizeof event->meaning.help);
		if (event->meaning.base == SONDE_BASE_COUNT)
			memcpy(event->meaning.counted, known.counted,
			       sizeof event->meaning.counted);
		return;
	}
}

static void take_modifiers(struct wanted *wanted, const char *modifiers, size_t length)
{
	wanted->code.modified = length != 0;
	for (size_t i = 0; i < length; i++) {
		wanted->code.user |= modifiers[i] == 'u';
		wanted->code.kernel |= modifiers[i] == 'k';
		wanted->code.hypervisor |= modifiers[i] == 'h';
	}
}

/* "cycles:u", "cpu/event=0x3c/u": without the letters behind the last colon or slash. */
static struct wanted split_spec(const char *spec, const struct pmu *core)
{
	size_t length = strlen(spec), letters = 0;
	struct wanted wanted = { .at = spec, .length = length, .whole = spec, .core = core };

	while (letters < length && strchr("ukh", spec[length - letters - 1]))
		letters++;
	if (letters < length && letters && spec[length - letters - 1] == ':') {
		wanted.length = length - letters - 1;
		take_modifiers(&wanted, spec + length - letters, letters);
	} else if (letters < length && spec[length - letters - 1] == '/' &&
		   memchr(spec, '/', length - letters - 1)) {
		wanted.length = length - letters;
		take_modifiers(&wanted, spec + length - letters, letters);
	}
	return wanted;
}

/* "uncore_imc" is all of uncore_imc_0, uncore_imc_1, ... */
static bool is_one_of(const char *name, const char *device)
{
	size_t length = strlen(name);

	return strncmp(name, device, length) == 0 && device[length] == '_' && device[length + 1] &&
	       strspn(device + length + 1, "0123456789") == strlen(device + length + 1);
}

static bool is_core(const struct resolver *r, const struct wanted *wanted, uint32_t i)
{
	return !wanted->core || wanted->core == r->cores[i];
}

static void on_pmu(struct resolver *r, const struct wanted *wanted, const struct pmu *pmu,
		   const char *terms, size_t length, struct resolved *found, uint32_t *n)
{
	struct resolved event = { .code = wanted->code, .meaning = plain };

	if (!names_column(wanted->at, wanted->length, event.column))
		return;
	if (pmu_terms(r->self, pmu, terms, length, &event.code, &event.meaning, event.column,
		      r->why))
		return;
	rename_known(r, wanted->whole, pmu, &event);
	add(r, found, n, pmu, &event);
}

/* "cpu/event=0x3c,umask=1/", "uncore_imc/cas_count_read/"; the PMU "core" is each that counts what CPUs execute. */
static uint32_t with_slashes(struct resolver *r, const struct wanted *wanted,
			     struct resolved *found)
{
	const char *slash = memchr(wanted->at, '/', wanted->length), *names;
	size_t length = (size_t)(slash - wanted->at);
	size_t nterms = wanted->length - length - 1;
	char name[NAME_SIZE] = "";
	const struct pmu *pmu;
	uint32_t n = 0;
	int64_t left;

	if (length < sizeof name)
		snprintf(name, sizeof name, "%.*s", (int)length, wanted->at);
	if (!nterms || wanted->at[wanted->length - 1] != '/') {
		snprintf(r->why, sizeof r->why, "malformed: PMU/TERM=VALUE,.../ is wanted");
		return 0;
	}
	nterms--;
	if (strcmp(name, "core") == 0) {
		for (uint32_t i = 0; i < r->ncores; i++)
			if (is_core(r, wanted, i))
				on_pmu(r, wanted, r->cores[i], slash + 1, nterms, found, &n);
		return n;
	}
	pmu = find_pmu(r, name);
	if (pmu && (!pmu->core || !wanted->core || pmu == wanted->core))
		on_pmu(r, wanted, pmu, slash + 1, nterms, found, &n);
	if (pmu)
		return n;
	snprintf(r->why, sizeof r->why, "this machine has no PMU %s in " PMU_FOLDER, name);
	left = sonde_list(r->self, PMU_FOLDER, &names);
	for (; left > 0; left--, names += strlen(names) + 1) {
		if (!is_one_of(name, names) || !(pmu = find_pmu(r, names)))
			continue;
		on_pmu(r, wanted, pmu, slash + 1, nterms, found, &n);
	}
	return n;
}

/* One of the kernel's names: software, or on each core PMU; on a hybrid machine the number of the PMU goes with it. */
static uint32_t with_name(struct resolver *r, const struct wanted *wanted,
			  const struct named *named, struct resolved *event, struct resolved *found)
{
	const struct pmu *software;
	uint32_t n = 0;

	event->code.type = named->type;
	event->code.kernel_side = named->kernel_side;
	if (named->counted)
		snprintf(event->meaning.counted, sizeof event->meaning.counted, "%s",
			 named->counted);
	else
		event->meaning.base = SONDE_BASE_NS;
	if (named->type == PERF_TYPE_SOFTWARE) {
		event->code.config = named->config;
		software = find_pmu(r, "software");
		if (software)
			add(r, found, &n, software, event);
		return n;
	}
	for (uint32_t i = 0; i < r->ncores; i++) {
		struct resolved here = *event;

		here.code.config = named->config;
		if (r->ncores > 1)
			here.code.config |= (uint64_t)r->cores[i]->type << 32;
		rename_known(r, wanted->whole, r->cores[i], &here);
		if (is_core(r, wanted, i))
			add(r, found, &n, r->cores[i], &here);
	}
	if (!r->ncores)
		snprintf(r->why, sizeof r->why,
			 "no hardware counters: no core PMU in " PMU_FOLDER
			 ", as in a virtual machine without a virtual PMU");
	return n;
}

/* "r01c2" */
static uint32_t with_number(struct resolver *r, const struct wanted *wanted, struct resolved *event,
			    struct resolved *found)
{
	struct named raw = { .type = PERF_TYPE_RAW, .counted = "events" };
	uint32_t n = with_name(r, wanted, &raw, event, found);

	for (uint32_t i = 0; i < n; i++) {
		found[i].code.type = found[i].pmu->type;
		found[i].code.config = strtoull(wanted->at + 1, NULL, 16);
	}
	return n;
}

static bool is_raw(const struct wanted *wanted)
{
	return wanted->length > 1 && wanted->length <= 17 && wanted->at[0] == 'r' &&
	       strspn(wanted->at + 1, "0123456789abcdefABCDEF") >= wanted->length - 1;
}

/* "sched:sched_switch"; where tracefs does not have it, libpfm may. */
static uint32_t with_tracepoint(struct resolver *r, const struct wanted *wanted,
				struct resolved *event, struct resolved *found)
{
	const char *colon = memchr(wanted->at, ':', wanted->length);
	int system = (int)(colon - wanted->at), name = (int)wanted->length - system - 1;
	const struct pmu *pmu = find_pmu(r, "tracepoint");
	char id[32];
	uint32_t n = 0;

	if (!pmu || memchr(wanted->at, '/', wanted->length) || *wanted->at == '.' ||
	    colon[1] == '.' || colon[1] == ':')
		return 0;
	if (!pmu_line(r->self, id, sizeof id, "/sys/kernel/tracing/events/%.*s/%.*s/id", system,
		      wanted->at, name, colon + 1) &&
	    !pmu_line(r->self, id, sizeof id, "/sys/kernel/debug/tracing/events/%.*s/%.*s/id",
		      system, wanted->at, name, colon + 1)) {
		snprintf(
			r->why, sizeof r->why,
			"no such tracepoint in /sys/kernel/tracing/events: mount -t tracefs tracefs "
			"/sys/kernel/tracing shows those there are, to root");
		return 0;
	}
	event->code.type = PERF_TYPE_TRACEPOINT;
	event->code.config = strtoull(id, NULL, 10);
	event->code.kernel_side = true;
	names_column(colon + 1, (size_t)name, event->column);
	/* The kernel adds up their times (__perf_count() in include/trace/events/sched.h). */
	if (strncmp(event->column, "sched_stat_", 11) == 0)
		event->meaning.base = SONDE_BASE_NS;
	add(r, found, &n, pmu, event);
	return n;
}

/* Names that neither kernel nor sysfs have: of a vendor's manual. */
static uint32_t with_libpfm(struct resolver *r, const struct wanted *wanted, struct resolved *event,
			    struct resolved *found)
{
	char name[SPEC_SIZE], why[WORDS_SIZE] = "";
	uint32_t n = 0;
	int err;

	snprintf(name, sizeof name, "%.*s", (int)wanted->length, wanted->at);
	err = libpfm_encode(r->self, &r->libpfm, name, &event->code, why);
	if (err && !r->why[0])
		snprintf(r->why, sizeof r->why, "%s", why);
	if (err)
		return 0;
	for (uint32_t i = 0; i < r->ncores; i++) {
		bool fits = event->code.type == r->cores[i]->type ||
			    (event->code.type == PERF_TYPE_RAW && r->ncores == 1);

		if (fits && is_core(r, wanted, i))
			add(r, found, &n, r->cores[i], event);
	}
	if (!n)
		snprintf(r->why, sizeof r->why,
			 "libpfm knows it, of a PMU that this machine lacks");
	return n;
}

uint32_t event_resolve(struct resolver *r, const char *spec, const struct pmu *core,
		       struct resolved found[PMUS_MOST])
{
	struct wanted wanted = split_spec(spec, core);
	struct resolved event = { .code = wanted.code, .meaning = plain };
	struct named named;
	uint32_t n = 0;

	r->why[0] = '\0';
	if (!wanted.length || wanted.length >= SPEC_SIZE) {
		snprintf(r->why, sizeof r->why, "no event, or a name of %d bytes and more",
			 SPEC_SIZE);
		return 0;
	}
	if (memchr(wanted.at, '/', wanted.length))
		return with_slashes(r, &wanted, found);
	if (names_find(wanted.at, wanted.length, &named, event.column))
		return with_name(r, &wanted, &named, &event, found);
	if (!names_column(wanted.at, wanted.length, event.column)) {
		snprintf(r->why, sizeof r->why, "no event has such a name");
		return 0;
	}
	if (is_raw(&wanted))
		return with_number(r, &wanted, &event, found);
	if (memchr(wanted.at, ':', wanted.length))
		n = with_tracepoint(r, &wanted, &event, found);
	return n ? n : with_libpfm(r, &wanted, &event, found);
}
