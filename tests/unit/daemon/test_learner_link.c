/* The queue of orders to the thread that steps. Also run under ThreadSanitizer. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/learner_link.h"

static struct arena arena;
static struct learner_link link;
static const struct executor_ops no_ops;

static void nobody_is_woken(void *waker)
{
    (void)waker;
}

static int link_start(void **state)
{
    (void)state;
    const struct learner_link_options options = {.apply_window = 1,
                                                 .ops = &no_ops,
                                                 .learner = &link,
                                                 .wake = nobody_is_woken,
                                                 .waker = &link};
    arena_init(&arena, learner_link_arena_bytes(1) + 4096);
    learner_link_init(&link, &arena, &options);
    return 0;
}

static int link_stop(void **state)
{
    (void)state;
    learner_link_end(&link);
    arena_release(&arena);
    return 0;
}

/* The thread that steps. It ends before its first step. */
static struct stepper {
    pthread_barrier_t begins;
    uint64_t requests;
} stepper;

static void *until_a_step(void *argument)
{
    (void)argument;
    (void)pthread_barrier_wait(&stepper.begins);
    for (; learner_link_peek(&link); learner_link_done(&link))
        stepper.requests++;
    return NULL;
}

static uint64_t requests_before_a_step(bool has_more)
{
    enum { REQUESTS = 1000 };
    pthread_t thread;
    stepper.requests = 0;
    assert_int_equal(pthread_barrier_init(&stepper.begins, NULL, 2), 0);
    learner_link_set_more(&link, has_more);
    assert_int_equal(pthread_create(&thread, NULL, until_a_step, NULL), 0);
    (void)pthread_barrier_wait(&stepper.begins);
    for (int i = 0; has_more && i < REQUESTS; i++)
        learner_link_ask(&link, LEARNER_EVALUATE);
    learner_link_set_more(&link, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&stepper.begins), 0);
    return stepper.requests;
}

static void a_step_waits_for_what_there_was_no_room_for(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++)
        assert_int_equal(requests_before_a_step(true), 1000);
}

static void a_step_waits_for_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(requests_before_a_step(false), 0);
}

int main(void)
{
#define LINK(name) cmocka_unit_test_setup_teardown(name, link_start, link_stop)
    const struct CMUnitTest tests[] = {
        LINK(a_step_waits_for_what_there_was_no_room_for),
        LINK(a_step_waits_for_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
