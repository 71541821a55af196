/* Another machine's /proc and /sys, captured into a folder, as a verb is given it. */
#ifndef CLI_LIVE_ROOT_H
#define CLI_LIVE_ROOT_H

/* The absolute path of --root, to be freed. NULL, and said in one line, where it is no folder that holds a proc or a sys. */
char *root_folder(const char *path);

#endif
