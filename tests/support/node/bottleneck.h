/* Links over one bottleneck: a queue that drains at a fixed rate, and a fixed delay each way.
 * Senders send what congestion control allows, receivers acknowledge. Virtual time advances in
 * steps of a millisecond.
 *
 *   bottleneck_begin ─► run_ms ─► use_of, median_wait_ms
 */
#ifndef HEARSAY_TESTS_SUPPORT_NODE_BOTTLENECK_H
#define HEARSAY_TESTS_SUPPORT_NODE_BOTTLENECK_H

#include <math.h>

#include "base/error.h"
#include "base/time_units.h"
#include "node/rate/congestion.h"

#define FLOWS_MAX 2
#define AIR_MAX   65536
#define PIECE     4096
#define EVER      (1u << 20) /* bytes that wait to be sent if a flow always has data */

struct arrival {
    uint64_t at_ns;
    uint32_t bytes;
};

struct ack {
    uint64_t at_ns, bytes, clock_us, held_us;
};

struct flow {
    struct congestion sender, receiver;
    struct arrival air[AIR_MAX]; /* ring of data in transit */
    struct ack back[AIR_MAX];
    uint32_t air_from, air_to, back_from, back_to;
    uint64_t begins_ns;
    double duty; /* fraction of every 250 ms in which the flow has data to send; 1 = always */
    double got;
    size_t
        burst; /* bytes that become ready to send every two seconds; 0 = the flow always has data */
    size_t waiting; /* bytes of the burst that are not sent yet */
};

struct net {
    struct flow flows[FLOWS_MAX];
    uint32_t count;
    uint64_t now_ns;
    double rate;
    uint64_t delay_ns;
    double free_ns;    /* time at which the bottleneck's queue becomes empty */
    double other_rate; /* rate of other traffic in the queue, in bytes per second */
    /* ring: queueing delay at the end of each millisecond, in microseconds */
    uint32_t waits[60000];
    uint32_t waits_count;
};

extern struct net net;

void bottleneck_begin(uint32_t flows, double rate, uint64_t delay_ms);
void run_ms(uint32_t ms);

/* Runs `ms` milliseconds. Returns the part of the bottleneck's capacity that flow i used for
 * delivered data. */
double use_of(uint32_t i, uint32_t ms);

/* Return the median and the maximum queueing delay over the last `ms` milliseconds. */
double median_wait_ms(uint32_t ms);
double most_wait_ms(uint32_t ms);

#endif
