/* The agenda: what happens next, ordered by (time, sequence). Virtual time is a number.
 *
 * Two events at one moment happen in the order in which they were put: so a run is one sequence
 * of events, the same every time. A heap of small records; what an event is about lies elsewhere.
 */
#ifndef HEARSAY_SIM_WORLD_EVENT_QUEUE_H
#define HEARSAY_SIM_WORLD_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define SECOND_NS ((uint64_t)1000000000)
#define MILLI_NS  ((uint64_t)1000000)
#define NEVER_NS  UINT64_MAX

struct event {
    uint64_t at_ns;
    uint64_t order;
    uint64_t subject; /* which line, life, fault ... */
    uint32_t kind;
    uint32_t who;    /* the node, or the end of a line */
    uint64_t amount; /* bytes, mostly */
};

struct event_queue {
    uint64_t now_ns;
    struct event *heap;
    size_t count;
    size_t max;
    uint64_t order;
    uint64_t taken; /* events so far */
};

void event_queue_init(struct event_queue *event_queue, uint64_t now_ns);
void event_queue_free(struct event_queue *event_queue);

/* at_ns in the past means now. */
void event_queue_put(struct event_queue *event_queue, uint64_t at_ns, uint32_t kind, uint32_t who,
                     uint64_t subject, uint64_t amount);

/* NEVER_NS when it is empty. */
static inline uint64_t event_queue_next_ns(const struct event_queue *event_queue)
{
    return event_queue->count ? event_queue->heap[0].at_ns : NEVER_NS;
}

/* The first event; now is its time. Not when it is empty. */
struct event event_queue_take(struct event_queue *event_queue);

#endif
