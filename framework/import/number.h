/* Numbers as tools print them for people: with decimal points or commas, with digits in groups. */
#ifndef IMPORT_NUMBER_H
#define IMPORT_NUMBER_H

#include <stdbool.h>

/* Digits with points, commas or apostrophes. `groups`: such a mark may group digits, and does where it is the only one of a `whole`
 * number, or stands there twice; else the only one is the decimal mark. False where it is none, or not finite. */
bool import_number(const char *text, bool groups, bool whole, double *value);

#endif
