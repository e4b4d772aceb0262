/* Faults of the simulated network, as seen by each end of a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/wire_story.h"

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

static void a_cut_drops_everything_and_timeouts_double(void **state)
{
    (void)state;
    meet();
    run_until(SECOND_NS);
    wire_cut(&wire, 0, 1, true);
    wire_cut(&wire, 1, 0, true);
    say(0, a, TEN_KB);
    run_until(MS(2100));
    assert_int_equal(b->count, 0);
    wire_cut(&wire, 0, 1, false);
    wire_cut(&wire, 1, 0, false);
    run_until(10 * SECOND_NS);
    assert_true(has_text(b, TEN_KB));
    assert_int_equal(b->last_ns, MS(2440)); /* sent at 1.2, 1.6 and 2.4 s */
}

static void a_sender_that_was_silent_during_a_cut_resumes_at_once(void **state)
{
    (void)state;
    meet();
    wire_cut(&wire, 0, 1, true);
    run_until(30 * SECOND_NS);
    wire_cut(&wire, 0, 1, false);
    say(0, a, 100);
    run_until(40 * SECOND_NS);
    assert_int_equal(b->last_ns, MS(30040));
}

static void bytes_in_flight_when_a_cut_begins_arrive(void **state)
{
    (void)state;
    meet();
    say(0, a, TEN_KB);
    wire_cut(&wire, 0, 1, true);
    run_until(SECOND_NS);
    assert_true(has_text(b, TEN_KB));
}

static void two_cuts_must_heal_twice(void **state)
{
    (void)state;
    meet();
    wire_cut(&wire, 0, 1, true);
    say(0, a, 100);
    run_until(MS(1000));
    wire_cut(&wire, 0, 1, true);
    run_until(MS(1900));
    wire_cut(&wire, 0, 1, false);
    assert_true(wire_is_cut(&wire, 0, 1));
    run_until(MS(2000));
    wire_cut(&wire, 0, 1, false);
    run_until(20 * SECOND_NS);
    assert_true(has_text(b, 100));
    assert_int_equal(b->last_ns, MS(3140)); /* sent at 0.3, 0.7, 1.5 and 3.1 s */
}

static void a_one_way_cut_blocks_the_reverse_direction_at_its_window(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = 8 * MBIT;
    meet();
    /* party 0 receives nothing from party 1, not even acknowledgements */
    wire_cut(&wire, 1, 0, true);
    say(0, a, 200000);
    say(1, b, 100);
    run_until(10 * SECOND_NS);
    const size_t window = WIRE_WINDOW + 8 * MBIT / 25;
    assert_in_range(b->count, window, window + TEN_KB);
    assert_int_equal(a->count, 0);
    assert_int_equal(a->sends_done, 0);
    wire_cut(&wire, 1, 0, false);
    run_until(40 * SECOND_NS);
    assert_true(has_text(b, 200000) && has_text(a, 100));
    assert_int_equal(a->sends_done, 1);
}

static void a_death_is_not_noticed_through_a_cut(void **state)
{
    (void)state;
    meet();
    wire_cut(&wire, 1, 0, true);
    wire_die(&wire, 1, false);
    run_until(100 * SECOND_NS);
    assert_int_equal(a->closed_ns, 0);
}

static void a_hang_up_delivers_the_rest_first(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    say(0, a, HEARD_MAX / 2); /* more than a window */
    wire_hang_up(&wire, 0, a->conn);
    run_until(20 * SECOND_NS);
    assert_int_equal(a->closed_ns, MS(100));
    assert_true(has_text(b, HEARD_MAX / 2));
    assert_true(b->closed_ns >= b->last_ns);
    assert_string_equal(b->why, "");
}

static void a_hang_up_after_silence_arrives_one_delay_later(void **state)
{
    (void)state;
    meet();
    wire_hang_up(&wire, 1, b->conn);
    run_until(SECOND_NS);
    assert_int_equal(b->closed_ns, MS(100));
    assert_int_equal(a->closed_ns, MS(140));
    assert_int_equal(wire.flying, 0);
}

