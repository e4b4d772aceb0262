/* The simulated network: bytes arrive as with TCP, at predictable times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/wire_story.h"

#define SEGMENT 1448

static int begin(void **state)
{
    (void)state;
    story_begins(1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    story_ends();
    return 0;
}

static void a_call_is_accepted_after_one_delay_and_connected_after_two(void **state)
{
    (void)state;
    meet();
    assert_int_equal(b->begun_ns, MS(40));
    assert_int_equal(b->from, 0);
    assert_int_equal(a->begun_ns, MS(80));
}

static void a_call_to_nobody_is_refused_after_a_round_trip(void **state)
{
    (void)state;
    wire.parties[2].listens = false;
    struct received *none = call(0, 0, WIRE_NOBODY), *deaf = call(0, 1, 2);
    run_until(MS(200));
    assert_int_equal(none->closed_ns, MS(80));
    assert_int_equal(deaf->closed_ns, MS(80));
    assert_string_equal(deaf->why, "connection refused");
}

static void a_call_into_a_cut_is_accepted_after_it_heals(void **state)
{
    (void)state;
    wire_cut(&wire, 1, 0, true);
    a = call(0, 0, 1);
    run_until(MS(1500));
    assert_int_equal(a->begun_ns, 0);
    wire_cut(&wire, 1, 0, false);
    run_until(MS(3000));
    assert_int_equal(a->begun_ns, MS(2080)); /* dialled at 0, 1 and 2 s */
}

static void a_call_given_up_early_is_never_accepted(void **state)
{
    (void)state;
    a = call(0, 0, 1);
    run_until(MS(20));
    wire_hang_up(&wire, 0, a->conn);
    run_until(MS(500));
    assert_int_equal(a->closed_ns, MS(20));
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        assert_int_equal(received[1][slot].conn, 0);
}

static void bytes_of_the_called_party_wait_for_the_connection(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        story_ends();
        story_begins(seed);
        wire_paths[0][0].jitter_ns = MS(30);
        a = call(0, 0, 1);
        run_until(MS(70)); /* party 1 has accepted, and perhaps party 0 is connected */
        b = taken_by(1);
        say(1, b, 100);
        run_until(MS(300));
        assert_true(has_text(a, 100)); /* on_bytes checks that party 0 was connected */
    }
}

static void ten_kilobytes_over_one_megabit_take_80_ms_plus_the_delay(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    say(0, a, TEN_KB);
    run_until(MS(1000));
    assert_true(has_text(b, TEN_KB));
    assert_int_equal(b->first_ns, MS(140) + 11584000); /* a segment of 1448 B at 8 us each */
    assert_int_equal(b->last_ns, MS(100 + 80 + 40));
    assert_int_equal(a->sent_ns, MS(100)); /* the bytes fit into the window */
}

static void unlimited_pipes_add_only_the_delay(void **state)
{
    (void)state;
    meet();
    say(0, a, HEARD_MAX);
    run_until(MS(1000));
    assert_true(has_text(b, HEARD_MAX));
    assert_int_equal(b->last_ns, MS(140));
}

static void two_senders_share_a_downlink(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = rates[1][0].bytes_per_s = rates[2][1].bytes_per_s = MBIT;
    struct received *from_a = call(0, 0, 2), *from_b = call(1, 0, 2);
    run_until(MS(100));
    say(0, from_a, TEN_KB);
    say(1, from_b, TEN_KB);
    const struct received *x = &received[2][0], *y = &received[2][1];
    const uint64_t begun_ns = MS(140) + 11584000; /* both first segments reach the downlink */
    run_until(begun_ns + MS(80));
    assert_in_range(x->count, TEN_KB / 2 - SEGMENT, TEN_KB / 2 + SEGMENT);
    assert_in_range(y->count, TEN_KB / 2 - SEGMENT, TEN_KB / 2 + SEGMENT);
    run_until(MS(1000));
    assert_true(has_text(x, TEN_KB) && has_text(y, TEN_KB));
    assert_int_equal(x->last_ns > y->last_ns ? x->last_ns : y->last_ns, begun_ns + MS(160));
}

