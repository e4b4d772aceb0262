/* Worker processes with numbered jobs. Each job runs once, even if its process fails. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "jobs/job_pool.h"

#define JOBS 100

/* Result that a worker reports for a job. */
struct answer {
    uint64_t job;
    uint64_t thrice;
    bool failed;
};

struct results {
    uint32_t times[JOBS];
    uint32_t beyond; /* number of jobs >= JOBS */
    uint32_t lost;
    uint32_t failed;
    bool stops; /* stops after the first failure */
    char why[300];
};

static void play_quick(void *self, uint64_t job, void *result)
{
    (void)self;
    *(struct answer *)result = (struct answer){.job = job, .thrice = 3 * job};
}

static void play_and_abort(void *self, uint64_t job, void *result)
{
    play_quick(self, job, result);
    if (job == 17)
        (void)fprintf(stderr, "=====\n");
    CHECK(job != 17 && "the planted mistake");
}

static void play_and_exit(void *self, uint64_t job, void *result)
{
    play_quick(self, job, result);
    if (job == JOBS - 1)
        _exit(3);
}

static void play_and_interrupt(void *self, uint64_t job, void *result)
{
    play_quick(self, job, result);
    if (job == 50)
        assert_int_equal(kill(getppid(), SIGINT), 0);
}

static void play_and_fail(void *self, uint64_t job, void *result)
{
    play_quick(self, job, result);
    ((struct answer *)result)->failed = job == 20;
}

static bool on_done(void *self, const void *result)
{
    struct results *results = self;
    const struct answer *answer = result;
    assert_int_equal(answer->thrice, 3 * answer->job);
    if (answer->job >= JOBS)
        results->beyond++;
    else
        results->times[answer->job]++;
    results->failed += answer->failed;
    return !(answer->failed && results->stops);
}

static bool on_lost(void *self, uint64_t job, const char *why)
{
    struct results *results = self;
    results->times[job]++;
    results->lost++;
    (void)snprintf(results->why, sizeof results->why, "%s", why);
    return true;
}

static void on_tick(void *self)
{
    (void)self;
}

static struct job_pool pool_new(struct results *results, void (*play)(void *, uint64_t, void *))
{
    return (struct job_pool){.to = JOBS - 1,
                             .processes = 3,
                             .result_bytes = sizeof(struct answer),
                             .self = results,
                             .play = play,
                             .done = on_done,
                             .lost = on_lost,
                             .tick = on_tick};
}

static void assert_all_once(const struct results *results)
{
    for (int job = 0; job < JOBS; job++)
        assert_int_equal(results->times[job], 1);
}

static void processes_do_every_job_once(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 8; count++) {
        struct results results = {0};
        struct job_pool pool = pool_new(&results, play_quick);
        pool.processes = count;
        assert_true(job_pool_run(&pool));
        assert_all_once(&results);
        assert_int_equal(results.lost, 0);
    }
}

static void the_range_may_end_at_the_last_number(void **state)
{
    (void)state;
    struct results results = {0};
    struct job_pool pool = pool_new(&results, play_quick);
    pool.from = UINT64_MAX - 1;
    pool.to = UINT64_MAX;
    assert_true(job_pool_run(&pool));
    assert_int_equal(results.beyond, 2);
}

static void a_process_that_dies_loses_its_job_and_no_other(void **state)
{
    (void)state;
    struct results results = {0};
    const struct job_pool pool = pool_new(&results, play_and_abort);
    assert_true(job_pool_run(&pool));
    assert_all_once(&results);
    assert_int_equal(results.lost, 1);
    assert_non_null(strstr(results.why, "signal 6"));
    assert_non_null(strstr(results.why, "the planted mistake"));
    assert_null(strstr(results.why, "====="));
}

static void a_process_that_dies_with_the_last_job_is_reported(void **state)
{
    (void)state;
    struct results results = {0};
    struct job_pool pool = pool_new(&results, play_and_exit);
    assert_true(job_pool_run(&pool));
    assert_all_once(&results);
    assert_int_equal(results.lost, 1);
    assert_non_null(strstr(results.why, "exit code 3"));
}

static void no_job_starts_after_done_returns_false(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 2; count++) {
        struct results results = {.stops = count == 1};
        struct job_pool pool = pool_new(&results, play_and_fail);
        pool.processes = count;
        assert_true(job_pool_run(&pool));
        assert_int_equal(results.failed, 1);
        assert_int_equal(results.times[20], 1);
        assert_int_equal(results.times[21], !results.stops);
    }
}

static void ctrl_c_ends_the_workers_but_not_the_pool(void **state)
{
    (void)state;
    struct results results = {0};
    struct job_pool pool = pool_new(&results, play_and_interrupt);
    pool.processes = 1;
    pool.to = UINT64_MAX;
    assert_false(job_pool_run(&pool));
    for (int job = 0; job < 50; job++)
        assert_int_equal(results.times[job], 1);
    pool = pool_new(&results, play_quick); /* the signal is no longer pending */
    assert_true(job_pool_run(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_do_every_job_once),
        cmocka_unit_test(the_range_may_end_at_the_last_number),
        cmocka_unit_test(a_process_that_dies_loses_its_job_and_no_other),
        cmocka_unit_test(a_process_that_dies_with_the_last_job_is_reported),
        cmocka_unit_test(no_job_starts_after_done_returns_false),
        cmocka_unit_test(ctrl_c_ends_the_workers_but_not_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
