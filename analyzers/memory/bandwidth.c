/* Bytes that went to and from memory, as memory controllers count them (group memory of perf_event), of the machine and of each
 * socket. What a memory can carry depends on its modules and channels: nobody but who measured it knows, so a share is told only of what
 * was configured. */
#include <stdlib.h>

#include "memory.h"

static const char bandwidth_origin[] = "perf_event_memory bytes_read, bytes_written";

/* The socket of a CPU, whose number is the key; -1: not known. */
static double socket_of(struct sonde_instance *self, const char *cpu)
{
	const struct sonde_series *series = sonde_series_of(self, SOCKETS, cpu, NULL);

	return series ? series->total.last : -1;
}

/* A controller is read on a CPU of its socket, and the CPUs of one may differ from controller to controller. */
static void tell_socket(struct sonde_instance *self, double socket)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, BANDWIDTH_OF, &count);
	struct sonde_metric metric = {
		.name = "mem.bandwidth",
		.unit = SONDE_BASE_BYTES,
		.direction = SONDE_NEITHER,
		.counted = "/s",
		.origin = bandwidth_origin,
	};
	struct sonde_words about;

	for (uint32_t i = 0; i < count; i++)
		if (socket_of(self, series[i].key) == socket)
			metric.value += sonde_mean(&series[i].total);
	metric.about = sonde_say(&about, "socket %.0f", socket);
	sonde_metric(self, &metric);
}

static void tell_sockets(struct sonde_instance *self)
{
	uint32_t count;
	const struct sonde_series *series = sonde_series(self, BANDWIDTH_OF, &count);

	for (uint32_t i = 0; i < count; i++) {
		double socket = socket_of(self, series[i].key);
		uint32_t first = 0;

		while (socket_of(self, series[first].key) != socket)
			first++;
		if (socket >= 0 && first == i)
			tell_socket(self, socket);
	}
}

void memory_bandwidth(struct sonde_instance *self)
{
	static const struct sonde_mean_metric rate = {
		BANDWIDTH, "mem.bandwidth", SONDE_BASE_BYTES, SONDE_NEITHER, "/s", bandwidth_origin
	};
	const struct conf *conf = self->conf;
	const struct sonde_series *series = sonde_single(self, BANDWIDTH);
	const struct sonde_metric share = {
		.name = "mem.bandwidth_share",
		.about = "",
		.value = series && conf->bandwidth > 0
				 ? sonde_mean(&series->total) / conf->bandwidth
				 : 0,
		.unit = SONDE_BASE_RATIO,
		.direction = SONDE_NEITHER,
		.origin =
			"perf_event_memory bytes_read, bytes_written, of the key memory_bandwidth",
	};

	sonde_mean_metrics(self, &rate, 1);
	if (series && conf->bandwidth > 0)
		sonde_metric(self, &share);
	tell_sockets(self);
}