static void a_fast_sender_does_not_wait_for_a_slow_one_where_they_meet(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT / 10;
    wire_paths[0][1].rate.bytes_per_s = 10 * MBIT;
    struct received *slow = call(0, 0, 3), *fast = call(1, 0, 3);
    run_until(MS(100));
    say(0, slow, TEN_KB);
    say(1, fast, TEN_KB);
    run_until(MS(3000));
    const struct received *quick = &received[3][received[3][0].from == 1 ? 0 : 1];
    const struct received *late = &received[3][received[3][0].from == 1 ? 1 : 0];
    assert_true(has_text(quick, TEN_KB) && has_text(late, TEN_KB));
    assert_int_equal(quick->last_ns, MS(100 + 8 + 40));
    assert_in_range(late->last_ns, MS(100 + 800 + 40), MS(100 + 800 + 40 + 2));
}

static void order_is_kept_with_jitter_and_loss(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = 10 * MBIT;
    wire_paths[0][0].jitter_ns = MS(30);
    wire_paths[0][0].loss = 0.2;
    a = call(0, 0, 1);
    run_until(MS(1000));
    b = taken_by(1);
    size_t sent = 0;
    for (uint64_t t = 1; t <= 100; t++) {
        wire_send(&wire, 0, a->conn, text + sent, 2000);
        sent += 2000;
        run_until(MS(1000 + 500 * t));
        assert_int_equal(a->sends_done, t);
    }
    run_until(100 * SECOND_NS);
    assert_true(has_text(b, sent));
    assert_true(wire.crossings[0].resent > 10);
    assert_int_equal(wire.crossings[0].bytes, sent);
}

static void a_lost_segment_comes_a_round_trip_later_and_the_rest_waits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        story_ends();
        story_begins(seed);
        rates[0][0].bytes_per_s = MBIT;
        wire_paths[0][0].loss = 0.5;
        meet();
        /* lost n times: sent again after 81, 162, 324 .. ms, which add up */
        say(0, a, 2 * SEGMENT);
        run_until(100 * SECOND_NS);
        assert_true(has_text(b, 2 * SEGMENT));
        const uint64_t late_ns = b->first_ns - MS(140) - 11584000;
        const uint64_t rounds = late_ns / MS(81);
        assert_int_equal(late_ns, rounds * MS(81));
        assert_int_equal(rounds & (rounds + 1), 0); /* 2^n - 1 */
        assert_true(rounds == 0 || wire.crossings[0].resent > 0);
    }
}

static void a_window_stops_a_sender_whose_receiver_does_not_read(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    const size_t window = WIRE_WINDOW + MBIT / 25; /* plus 40 ms of the rate */
    wire.parties[1].deaf_ns = 5 * SECOND_NS;
    say(0, a, 200000);
    run_until(MS(4999));
    assert_int_equal(b->count, 0);
    assert_int_equal(a->sends_done, 0);
    assert_in_range(wire.flying, window, window + SEGMENT);
    run_until(20 * SECOND_NS);
    assert_true(has_text(b, 200000));
    assert_true(b->first_ns == 5 * SECOND_NS && a->sent_ns >= 5 * SECOND_NS);
}

static void a_full_queue_counts_as_loss(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    say(0, a, 49000); /* 392 ms of work, which the queue can hold */
    run_until(SECOND_NS);
    assert_int_equal(wire.crossings[0].resent, 0);
    say(0, a, 60000);
    run_until(3 * SECOND_NS);
    assert_true(wire.crossings[0].resent > 0);
    assert_int_equal(b->count, 109000);
}

static void queued_bytes_continue_at_the_new_rate(void **state)
{
    (void)state;
    rates[0][0] = (struct rate){.bytes_per_s = MBIT, .changes = 1};
    rates[0][0].change[0].at_ns = MS(140);
    rates[0][0].change[0].bytes_per_s = 2 * MBIT;
    meet();
    say(0, a, TEN_KB); /* 40 ms at 1 Mbit/s, 20 ms at 2 Mbit/s */
    run_until(SECOND_NS);
    assert_in_range(b->last_ns, MS(200) - 10, MS(200) + 10);
}

static void bytes_in_a_clogged_pipe_leave_after_the_clog(void **state)
{
    (void)state;
    meet();
    pipe_clog(&wire.parties[0].up, 5 * SECOND_NS);
    say(0, a, 200000);
    run_until(MS(4900));
    assert_true(b->count < 5000); /* almost nothing passes during the clog */
    run_until(MS(5041));
    assert_true(has_text(b, 200000));
}

