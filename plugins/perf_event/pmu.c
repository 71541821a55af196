/* PMUs: their CPUs, the formats of their terms, their own events and units. */
#include <math.h>
#include <stdlib.h>

#include "pmu.h"

enum { LINE_SIZE = 4096 };

bool pmu_line(struct sonde_instance *self, char *line, size_t size, const char *format, ...)
{
	char path[512];
	struct sonde_file *file;
	const char *text;
	int64_t length;

	SONDE_FORMAT(path, format);
	file = sonde_open(self, SONDE_FRESH, "%s", path);
	length = file ? sonde_read(self, file, &text) : -ENOENT;
	if (length >= 0) {
		size_t n = strcspn(text, "\n");

		n = n < size ? n : size - 1;
		memcpy(line, text, n);
		line[n] = '\0';
	}
	sonde_close(self, file);
	return length >= 0;
}

static bool number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool is_task(const char *name)
{
	return strcmp(name, "software") == 0 || strcmp(name, "tracepoint") == 0;
}

/* Core PMUs of hybrid and arm64 machines have `cpus`, those outside of cores `cpumask`; "cpu" and "cpum_cf" are of all CPUs. */
int pmu_load(struct sonde_instance *self, const char *name, struct pmu *pmu)
{
	size_t length = strlen(name);
	char line[LINE_SIZE];
	uint64_t type;
	bool cpus;

	*pmu = (struct pmu) { .task = is_task(name) };
	if (length >= sizeof pmu->name || strchr(name, '/'))
		return -ENOENT;
	memcpy(pmu->name, name, length + 1);
	if (!pmu_line(self, line, sizeof line, PMU_FOLDER "/%s/type", name) || !number(line, &type))
		return -ENOENT;
	pmu->type = (uint32_t)type;
	cpus = pmu_line(self, line, sizeof line, PMU_FOLDER "/%s/cpus", name);
	pmu->core = cpus || strcmp(name, "cpu") == 0 || strcmp(name, "cpum_cf") == 0;
	if (!pmu->core)
		pmu->uncore = pmu_line(self, line, sizeof line, PMU_FOLDER "/%s/cpumask", name);
	if (!cpus && !pmu->uncore &&
	    !pmu_line(self, line, sizeof line, "/sys/devices/system/cpu/present"))
		return -ENOENT;
	return list_parse(line, strlen(line), &pmu->cpus) ? 0 : -ENOENT;
}

static uint64_t *config_of(struct encoding *code, const char *name, size_t length)
{
	static const char *const names[] = { "config", "config1", "config2" };
	uint64_t *const configs[] = { &code->config, &code->config1, &code->config2 };

	for (int i = 0; i < 3; i++)
		if (strlen(names[i]) == length && memcmp(name, names[i], length) == 0)
			return configs[i];
	return NULL;
}

bool pmu_place(const char *format, size_t length, uint64_t value, struct encoding *code)
{
	struct cursor c = whole(format, length);
	const char *colon = memchr(format, ':', length);
	uint64_t *config = colon ? config_of(code, format, (size_t)(colon - format)) : NULL;
	uint64_t first, last;

	if (!config)
		return false;
	c.at = colon + 1;
	do {
		uint64_t width, bits;

		if (!next_u64(&c, &first))
			return false;
		last = first;
		if ((take(&c, "-") && !next_u64(&c, &last)) || last < first || last > 63)
			return false;
		width = last - first + 1;
		bits = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
		*config = (*config & ~(bits << first)) | (value & bits) << first;
		value = width == 64 ? 0 : value >> width;
	} while (take(&c, ","));
	return c.at == c.end && !value;
}

struct term {
	char key[NAME_SIZE], value[NAME_SIZE];
	bool has_value;
};

/* The next of terms joined by commas. False at their end, and where one is too long. */
static bool next_term(const char **at, const char *end, struct term *term)
{
	size_t length = (size_t)(end - *at), key;
	const char *comma = memchr(*at, ',', length), *equals;

	if (!length)
		return false;
	length = comma ? (size_t)(comma - *at) : length;
	equals = memchr(*at, '=', length);
	key = equals ? (size_t)(equals - *at) : length;
	if (!key || key >= NAME_SIZE || length - key > NAME_SIZE)
		return false;
	memcpy(term->key, *at, key);
	term->key[key] = '\0';
	term->has_value = equals != NULL;
	term->value[0] = '\0';
	if (equals) {
		memcpy(term->value, equals + 1, length - key - 1);
		term->value[length - key - 1] = '\0';
	}
	*at += length + (comma != NULL);
	return true;
}

static int take_term(struct sonde_instance *self, const struct pmu *pmu, const struct term *term,
		     struct encoding *code, char *why)
{
	char format[256];
	uint64_t value = 1;
	uint64_t *config = config_of(code, term->key, strlen(term->key));

