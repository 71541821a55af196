/* What a runtime runs: of java, node, python and the like the name says nothing. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>

/* The class, archive or script that a command line (/proc/PID/cmdline: arguments, each with a NUL) has a runtime run, without its
 * folder: "GradleDaemon", "tsserver.js". Its length, and *program in the text; 0 where the command is no runtime, or that
 * is not to be seen. Nothing else of a command line leaves the collector. */
size_t program_of(const char *text, size_t length, const char **program);

#endif
