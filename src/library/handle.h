/* The handle that a caller holds: who may use it now, and what went wrong last.
 *
 *   handle_enter ─► OK: this thread alone is inside ─► … ─► handle_leave
 *
 * It outlives the engine, so that a call after hearsay_close is an error and no crash. Held by
 * tests/unit/library/test_misuse.c.
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
    pid_t process;            /* that opened it */
    atomic_flag is_busy;      /* a thread is inside a call */
    pthread_mutex_t gate;     /* of what follows; the caller's thread reads without */
    struct engine *engine;    /* NULL: closed */
    struct hearsay_info last; /* as it was when the engine was closed */
    struct note_queue notes;  /* what the node has to say; any thread's */
    struct problem sentences[HANDLE_ERRORS]; /* the last of each error; "": there was none */
};

struct hearsay *handle_new(void);
void handle_free(struct hearsay *node);

/* OK: the node is open, and this thread is alone inside until handle_leave. Numbers are read and
 * written in the C locale there. */
int handle_enter(struct hearsay *node);
/* The same, of one that may be closed. */
int handle_enter_any(struct hearsay *node);
void handle_leave(struct hearsay *node);
/* Returns error, and keeps the sentence (printf format). */
int handle_fail(struct hearsay *node, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* handle_leave, and the error. */
int handle_return(struct hearsay *node, int error);

void handle_lock(struct hearsay *node);
void handle_unlock(struct hearsay *node);

/* Returns the general meaning of an error; "" for an unknown number. */
const char *handle_meaning(int error);

#endif
