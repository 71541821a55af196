/* Reports as JSON, docs/report.schema.json: what of them is compared. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

#include "compare.h"
#include "core/run_metrics.h"

enum { FORMAT = 1, BYTES_MOST = 256 << 20, METRICS_MOST = 1 << 16 };

/* More is no measurement, and differences and means of it would be no numbers; longer is no recording. */
static const double value_most = 1e100, seconds_most = 1e10;

/* RFC 3339 as seconds since 1970; NAN where it is none. */
static double time_of(const char *text)
{
	struct tm tm = { 0 };
	int hours = 0, minutes = 0;
	double fraction = 0;
	char *end;

	text = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!text)
		return NAN;
	if (*text == '.') {
		fraction = strtod(text, &end);
		text = end;
	}
	if (strcmp(text, "Z") != 0 &&
	    (sscanf(text + 1, "%2d:%2d", &hours, &minutes) != 2 || (*text != '+' && *text != '-')))
		return NAN;
	hours = (hours * 60 + minutes) * (*text == '-' ? -60 : 60);
	return (double)timegm(&tm) + fraction - hours;
}

static char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return strdup(text ? text : "");
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *number = json_object_get(object, key);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

static bool metric_read(struct metric *metric, const json_t *from)
{
	metric->name = text_of(from, "name");
	metric->about = text_of(from, "about");
	metric->unit = text_of(from, "unit");
	metric->counted = text_of(from, "counted");
	metric->direction = text_of(from, "direction");
	metric->value = number_of(from, "value");
	if (!(fabs(metric->value) <= value_most))
		metric->value = NAN;
	return metric->name && metric->about && metric->unit && metric->counted &&
	       metric->direction;
}

static void metric_free(struct metric *metric)
{
	free(metric->name);
	free(metric->about);
	free(metric->unit);
	free(metric->counted);
	free(metric->direction);
}

static bool add_metric(struct run *run, const struct run_metric *of, double value)
{
	struct metric *metric = &run->metrics[run->nmetrics++];

	*metric = (struct metric) { strdup(of->name),      strdup(""),
				    strdup(of->unit),      strdup(of->counted),
				    strdup(of->direction), value };
	return metric->name && metric->about && metric->unit && metric->counted &&
	       metric->direction;
}

/* How long a command took, and what its processes used, is what many compare first. Reports say the former. */
static bool add_run_metrics(struct run *run, const json_t *summary)
{
	bool ok = true;

	for (int i = 0; run->of_command && ok && i < RUN_METRICS; i++) {
		const struct run_metric *of = &run_metrics[i];
		double value = of->member ? number_of(summary, of->member) : run->seconds;

		value *= of->scale;
		if (fabs(value) <= value_most)
			ok = add_metric(run, of, value);
	}
	return ok;
}

static int take(struct run *run, const json_t *report, const json_t *summary)
{
	const json_t *meta = json_object_get(report, "meta");
	const json_t *window = json_object_get(report, "window");
	const json_t *metrics = json_object_get(report, "metrics");
	const json_t *ended = json_object_get(json_object_get(report, "data_quality"), "ended");
	size_t count = json_array_size(metrics);

	run->host = text_of(meta, "host");
	run->kernel = text_of(meta, "kernel");
	run->label = text_of(meta, "label");
	run->begin = time_of(json_string_value(json_object_get(window, "begin")));
	run->seconds = number_of(window, "seconds");
	run->of_command = json_is_string(ended) && strcmp(json_string_value(ended), "command") == 0;
	if (run->seconds < 0 || run->seconds > seconds_most)
		return -ERANGE;
	run->metrics = calloc(count + RUN_METRICS, sizeof *run->metrics);
	if (!run->host || !run->kernel || !run->label || !run->metrics ||
	    !add_run_metrics(run, summary))
		return -ENOMEM;
	for (size_t i = 0; i < count && i < METRICS_MOST; i++)
		if (!metric_read(&run->metrics[run->nmetrics++], json_array_get(metrics, i)))
			return -ENOMEM;
	return 0;
}

/* Whether it is a report, of a format that this program knows. */
static bool is_report(const json_t *report)
{
	const json_t *meta = json_object_get(report, "meta");
	const char *document = json_string_value(json_object_get(meta, "document"));

	return document && strcmp(document, "sonde report") == 0 &&
	       json_integer_value(json_object_get(meta, "format")) == FORMAT &&
	       json_is_array(json_object_get(report, "metrics"));
}

/* A document, NULL where it is none, and then the negative errno in *err and a sentence in `why`. */
static json_t *load(int fd, int *err, char *why, size_t size)
{
	json_error_t error;
	json_t *document = NULL;
	struct stat st;

	*err = 0;
	if (fstat(fd, &st) || lseek(fd, 0, SEEK_SET) < 0) {
		*err = -errno;
		snprintf(why, size, "%s", strerror(-*err));
	} else if (st.st_size > BYTES_MOST) {
		*err = -EFBIG;
		snprintf(why, size, "larger than any report");
	} else if (!(document = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error))) {
		*err = -EBADMSG;
		snprintf(why, size, "neither a recording nor JSON: line %d: %s", error.line,
			 error.text);
	}
	return document;
}

int run_read(struct run *run, const char *source, int report_fd, int summary_fd, char *why,
	     size_t size)
{
	json_t *report, *summary = NULL;
	int err;

	*run = (struct run) { .source = strdup(source) };
	if (!run->source)
		return -ENOMEM;
	report = load(report_fd, &err, why, size);
	if (report && summary_fd >= 0)
		summary = load(summary_fd, &err, why, size);
	if (err) {
		json_decref(report);
		return err;
	}
	err = is_report(report) ? take(run, report, summary) : -EBADMSG;
	json_decref(report);
	json_decref(summary);
	if (err == -EBADMSG)
		snprintf(why, size, "no report that this version of sonde report --json wrote");
	else if (err == -ERANGE)
		snprintf(why, size, "its window of %g seconds can't be", run->seconds);
	else if (err)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

void run_free(struct run *run)
{
	for (size_t i = 0; i < run->nmetrics; i++)
		metric_free(&run->metrics[i]);
	free(run->metrics);
	free(run->source);
	free(run->host);
	free(run->kernel);
	free(run->label);
	*run = (struct run) { 0 };
}
