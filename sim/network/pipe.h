/* A pipe models a bottleneck link: a FIFO queue with tail drop before a server of a given rate.
 *
 *   now ─► [ queue ≤ PIPE_QUEUE_NS of work ] ─► bytes / rate ─► leaves
 *                 └ full: dropped, sent again one round trip later
 *
 * Each host has an up and a down pipe. Each ordered pair of regions has one pipe, shared by their
 * hosts. A segment's departure is computed on its arrival, so a pipe needs no events, but segments
 * must enter in order of time. Tests: tests/unit/sim/test_wire.c.
 */
#ifndef HEARSAY_SIM_NETWORK_PIPE_H
#define HEARSAY_SIM_NETWORK_PIPE_H

#include "events/event_queue.h"
#include "scenario/scenario.h"

/* A pipe drops a segment that finds more work than this in the queue; about that of a home router.
 */
#define PIPE_QUEUE_NS (MS_NS * 400)

struct pipe {
    const struct rate *rate; /* rate over time; NULL = unlimited */
    uint64_t origin_ns;      /* time from which times of rate changes and stalls count */
    uint64_t stall_ns;       /* length of a periodic stall */
    uint64_t stall_every_ns; /* period of the stalls; 0 = none */
    uint64_t clogged_ns;     /* end of the current clog, during which almost no byte passes */
    uint64_t free_ns;        /* time at which all queued bytes will have left */
    uint64_t bytes;          /* bytes carried while the pipe was limited */
    double busy_s;           /* seconds that the transfer of these bytes takes, without stalls */
};

/* Returns the time at which bytes that arrive now leave the pipe. If the queue is full, they arrive
 * again_ns later instead, and *lost is set to true. */
uint64_t pipe_pass(struct pipe *pipe, uint64_t now_ns, uint64_t bytes, uint64_t again_ns,
                   bool *lost);

void pipe_clog(struct pipe *pipe, uint64_t until_ns);
/* Ends a clog. Bytes in the queue leave at the times computed before; later bytes do not wait for
 * them. */
void pipe_unclog(struct pipe *pipe, uint64_t now_ns);

/* Returns the pipe's current rate in bytes per second, ignoring stalls and clogs; 0 = unlimited. */
uint64_t pipe_rate(const struct pipe *pipe, uint64_t now_ns);

static inline bool pipe_is_limited(const struct pipe *pipe)
{
    return (pipe->rate && (pipe->rate->bytes_per_s || pipe->rate->changes)) ||
           pipe->stall_every_ns || pipe->clogged_ns;
}

#endif
