#include "support/node/bottleneck.h"

#include "base/sort.h"

struct net net;

void bottleneck_begin(uint32_t flows, double rate, uint64_t delay_ms)
{
    net.count = flows;
    net.now_ns = net.waits_count = 0;
    net.rate = rate;
    net.delay_ns = delay_ms * MS_NS;
    net.free_ns = net.other_rate = 0;
    for (uint32_t i = 0; i < flows; i++) {
        struct flow *flow = &net.flows[i];
        flow->air_from = flow->air_to = flow->back_from = flow->back_to = 0;
        flow->begins_ns = 0;
        flow->duty = 1;
        flow->got = 0;
        flow->burst = flow->waiting = 0;
        congestion_init(&flow->sender, 0);
        congestion_init(&flow->receiver, 0);
    }
}

static void enter(double bytes)
{
    if (net.free_ns < (double)net.now_ns)
        net.free_ns = (double)net.now_ns;
    net.free_ns += bytes / net.rate * 1e9;
}

static void hand_over(struct flow *flow)
{
    const double phase = fmod((double)net.now_ns * 1e-9, 0.25) / 0.25;
    size_t bytes;
    if (net.now_ns < flow->begins_ns || phase >= flow->duty)
        return;
    if (flow->burst == 0 || net.now_ns % (2 * SECOND_NS) == 0)
        flow->waiting = flow->burst == 0 ? EVER : flow->burst;
    while (flow->waiting > 0 && congestion_is_open(&flow->sender, net.now_ns, INFINITY) &&
           (bytes = congestion_allows(&flow->sender, net.now_ns, flow->waiting, INFINITY)) > 0) {
        flow->waiting -= flow->burst == 0 ? 0 : bytes;
        congestion_on_sent(&flow->sender, net.now_ns, bytes);
        for (size_t left = bytes; left > 0;) {
            const size_t piece = left < PIECE ? left : PIECE;
            enter((double)piece);
            flow->air[flow->air_to++ % AIR_MAX] = (struct arrival){
                .at_ns = (uint64_t)net.free_ns + net.delay_ns, .bytes = (uint32_t)piece};
            CHECK(flow->air_to - flow->air_from < AIR_MAX);
            left -= piece;
        }
    }
}

/* Sends an ACK. The receiver's clock is an hour ahead. */
static void give_ack(struct flow *flow)
{
    struct congestion *link = &flow->receiver;
    if (!congestion_owes_ack(link, net.now_ns))
        return;
    flow->back[flow->back_to++ % AIR_MAX] =
        (struct ack){.at_ns = net.now_ns + net.delay_ns,
                     .bytes = link->received,
                     .clock_us = (link->received_ns + 3600 * SECOND_NS) / 1000,
                     .held_us = (net.now_ns - link->received_ns) / 1000};
    congestion_on_acked(link, net.now_ns);
}

static void receive(struct flow *flow)
{
    for (; flow->air_from < flow->air_to; flow->air_from++) {
        const struct arrival *first = &flow->air[flow->air_from % AIR_MAX];
        if (first->at_ns > net.now_ns)
            break;
        congestion_on_received(&flow->receiver, first->at_ns, first->bytes);
        flow->got += first->bytes;
        give_ack(flow);
    }
    if (net.now_ns % (250 * MS_NS) == 0)
        give_ack(flow);
    for (; flow->back_from < flow->back_to; flow->back_from++) {
        const struct ack *first = &flow->back[flow->back_from % AIR_MAX];
        if (first->at_ns > net.now_ns)
            break;
        CHECK(congestion_on_ack(&flow->sender, net.now_ns, first->bytes, first->clock_us,
                                first->held_us));
    }
}

void run_ms(uint32_t ms)
{
    for (; ms > 0; ms--) {
        net.now_ns += MS_NS;
        for (uint32_t i = 0; i < net.count; i++) {
            receive(&net.flows[i]);
            hand_over(&net.flows[i]);
        }
        enter(net.other_rate * 1e-3);
        const double wait_ns = net.free_ns - (double)net.now_ns;
        net.waits[net.waits_count++ % 60000] = wait_ns > 0 ? (uint32_t)(wait_ns * 1e-3) : 0;
    }
}

double use_of(uint32_t i, uint32_t ms)
{
    const double before = net.flows[i].got;
    run_ms(ms);
    return (net.flows[i].got - before) / (net.rate * ms * 1e-3);
}

double median_wait_ms(uint32_t ms)
{
    static uint64_t waits[60000];
    CHECK(ms <= 60000);
    for (uint32_t i = 0; i < ms; i++)
        waits[i] = net.waits[(net.waits_count - 1 - i) % 60000];
    return (double)u64_median_high(waits, ms) * 1e-3;
}

double most_wait_ms(uint32_t ms)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < ms; i++) {
        const uint32_t wait = net.waits[(net.waits_count - 1 - i) % 60000];
        most = wait > most ? wait : most;
    }
    return most * 1e-3;
}
