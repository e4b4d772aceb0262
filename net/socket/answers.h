/* Answers for programs on this machine: whoever connects to a unix socket is written one text, and
 * the connection is closed. A part of the transport, which owns the event loop.
 *
 * ANSWERS_ASKERS_MAX are answered at once, others wait at the socket; one that does not read is
 * dropped after ANSWERS_PATIENCE_MS. Held by tests/unit/commands/test_answer.c.
 */
#ifndef HEARSAY_NET_SOCKET_ANSWERS_H
#define HEARSAY_NET_SOCKET_ANSWERS_H

#include <stdbool.h>
#include <uv.h>

#define ANSWERS_ASKERS_MAX  4
#define ANSWERS_PATIENCE_MS 2000

/* A program that asks. */
struct asker {
    struct answers *answers; /* it belongs to */
    int handles;             /* open or being closed; 0: this slot is free */
    uv_pipe_t pipe;
    uv_timer_t patience; /* when it is over, the asker is dropped */
    uv_write_t write;
    char *text; /* malloc */
};

struct answers {
    char *(*make)(void *self, size_t *count); /* the text, by malloc */
    void *self;                               /* passed to it */
    bool are_open;                            /* door is in use */
    bool asker_waits;                         /* at the door, for a free slot */
    uv_pipe_t door;
    struct asker askers[ANSWERS_ASKERS_MAX];
};

/* The bound socket is theirs from now on. answers is zeroed but for make and self. */
void answers_open(struct answers *answers, uv_loop_t *loop, int socket);
/* The loop has to run once more before the memory goes. */
void answers_close(struct answers *answers);

#endif
