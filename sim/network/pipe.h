/* A pipe: a bottleneck link, a FIFO queue with tail drop before a server of a given rate.
 *
 *   now ─► [ queue ≤ PIPE_QUEUE_NS of work ] ─► bytes / rate ─► leaves
 *                 └ full: dropped, sent again one round trip later
 *
 * A node has an up and a down pipe; each ordered pair of regions has one that all their nodes
 * share. A pipe without a rate is infinitely fast. The departure is known on arrival, so a pipe
 * costs no event, and must be entered in order of time. Held by tests/unit/sim/test_wire.c.
 */
#ifndef HEARSAY_SIM_NETWORK_PIPE_H
#define HEARSAY_SIM_NETWORK_PIPE_H

#include "scenario/scenario.h"
#include "world/event_queue.h"

#define PIPE_QUEUE_NS (MILLI_NS * 400) /* work that may wait: about the queue of a home router */

struct pipe {
    const struct rate *rate; /* rate over time; NULL: no limit */
    uint64_t origin_ns;      /* the time from which those of rate and stalls count */
    uint64_t stall_ns;       /* length of a periodic stall */
    uint64_t stall_every_ns; /* period of the stalls; 0: none */
    uint64_t clogged_ns;     /* a clog lets next to nothing pass until then */
    uint64_t free_ns;        /* when everything inside will have left */
    uint64_t bytes;          /* bytes carried so far */
    double busy_s;           /* seconds of work so far, from which utilisation follows */
};

/* When `bytes` that arrive now depart. A drop adds again_ns and sets *lost. */
uint64_t pipe_pass(struct pipe *pipe, uint64_t now_ns, uint64_t bytes, uint64_t again_ns,
                   bool *lost);

/* Begin a clog that lasts until then. */
void pipe_clog(struct pipe *pipe, uint64_t until_ns);
/* End the clog now. What is inside departs when it would have; what enters now does not wait for
 * it. */
void pipe_unclog(struct pipe *pipe, uint64_t now_ns);

/* Bytes per second now, whatever clogs it; 0: no limit. */
uint64_t pipe_rate(const struct pipe *pipe, uint64_t now_ns);

static inline bool pipe_is_limited(const struct pipe *pipe)
{
    return (pipe->rate && (pipe->rate->bytes_per_s || pipe->rate->changes)) ||
           pipe->stall_every_ns || pipe->clogged_ns;
}

#endif
