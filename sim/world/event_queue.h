/* The event queue of a discrete-event simulation: a heap ordered by (virtual time, insertion).
 *
 * Events at one time are taken in the order in which they were put, so a run is one sequence of
 * events, the same every time. Held by tests/unit/sim/test_event_queue.c.
 */
#ifndef HEARSAY_SIM_WORLD_EVENT_QUEUE_H
#define HEARSAY_SIM_WORLD_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define SECOND_NS ((uint64_t)1000000000)
#define MILLI_NS  ((uint64_t)1000000)
#define NEVER_NS  UINT64_MAX

struct event {
    uint64_t at_ns;   /* virtual time */
    uint64_t order;   /* breaks ties: number of the insertion */
    uint64_t subject; /* connection, incarnation or fault that it is about */
    uint32_t kind;    /* enum world_event or enum wire_event */
    uint32_t who;     /* the node, or the end of a connection */
    uint64_t amount;  /* bytes, or what else the kind needs */
};

struct event_queue {
    uint64_t now_ns;    /* virtual time of the last event taken */
    struct event *heap; /* [count] */
    size_t count;       /* events waiting */
    size_t max;         /* room in the heap */
    uint64_t order;     /* events put so far */
    uint64_t taken;     /* events taken so far */
};

void event_queue_init(struct event_queue *queue, uint64_t now_ns);
void event_queue_free(struct event_queue *queue);

/* An at_ns before now means now. */
void event_queue_put(struct event_queue *queue, uint64_t at_ns, uint32_t kind, uint32_t who,
                     uint64_t subject, uint64_t amount);

/* NEVER_NS when it is empty. */
static inline uint64_t event_queue_next_ns(const struct event_queue *queue)
{
    return queue->count ? queue->heap[0].at_ns : NEVER_NS;
}

/* Takes the first event and moves now to its time. The queue must not be empty. */
struct event event_queue_take(struct event_queue *queue);

#endif
