/* What tables, columns, findings and plugins say of themselves: for `sonde explain`, `sonde plugins NAME` and docs/metrics.md. */
#ifndef HOST_EXPLAIN_H
#define HOST_EXPLAIN_H

#include "host/loader.h"

/* A table of a plugin, or with plugin NULL of the host itself. */
struct explained {
	const struct plugin *plugin;
	const struct sonde_schema *schema;
};

/* Every table of every plugin on the path, which are loaded, and of the host: sorted by name. What can't be loaded is told
 * to `refused`. explain_free() frees the array. */
struct explained *explain_tables(const char *path, size_t *count, void (*refused)(const char *why));
void explain_free(struct explained *tables, size_t count);

/* On stdout: a table with its columns, or one column with all that is known of it. */
void explain_table(const struct explained *table);
void explain_column(const struct explained *table, const struct sonde_column *column);

/* A line of an analyzer's catalogue. */
struct explained_finding {
	const struct plugin *plugin;
	struct sonde_catalogue line;
};

/* Every finding of the analyzers on the path; to be freed. */
struct explained_finding *explain_findings(const char *path, size_t *count);

/* On stdout: a finding with what it needs, and its thresholds with their defaults. */
void explain_finding(const struct explained_finding *finding);

/* A number that an analyzer makes of columns. */
struct explained_metric {
	const struct plugin *plugin;
	struct sonde_stream stream;
};

/* Every metric of the analyzers on the path, several with one name where it is made in several ways; to be freed. */
struct explained_metric *explain_metrics(const char *path, size_t *count);

/* On stdout: a metric with the columns of these tables that it is made of. */
void explain_metric(const struct explained_metric *metric, const struct explained *tables,
		    size_t ntables);

/* On stdout: a plugin with its keys, the host's keys of its section, its tables and findings. */
void explain_plugin(const struct plugin *plugin);

/* On stdout: the keys of [agent]. */
void explain_agent(void);

/* On stdout: all of them as Markdown. The same plugins give the same bytes. */
void explain_markdown(const struct explained *tables, size_t count);

#endif
