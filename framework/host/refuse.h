/* One sentence on why something is refused. */
#ifndef HOST_REFUSE_H
#define HOST_REFUSE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Formats the sentence into `why` and returns -EINVAL, to be returned. */
__attribute__((format(printf, 3, 4))) static inline int refuse(char *why, size_t size,
							       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return -EINVAL;
}

#endif
