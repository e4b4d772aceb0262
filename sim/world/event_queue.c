#include "world/event_queue.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

#define CHILDREN 4 /* of each place in the heap: flatter than two, and they share a cache line */

void agenda_init(struct agenda *agenda, uint64_t now_ns)
{
    *agenda = (struct agenda){.now_ns = now_ns};
}

void agenda_free(struct agenda *agenda)
{
    free(agenda->heap);
    agenda->heap = NULL;
}

static bool before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void agenda_put(struct agenda *agenda, uint64_t at_ns, uint32_t kind, uint32_t who,
                uint64_t subject, uint64_t amount)
{
    if (agenda->count == agenda->max) {
        agenda->max = agenda->max ? 2 * agenda->max : 256;
        agenda->heap = realloc(agenda->heap, agenda->max * sizeof *agenda->heap);
        CHECK(agenda->heap);
    }
    const struct event event = {.at_ns = at_ns < agenda->now_ns ? agenda->now_ns : at_ns,
                                .order = agenda->order++,
                                .subject = subject,
                                .kind = kind,
                                .who = who,
                                .amount = amount};
    size_t at = agenda->count++;
    for (; at > 0 && before(&event, &agenda->heap[(at - 1) / CHILDREN]); at = (at - 1) / CHILDREN)
        agenda->heap[at] = agenda->heap[(at - 1) / CHILDREN];
    agenda->heap[at] = event;
}

static size_t least_child(const struct agenda *agenda, size_t at)
{
    const size_t first = CHILDREN * at + 1;
    size_t least = first;
    for (size_t child = first + 1; child < first + CHILDREN && child < agenda->count; child++)
        if (before(&agenda->heap[child], &agenda->heap[least]))
            least = child;
    return least;
}

struct event agenda_take(struct agenda *agenda)
{
    CHECK(agenda->count > 0);
    const struct event first = agenda->heap[0];
    const struct event last = agenda->heap[--agenda->count];
    size_t at = 0;
    while (CHILDREN * at + 1 < agenda->count) {
        const size_t child = least_child(agenda, at);
        if (!before(&agenda->heap[child], &last))
            break;
        agenda->heap[at] = agenda->heap[child];
        at = child;
    }
    agenda->heap[at] = last;
    agenda->now_ns = first.at_ns;
    agenda->taken++;
    return first;
}