	if (term->has_value && !number(term->value, &value)) {
		snprintf(why, WORDS_SIZE, "%s=%s: a number is wanted", term->key, term->value);
		return -EINVAL;
	}
	if (config) {
		*config = value;
		return 0;
	}
	if (strchr(term->key, '/') || !pmu_line(self, format, sizeof format,
						PMU_FOLDER "/%s/format/%s", pmu->name, term->key)) {
		snprintf(why, WORDS_SIZE,
			 "PMU %s has no event and no term %s: see " PMU_FOLDER "/%s", pmu->name,
			 term->key, pmu->name);
		return -ENOENT;
	}
	if (!pmu_place(format, strlen(format), value, code)) {
		snprintf(why, WORDS_SIZE, "%s=%s does not fit its bits (%.80s)", term->key,
			 term->value, format);
		return -EINVAL;
	}
	return 0;
}

static int take_terms(struct sonde_instance *self, const struct pmu *pmu, const char *terms,
		      size_t length, struct encoding *code, char *column, char *why)
{
	const char *end = terms + length;
	struct term term;
	int err = 0;

	while (!err && next_term(&terms, end, &term)) {
		if (strcmp(term.key, "name") == 0 && term.has_value)
			snprintf(column, NAME_SIZE, "%s", term.value);
		else
			err = take_term(self, pmu, &term, code, why);
	}
	if (!err && terms != end) {
		snprintf(why, WORDS_SIZE, "malformed at \"%.40s\"", terms);
		err = -EINVAL;
	}
	return err;
}

int pmu_terms(struct sonde_instance *self, const struct pmu *pmu, const char *terms, size_t length,
	      struct encoding *code, struct meaning *meaning, char *column, char *why)
{
	size_t name = 0;
	char event[LINE_SIZE], scale[64] = "1", unit[64] = "";

	code->type = pmu->type;
	while (name < length && terms[name] != ',' && terms[name] != '=')
		name++;
	/* The first word may be an event of the PMU's own, whose terms later ones change. */
	if (name && (name == length || terms[name] == ',') && !memchr(terms, '/', name) &&
	    pmu_line(self, event, sizeof event, PMU_FOLDER "/%s/events/%.*s", pmu->name, (int)name,
		     terms)) {
		int err = take_terms(self, pmu, event, strlen(event), code, column, why);

		if (err)
			return err;
		pmu_line(self, scale, sizeof scale, PMU_FOLDER "/%s/events/%.*s.scale", pmu->name,
			 (int)name, terms);
		pmu_line(self, unit, sizeof unit, PMU_FOLDER "/%s/events/%.*s.unit", pmu->name,
			 (int)name, terms);
		pmu_scale(scale, unit, meaning);
		name += name < length;
		return take_terms(self, pmu, terms + name, length - name, code, column, why);
	}
	return take_terms(self, pmu, terms, length, code, column, why);
}

/* value = mul / div, as exact as 32 bits each allow: a whole number, or one over one, or a decimal fraction. */
static void fraction(double value, struct meaning *meaning)
{
	double best = INFINITY;
	double inverse = 1 / value;

	if (value >= 1 && value <= UINT32_MAX && value == floor(value)) {
		meaning->mul = (uint32_t)value;
		return;
	}
	if (inverse >= 1 && inverse <= UINT32_MAX + 1.0 && inverse == floor(inverse)) {
		/* 2^32, of the kernel's energy counters, is one more than a divisor may be. */
		meaning->div = inverse > UINT32_MAX ? UINT32_MAX : (uint32_t)inverse;
		return;
	}
	for (uint32_t div = 1; div <= 1000000000; div *= 10) {
		double mul = floor(value * div + 0.5);
		double error = fabs(mul / div - value);

		if (mul < 1 || mul > UINT32_MAX || error >= best)
			continue;
		best = error;
		meaning->mul = (uint32_t)mul;
		meaning->div = div;
	}
}

void pmu_scale(const char *scale, const char *unit, struct meaning *meaning)
{
	static const struct {
		const char *unit;
		uint32_t base;
		double factor;
	} units[] = {
		{ "Joules", SONDE_BASE_JOULE, 1 },       { "Bytes", SONDE_BASE_BYTES, 1 },
		{ "KiB", SONDE_BASE_BYTES, 1024 },       { "MiB", SONDE_BASE_BYTES, 1048576 },
		{ "GiB", SONDE_BASE_BYTES, 1073741824 }, { "ns", SONDE_BASE_NS, 1 },
		{ "msec", SONDE_BASE_NS, 1e6 },
	};
	double value = strtod(scale, NULL);

	if (!(value > 0))
		value = 1;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		meaning->base = units[i].base;
		value *= units[i].factor;
	}
	if (meaning->base == SONDE_BASE_COUNT && *unit)
		snprintf(meaning->counted, sizeof meaning->counted, "%s", unit);
	fraction(value, meaning);
}
