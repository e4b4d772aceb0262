/* Congestion control for one direction of a conversation: estimates the link's rate from the delay
 * of earlier bytes, and paces new bytes accordingly.
 *
 *   bytes sent  ─► rate, window ─► transport ~~~ network ~~~ receiver
 *                    ▲                                          │
 *       up or down ──┴── backlog, delivered ◄──── ACK ◄─────────┘  (bytes received, its clock)
 *
 * The receiver acknowledges at intervals how many bytes have arrived, with its own clock's time of
 * the last arrival. The difference to the time when that byte was sent is the one-way delay
 * plus the offset of the two clocks. The least delay of this half minute and the previous one is
 * the base delay. Any excess is the backlog: the queueing delay of all traffic on the path. LEDBAT
 * (RFC 6817) uses the same signal. Socket buffers and losses are not read.
 *
 * A round lasts at least 50 ms. It ends when bytes sent after its start have arrived, or when all
 * bytes have, so the end of a burst ends a round. If the backlog exceeds a target, the rate falls,
 * unless the backlog is already shrinking. If it is below the target and the round tested the rate,
 * the rate rises. Before the first backlog, each round doubles the rate if the round carried enough
 * bytes to test the rate. The last round of a burst usually carries too few. The target (22 ms at
 * 5 Mbit/s) is smaller at higher rates, so the faster of two flows through one queue gives way, as
 * in Swift (SIGCOMM 2020). An untested rate is a lower bound of the link's capacity. After an
 * overload the rate rises carefully: on a long path, acknowledgements show the effect of an
 * increase late. The first increase can add a backlog of two targets at most; each good round
 * raises that limit 1.5 times.
 *
 * A rate that was not tested for ten seconds loses half of its trust every ten seconds, down to the
 * rate of a new link. So a burst after a long silence starts slowly and doubles each round, up to
 * the old rate or the first backlog. In the second case the pace reached by then becomes the rate.
 * RFC 2861 and RFC 7661 treat TCP's window in this way. No bytes are sent only to measure: a probe
 * of a few kilobytes passes a fast link within the noise of clocks and pacing.
 *
 * Pure: no clock, no allocation. Tests: tests/unit/node/test_congestion.c.
 */
#ifndef HEARSAY_NODE_RATE_CONGESTION_H
#define HEARSAY_NODE_RATE_CONGESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/rate/token_bucket.h"

#define LINK_RATE_FIRST 32768.0 /* assumed bytes per second of a new link */
/* Least estimate of a link's bytes per second: several links may share a slow path. */
#define LINK_RATE_MIN 500.0
#define LINK_RATE_MAX 1.25e9 /* largest estimate of a link's bytes per second: 10 Gbit/s */
/* Maximum writes whose time is kept until their bytes are acknowledged. */
#define LINK_MARKS 256
#define ACK_BYTES  2048     /* an acknowledgement is due after this many received bytes */
#define ACK_NS     25000000 /* shortest time between two acknowledgements */

/* A byte count and the time at which it was reached. */
struct mark {
    uint64_t bytes;
    uint64_t at_ns;
};

struct congestion {
    uint64_t born_ns;  /* time when the conversation started */
    double rate;       /* estimated bytes per second that the network carries */
    bool is_starting;  /* no backlog above the target yet: a round that tests the rate doubles it */
    double stride;     /* largest relative increase of the rate in a round after the start */
    double confidence; /* part of the rate that was trusted at tried_ns, in (0, 1] */
    uint64_t tried_ns; /* time when a round last tested the rate */
    struct token_bucket bucket; /* credit of bytes that may be passed to the transport now */
    uint64_t sent;              /* bytes passed to the transport so far */
    uint64_t arrived;           /* bytes acknowledged so far */
    /* Ring: one mark per write to the transport that is not fully acknowledged. */
    struct mark marks[LINK_MARKS];
    uint32_t marks_first; /* index of the oldest mark */
    uint32_t marks_count;
    uint64_t trip_ns;    /* round-trip time without the queueing delay */
    uint64_t backlog_ns; /* queueing delay in the last round; 0 = no delay */

    uint64_t round_ns;   /* time when this round began */
    uint64_t round_ends; /* `sent` at round_ns: the round ends when `arrived` exceeds this */
    /* First acknowledgement since the backlog exceeded the target, with the receiver's time; bytes
     * = 0: the backlog is below the target. */
    struct mark round_from;
    bool is_pressed; /* bytes waited in this round because of the pace or the congestion window */
    bool is_bulk;    /* blocks are queued for the link, so a larger backlog is allowed */

    /* least one-way delay since look_ns, plus the offset of the two clocks */
    int64_t look_delay_ns;
    uint64_t look_ns;
    /* Least one-way delays, plus the clocks' offset, of the present half minute [0] and of the one
     * before [1]. */
    int64_t base_delay[2];
    uint64_t base_delay_ns; /* time when the present half minute began */
    bool has_base_delay;    /* base_delay is valid */

    uint64_t received;    /* bytes received from the peer so far */
    uint64_t received_ns; /* time when the last received byte arrived */
    uint64_t acked;       /* received bytes that were acknowledged */
    uint64_t acked_ns;    /* time when the last acknowledgement was sent */
};

void congestion_init(struct congestion *link, uint64_t now_ns);

/* Returns how many of the `waiting` bytes may be passed to the transport now: 0, or enough for
 * an efficient write. rate_max: upper limit of the pace in bytes per second. */
size_t congestion_allows(struct congestion *link, uint64_t now_ns, size_t waiting, double rate_max);
/* Returns the earliest time at which congestion_allows may return more than 0, if no
 * acknowledgement arrives before. */
uint64_t congestion_wake_ns(const struct congestion *link, uint64_t now_ns, size_t waiting,
                            double rate_max);
/* Returns true if fewer bytes are unacknowledged than the congestion window allows. Without
 * acknowledgements the window fills, and the result stays false. */
bool congestion_is_open(struct congestion *link, uint64_t now_ns, double rate_max);
/* Returns true if at most unacknowledged_max bytes are in flight and no backlog above the target
 * was ever seen. */
bool congestion_is_idle(const struct congestion *link, uint64_t unacknowledged_max);
void congestion_on_sent(struct congestion *link, uint64_t now_ns, size_t bytes);

/* Processes an acknowledgement: `bytes` have arrived, the last at `clock_us` of the receiver's
 * clock, and the receiver waited `ack_delay_us` before it acknowledged them. Returns false if the
 * numbers are impossible, or if no further byte is acknowledged. */
bool congestion_on_ack(struct congestion *link, uint64_t now_ns, uint64_t bytes, uint64_t clock_us,
                       uint64_t ack_delay_us);

void congestion_on_received(struct congestion *link, uint64_t now_ns, size_t bytes);
bool congestion_owes_ack(const struct congestion *link, uint64_t now_ns);
void congestion_on_acked(struct congestion *link, uint64_t now_ns);

#endif
