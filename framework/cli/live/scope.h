/* A command in a transient systemd scope (systemd-run(1), systemd.scope(5)): a control group that holds whatever the command
 * starts, whoever becomes its parent. */
#ifndef CLI_SCOPE_H
#define CLI_SCOPE_H

#include <stdbool.h>

struct scope {
	char unit[64], option[80]; /* its name, and as systemd-run takes it */
	char **words;              /* systemd-run's, then the command's; to be freed */
};

/* How the command is run in a scope: of the user's systemd, as root of the machine's. False, and said in one line, where systemd
 * does not run here: then the command runs as it is. */
bool scope_make(struct scope *scope, char **command);

#endif
