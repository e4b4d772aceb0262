#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/node/bottleneck.h"

static void a_link_is_used_from_64_kbit_to_10_gbit(void **state)
{
    (void)state;
    static const struct {
        double rate;
        uint64_t delay_ms;
        uint32_t learn_ms;
        double least;
    } ways[] = {
        {8e3, 1, 20000, 0.85},     {8e3, 400, 30000, 0.8},    {625e3, 1, 10000, 0.9},
        {625e3, 40, 10000, 0.85},  {625e3, 400, 30000, 0.75}, {12.5e6, 20, 10000, 0.85},
        {12.5e6, 100, 15000, 0.8}, {125e6, 5, 10000, 0.85},   {1.25e9, 1, 6000, 0.85},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        bottleneck_begin(1, ways[i].rate, ways[i].delay_ms);
        run_ms(ways[i].learn_ms);
        const double use = use_of(0, 20000);
        if (use < ways[i].least || use > 1.03)
            fail_msg("%.0f B/s, %u ms: used to %.2f", ways[i].rate, (unsigned)ways[i].delay_ms,
                     use);
    }
}

static void the_backlog_stays_short(void **state)
{
    (void)state;
    static const double duties[] = {1, 0.7, 0.3};
    for (int i = 0; i < 3; i++) {
        bottleneck_begin(1, 625e3, 40);
        net.flows[0].duty = duties[i];
        run_ms(40000);
        assert_true(median_wait_ms(30000) <= 50);
    }
    static const uint64_t far_ms[] = {200, 400, 800};
    for (int i = 0; i < 3; i++) {
        bottleneck_begin(1, 625e3, far_ms[i]);
        run_ms(30000);
        assert_true(use_of(0, 60000) > 0.7);
        assert_true(median_wait_ms(60000) <= 50);
    }
}

/* An overload at the end of a burst still lowers the rate after the burst. A round trip with few
 * bytes does not measure the rate. */
static void bursts_do_not_raise_the_rate_above_what_is_there(void **state)
{
    (void)state;
    static const size_t bursts[] = {60000, 150000, 400000, 800000};
    for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++) {
        double most = 0;
        bottleneck_begin(1, 1.25e6, 25);
        net.flows[0].burst = bursts[i];
        for (int s = 0; s < 40; s++) {
            run_ms(1000);
            most = fmax(most, net.flows[0].sender.rate / net.rate);
        }
        const double is = net.flows[0].sender.rate / net.rate;
        if (most > 2 || is > 1.5 || is < 0.2)
            fail_msg("%zu bytes at once: %.2f of the line, %.2f at most", bursts[i], is, most);
    }
}

static void two_on_one_link_share_it(void **state)
{
    (void)state;
    static const uint64_t delays_ms[] = {5, 40, 100};
    for (int i = 0; i < 3; i++) {
        bottleneck_begin(2, 1.25e6, delays_ms[i]);
        net.flows[1].begins_ns = 10 * SECOND_NS; /* the first flow uses the whole link until then */
        run_ms(50000);
        const double first = net.flows[0].got, second = net.flows[1].got;
        run_ms(40000);
        const double ratio = (net.flows[0].got - first) / (net.flows[1].got - second);
        if (ratio < 0.6 || ratio > 1.6)
            fail_msg("%u ms: %.2f to 1", (unsigned)delays_ms[i], ratio);
    }
}

static void a_rate_that_changes_tenfold_is_followed_within_five_seconds(void **state)
{
    (void)state;
    bottleneck_begin(1, 2.5e6, 20);
    run_ms(15000);
    net.rate = 2.5e5;
    run_ms(5000);
    assert_true(use_of(0, 5000) > 0.8);
    assert_true(median_wait_ms(4000) < 100);
    net.rate = 2.5e6;
    run_ms(5000);
    assert_true(use_of(0, 5000) > 0.7);
}

static void traffic_that_fills_the_queue_is_yielded_to(void **state)
{
    (void)state;
    bottleneck_begin(1, 1.25e6, 20);
    run_ms(10000);
    net.other_rate = 0.9 * net.rate; /* other traffic, which never slows down */
    run_ms(10000);
    assert_true(use_of(0, 10000) < 0.13);
    assert_true(median_wait_ms(9000) < 100);
    net.other_rate = 0;
    run_ms(5000);
    assert_true(use_of(0, 5000) > 0.8);
}

