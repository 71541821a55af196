/* The tree and its summary as JSON (RFC 8259): sinks/tree/tree.md has their form. Times in seconds, sizes in bytes. */
#include <stdlib.h>

#include <sonde/json.h>

#include "tree.h"

enum { FORMAT = 1 };

void give_number(struct json *json, const char *key, double value)
{
	if (known(value))
		json_number(json, key, value);
	else
		json_null(json, key);
}

static void give_use(struct json *json, const struct use *use)
{
	give_number(json, "cpu", use->cpu / 1e9);
	give_number(json, "run_queue_wait", use->wait / 1e9);
	give_number(json, "disk_wait", use->blocked / 1e9);
	give_number(json, "peak_rss", use->rss);
	give_number(json, "read", use->read);
	give_number(json, "written", use->written);
	give_number(json, "faults", use->faults);
	give_number(json, "major_faults", use->major_faults);
	give_number(json, "context_switches", use->switches);
}

void give_meta(struct json *json, const struct tree *tree, const char *document)
{
	json_open(json, "meta", '{');
	json_text(json, "document", document);
	json_count(json, "format", FORMAT);
	json_text(json, "host", tree->host ? tree->host : "");
	json_text(json, "label", tree->label ? tree->label : "");
	json_text(json, "kernel", tree->kernel ? tree->kernel : "");
	json_text(json, "arch", tree->arch ? tree->arch : "");
	json_text(json, "version", tree->version ? tree->version : "");
	json_close(json, '}');
}

/* ---- tree ---- */

static void give_exit(struct json *json, double exitcode)
{
	unsigned code = known(exitcode) ? (unsigned)exitcode : 0;

	give_number(json, "exit_status",
		    known(exitcode) && !(code & 0x7f) ? code >> 8 & 0xff : NAN);
	give_number(json, "exit_signal", known(exitcode) && code & 0x7f ? code & 0x7f : NAN);
}

void give_life(struct json *json, const struct tree *tree, uint32_t index)
{
	const struct life *life = &tree->lives[index];

	json_count(json, "id", life->place);
	if (life->parent == NONE)
		json_null(json, "parent");
	else
		json_count(json, "parent", tree->lives[life->parent].place);
	json_count(json, "pid", life->pid);
	json_count(json, "ppid", life->first_ppid);
	json_text(json, "name", life->comm ? life->comm : "");
	if (life->command)
		json_text(json, "command", life->command);
	else
		json_null(json, "command");
	give_number(json, "start", since_first(tree, life->start));
	give_number(json, "life", lived(life) / 1e9);
	json_bool(json, "start_exact", life->start_exact);
	json_bool(json, "life_exact", life->life_exact);
	json_bool(json, "ended", life->end != 0);
	give_use(json, &life->use);
	give_number(json, "short_lived_cpu", life->short_lived / 1e9);
	give_exit(json, life->exitcode);
	json_bool(json, "critical", life->critical);
}

void tree_json(struct page *page, const struct tree *tree)
{
	struct json json = { .page = page };

	json_open(&json, NULL, '{');
	give_meta(&json, tree, "sonde tree");
	json_count(&json, "left_out", tree->untold);
	json_open(&json, "processes", '[');
	for (uint32_t i = 0; i < tree->members; i++) {
		json_open(&json, NULL, '{');
		give_life(&json, tree, tree->order[i]);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

/* ---- summary ---- */

static void give_programs(struct json *json, const struct tree *tree)
{
	uint32_t count;
	struct program *programs = tree_programs(tree, &count);

	json->page->no_memory = json->page->no_memory || !programs;
	json_open(json, "programs", '[');
	for (uint32_t i = 0; i < count && programs; i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", programs[i].name);
		json_count(json, "processes", programs[i].count);
		give_number(json, "lived", programs[i].wall / 1e9);
		give_use(json, &programs[i].use);
		json_close(json, '}');
	}
	json_close(json, ']');
	free(programs);
}

static void give_outsiders(struct json *json, const struct tree *tree, const struct totals *totals)
{
	struct outsiders outsiders = { 0 };

	tree_outsiders(tree, totals, &outsiders);
	json_open(json, "outsiders", '[');
	for (uint32_t i = 0; i < outsiders.count; i++) {
		const struct outsider *one = outsiders.told[i];
		const char *service = tree_service(one);

		json_open(json, NULL, '{');
		json_count(json, "pid", one->pid);
		json_text(json, "name", one->comm ? one->comm : "");
		if (one->program)
			json_text(json, "program", one->program);
		else
			json_null(json, "program");
		if (service)
			json_text(json, "service", service);
		else
			json_null(json, "service");
		give_number(json, "cpu", one->cpu / 1e9);
		give_number(json, "children_cpu", one->children / 1e9);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void give_phases(struct json *json, const struct tree *tree)
{
	struct phase phases[PHASES_MOST];
	uint32_t count = tree_phases(tree, phases);

	json_open(json, "alone", '[');
	for (uint32_t i = 0; i < count; i++) {
		json_open(json, NULL, '{');
		give_number(json, "begin", since_first(tree, phases[i].begin));
		give_number(json, "end", since_first(tree, phases[i].end));
		json_text(json, "program", tree->lives[phases[i].busiest].comm);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void summary_json(struct page *page, const struct tree *tree)
{
	double duration = (double)(tree->last - tree->first);
	struct json json = { .page = page };
	struct totals totals;

	tree_totals(tree, &totals);
	json_open(&json, NULL, '{');
	give_meta(&json, tree, "sonde summary");
	give_number(&json, "duration", duration / 1e9);
	json_count(&json, "instants", tree->instants);
	json_count(&json, "samples", tree->samples);
	json_count(&json, "processes", tree->members);
	json_count(&json, "left_out", tree->untold);
	give_use(&json, &totals.use);
	give_number(&json, "user", totals.user / 1e9);
	give_number(&json, "system", totals.system / 1e9);
	give_number(&json, "short_lived_cpu", totals.short_lived / 1e9);
	json_count(&json, "cpu_unknown", totals.unknown);
	give_number(&json, "outside_cpu", totals.outside / 1e9);
	give_number(&json, "cpus_busy",
		    duration > 0 ? tree_cpus(tree, totals.use.cpu / duration) : NAN);
	give_number(&json, "peak_rss_at_once", tree->rss);
	give_number(&json, "host_received", tree->received - tree->received_first);
	give_number(&json, "host_sent", tree->sent - tree->sent_first);
	give_programs(&json, tree);
	give_phases(&json, tree);
	give_outsiders(&json, tree, &totals);
	json_close(&json, '}');
}
