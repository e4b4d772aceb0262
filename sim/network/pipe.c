#include "network/pipe.h"

#define CLOGGED_BYTES_PER_S 100

/* Returns the time since origin_ns, by which rate changes and stalls are timed; 0 before it. */
static uint64_t own_time(const struct pipe *pipe, uint64_t now_ns)
{
    return now_ns > pipe->origin_ns ? now_ns - pipe->origin_ns : 0;
}

uint64_t pipe_rate(const struct pipe *pipe, uint64_t now_ns)
{
    return pipe->rate ? rate_at(pipe->rate, own_time(pipe, now_ns)) : 0;
}

static uint64_t rate_of(const struct pipe *pipe, uint64_t now_ns)
{
    const uint64_t bytes_per_s = pipe_rate(pipe, now_ns);
    if (now_ns >= pipe->clogged_ns)
        return bytes_per_s;
    return bytes_per_s && bytes_per_s < CLOGGED_BYTES_PER_S ? bytes_per_s : CLOGGED_BYTES_PER_S;
}

/* Returns the first time from now on at which the pipe does not stall. */
static uint64_t after_stall(const struct pipe *pipe, uint64_t now_ns)
{
    if (pipe->stall_every_ns == 0)
        return now_ns;
    const uint64_t phase = own_time(pipe, now_ns) % pipe->stall_every_ns;
    const uint64_t begin =
        pipe->stall_every_ns - pipe->stall_ns; /* time in each period before the stall */
    return phase < begin ? now_ns : now_ns - phase + pipe->stall_every_ns;
}

/* Returns the time of the pipe's next rate change, stall or end of a clog; NEVER_NS = none. Call it
 * outside stalls. */
static uint64_t until_change(const struct pipe *pipe, uint64_t now_ns)
{
    uint64_t until_ns = now_ns < pipe->clogged_ns ? pipe->clogged_ns : NEVER_NS;
    for (uint32_t i = 0; pipe->rate && i < pipe->rate->changes; i++) {
        const uint64_t change_ns = pipe->rate->change[i].at_ns + pipe->origin_ns;
        if (change_ns > now_ns && change_ns < until_ns)
            until_ns = change_ns;
    }
    if (pipe->stall_every_ns == 0)
        return until_ns;
    const uint64_t phase = own_time(pipe, now_ns) % pipe->stall_every_ns;
    const uint64_t stall_ns = now_ns - phase + pipe->stall_every_ns - pipe->stall_ns;
    return u64_min(stall_ns, until_ns);
}

/* Returns the time at which the last of `bytes` bytes leaves the pipe if the first one starts now.
 * Adds the time of their transfer, without stalls, to busy_s. */
static uint64_t work(struct pipe *pipe, uint64_t now_ns, double bytes)
{
    for (;;) {
        now_ns = after_stall(pipe, now_ns);
        const double bytes_per_s = (double)rate_of(pipe, now_ns);
        if (bytes_per_s <= 0)
            return now_ns;
        const uint64_t until_ns = until_change(pipe, now_ns);
        const double work_ns = bytes * (double)SECOND_NS / bytes_per_s;
        if (until_ns == NEVER_NS || work_ns <= (double)(until_ns - now_ns)) {
            pipe->busy_s += work_ns * 1e-9;
            return now_ns + (uint64_t)work_ns;
        }
        const double span_s = (double)(until_ns - now_ns) * 1e-9;
        pipe->busy_s += span_s;
        bytes -= span_s * bytes_per_s;
        now_ns = until_ns;
    }
}

uint64_t pipe_pass(struct pipe *pipe, uint64_t now_ns, uint64_t bytes, uint64_t again_ns,
                   bool *lost)
{
    if (!pipe_is_limited(pipe))
        return now_ns;
    uint64_t begin = now_ns;
    if (pipe->free_ns > now_ns + PIPE_QUEUE_NS) { /* the queue is full */
        *lost = true;
        begin += again_ns;
    }
    begin = u64_max(begin, pipe->free_ns);
    pipe->free_ns = work(pipe, begin, (double)bytes);
    pipe->bytes += bytes;
    return pipe->free_ns;
}

void pipe_clog(struct pipe *pipe, uint64_t until_ns)
{
    pipe->clogged_ns = u64_max(pipe->clogged_ns, until_ns);
}

void pipe_unclog(struct pipe *pipe, uint64_t now_ns)
{
    if (pipe->clogged_ns > now_ns && pipe->free_ns > now_ns)
        pipe->free_ns = now_ns;
    pipe->clogged_ns = 0;
}