static void a_hang_up_in_a_cut_arrives_after_it_heals(void **state)
{
    (void)state;
    meet();
    wire_cut(&wire, 0, 1, true);
    say(0, a, 100);
    wire_hang_up(&wire, 0, a->conn);
    run_until(5 * SECOND_NS);
    assert_int_equal(b->closed_ns, 0);
    wire_cut(&wire, 0, 1, false);
    run_until(20 * SECOND_NS);
    assert_true(has_text(b, 100) && b->closed_ns >= b->last_ns);
}

static void a_hang_up_without_a_byte_does_not_pass_a_cut(void **state)
{
    (void)state;
    meet();
    wire_cut(&wire, 0, 1, true);
    wire_hang_up(&wire, 0, a->conn);
    run_until(5 * SECOND_NS);
    assert_int_equal(b->closed_ns, 0);
    wire_cut(&wire, 0, 1, false);
    run_until(6 * SECOND_NS);
    assert_true(b->closed_ns >= 5 * SECOND_NS);
}

static void sending_to_a_closed_end_causes_a_reset(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    say(1, b, 100);
    say(0, a, 200000);
    wire_hang_up(&wire, 0, a->conn);
    run_until(20 * SECOND_NS);
    assert_int_equal(a->count, 0);
    assert_in_range(b->count, WIRE_WINDOW, 200000 - 1);
    assert_string_equal(b->why, "connection reset");
}

static void a_reset_closes_a_half_closed_connection(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    say(0, a, 200000);
    wire_hang_up(&wire, 0, a->conn);
    run_until(MS(500));
    wire_reset(&wire, 0, 1);
    run_until(20 * SECOND_NS);
    assert_int_equal(b->closed_ns, MS(500));
    assert_int_equal(wire.flying, 0);
}

static void a_reset_closes_both_ends_and_drops_bytes_in_flight(void **state)
{
    (void)state;
    meet();
    say(0, a, TEN_KB);
    run_until(MS(120));
    wire_reset(&wire, 1, 0);
    run_until(SECOND_NS);
    assert_int_equal(a->closed_ns, MS(120));
    assert_int_equal(b->closed_ns, MS(120));
    assert_string_equal(b->why, "connection reset");
    assert_int_equal(b->count, 0);
    assert_int_equal(wire.flying, 0);
}

static void a_reset_leaves_other_hosts_connected(void **state)
{
    (void)state;
    meet();
    struct received *other = call(0, 1, 2);
    run_until(MS(300));
    wire_reset(&wire, 0, 1);
    run_until(MS(400));
    say(0, other, 100);
    run_until(SECOND_NS);
    assert_true(has_text(taken_by(2), 100));
    assert_int_equal(other->closed_ns, 0);
}

static void a_death_is_noticed_after_the_last_bytes(void **state)
{
    (void)state;
    rates[0][0].bytes_per_s = MBIT;
    meet();
    say(0, a, TEN_KB);
    wire_die(&wire, 0, false);
    run_until(SECOND_NS);
    assert_true(has_text(b, TEN_KB));
    assert_int_equal(b->closed_ns, MS(220));
    assert_string_equal(b->why, "connection reset");
}

static void a_silent_death_is_never_noticed(void **state)
{
    (void)state;
    meet();
    wire_die(&wire, 0, true);
    say(1, b, 100);
    run_until(1000 * SECOND_NS);
    assert_int_equal(b->closed_ns, 0);
    wire_hang_up(&wire, 1, b->conn);
    run_until(1001 * SECOND_NS);
    assert_true(b->closed_ns > 0);
    assert_int_equal(wire.flying, 0);
}

static void a_half_open_connection_swallows_bytes(void **state)
{
    (void)state;
    rates[1][0].bytes_per_s = MBIT;
    meet();
    wire_half_open(&wire, 0);
    say(1, b, 200000);
    run_until(1000 * SECOND_NS);
    assert_int_equal(a->closed_ns, MS(100));
    assert_string_equal(a->why, "connection timed out");
    assert_int_equal(b->closed_ns, 0);
    assert_int_equal(b->sends_done, 0); /* party 1's window stays full */
    wire_hang_up(&wire, 1, b->conn);
    run_until(1001 * SECOND_NS);
    assert_int_equal(wire.flying, 0);
}

