/* Programs that each run a node of the library train together over real sockets, and end with one
 * model. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/library/program.h"

#define STEPS  400
#define TARGET 0.02 /* fraction of the initial weights' loss that training must reach */

static void close_all(struct program *programs, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(hearsay_close(programs[i].node, 0), HEARSAY_OK);
        assert_int_equal(hearsay_free(programs[i].node), HEARSAY_OK);
    }
}

static void assert_one_model(struct program *programs, int count)
{
    float weights[2][PROGRAM_WEIGHTS], bias[2][PROGRAM_OUTPUTS];
    const struct hearsay_info first = program_info(&programs[0]);
    assert_int_equal(program_base(&programs[0], weights[0], bias[0]), HEARSAY_OK);
    for (int i = 1; i < count; i++) {
        assert_true(program_info(&programs[i]).digest == first.digest);
        assert_int_equal(program_base(&programs[i], weights[1], bias[1]), HEARSAY_OK);
        assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
        assert_memory_equal(bias[0], bias[1], sizeof bias[0]);
    }
}

/* Checks the calls of fetch and store. Copies are fetched before the first use, and at most once
 * per call of the library: open, join, each step and the base after it, and two settle calls. */
static void assert_copies_followed(struct program *program)
{
    const int steps = (int)program_info(program).steps;
    assert_in_range(program->fetches, 2, 2 * steps + 4);
    assert_in_range(program->stores, 2, program->fetches + 1);
    assert_memory_equal(program->weights, program->weights_copy, sizeof program->weights);
    assert_memory_equal(program->bias, program->bias_copy, sizeof program->bias);
}

