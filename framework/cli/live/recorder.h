/* What a live recording is made of: its collectors, of the machine, a process or a command, and its file. The verbs that
 * record fill it in and run it. */
#ifndef CLI_RECORDER_H
#define CLI_RECORDER_H

#include "cli/cli.h"
#include "cli/live/command.h"

enum { EVENTS_MOST = 32, ALSO_MOST = 32 };

struct recorder {
	struct pipeline_options run; /* duration, max_instants, label, escorts: the verb's */
	const char *output;          /* "-" is stdout; NULL: a new file with the date in its name */
	char *root;
	uint64_t interval;               /* 0: 100 ms with a command, else 1 s */
	uint64_t pid;                    /* of all processes only this one; 0: no */
	const char *cgroup;              /* only those of this control group; NULL: no */
	const char *events[EVENTS_MOST]; /* counted besides; NULL ends them */
	const char *also
		[ALSO_MOST]; /* beside the command: pids, names, control groups; NULL ends them */
	const char *scope;   /* systemd unit in which the command runs; NULL: none */
	bool outsiders;      /* who else used the CPUs is wanted */
	bool network, capture, quiet;
	bool children;           /* of pid the descendants too */
	bool exits;              /* what each task used is wanted, told at its end */
	char path[4096];         /* of the file, "" for stdout; from recorder_open() */
	char profile_path[4096]; /* collectors of a profile; "": those of every recording */
	struct command command;  /* words NULL: none */
};

/* Where it goes is chosen and may be written. An exit status, said where it is not EXIT_DONE. */
int recorder_open(struct recorder *recorder);

/* Records until something ends it. With run.escorts it waits for the command's end, come what may. An exit status, said;
 * where the command never ran 126 or 127, and no file is left. */
int recorder_run(struct recorder *recorder);

#endif
