/* The host's log: one line a message on stderr, rate-limited by text. Any thread. */
#ifndef HOST_LOG_H
#define HOST_LOG_H

#include <sonde/host.h>

/* Messages above this level are left out. */
void log_level(enum sonde_level most);

/* `section` is the one it is about, or NULL. Foreign bytes in the message are escaped. The same text of the same section
 * appears once a minute; how often it was held back is said with the next. */
__attribute__((format(printf, 3, 4))) void log_line(enum sonde_level level, const char *section,
						    const char *format, ...);

#endif
