/* Congestion control of one conversation, one direction: what its link carries, measured from what
 * it carries, and so how fast bytes are handed to it.
 *
 *   handed ──► rate, window ──► transport ~~~ network ~~~ the other
 *                   ▲                                         │
 *        up or down └── backlog, delivered ◄─── ACK ◄─────────┘  (bytes received, its clock)
 *
 * The receiver acknowledges every now and then how many bytes have come, and by its own clock when
 * the last of them came. Against the time at which that byte was handed over, this is the one-way
 * delay, plus what the two clocks differ by. The least delay of the last minute is the base delay,
 * the way itself; anything above it is the backlog: what waits in queues on the way, of all
 * traffic. LEDBAT (RFC 6817) and its kin do so, too; nothing is read off socket buffers, nor off
 * losses.
 *
 * A round lasts until bytes handed over after its beginning have arrived, or all bytes have, so the
 * end of a burst counts. After each: if the backlog is above a target, the rate falls; if below,
 * and the rate was made use of, it rises. As long as no backlog was seen it doubles, if the round
 * carried enough to see how the link takes it: the last bytes of a burst say nothing. The target
 * (22 ms at 5 Mbit/s) falls with the rate, so of two that share a queue the faster gives way, as in
 * Swift (SIGCOMM 2020). A rate that was never made use of is what the link carries at least. After
 * too much, it rises carefully: what it adds until that can be seen, on a long way, is two targets
 * at most, and half as much more with each round that shows no harm.
 *
 * A rate that was not made use of for ten seconds is remembered, but trusted less and less: half as
 * much after each ten more, down to what a new link begins with. So a burst after a long silence
 * starts slowly, doubles each round until it is at the old rate again, or something waits: then
 * what it had come to counts. RFC 2861 and RFC 7661 do so with TCP's window. Nothing is sent only
 * to measure: the few kilobytes that a probe might take pass a fast link within the noise of clocks
 * and pacing, and say nothing of how it takes more.
 *
 * Pure: no clock, no allocation. Held by tests/unit/node/test_link.c.
 */
#ifndef HEARSAY_NODE_RATE_LINK_H
#define HEARSAY_NODE_RATE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_RATE_FIRST 32768.0  /* bytes per second, before anything is known */
#define LINK_RATE_MIN   500.0    /* bytes per second: several may share the thinnest line */
#define LINK_RATE_MAX   1.25e9   /* bytes per second: 10 Gbit/s */
#define LINK_MARKS      256      /* moments of sending that are not acknowledged yet, at most */
#define ACK_BYTES       2048     /* so many bytes are worth an acknowledgement */
#define ACK_NS          25000000 /* there is no more than one in so long */

/* A bucket that fills with bytes that may be handed over. */
struct bucket {
    double credit;  /* bytes that may go now */
    uint64_t at_ns; /* when it was filled last */
};

/* A count of bytes, and when it was reached. */
struct mark {
    uint64_t bytes; /* all together, by then */
    uint64_t at_ns; /* the moment */
};

struct link {
    uint64_t born_ns;     /* when the conversation began */
    double rate;          /* bytes per second that the network takes, as found so far */
    bool is_starting;     /* no backlog has been seen yet: each filled round doubles the rate */
    double stride;        /* the rate rises by no more than this part in a round */
    double confidence;    /* the part of the rate that was reliable at tried_ns, in (0, 1] */
    uint64_t tried_ns;    /* when a round last made use of the rate */
    struct bucket bucket; /* what may be handed over now */
    uint64_t sent;        /* bytes handed over, in all */
    uint64_t arrived;     /* bytes acknowledged, in all */
    struct mark marks[LINK_MARKS]; /* a ring: what was handed over when, and has not arrived */
    uint32_t marks_first;          /* the oldest of them */
    uint32_t marks_count;          /* how many there are */
    uint64_t trip_ns;              /* the round trip without the backlog */
    uint64_t backlog_ns;           /* how long bytes waited on the way in the last round */

    uint64_t round_ns;   /* when this round began */
    uint64_t round_ends; /* it ends when more than so many bytes have arrived */
    struct mark
        round_from;  /* the first acknowledgement with a backlog in it, by the other's clock */
    bool is_pressed; /* more was to be handed over in this round than could be */
    bool is_bulk;    /* it carries blocks, which may wait: a larger backlog is allowed */

    int64_t look_delay_ns;  /* the least delay since look_ns, with the difference of the clocks */
    uint64_t look_ns;       /* when that look began */
    int64_t base_delay[2];  /* the least delay of this half of a minute, and of the one before */
    uint64_t base_delay_ns; /* when this half began */
    bool has_base_delay;    /* one is known */

    uint64_t received;    /* bytes from the other, in all */
    uint64_t received_ns; /* when the last of them came */
    uint64_t acked;       /* of them, what we have acknowledged */
    uint64_t acked_ns;    /* when we did so last */
};

void link_init(struct link *link, uint64_t now_ns);

/* How many of so many waiting bytes may be handed over now: 0, or as many as are worth it. At most
 * at `rate_max` bytes per second, whatever the network would carry. */
size_t link_allows(struct link *link, uint64_t now_ns, size_t waiting, double rate_max);
/* When it may allow something, if no acknowledgement comes before. */
uint64_t link_wake_ns(const struct link *link, uint64_t now_ns, size_t waiting, double rate_max);
/* Is there room for more under way? Not for one that acknowledges nothing. */
bool link_is_open(struct link *link, uint64_t now_ns, double rate_max);
/* True if at most unacknowledged_max bytes are under way, and no backlog was ever seen. */
bool link_is_idle(const struct link *link, uint64_t unacknowledged_max);
void link_on_sent(struct link *link, uint64_t now_ns, size_t bytes);

/* The other acknowledges: `bytes` have come, the last at `clock_us` of its clock, and it has kept
 * this to itself for `ack_delay_us`. False: that cannot be. */
bool link_on_ack(struct link *link, uint64_t now_ns, uint64_t bytes, uint64_t clock_us,
                 uint64_t ack_delay_us);

void link_on_received(struct link *link, uint64_t now_ns, size_t bytes);
/* Is it time to acknowledge? What is to be said is link->received, as of link->received_ns. */
bool link_owes_ack(const struct link *link, uint64_t now_ns);
void link_acked(struct link *link, uint64_t now_ns);

/* Fill a bucket at a rate, never above depth bytes; take from it, also more than there is. */
void bucket_fill(struct bucket *bucket, uint64_t now_ns, double rate, double depth);

#endif
