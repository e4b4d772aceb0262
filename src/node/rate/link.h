/* A link: what a conversation can carry, measured from what it carries, and so how fast bytes are
 * applied to it.
 *
 *   applied ──► rate, window ──► transport ~~~ network ~~~ the other
 *                   ▲                                         │
 *        up or down └── backlog, delivered ◄── receipt ◄──────┘  (bytes that came, its clock)
 *
 * Who receives says every now and then how many bytes have come, and by its own clock when the last
 * of them came: a receipt. Against when that byte was applied over, this is the delay one way, plus
 * what the two clocks differ by; the least delay of the last minute is the way itself, anything
 * above it is the backlog: what waits in queues on the way, whoever filled them. (So do LEDBAT, RFC
 * 6817, and its kin; nothing is read off socket buffers, nor off losses.)
 *
 * Once in a round (until bytes applied over after its beginning have arrived): if the backlog is
 * above a target, the rate falls; if below, and the rate was made use of, it rises. The target (22
 * ms at 5 Mbit/s) falls with the rate, so of two that share a queue the faster gives way (as in
 * Swift, SIGCOMM 2020). A rate that was never made use of is what the link carries at least. After
 * too much, it rises carefully: what it adds until that can be seen, on a long way, is two targets
 * at most, and half as much more with each round that shows no harm.
 *
 * A rate that was not made use of for ten seconds is remembered, but trusted less and less: half as
 * much after each ten more, down to what a new link begins with. So a burst after long silence goes
 * slowly first, then twice as fast each round, until it is at the old rate again, or something
 * waits: then what it had come to counts. (RFC 2861 and RFC 7661 do so with TCP's window.) Nothing
 * is sent only to measure: the few kilobytes that a probe might take pass a fast link within the
 * noise of clocks and pacing, and say nothing of how it takes more.
 *
 * Pure: no clock, no allocation, one direction of one conversation in one struct; and what came the
 * other way, as far as receipts for it are concerned. Held by tests/unit/node/test_link.c.
 */
#ifndef HEARSAY_NODE_RATE_LINK_H
#define HEARSAY_NODE_RATE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_RATE_FIRST 32768.0  /* bytes per second, before anything is known */
#define LINK_RATE_MIN   500.0    /* several may share the thinnest */
#define LINK_RATE_MAX   1.25e9   /* 10 Gbit/s */
#define LINK_MARKS      256      /* applied over and without a receipt */
#define ACK_BYTES       2048     /* a receipt is worth so many bytes */
#define ACK_NS          25000000 /* and there are no more than one in so long */

/* A bucket that fills with bytes that may be applied over. */
struct bucket {
    double credit;
    uint64_t at_ns;
};

struct mark {
    uint64_t bytes; /* applied over by then, all together */
    uint64_t at_ns;
};

struct link {
    uint64_t born_ns;
    double rate;       /* bytes per second, as the network lets us */
    bool is_starting;  /* no backlog has been seen yet: it doubles */
    double stride;     /* it rises by no more than that part in a round */
    double confidence; /* so much of it was as of tried_ns to be relied on, <= 1 */
    uint64_t tried_ns; /* when a round last made use of it */
    struct bucket bucket;
    uint64_t sent;                   /* bytes applied over ... */
    uint64_t arrived;                /* ... and of them, as the last receipt says */
    struct mark u64_set[LINK_MARKS]; /* a ring: those that have not arrived */
    uint32_t u64_set_first, u64_set_count;
    uint64_t trip_ns;    /* there and back, without the backlog */
    uint64_t backlog_ns; /* as of the last round */

    uint64_t round_ns;       /* since then ... */
    uint64_t round_ends;     /* ... until so many bytes have arrived */
    int64_t look_base_delay; /* delay, and difference of the clocks, ... */
    uint64_t look_ns;        /* ... since then */
    struct mark round_from;  /* the first receipt in it, by its clock */
    bool is_pressed;         /* more was to be applied over than could be */
    bool is_bulk;            /* it carries what may wait a little, and takes long: more may */
    int64_t base_delay[2];   /* the same, over this half of a minute and the one before */
    uint64_t base_delay_ns;  /* when this half began */
    bool has_base_delay;

    uint64_t received;    /* bytes from the other ... */
    uint64_t received_ns; /* ... the last of them then */
    uint64_t acked;       /* as far as we have said so ... */
    uint64_t acked_ns;    /* ... then */
};

void link_init(struct link *link, uint64_t now_ns);

/* How many of so many waiting bytes may be applied over now: 0, or as many as are worth it. At most
 * at `rate_max` bytes per second, whatever the network would carry. */
size_t link_allows(struct link *link, uint64_t now_ns, size_t waiting, double rate_max);
/* When it may allow something, if no receipt comes before. */
uint64_t link_wake_ns(const struct link *link, uint64_t now_ns, size_t waiting, double rate_max);
/* Is there room for more under way? Not for who gives no receipts. */
bool link_is_open(struct link *link, uint64_t now_ns, double rate_max);
void link_on_sent(struct link *link, uint64_t now_ns, size_t bytes);

/* The other says: so many bytes have come, the last at `clock_us` of my clock, and I have kept this
 * to myself for so long. False: that cannot be. */
bool link_on_ack(struct link *link, uint64_t now_ns, uint64_t bytes, uint64_t clock_us,
                 uint64_t held_us);

void link_on_received(struct link *link, uint64_t now_ns, size_t bytes);
/* Is it time to say so? The receipt is then link->came, of link->came_ns. */
bool link_owes_ack(const struct link *link, uint64_t now_ns);
void link_acked(struct link *link, uint64_t now_ns);

/* Fill a bucket at a rate, never above depth bytes; take from it, also more than there is. */
void bucket_fill(struct bucket *bucket, uint64_t now_ns, double rate, double depth);

#endif