static void a_peer_that_acknowledges_nothing_gets_little(void **state)
{
    (void)state;
    struct congestion link;
    congestion_init(&link, 0);
    size_t applied = 0;
    for (uint64_t now_ns = 0; now_ns < 60 * SECOND_NS; now_ns += MS_NS) {
        const size_t bytes = congestion_allows(&link, now_ns, EVER, INFINITY);
        if (bytes == 0 || !congestion_is_open(&link, now_ns, INFINITY))
            continue;
        congestion_on_sent(&link, now_ns, bytes);
        applied += bytes;
    }
    assert_in_range(applied, 4096, 32768);
}

/* Sends as much as the link allows for 20 s. Returns the unacknowledged bytes at the end. */
static uint64_t filled(struct congestion *link, uint64_t *now_ns)
{
    for (int ms = 0; ms < 20000; ms++, *now_ns += MS_NS) {
        const size_t bytes = congestion_allows(link, *now_ns, EVER, INFINITY);
        if (bytes > 0 && congestion_is_open(link, *now_ns, INFINITY))
            congestion_on_sent(link, *now_ns, bytes);
    }
    return link->sent - link->arrived;
}

static void little_is_under_way_at_first_however_long_the_trip(void **state)
{
    (void)state;
    struct congestion link;
    uint64_t now_ns = 0;
    congestion_init(&link, now_ns);
    assert_in_range(filled(&link, &now_ns), 8000, 12500);
    /* the first ACK comes after 20 s */
    assert_true(congestion_on_ack(&link, now_ns, 4000, now_ns / 1000, 0));
    assert_in_range(filled(&link, &now_ns), 16000, 20500);
}

static void a_cap_is_kept(void **state)
{
    (void)state;
    struct congestion link;
    congestion_init(&link, 0);
    size_t applied = 0;
    for (uint64_t now_ns = MS_NS; now_ns <= 100 * SECOND_NS; now_ns += MS_NS) {
        const size_t bytes = congestion_allows(&link, now_ns, EVER, 20000);
        if (bytes == 0)
            continue;
        congestion_on_sent(&link, now_ns, bytes);
        applied += bytes;
        assert_true(congestion_on_ack(&link, now_ns, applied, now_ns / 1000, 0));
    }
    assert_in_range(applied, 1960000, 2040000);
}

static void the_rate_of_a_link_that_is_hardly_used_stays_as_it_is(void **state)
{
    (void)state;
    bottleneck_begin(1, 1.25e6, 20);
    struct congestion *link = &net.flows[0].sender;
    net.flows[0].duty = 0;
    for (int i = 0; i < 400; i++) {
        run_ms(50);
        assert_int_equal(congestion_allows(link, net.now_ns, 300, INFINITY), 300);
        congestion_on_sent(link, net.now_ns, 300);
        net.flows[0].air[net.flows[0].air_to++ % AIR_MAX] =
            (struct arrival){.at_ns = net.now_ns + net.delay_ns, .bytes = 300};
    }
    assert_true(link->rate == LINK_RATE_FIRST);
    assert_true(link->is_starting);
    assert_int_equal(link->tried_ns, 0);
}

static void it_is_known_when_the_rate_was_last_made_use_of(void **state)
{
    (void)state;
    bottleneck_begin(1, 1.25e6, 20);
    const struct congestion *link = &net.flows[0].sender;
    run_ms(5000);
    assert_in_range(link->tried_ns, net.now_ns - SECOND_NS / 2, net.now_ns);
    net.flows[0].duty = 0;
    run_ms(5000);
    assert_in_range(link->tried_ns, 1, net.now_ns - 4 * SECOND_NS);
}

/* Uses a link for 10 s, waits silent_s seconds, and uses it again with `part` of its capacity. */
static void begin_after_silence(uint32_t silent_s, double part)
{
    bottleneck_begin(1, 12.5e6, 20);
    run_ms(10000);
    net.flows[0].duty = 0;
    run_ms(1000 * silent_s);
    net.rate *= part;
    net.flows[0].duty = 1;
}

static void an_old_rate_does_not_flood_a_link_after_silence(void **state)
{
    (void)state;
    begin_after_silence(120, 0.01);
    for (int i = 0; i < 30; i++) {
        run_ms(100);
        assert_in_range(most_wait_ms(100), 0, 300);
    }
    assert_true(use_of(0, 10000) > 0.7);
}