static void events_of_an_old_connection_never_reach_a_new_one(void **state)
{
    (void)state;
    meet();
    const struct received first = *b;
    say(0, a, TEN_KB);
    wire_hang_up(&wire, 1, b->conn);
    wire_reset(&wire, 0, 1);
    run_until(MS(101)); /* both ends are gone; the bytes would arrive at 140 ms */
    a = call(0, 0, 1);
    assert_int_equal(wire.connections_count, 1); /* the connection's slot is used again */
    run_until(SECOND_NS);
    b = taken_by(1);
    assert_true(b->conn != first.conn);
    assert_int_equal(b->count, 0);
    assert_int_equal(a->sends_done, 0);
    assert_int_equal(a->closed_ns + b->closed_ns, 0);
    say(0, a, 100);
    run_until(2 * SECOND_NS);
    assert_true(has_text(b, 100));
}

static void a_paused_host_receives_everything_later_in_order(void **state)
{
    (void)state;
    wire.parties[0].paused_ns = SECOND_NS;
    a = call(0, 0, 1);
    run_until(MS(60));
    b = taken_by(1);
    say(1, b, TEN_KB);
    run_until(MS(200));
    wire_hang_up(&wire, 1, b->conn);
    run_until(MS(999));
    assert_int_equal(a->begun_ns + a->count + a->closed_ns, 0);
    run_until(2 * SECOND_NS);
    assert_int_equal(a->begun_ns, SECOND_NS);
    assert_true(has_text(a, TEN_KB));
    assert_true(a->closed_ns >= SECOND_NS);
}

static void fragments_add_up_to_the_same_bytes(void **state)
{
    (void)state;
    meet();
    wire.parties[1].fragment_ns = 10 * SECOND_NS;
    say(0, a, HEARD_MAX);
    run_until(SECOND_NS);
    assert_true(has_text(b, HEARD_MAX));
    assert_true(b->pieces > 10);
}

static void tampering_changes_a_single_bit_now_and_then(void **state)
{
    (void)state;
    meet();
    wire.parties[1].tamper_ns = 100 * SECOND_NS;
    for (uint64_t t = 1; t <= 80; t++) {
        wire_send(&wire, 0, a->conn, text + (t - 1) * 1000, 1000);
        run_until(SECOND_NS * t);
    }
    uint32_t flipped = 0;
    assert_int_equal(b->count, 80000);
    for (size_t i = 0; i < b->count; i++) {
        const uint8_t change = b->bytes[i] ^ text[i];
        assert_int_equal(change & (change - 1), 0); /* at most one bit */
        flipped += change != 0;
    }
    assert_in_range(flipped, 1, 40);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        STORY(a_cut_drops_everything_and_timeouts_double),
        STORY(a_sender_that_was_silent_during_a_cut_resumes_at_once),
        STORY(bytes_in_flight_when_a_cut_begins_arrive),
        STORY(two_cuts_must_heal_twice),
        STORY(a_one_way_cut_blocks_the_reverse_direction_at_its_window),
        STORY(a_death_is_not_noticed_through_a_cut),
        STORY(a_hang_up_delivers_the_rest_first),
        STORY(a_hang_up_after_silence_arrives_one_delay_later),
        STORY(a_hang_up_in_a_cut_arrives_after_it_heals),
        STORY(a_hang_up_without_a_byte_does_not_pass_a_cut),
        STORY(sending_to_a_closed_end_causes_a_reset),
        STORY(a_reset_closes_a_half_closed_connection),
        STORY(a_reset_closes_both_ends_and_drops_bytes_in_flight),
        STORY(a_reset_leaves_other_hosts_connected),
        STORY(a_death_is_noticed_after_the_last_bytes),
        STORY(a_silent_death_is_never_noticed),
        STORY(a_half_open_connection_swallows_bytes),
        STORY(events_of_an_old_connection_never_reach_a_new_one),
        STORY(a_paused_host_receives_everything_later_in_order),
        STORY(fragments_add_up_to_the_same_bytes),
        STORY(tampering_changes_a_single_bit_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
