/* fnmatch(3) without flags. */
#ifndef WINDOWS_FNMATCH_H
#define WINDOWS_FNMATCH_H

enum { FNM_NOMATCH = 1 };

int fnmatch(const char *pattern, const char *text, int flags);

#endif
