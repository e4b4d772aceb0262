#include "world/event_queue.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

#define CHILDREN 4 /* of each place in the heap: flatter than two, and they share a cache line */

void event_queue_init(struct event_queue *event_queue, uint64_t now_ns)
{
    *event_queue = (struct event_queue){.now_ns = now_ns};
}

void event_queue_free(struct event_queue *event_queue)
{
    free(event_queue->heap);
    event_queue->heap = NULL;
}

static bool before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void event_queue_put(struct event_queue *event_queue, uint64_t at_ns, uint32_t kind, uint32_t who,
                     uint64_t subject, uint64_t amount)
{
    if (event_queue->count == event_queue->max) {
        event_queue->max = event_queue->max ? 2 * event_queue->max : 256;
        event_queue->heap =
            realloc(event_queue->heap, event_queue->max * sizeof *event_queue->heap);
        CHECK(event_queue->heap);
    }
    const struct event event = {.at_ns = at_ns < event_queue->now_ns ? event_queue->now_ns : at_ns,
                                .order = event_queue->order++,
                                .subject = subject,
                                .kind = kind,
                                .who = who,
                                .amount = amount};
    size_t at = event_queue->count++;
    for (; at > 0 && before(&event, &event_queue->heap[(at - 1) / CHILDREN]);
         at = (at - 1) / CHILDREN)
        event_queue->heap[at] = event_queue->heap[(at - 1) / CHILDREN];
    event_queue->heap[at] = event;
}

static size_t least_child(const struct event_queue *event_queue, size_t at)
{
    const size_t first = CHILDREN * at + 1;
    size_t least = first;
    for (size_t child = first + 1; child < first + CHILDREN && child < event_queue->count; child++)
        if (before(&event_queue->heap[child], &event_queue->heap[least]))
            least = child;
    return least;
}

struct event event_queue_take(struct event_queue *event_queue)
{
    CHECK(event_queue->count > 0);
    const struct event first = event_queue->heap[0];
    const struct event last = event_queue->heap[--event_queue->count];
    size_t at = 0;
    while (CHILDREN * at + 1 < event_queue->count) {
        const size_t child = least_child(event_queue, at);
        if (!before(&event_queue->heap[child], &last))
            break;
        event_queue->heap[at] = event_queue->heap[child];
        at = child;
    }
    event_queue->heap[at] = last;
    event_queue->now_ns = first.at_ns;
    event_queue->taken++;
    return first;
}
