/* The event queue of a discrete-event simulation: a heap ordered by (virtual time, insertion).
 *
 * Events at one time are taken in the order of insertion, so runs are reproducible.
 * Tests: tests/unit/sim/test_event_queue.c.
 */
#ifndef HEARSAY_SIM_EVENTS_EVENT_QUEUE_H
#define HEARSAY_SIM_EVENTS_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/time_units.h"

#define NEVER_NS UINT64_MAX

struct event {
    uint64_t at_ns;
    uint64_t order;   /* number of the insertion; orders events of equal time */
    uint64_t subject; /* connection, incarnation or fault, depending on the kind */
    uint32_t kind;    /* value of enum world_event, enum wire_event or the like */
    uint32_t who;     /* node, worker, or end of a connection, depending on the kind */
    uint64_t amount;  /* number of bytes, or another number, depending on the kind */
};

struct event_queue {
    uint64_t now_ns;    /* virtual time, at least that of the last event taken */
    struct event *heap; /* [count] waiting events */
    size_t count;
    size_t max;     /* capacity of heap */
    uint64_t order; /* events inserted so far */
    uint64_t taken;
};

void event_queue_init(struct event_queue *queue, uint64_t now_ns);
void event_queue_free(struct event_queue *queue);

/* Inserts an event. An at_ns before now means now. */
void event_queue_put(struct event_queue *queue, uint64_t at_ns, uint32_t kind, uint32_t who,
                     uint64_t subject, uint64_t amount);

/* Returns NEVER_NS if the queue is empty. */
static inline uint64_t event_queue_next_ns(const struct event_queue *queue)
{
    return queue->count ? queue->heap[0].at_ns : NEVER_NS;
}

/* Also sets now_ns to the event's time. The queue must not be empty. */
struct event event_queue_take(struct event_queue *queue);

#endif