static void a_clog_that_ends_early_does_not_delay_others(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    pipe_clog(&wire.parties[0].up, 60 * SECOND_NS);
    say(0, a, TEN_KB);
    run_until(SECOND_NS);
    pipe_unclog(&wire.parties[0].up, event_queue.now_ns);
    struct received *other = call(0, 1, 2);
    run_until(2 * SECOND_NS);
    say(0, other, TEN_KB);
    run_until(3 * SECOND_NS);
    assert_true(has_text(taken_by(2), TEN_KB));
    assert_int_equal(taken_by(2)->last_ns, MS(2000 + 80 + 40));
}

static void nothing_overtakes_bytes_in_a_clog(void **state)
{
    (void)state;
    meet();
    pipe_clog(&wire.parties[1].down, 60 * SECOND_NS);
    say(0, a, 1000); /* 10 s at 100 bytes per second */
    run_until(SECOND_NS);
    pipe_unclog(&wire.parties[1].down, event_queue.now_ns);
    wire_send(&wire, 0, a->conn, text + 1000, 500);
    run_until(MS(10139));
    assert_int_equal(b->count, 0);
    run_until(MS(10141));
    assert_true(has_text(b, 1500));
}

static void a_stalled_pipe_carries_nothing(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    wire.parties[0].up.stall_ns = MS(300);
    wire.parties[0].up.stall_every_ns = SECOND_NS; /* stalls from 700 to 1000 ms */
    meet();
    run_until(MS(660));
    say(0, a, TEN_KB); /* 40 ms before the stall, 40 ms after it */
    run_until(MS(1039));
    assert_in_range(b->count, 3 * SEGMENT, 5000);
    run_until(2 * SECOND_NS);
    assert_in_range(b->last_ns, MS(1080) - 10, MS(1080) + 10);
}

/* The pipe's clock began at 2 s. So it stalls from 2.7 to 3 s, and its rate falls at 3 s. */
static void times_of_a_pipe_count_from_its_origin(void **state)
{
    (void)state;
    static const struct rate falling = {
        .bytes_per_s = MBIT, .change = {{SECOND_NS, MBIT / 100}}, .changes = 1};
    struct pipe pipe = {.rate = &falling,
                        .origin_ns = 2 * SECOND_NS,
                        .stall_ns = MS(300),
                        .stall_every_ns = SECOND_NS};
    bool lost = false;
    assert_int_equal(pipe_rate(&pipe, MS(2999)), MBIT);
    assert_int_equal(pipe_rate(&pipe, MS(3000)), MBIT / 100);
    assert_int_equal(pipe_rate(&pipe, 0), MBIT);
    assert_int_equal(pipe_pass(&pipe, MS(2600), MBIT / 10, 0, &lost), MS(2700));
    /* 50 bytes, at a hundredth of the rate from 3 s on */
    assert_int_equal(pipe_pass(&pipe, MS(2700), 50, 0, &lost), MS(3040));
    assert_false(lost);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        STORY(a_call_is_accepted_after_one_delay_and_connected_after_two),
        STORY(a_call_to_nobody_is_refused_after_a_round_trip),
        STORY(a_call_into_a_cut_is_accepted_after_it_heals),
        STORY(a_call_given_up_early_is_never_accepted),
        STORY(bytes_of_the_called_party_wait_for_the_connection),
        STORY(ten_kilobytes_over_one_megabit_take_80_ms_plus_the_delay),
        STORY(unlimited_pipes_add_only_the_delay),
        STORY(two_senders_share_a_downlink),
        STORY(a_fast_sender_does_not_wait_for_a_slow_one_where_they_meet),
        STORY(order_is_kept_with_jitter_and_loss),
        STORY(a_lost_segment_comes_a_round_trip_later_and_the_rest_waits),
        STORY(a_window_stops_a_sender_whose_receiver_does_not_read),
        STORY(a_full_queue_counts_as_loss),
        STORY(queued_bytes_continue_at_the_new_rate),
        STORY(bytes_in_a_clogged_pipe_leave_after_the_clog),
        STORY(a_clog_that_ends_early_does_not_delay_others),
        STORY(nothing_overtakes_bytes_in_a_clog),
        STORY(a_stalled_pipe_carries_nothing),
        STORY(times_of_a_pipe_count_from_its_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
