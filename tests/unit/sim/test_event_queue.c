/* The event queue returns the earliest event first, and ties in the order of insertion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "events/event_queue.h"

#define MANY 5000

static struct event_queue event_queue;

static int begin(void **state)
{
    (void)state;
    event_queue_init(&event_queue, 100);
    return 0;
}

static int end(void **state)
{
    (void)state;
    event_queue_free(&event_queue);
    return 0;
}

static void put(uint64_t at_ns, uint64_t subject)
{
    event_queue_put(&event_queue, at_ns, 3, 4, subject, 5);
}

static void an_event_is_taken_as_it_was_put(void **state)
{
    (void)state;
    event_queue_put(&event_queue, 250, 1, 2, 3, 4);
    assert_int_equal(event_queue_next_ns(&event_queue), 250);
    const struct event event = event_queue_take(&event_queue);
    assert_int_equal(event.at_ns, 250);
    assert_int_equal(event.kind, 1);
    assert_int_equal(event.who, 2);
    assert_int_equal(event.subject, 3);
    assert_int_equal(event.amount, 4);
}

static void an_empty_queue_has_no_next_event(void **state)
{
    (void)state;
    assert_true(event_queue_next_ns(&event_queue) == NEVER_NS);
    put(300, 1);
    (void)event_queue_take(&event_queue);
    assert_true(event_queue_next_ns(&event_queue) == NEVER_NS);
}

static void the_earliest_event_comes_first_and_sets_the_time(void **state)
{
    (void)state;
    put(300, 1);
    put(200, 2);
    put(400, 3);
    assert_int_equal(event_queue.now_ns, 100);
    assert_int_equal(event_queue_take(&event_queue).subject, 2);
    assert_int_equal(event_queue.now_ns, 200);
    assert_int_equal(event_queue_take(&event_queue).subject, 1);
    assert_int_equal(event_queue_take(&event_queue).subject, 3);
    assert_int_equal(event_queue.now_ns, 400);
    assert_int_equal(event_queue.taken, 3);
}

static void events_in_the_past_happen_now(void **state)
{
    (void)state;
    put(500, 1);
    (void)event_queue_take(&event_queue);
    put(500, 2);
    put(7, 3);
    assert_int_equal(event_queue_next_ns(&event_queue), 500);
    assert_int_equal(event_queue_take(&event_queue).subject, 2);
    assert_int_equal(event_queue_take(&event_queue).subject, 3);
    assert_int_equal(event_queue.now_ns, 500);
}

static void ties_keep_the_order_of_insertion(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        put(200, i);
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(event_queue_take(&event_queue).subject, i);
}

static void many_events_are_ordered_by_time_and_insertion(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 1);
    uint64_t last_ns = 0, last_order = 0, left = 0;
    for (int i = 0; i < 2 * MANY; i++) {
        if (left > 0 && (i >= MANY || rng_below(&rng, 3) == 0)) {
            const struct event event = event_queue_take(&event_queue);
            assert_true(event.at_ns > last_ns || event.order > last_order);
            assert_true(event.at_ns >= last_ns);
            last_ns = event.at_ns;
            last_order = event.order;
            left--;
        } else {
            put(event_queue.now_ns + rng_below(&rng, 40), 0);
            left++;
        }
    }
    while (event_queue.count > 0) {
        assert_true(event_queue_next_ns(&event_queue) >= last_ns);
        last_ns = event_queue_take(&event_queue).at_ns;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_is_taken_as_it_was_put, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_queue_has_no_next_event, begin, end),
        cmocka_unit_test_setup_teardown(the_earliest_event_comes_first_and_sets_the_time, begin,
                                        end),
        cmocka_unit_test_setup_teardown(events_in_the_past_happen_now, begin, end),
        cmocka_unit_test_setup_teardown(ties_keep_the_order_of_insertion, begin, end),
        cmocka_unit_test_setup_teardown(many_events_are_ordered_by_time_and_insertion, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
