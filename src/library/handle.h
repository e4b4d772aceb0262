/* The caller's handle for a node: lets one thread enter at a time, and stores the last errors.
 *
 *   handle_enter ─► OK: only this thread is inside ─► … ─► handle_leave
 *
 * The handle outlives the engine, so that a call after hearsay_close returns an error instead of
 * crashing. Tests: tests/unit/library/test_misuse.c.
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
    atomic_flag is_busy; /* a thread is inside a call of the library */
    /* Protects engine, last and sentences. The thread inside a call may read engine and last
     * without locking it. */
    pthread_mutex_t gate;
    struct engine *engine;    /* NULL = closed */
    struct hearsay_info last; /* numbers at the time when the engine was closed */
    struct note_queue notes;
    /* message of the last failure with each error; "" = none */
    struct problem sentences[HANDLE_ERRORS];
};

struct hearsay *handle_new(void);
void handle_free(struct hearsay *node);

/* Enters a call of the library. After HEARSAY_OK the node is open, and this thread is in the C
 * locale and the only one inside until handle_leave. */
int handle_enter(struct hearsay *node);
/* Like handle_enter, but also enters if the node is closed. */
int handle_enter_any(struct hearsay *node);
void handle_leave(struct hearsay *node);
/* Stores the message (printf format) for `error`, and returns `error`. */
int handle_fail(struct hearsay *node, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Like handle_fail, with the general explanation as the message. */
int handle_fail_plainly(struct hearsay *node, int error);
/* Calls handle_leave and returns `error`. */
int handle_return(struct hearsay *node, int error);

void handle_lock(struct hearsay *node);
void handle_unlock(struct hearsay *node);

/* Returns a general explanation of an error; "" for an unknown number. */
const char *handle_meaning(int error);

#endif
