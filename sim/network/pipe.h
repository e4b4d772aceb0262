/* A pipe models a bottleneck link: a FIFO queue with tail drop before a server of a given rate.
 *
 *   now ─► [ queue ≤ PIPE_QUEUE_NS of work ] ─► bytes / rate ─► leaves
 *                 └ full: dropped, sent again one round trip later
 *
 * Each node has an up and a down pipe. Each ordered pair of regions has one pipe, shared by their
 * nodes. A pipe without a rate is infinitely fast. The departure is computed on arrival, so a pipe
 * needs no events but must be entered in order of time. Tests: tests/unit/sim/test_wire.c.
 */
#ifndef HEARSAY_SIM_NETWORK_PIPE_H
#define HEARSAY_SIM_NETWORK_PIPE_H

#include "scenario/scenario.h"
#include "world/event_queue.h"

#define PIPE_QUEUE_NS (MILLI_NS * 400) /* most queued work; about the queue of a home router */

struct pipe {
    const struct rate *rate; /* rate over time; NULL = unlimited */
    uint64_t origin_ns;      /* origin of the times of rate and stalls */
    uint64_t stall_ns;       /* length of a periodic stall */
    uint64_t stall_every_ns; /* period of the stalls; 0 = none */
    uint64_t clogged_ns;     /* end of a clog, which lets next to nothing pass */
    uint64_t free_ns;        /* when all queued bytes will have left */
    uint64_t bytes;          /* bytes carried so far */
    double busy_s;           /* seconds of work so far, for the utilisation */
};

/* Returns when `bytes` that arrive now depart. A dropped segment adds again_ns and sets *lost. */
uint64_t pipe_pass(struct pipe *pipe, uint64_t now_ns, uint64_t bytes, uint64_t again_ns,
                   bool *lost);

/* Starts a clog that lasts until until_ns. */
void pipe_clog(struct pipe *pipe, uint64_t until_ns);
/* Ends the clog. Queued bytes depart as computed before; later ones do not wait for them. */
void pipe_unclog(struct pipe *pipe, uint64_t now_ns);

/* Returns the current bytes per second without clogs; 0 = unlimited. */
uint64_t pipe_rate(const struct pipe *pipe, uint64_t now_ns);

static inline bool pipe_is_limited(const struct pipe *pipe)
{
    return (pipe->rate && (pipe->rate->bytes_per_s || pipe->rate->changes)) ||
           pipe->stall_every_ns || pipe->clogged_ns;
}

#endif
