/* The analysis while it lives: a thread behind a ring folds instants, judges every so often, and says what opened, holds
 * and closed; or, where the whole is what counts, judges once at the end. */
#ifndef HOST_JUDGE_H
#define HOST_JUDGE_H

#include "core/ring.h"
#include "host/instance.h"

struct judge;
struct analysis; /* window/analysis.h */

/* `length` of the run in ns where it is known to end, UINT64_MAX where it ends with a command; 0: until stopped. */
struct judge *judge_new(struct stream *stream, uint64_t length);
void judge_free(struct judge *judge);

/* An analyzer that was started, into any analysis: its streams, how long they have to hold, what is ignored. 0; -EINVAL and a sentence
 * in `why`; -ENOMEM. */
int judge_teach(struct analysis *analysis, struct instance *instance, char *why, size_t size);

/* An analyzer that was started. 0, or -EINVAL and a sentence in `why`. */
int judge_add(struct judge *judge, struct instance *instance, char *why, size_t size);

/* What is open for `from`, which was stopped, goes on. */
void judge_inherit(struct judge *judge, struct judge *from);

/* 0 or negative errno. */
int judge_start(struct judge *judge);

/* No more instants: judges once more, of everything, into the stream. 0 or -ETIMEDOUT. */
int judge_stop(struct judge *judge, uint64_t deadline);

#endif
