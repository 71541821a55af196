/* A section as one block of texts. */
#include <errno.h>
#include <inttypes.h>

#include "host/must.h"
#include "host/section_pack.h"

static void put(FILE *out, const char *text)
{
	fputs(text ? text : "", out);
	fputc(0, out);
}

static void put_number(FILE *out, uint64_t number)
{
	fprintf(out, "%" PRIu64, number);
	fputc(0, out);
}

void section_pack(FILE *out, const struct config_section *section, const struct agent_keys *agent,
		  const char *plugin_path)
{
	put(out, plugin_path);
	put(out, agent->root);
	put_number(out, agent->interval);
	put_number(out, agent->keep);
	put_number(out, agent->log);
	put_number(out, agent->capture);
	put(out, section->name);
	put(out, section->type);
	put(out, section->plugin);
	put(out, section->label);
	put(out, section->file);
	put_number(out, section->line);
	put_number(out, section->nkeys);
	for (size_t i = 0; i < section->nkeys; i++) {
		put(out, section->keys[i].name);
		put(out, section->keys[i].value);
		put(out, section->keys[i].file);
		put_number(out, section->keys[i].line);
	}
}

struct texts {
	const char *at, *end;
	bool cut;
};

static const char *next_text(struct texts *texts)
{
	const char *text = texts->at;
	const char *nul = memchr(text, 0, (size_t)(texts->end - text));

	if (!nul) {
		texts->cut = true;
		return "";
	}
	texts->at = nul + 1;
	return text;
}

static uint64_t next_number(struct texts *texts)
{
	return strtoull(next_text(texts), NULL, 10);
}

int section_unpack(const char *block, size_t length, struct config *config,
		   struct packed_agent *agent)
{
	struct texts texts = { block, block + length, false };
	struct config_section *section = must(calloc(1, sizeof *section));
	uint64_t count;

	config->sections = section;
	config->nsections = 1;
	*agent = (struct packed_agent) { .plugin_path = must_copy(next_text(&texts)) };
	agent->keys = (struct agent_keys) { .host = "", .tags = "", .root = next_text(&texts) };
	agent->keys.plugin_path = agent->plugin_path;
	agent->keys.interval = next_number(&texts);
	agent->keys.keep = next_number(&texts);
	agent->keys.log = (uint32_t)next_number(&texts);
	agent->keys.capture = (uint32_t)next_number(&texts);
	section->name = must_copy(next_text(&texts));
	section->type = must_copy(next_text(&texts));
	section->plugin = must_copy(next_text(&texts));
	section->label = must_copy(next_text(&texts));
	section->file = next_text(&texts);
	section->line = (unsigned)next_number(&texts);
	count = next_number(&texts);
	for (uint64_t i = 0; i < count && !texts.cut; i++) {
		struct config_key *key;

		section->keys = must_grow(section->keys, section->nkeys, sizeof *key);
		key = &section->keys[section->nkeys++];
		key->name = must_copy(next_text(&texts));
		key->value = must_copy(next_text(&texts));
		key->file = next_text(&texts);
		key->line = (unsigned)next_number(&texts);
	}
	return texts.cut ? -EBADMSG : 0;
}
