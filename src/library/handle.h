/* The handle of a caller: which thread may use it now, and the sentences of its last errors.
 *
 *   handle_enter ─► OK: this thread alone is inside ─► … ─► handle_leave
 *
 * The handle outlives the engine, so that a call after hearsay_close returns an error instead of
 * crashing. Held by tests/unit/library/test_misuse.c.
 */
#ifndef HEARSAY_LIBRARY_HANDLE_H
#define HEARSAY_LIBRARY_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/error.h"
#include "hearsay.h"
#include "library/engine.h"
#include "library/note_queue.h"

#define HANDLE_ERRORS (HEARSAY_ENDED + 1)

struct hearsay {
    pid_t process;       /* process that opened the node */
    atomic_flag is_busy; /* a thread is inside a call */
    /* Protects the members below; the caller's thread reads them without it. */
    pthread_mutex_t gate;
    struct engine *engine;                   /* the running node; NULL = closed */
    struct hearsay_info last;                /* numbers of the node when the engine was closed */
    struct note_queue notes;                 /* notes of the node, for any thread */
    struct problem sentences[HANDLE_ERRORS]; /* last sentence of each error; "" = none */
};

struct hearsay *handle_new(void);
void handle_free(struct hearsay *node);

/* Enters a call. Returns OK if the node is open; this thread is then alone inside until
 * handle_leave, in the C locale. */
int handle_enter(struct hearsay *node);
/* As handle_enter, also for a closed node. */
int handle_enter_any(struct hearsay *node);
void handle_leave(struct hearsay *node);
/* Stores the sentence (printf format) and returns error. */
int handle_fail(struct hearsay *node, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Calls handle_leave and returns the error. */
int handle_return(struct hearsay *node, int error);

void handle_lock(struct hearsay *node);
void handle_unlock(struct hearsay *node);

/* Returns the general meaning of an error; "" for an unknown number. */
const char *handle_meaning(int error);

#endif