static void a_link_that_is_as_it_was_is_soon_used_as_before(void **state)
{
    (void)state;
    begin_after_silence(5, 1);
    assert_true(use_of(0, 500) > 0.7);
    begin_after_silence(3600, 1);
    run_ms(1000);
    assert_true(use_of(0, 1000) > 0.7);
    assert_true(net.flows[0].sender.confidence >= 1);
}

static void a_receipt_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct congestion link;
    congestion_init(&link, 0);
    congestion_on_sent(&link, 0, 1000);
    assert_false(congestion_on_ack(&link, 1, 1001, 1, 0)); /* acknowledges more than was sent */
    assert_false(congestion_on_ack(&link, 1, 0, 1, 0));
    assert_false(congestion_on_ack(&link, 1, 10, INT64_MAX / 4000 + 1, 0));
    assert_false(congestion_on_ack(&link, 1, 10, 1, UINT64_MAX));
    assert_true(congestion_on_ack(&link, 1, 500, 1, 0));
    /* extreme but valid clocks */
    assert_true(congestion_on_ack(&link, 1, 600, INT64_MAX / 4000, INT64_MAX / 4000));
    assert_true(congestion_on_ack(&link, 1, 700, 0, 0));
    assert_true(congestion_on_ack(&link, 1, 1000, 1, 0));
    assert_false(congestion_on_ack(&link, 2, 1000, 2, 0)); /* everything was already acknowledged */
}

static void a_receipt_is_due_when_it_is_worth_it_and_not_too_often(void **state)
{
    (void)state;
    struct congestion link;
    congestion_init(&link, 0);
    congestion_on_received(&link, ACK_NS, ACK_BYTES - 1);
    assert_false(congestion_owes_ack(&link, ACK_NS));
    congestion_on_received(&link, ACK_NS, 1);
    assert_false(congestion_owes_ack(&link, ACK_NS - 1));
    assert_true(congestion_owes_ack(&link, ACK_NS));
    congestion_on_acked(&link, ACK_NS);
    assert_false(congestion_owes_ack(&link, 10 * SECOND_NS));
}

static void a_link_is_idle_once_enough_bytes_have_arrived(void **state)
{
    (void)state;
    struct congestion link;
    congestion_init(&link, 0);
    assert_true(congestion_is_idle(&link, ACK_BYTES));
    congestion_on_sent(&link, 0, ACK_BYTES);
    assert_true(congestion_is_idle(&link, ACK_BYTES));
    congestion_on_sent(&link, 0, 1);
    assert_false(congestion_is_idle(&link, ACK_BYTES));
    assert_true(congestion_on_ack(&link, 1, ACK_BYTES + 1, 1, 0));
    assert_true(congestion_is_idle(&link, ACK_BYTES));
}

static void a_link_that_has_seen_a_backlog_is_not_idle(void **state)
{
    (void)state;
    bottleneck_begin(1, 625e3, 40);
    run_ms(10000);
    struct congestion link = net.flows[0].sender;
    link.arrived = link.sent;
    assert_false(congestion_is_idle(&link, ACK_BYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_used_from_64_kbit_to_10_gbit),
        cmocka_unit_test(the_backlog_stays_short),
        cmocka_unit_test(bursts_do_not_raise_the_rate_above_what_is_there),
        cmocka_unit_test(two_on_one_link_share_it),
        cmocka_unit_test(a_rate_that_changes_tenfold_is_followed_within_five_seconds),
        cmocka_unit_test(traffic_that_fills_the_queue_is_yielded_to),
        cmocka_unit_test(a_peer_that_acknowledges_nothing_gets_little),
        cmocka_unit_test(little_is_under_way_at_first_however_long_the_trip),
        cmocka_unit_test(a_cap_is_kept),
        cmocka_unit_test(the_rate_of_a_link_that_is_hardly_used_stays_as_it_is),
        cmocka_unit_test(it_is_known_when_the_rate_was_last_made_use_of),
        cmocka_unit_test(an_old_rate_does_not_flood_a_link_after_silence),
        cmocka_unit_test(a_link_that_is_as_it_was_is_soon_used_as_before),
        cmocka_unit_test(a_receipt_that_cannot_be_is_refused),
        cmocka_unit_test(a_receipt_is_due_when_it_is_worth_it_and_not_too_often),
        cmocka_unit_test(a_link_is_idle_once_enough_bytes_have_arrived),
        cmocka_unit_test(a_link_that_has_seen_a_backlog_is_not_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
