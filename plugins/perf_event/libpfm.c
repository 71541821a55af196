/* libpfm4: loaded while names are looked up, and unloaded: its tables are 2 MiB that sampling does not need. Where the
 * library is not installed all other names work. */
#include "libpfm.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <perfmon/pfmlib_perf_event.h> /* after the kernel's header, whose copy it brings else */

struct libpfm {
	void *library;
	pfm_err_t (*initialize)(void);
	void (*terminate)(void);
	pfm_err_t (*encode)(const char *name, int levels, pfm_os_t os, void *argument);
};

struct question {
	struct libpfm **libpfm;
	const char *name;
};

/* What a capture keeps of an answer. */
struct answer {
	uint64_t type, config, config1, config2;
};

static struct libpfm *load(void)
{
	struct libpfm *libpfm = calloc(1, sizeof *libpfm);

	if (!libpfm)
		return NULL;
	libpfm->library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	if (libpfm->library) {
		*(void **)&libpfm->initialize = dlsym(libpfm->library, "pfm_initialize");
		*(void **)&libpfm->terminate = dlsym(libpfm->library, "pfm_terminate");
		*(void **)&libpfm->encode = dlsym(libpfm->library, "pfm_get_os_event_encoding");
	}
	if (libpfm->initialize && libpfm->terminate && libpfm->encode &&
	    libpfm->initialize() == PFM_SUCCESS)
		return libpfm;
	if (libpfm->library)
		dlclose(libpfm->library);
	free(libpfm);
	return NULL;
}

static int64_t ask(void *context, void *buffer, uint64_t size)
{
	const struct question *question = context;
	struct perf_event_attr attr = { .size = sizeof attr };
	pfm_perf_encode_arg_t argument = { .attr = &attr, .size = sizeof argument };
	struct answer answer;

	if (!*question->libpfm)
		*question->libpfm = load();
	if (!*question->libpfm)
		return -ELIBACC;
	if ((*question->libpfm)
		    ->encode(question->name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument) !=
	    PFM_SUCCESS)
		return -ENOENT;
	answer = (struct answer) { attr.type, attr.config, attr.config1, attr.config2 };
	if (size < sizeof answer)
		return -EMSGSIZE;
	memcpy(buffer, &answer, sizeof answer);
	return sizeof answer;
}

int libpfm_encode(struct sonde_instance *self, struct libpfm **libpfm, const char *name,
		  struct encoding *code, char why[WORDS_SIZE])
{
	struct question question = { libpfm, name };
	struct answer answer;
	char call[SPEC_SIZE + 16];
	int64_t n;

	snprintf(call, sizeof call, "libpfm %s", name);
	n = sonde_obtain(self, call, ask, &question, &answer, sizeof answer);
	if (n == -ELIBACC)
		snprintf(
			why, WORDS_SIZE,
			"neither the kernel nor sysfs has it, and libpfm.so.4 with vendors' names is not "
			"installed");
	else if (n != sizeof answer)
		snprintf(why, WORDS_SIZE, "neither the kernel, sysfs nor libpfm has it");
	if (n != sizeof answer)
		return n < 0 ? (int)n : -EBADMSG;
	code->type = (uint32_t)answer.type;
	code->config = answer.config;
	code->config1 = answer.config1;
	code->config2 = answer.config2;
	return 0;
}

void libpfm_end(struct libpfm *libpfm)
{
	if (!libpfm)
		return;
	libpfm->terminate();
	dlclose(libpfm->library);
	free(libpfm);
}
