#include "events/event_queue.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

#define CHILDREN 4 /* children of each heap entry: siblings share cache lines */

void event_queue_init(struct event_queue *queue, uint64_t now_ns)
{
    *queue = (struct event_queue){.now_ns = now_ns};
}

void event_queue_free(struct event_queue *queue)
{
    free(queue->heap);
    queue->heap = NULL;
}

static bool before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void event_queue_put(struct event_queue *queue, uint64_t at_ns, uint32_t kind, uint32_t who,
                     uint64_t subject, uint64_t amount)
{
    if (queue->count == queue->max) {
        queue->max = queue->max ? 2 * queue->max : 256;
        queue->heap = memory_more(queue->heap, queue->max, sizeof *queue->heap);
    }
    const struct event event = {.at_ns = at_ns < queue->now_ns ? queue->now_ns : at_ns,
                                .order = queue->order++,
                                .subject = subject,
                                .kind = kind,
                                .who = who,
                                .amount = amount};
    size_t at = queue->count++;
    for (; at > 0 && before(&event, &queue->heap[(at - 1) / CHILDREN]); at = (at - 1) / CHILDREN)
        queue->heap[at] = queue->heap[(at - 1) / CHILDREN];
    queue->heap[at] = event;
}

static size_t least_child(const struct event_queue *queue, size_t at)
{
    const size_t first = CHILDREN * at + 1;
    size_t least = first;
    for (size_t child = first + 1; child < first + CHILDREN && child < queue->count; child++)
        if (before(&queue->heap[child], &queue->heap[least]))
            least = child;
    return least;
}

struct event event_queue_take(struct event_queue *queue)
{
    CHECK(queue->count > 0);
    const struct event first = queue->heap[0];
    const struct event last = queue->heap[--queue->count];
    size_t at = 0;
    while (CHILDREN * at + 1 < queue->count) {
        const size_t child = least_child(queue, at);
        if (!before(&queue->heap[child], &last))
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
    queue->now_ns = first.at_ns;
    queue->taken++;
    return first;
}
