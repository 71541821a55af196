/* Any bytes as a configuration file: read, options filled of every type, and each mistake told on one line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/filter.h"
#include "host/options.h"

struct conf {
	uint64_t count, age, size;
	double share;
	const char *path;
	struct sonde_list event;
	struct sonde_cpulist cpus;
	uint32_t on, mode;
};

#define AT(field) offsetof(struct conf, field)

static const struct sonde_option options[] = {
	{ "on", SONDE_OPT_BOOL, AT(on), "yes", NULL, 0, 0, "" },
	{ "mode", SONDE_OPT_CHOICE, AT(mode), "slow", "fast|slow|never", 0, 0, "" },
	{ "count", SONDE_OPT_U64, AT(count), "7", NULL, 1, 1000, "" },
	{ "age", SONDE_OPT_DURATION, AT(age), "1s", NULL, 0, 3.6e12, "" },
	{ "size", SONDE_OPT_SIZE, AT(size), "64KiB", NULL, 0, 0, "" },
	{ "share", SONDE_OPT_F64, AT(share), "0.25", NULL, 0, 1, "" },
	{ "path", SONDE_OPT_STRING, AT(path), "", NULL, 0, 0, "" },
	{ "event", SONDE_OPT_LIST, AT(event), "", NULL, 0, 0, "" },
	{ "cpus", SONDE_OPT_CPULIST, AT(cpus), "", NULL, 0, 0, "" },
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_values(const struct conf *conf)
{
	require(conf->on <= 1 && conf->mode <= 2);
	require(conf->count <= 1000 && conf->share >= 0 && conf->share <= 1);
	require(conf->age <= 3600000000000u);
	require(strlen(conf->path) < 4096);
	for (uint32_t i = 0; i < conf->event.count; i++)
		require(conf->event.items[i][0] != '\0');
	for (uint32_t i = 1; i < conf->cpus.count; i++)
		require(conf->cpus.ids[i - 1] < conf->cpus.ids[i]);
}

static void fill(struct config *config)
{
	for (size_t i = 0; i < config->nsections; i++) {
		struct options_memory *memory = NULL;
		struct filter_options filter = { 0 };
		struct conf conf = { 0 };
		const struct options_target targets[] = {
			{ options, sizeof options / sizeof options[0], &conf },
			{ filter_keys, filter_nkeys, &filter },
		};
		struct filter *made;
		char why[256];

		require(strcspn(config->sections[i].name, "\n\r[]") ==
			strlen(config->sections[i].name));
		for (size_t j = 0; j < i; j++)
			require(strcmp(config->sections[i].name, config->sections[j].name) != 0);
		if (options_fill(config, &config->sections[i], targets, 2, &memory) == 0) {
			check_values(&conf);
			if (filter_new(&filter, &made, why, sizeof why) == 0)
				filter_free(made);
		}
		filter_check(config, &config->sections[i]);
		options_free(memory);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct config config = { 0 };
	char path[64];
	int fd;

	/* What would be read from elsewhere is no part of the input. */
	if (memmem(bytes, length, "include", 7) || memmem(bytes, length, "${", 2))
		return 0;
	fd = memfd_create("a.ini", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	config_read(&config, path);
	close(fd);
	fill(&config);
	for (size_t i = 0; i < config.nerrors; i++)
		require(strncmp(config.errors[i], path, strlen(path)) == 0 &&
			!strchr(config.errors[i], '\n'));
	config_free(&config);
	return 0;
}
