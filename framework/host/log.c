/* The host's log. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <sonde/escape.h>

#include "core/clock.h"
#include "host/log.h"

enum { REMEMBERED = 64, MESSAGE = 512 };

static const uint64_t quiet_ns = 60ull * NS_PER_S;

static const char *const words[] = {
	[SONDE_ERROR] = "error: ",
	[SONDE_WARNING] = "warning: ",
	[SONDE_NOTICE] = "",
	[SONDE_DEBUG] = "debug: ",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int level_most = SONDE_NOTICE;

/* What was said lately. */
static struct said {
	uint64_t hash, at, held_back;
} said[REMEMBERED];

void log_level(enum sonde_level most)
{
	atomic_store(&level_most, (int)most);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash * 0x100000001b3u;
}

/* Whether it may be said now; *before: how often it was not, since the last time. */
static bool admit(uint64_t hash, uint64_t *before)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	struct said *oldest = &said[0];

	*before = 0;
	for (int i = 0; i < REMEMBERED; i++) {
		struct said *s = &said[i];

		if (s->hash == hash && s->at && now - s->at < quiet_ns) {
			s->held_back++;
			return false;
		}
		if (s->hash == hash && s->at) {
			*before = s->held_back;
			oldest = s;
			break;
		}
		if (s->at < oldest->at)
			oldest = s;
	}
	*oldest = (struct said) { .hash = hash, .at = now };
	return true;
}

void log_line(enum sonde_level level, const char *section, const char *format, ...)
{
	char message[MESSAGE], safe[2 * MESSAGE], line[2 * MESSAGE + 200];
	uint64_t before;
	va_list args;
	bool say;
	int n;

	if ((int)level > atomic_load(&level_most))
		return;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	say = admit(hash_text(hash_text(0xcbf29ce484222325u, section ? section : ""), message),
		    &before);
	pthread_mutex_unlock(&lock);
	if (!say)
		return;
	sonde_escape(message, strlen(message), safe, sizeof safe);
	n = snprintf(line, sizeof line, "sonde: %s%s%.64s%s%s", words[level], section ? "[" : "",
		     section ? section : "", section ? "]: " : "", safe);
	if (before && n > 0 && (size_t)n < sizeof line)
		n += snprintf(line + n, sizeof line - (size_t)n, " (%llu times more since)",
			      (unsigned long long)before);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* nobody is left to be told */
}