static void three_programs_learn_one_model(void **state)
{
    struct program programs[3];
    char first[64];
    float weights[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    pthread_barrier_t together;
    (void)state;
    assert_int_equal(pthread_barrier_init(&together, NULL, 3), 0);
    static const char *const names[] = {"a", "b", "c"};
    program_init(&programs[0], "a", 1);
    const double before = program_loss(programs[0].weights, programs[0].bias);
    for (unsigned i = 0; i < 3; i++) {
        program_init(&programs[i], names[i], i + 1);
        programs[i].steps = STEPS;
        programs[i].target = TARGET * before;
        programs[i].together = &together;
        programs[i].peers = i > 0 ? first : NULL;
        programs[i].has_copies = i == 1;
        programs[i].is_impatient = i == 2;
        programs[i].members = 3;
        programs[i].weights_copy[0] = NAN; /* NaN until the first fetch */
        program_must_open(&programs[i]);
        if (i == 0)
            program_address(&programs[0], first);
        program_start(&programs[i]);
    }
    for (int i = 0; i < 3; i++)
        program_finish(&programs[i]);
    assert_one_model(programs, 3);
    assert_int_equal(program_base(&programs[0], weights, bias), HEARSAY_OK);
    assert_true(program_loss(weights, bias) < 0.5 * before); /* holds even on a busy machine */
    for (int i = 0; i < 3; i++) {
        assert_true(program_info(&programs[i]).rumors > 0);
        assert_true(program_info(&programs[i]).steps >= STEPS);
        assert_true(programs[i].changes > 0);
    }
    assert_copies_followed(&programs[1]);
    close_all(programs, 3);
    assert_memory_equal(programs[1].weights, programs[1].weights_copy, sizeof programs[1].weights);
    assert_int_equal(pthread_barrier_destroy(&together), 0);
}

/* The library fetches before it overwrites trained values, so that it publishes the caller's
 * changes. */
static void copies_are_fetched_and_stored_in_the_calls_that_need_it(void **state)
{
    struct program program;
    float base[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    (void)state;
    program_init(&program, "copies", 6);
    program.has_copies = true;
    const float before = program.weights[0];
    program_must_open(&program);
    assert_int_equal(program.fetches, 1);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(program.fetches, 2);
    assert_int_equal(program.stores, 1);
    program.weights[0] += 0.5f;
    assert_int_equal(hearsay_step(program.node, 1, 0, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(program_base(&program, base, bias), HEARSAY_OK);
    assert_true(fabsf(base[0] - before - 0.5f) < 0.05f);
    assert_true(fabsf(program.weights[0] - before - 0.5f) < 0.01f);
    close_all(&program, 1);
}

/* Changes of the tensors that are reverted before the next step are not published. */
static void reverted_weights_are_the_shared_models(void **state)
{
    (void)state;
    assert_int_equal(hearsay_revert(NULL), HEARSAY_ARGUMENT);
    for (int has_copies = 0; has_copies <= 1; has_copies++) {
        struct program program;
        float base[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS], before[PROGRAM_WEIGHTS];
        program_init(&program, has_copies ? "reverts copies" : "reverts", 8);
        program.has_copies = has_copies == 1;
        program_must_open(&program);
        assert_int_equal(hearsay_revert(program.node), HEARSAY_NOT_JOINED);
        assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
        program.weights[0] += 0.5f;
        assert_int_equal(hearsay_step(program.node, 1, 0, NULL), HEARSAY_OK);
        assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
        assert_int_equal(program_base(&program, before, bias), HEARSAY_OK);
        for (int i = 0; i < PROGRAM_WEIGHTS; i++)
            program.weights[i] = 9;
        assert_int_equal(hearsay_revert(program.node), HEARSAY_OK);
        assert_memory_equal(program.weights, before, sizeof before);
        assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
        assert_int_equal(program_base(&program, base, bias), HEARSAY_OK);
        assert_memory_equal(base, before, sizeof before);
        close_all(&program, 1);
    }
}

static void settle_both(struct program programs[2])
{
    int errors[2];
    do {
        for (int i = 0; i < 2; i++)
            errors[i] = hearsay_settle(programs[i].node, 0.1);
    } while (errors[0] == HEARSAY_TIMEOUT || errors[1] == HEARSAY_TIMEOUT);
    assert_true(errors[0] == HEARSAY_OK && errors[1] == HEARSAY_OK);
}

/* The statistics move much further than one publication can carry. */
static void settling_carries_statistics_all_the_way(void **state)
{
    struct program programs[2];
    float weights[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    char first[64];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        program_init(&programs[i], i > 0 ? "moves too" : "moves", i + 1);
        programs[i].has_statistics = true;
        programs[i].peers = i > 0 ? first : NULL;
        program_must_open(&programs[i]);
        if (i == 0)
            program_address(&programs[0], first);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(hearsay_join(programs[i].node, PROGRAM_FOREVER), HEARSAY_OK);
    while (program_info(&programs[0]).members < 2 || program_info(&programs[1]).members < 2)
        settle_both(programs);
    for (int i = 0; i < 2; i++) {
        for (int o = 0; o < PROGRAM_OUTPUTS; o++)
            programs[i].bias[o] = 2000;
        assert_int_equal(hearsay_step(programs[i].node, 1, 0, NULL), HEARSAY_OK);
    }
    settle_both(programs);
    /* the first settle of one program may have ended before the other program published */
    settle_both(programs);
    assert_one_model(programs, 2);
    assert_int_equal(program_base(&programs[0], weights, bias), HEARSAY_OK);
    for (int o = 0; o < PROGRAM_OUTPUTS; o++)
        assert_in_range((int)bias[o], 1000, 2200); /* one publication carries less than 2 */
    close_all(programs, 2);
}

/* Each program stops after a different number of steps. No program knows whether the other programs
 * have finished. */
static void programs_that_finish_hold_one_model(void **state)
{
    struct program programs[3];
    char first[64];
    pthread_barrier_t together;
    (void)state;
    assert_int_equal(pthread_barrier_init(&together, NULL, 3), 0);
    static const char *const names[] = {"finishes", "finishes later", "finishes copies"};
    for (unsigned i = 0; i < 3; i++) {
        program_init(&programs[i], names[i], i + 1);
        programs[i].steps = (int)(STEPS * (i + 1) / 2);
        programs[i].together = &together;
        programs[i].peers = i > 0 ? first : NULL;
        programs[i].has_copies = i == 2;
        programs[i].is_impatient = i == 1;
        programs[i].finishes = true;
        programs[i].members = 3;
        program_must_open(&programs[i]);
        if (i == 0)
            program_address(&programs[0], first);
        program_start(&programs[i]);
    }
    for (int i = 0; i < 3; i++)
        program_finish(&programs[i]);
    assert_one_model(programs, 3);
    float weights[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(program_base(&programs[i], weights, bias), HEARSAY_OK);
        assert_memory_equal(programs[i].weights, weights, sizeof weights);
        assert_memory_equal(programs[i].bias, bias, sizeof bias);
        assert_int_equal(hearsay_step(programs[i].node, 1, 0, NULL), HEARSAY_ENDED);
        assert_non_null(strstr(program_sentence(&programs[i], HEARSAY_ENDED), "hearsay_finish"));
        assert_int_equal(hearsay_finish(programs[i].node, 0), HEARSAY_OK);
        assert_int_equal(hearsay_settle(programs[i].node, 0), HEARSAY_OK);
        assert_int_equal(hearsay_save(programs[i].node, "extra", 5), HEARSAY_OK);
    }
    assert_one_model(programs, 3);
    close_all(programs, 3);
    assert_int_equal(pthread_barrier_destroy(&together), 0);
}

/* Weights from 1 to 2 are multiples of two units, and updates of other nodes move the base by any
 * number of units. The difference is a rounding error, which no publication can remove. */
static void finishing_publishes_no_rounding(void **state)
{
    struct program programs[2];
    char first[64];
    uint64_t rumors[2];
    int errors[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        program_init(&programs[i], i > 0 ? "rounds too" : "rounds", i + 1);
        for (int c = 0; c < PROGRAM_WEIGHTS; c++)
            programs[i].weights[c] = 1.5f;
        programs[i].peers = i > 0 ? first : NULL;
        program_must_open(&programs[i]);
        if (i == 0)
            program_address(&programs[0], first);
        assert_int_equal(hearsay_join(programs[i].node, PROGRAM_FOREVER), HEARSAY_OK);
    }
    while (program_info(&programs[0]).members < 2 || program_info(&programs[1]).members < 2)
        settle_both(programs);
    for (int step = 0; step < 8; step++) {
        for (int i = 0; i < 2; i++) {
            for (int c = 0; c < PROGRAM_WEIGHTS; c++) /* the last step moves nothing */
                programs[i].weights[c] += step < 7 ? 1e-5f * (float)((c + 1) * (i + 2) % 37) : 0;
            assert_int_equal(hearsay_step(programs[i].node, 1, 0, NULL), HEARSAY_OK);
        }
        settle_both(programs);
    }
    for (int i = 0; i < 2; i++)
        rumors[i] = program_info(&programs[i]).rumors;
    do {
        for (int i = 0; i < 2; i++)
            errors[i] = hearsay_finish(programs[i].node, 0.1);
    } while (errors[0] == HEARSAY_TIMEOUT || errors[1] == HEARSAY_TIMEOUT);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(errors[i], HEARSAY_OK);
        assert_true(program_info(&programs[i]).rumors - rumors[i] < 100);
    }
    assert_one_model(programs, 2);
    close_all(programs, 2);
}

static void finishing_names_who_still_trains(void **state)
{
    struct program programs[2];
    char first[64];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        program_init(&programs[i], i > 0 ? "goes on" : "waits", i + 1);
        programs[i].peers = i > 0 ? first : NULL;
        program_must_open(&programs[i]);
        if (i == 0)
            program_address(&programs[0], first);
    }
    assert_int_equal(hearsay_finish(programs[0].node, 0), HEARSAY_NOT_JOINED);
    assert_int_equal(hearsay_join(programs[0].node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_join(programs[1].node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_finish(programs[0].node, (double)NAN), HEARSAY_ARGUMENT);
    do
        assert_int_equal(hearsay_step(programs[1].node, 1, 0, NULL), HEARSAY_OK);
    while (program_info(&programs[0]).members < 2);
    do
        assert_int_equal(hearsay_finish(programs[0].node, 0.2), HEARSAY_TIMEOUT);
    while (!strstr(program_sentence(&programs[0], HEARSAY_TIMEOUT), "waits for"));
    do
        assert_int_equal(hearsay_finish(programs[0].node, 0.2), HEARSAY_TIMEOUT);
    while (!strstr(program_sentence(&programs[0], HEARSAY_TIMEOUT), " trains"));
    /* settle must not return the sentence that finish has for this error */
    assert_int_equal(hearsay_settle(programs[0].node, 0), HEARSAY_TIMEOUT);
    assert_null(strstr(program_sentence(&programs[0], HEARSAY_TIMEOUT), " trains"));
    assert_int_equal(hearsay_close(programs[1].node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_finish(programs[0].node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_free(programs[1].node), HEARSAY_OK);
    close_all(programs, 1);
}

static bool blocks_signals(const char *task)
{
    char path[300], line[256];
    unsigned long long blocked = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, "SigBlk: %llx", &blocked);
    if (file)
        (void)fclose(file);
    return (blocked >> (SIGINT - 1) & blocked >> (SIGTERM - 1) & blocked >> (SIGPIPE - 1) & 1) == 1;
}

static int threads_that_block_signals(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.' && blocks_signals(entry->d_name);
    assert_int_equal(closedir(tasks), 0);
    return count;
}

/* Signals are delivered to the program's own threads, whose handlers and masks must not change. */
static void a_node_leaves_signals_alone(void **state)
{
    struct program program;
    struct sigaction before, after;
    (void)state;
    const int others = threads_that_block_signals();
    assert_int_equal(sigaction(SIGINT, NULL, &before), 0);
    program_init(&program, "signals", 5);
    program_must_open(&program);
    assert_true(threads_that_block_signals() > others);
    assert_int_equal(sigaction(SIGINT, NULL, &after), 0);
    assert_true(after.sa_handler == before.sa_handler);
    close_all(&program, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_programs_learn_one_model),
        cmocka_unit_test(copies_are_fetched_and_stored_in_the_calls_that_need_it),
        cmocka_unit_test(reverted_weights_are_the_shared_models),
        cmocka_unit_test(settling_carries_statistics_all_the_way),
        cmocka_unit_test(programs_that_finish_hold_one_model),
        cmocka_unit_test(finishing_publishes_no_rounding),
        cmocka_unit_test(finishing_names_who_still_trains),
        cmocka_unit_test(a_node_leaves_signals_alone),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
