/* A pipe: one bottleneck. What enters leaves in its order, at the pipe's rate.
 *
 *   now ─► [ waiting ≤ QUEUE_NS of work ] ─► bytes / rate ─► leaves
 *                 └ no room: lost, sent again one round trip later
 *
 * A node has one up and one down; a pair of regions may share one each way. A pipe without a rate
 * is as fast as you like. The time of leaving is known when something enters, so a pipe costs no
 * event; therefore enter in the order of time. Held by tests/unit/sim/test_wire.c.
 */
#ifndef HEARSAY_SIM_NETWORK_PIPE_H
#define HEARSAY_SIM_NETWORK_PIPE_H

#include "world/event_queue.h"
#include "scenario/scenario.h"

#define PIPE_QUEUE_NS (MILLI_NS * 400) /* of work that may wait: about what home routers hold */

struct pipe {
    const struct rate *rate; /* NULL: no limit */
    uint64_t stall_ns;       /* stands still so long ... */
    uint64_t stall_every_ns; /* ... each time so much has passed; 0: never */
    uint64_t clogged_ns;     /* carries next to nothing until then */
    uint64_t free_ns;        /* when what is in it will have left */
    uint64_t bytes;          /* carried so far */
    double busy_s;           /* time it was at work, for its use */
};

/* When `bytes` that enter now leave. A loss adds again_ns and sets *lost. */
uint64_t pipe_pass(struct pipe *pipe, uint64_t now_ns, uint64_t bytes, uint64_t again_ns,
                   bool *lost);

/* It carries next to nothing until then. */
void pipe_clog(struct pipe *pipe, uint64_t until_ns);
/* The clog is gone earlier: what enters from now on is not kept, what is in it leaves when it would
 * have. */
void pipe_unclog(struct pipe *pipe, uint64_t now_ns);

static inline bool pipe_is_limited(const struct pipe *pipe)
{
    return (pipe->rate && (pipe->rate->bytes_per_s || pipe->rate->changes)) ||
           pipe->stall_every_ns || pipe->clogged_ns;
}

#endif
