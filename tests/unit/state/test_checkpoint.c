/* Checkpoints survive every crash, failure and flipped bit of a disk in memory (memory_disk.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "state/atomic_file.h"
#include "state/checkpoint_file.h"
#include "state/checksummed_stream.h"
#include "support/state/checkpoint_story.h"

#define FEW 3900 /* parameters with which two moments also fit into one file of the disk */

static struct memory_disk crashed, tried;

static void a_checkpoint_loads_bit_for_bit(void **state)
{
    const size_t rest = sizeof(struct checkpoint_header) + strlen(MODEL) + OWN +
                        2 * sizeof(struct checkpoint_head) + sizeof(struct checkpoint_numbers);
    assert_int_equal((CHUNK_PAYLOAD - rest) % 48, 0); /* so that the last cases fill a chunk */
    const size_t full = (CHUNK_PAYLOAD - rest) / 4;
    const size_t cases[] = {1, 1, 1, 7, 7, 7, P, P, FEW, full / 2, full / 3, full / 4};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t parameters = cases[i];
        const uint32_t moments = (uint32_t)(i % 3);
        (void)begin(state);
        story_part = parameters;
        story_init(&saved, parameters, moments);
        assert_int_equal(save(&disk), OK);
        assert_int_equal(file_of(&disk, 1)->size,
                         checksummed_file_bytes(rest + (8 + 4 * moments) * parameters));
        assert_int_equal(load_with(&disk, parameters, moments), OK);
        assert_true(story_is(&loaded, 1));
        assert_true(loaded.checkpoint.digest == story_digest(&saved.state));
        assert_int_equal(series.good, 1);
        assert_int_equal(series.next, 2);
    }
}

static void a_checkpoint_in_parts_includes_concurrent_changes(void **state)
{
    const size_t parts[] = {1, 7, 100, FEW - 1, FEW, FEW + 1};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t parameters = parts[i] < 100 ? 40 : FEW;
        for (uint32_t moments = 0; moments <= LEARNER_MOMENTS_MAX; moments++) {
            (void)begin(state);
            story_part = parts[i];
            story_init(&saved, parameters, moments);
            assert_int_equal(save(&disk), OK);
            assert_int_equal(load_with(&disk, parameters, moments), OK);
            assert_true(story_is(&loaded, 1));
        }
    }
}

static void an_abandoned_save_leaves_no_file(void **state)
{
    (void)state;
    static struct checkpoint_writer writer;
    save_two();
    checkpoint_begin(&writer, &disk.table, FOLDER, &saved.checkpoint, P, &series);
    story_part = P;
    story_walk(&saved, 3, &writer);
    checkpoint_abandon(&writer);
    assert_null(memory_disk_file(&disk, "checkpoint-3" ATOMIC_FILE_SUFFIX));
    assert_null(file_of(&disk, 3));
    story_part = 1500;
    must_load(&disk, 2, 0);
    series.next = 4; /* the number of the abandoned generation, 3, is not used again */
    assert_int_equal(save(&disk), OK);
    must_load(&disk, 4, 0);
}

/* Loads a file of each number of moments into optimizers of each number of moments. */
static void moments_that_are_not_of_this_optimizer_are_left_out_and_begin_at_zero(void **state)
{
    for (uint32_t in_file = 0; in_file <= LEARNER_MOMENTS_MAX; in_file++) {
        (void)begin(state);
        story_init(&saved, FEW, in_file);
        assert_int_equal(save(&disk), OK);
        for (uint32_t here = 0; here <= LEARNER_MOMENTS_MAX; here++) {
            assert_int_equal(load_with(&disk, FEW, here), OK);
            struct learner_state *is = &loaded.state;
            if (here != in_file) {
                assert_int_equal(loaded.checkpoint.state.steps, 0);
                for (uint32_t i = 0; i < here * FEW; i++)
                    assert_true(is->moment[i / FEW][i % FEW] == 0);
                is->moments = 0; /* everything else is unchanged */
                is->moment[0] = is->moment[1] = NULL;
                loaded.checkpoint.state.steps = saved.checkpoint.state.steps;
            }
            assert_true(story_is(&loaded, 1));
        }
    }
}

static void without_any_checkpoint_a_load_says_missing_and_begins_the_series(void **state)
{
    (void)state;
    memory_disk_put(&disk, "checkpoint-", "x", 1);
    memory_disk_put(&disk, "checkpoint-12x", "x", 1);
    memory_disk_put(&disk, "checkpoint-07", "x", 1);
    memory_disk_put(&disk, "checkpoint-1234567890123456789", "x", 1);
    memory_disk_put(&disk, "base.safetensors", "x", 1);
    assert_int_equal(load(&disk), MISSING);
    assert_int_equal(series.next, 1);
    memory_disk_put(&disk, "checkpoint-4" ATOMIC_FILE_SUFFIX, "x", 1);
    assert_int_equal(load(&disk), MISSING);
    assert_int_equal(series.next, 5);
    assert_int_equal(series.good, 0);
    assert_int_equal(refusals.count, 0);
}

static void the_last_two_are_kept_and_what_has_other_names(void **state)
{
    (void)state;
    memory_disk_put(&disk, "checkpoint-07", "x", 1);
    memory_disk_put(&disk, "node.key", "x", 1);
    for (uint64_t generation = 1; generation <= 6; generation++) {
        assert_int_equal(save(&disk), OK);
        for (uint64_t old = 1; old <= generation; old++)
            assert_true((file_of(&disk, old) != NULL) == (old + 1 >= generation));
    }
    assert_non_null(memory_disk_file(&disk, "checkpoint-07"));
    assert_non_null(memory_disk_file(&disk, "node.key"));
}

static void removes_a_half_written_file(void **state)
{
    (void)state;
    memory_disk_put(&disk, "checkpoint-2" ATOMIC_FILE_SUFFIX, "x", 1);
    assert_int_equal(load(&disk), MISSING);
    for (int i = 0; i < 3; i++)
        assert_int_equal(save(&disk), OK);
    assert_null(memory_disk_file(&disk, "checkpoint-2" ATOMIC_FILE_SUFFIX));
    must_load(&disk, 5, 0);
}

/* A rotten newer checkpoint does not cause the removal of the older one that was loaded. */
static void after_a_rotten_one_the_older_that_was_loaded_is_kept(void **state)
{
    (void)state;
    save_two();
    file_of(&disk, 2)->bytes[100] ^= 1;
    must_load(&disk, 1, 1);
    assert_int_equal(save(&disk), OK);
    file_of(&disk, 3)->bytes[100] ^= 1;
    must_load(&disk, 1, 2);
    assert_int_equal(series.next, 4);
}

/* Starts again after a crash: loads one of the generations `oldest` to `newest`, saves the next
 * one, and loads it. */
static void go_on(struct memory_disk *after, uint64_t oldest, uint64_t newest)
{
    const enum error error = load(after);
    if (error != OK || series.good < oldest || series.good > newest)
        fail_msg("after a crash: %d %s, generation %d", (int)error, problem.text, (int)series.good);
    assert_true(story_is(&loaded, series.good));
    const uint64_t next = series.next;
    assert_int_equal(save(after), OK);
    must_load(after, next, refusals.count);
}

/* Cuts the power before each operation of a save in turn. The start after each crash must succeed.
 * Returns the number of crashes. */
static int crash_everywhere(const struct memory_disk *from, uint64_t generation)
{
    const struct checkpoint_series before = series;
    int cut = 0, crashes = 0;
    for (bool goes_on = true; goes_on; cut++) {
        memory_disk_copy(&tried, from);
        memory_disk_heal(&tried);
        tried.cut_at = cut;
        series = before;
        const bool is_done = save(&tried) == OK;
        goes_on = tried.has_failed;
        for (int kind = 0; kind < CRASH_KINDS; kind++) {
            for (unsigned names = 0; names < 1u << tried.pending_count; names++, crashes++) {
                memory_disk_crash(&crashed, &tried, kind, names);
                if (generation == 1 && !is_done && load(&crashed) == MISSING)
                    continue;
                go_on(&crashed, is_done || generation == 1 ? generation : generation - 1,
                      generation);
            }
        }
    }
    assert_true(cut > 8);
    return crashes;
}

static void after_a_crash_anywhere_the_last_or_the_new_generation_loads(void **state)
{
    (void)state;
    int crashes = crash_everywhere(&disk, 1);
    (void)begin(state);
    save_two();
    memory_disk_put(&disk, "checkpoint-3" ATOMIC_FILE_SUFFIX, "x", 1);
    crashes += crash_everywhere(&disk, 3);
    (void)begin(state);
    save_two();
    assert_int_equal(save(&disk), OK);
    disk.lasting = disk.now; /* removed files are gone permanently */
    disk.pending_count = 0;
    crashes += crash_everywhere(&disk, 4);
    print_message("%d crashes outlived\n", crashes);
}

/* Removing old files may fail, because the next save tries it again. */
#define MAY_FAIL (OPERATION(REMOVE) | OPERATION(LIST))

static bool fail_save_at(int at, int errno_wanted, bool is_short, bool all_after)
{
    memory_disk_copy(&tried, &disk);
    memory_disk_heal(&tried);
    series = (struct checkpoint_series){.next = 3, .good = 2};
    tried.fail_at = at;
    tried.fail_error = errno_wanted;
    tried.fail_short = is_short;
    tried.fail_on = all_after;
    const enum error error = save(&tried);
    const bool has_failed = tried.has_failed;
    const bool bears_it = !has_failed || OPERATION(tried.failed_in) & MAY_FAIL;
    memory_disk_heal(&tried);
    if (error == OK) {
        assert_true(bears_it);
        assert_int_equal(series.good, 3);
        must_load(&tried, 3, 0);
    } else {
        assert_int_equal(error, FAILED);
        assert_non_null(strstr(problem.text, strerror(errno_wanted)));
        assert_int_equal(series.good, 2);
        assert_int_equal(series.next, 4);
        if (!all_after) {
            assert_null(memory_disk_file(&tried, "checkpoint-3" ATOMIC_FILE_SUFFIX));
            assert_null(file_of(&tried, 3));
            must_load(&tried, 2, 0);
            series = (struct checkpoint_series){.next = 4, .good = 2};
        }
        assert_int_equal(save(&tried), OK);
        must_load(&tried, 4, 0);
    }
    return has_failed;
}

static void
whatever_operation_fails_the_older_generation_loads_and_the_next_save_works(void **state)
{
    (void)state;
    const int errors[] = {EIO, ENOSPC};
    save_two();
    for (int i = 0; i < 8; i++) {
        int at = 0;
        while (fail_save_at(at, errors[i % 2], i % 4 / 2, i / 4))
            at++;
        assert_true(at > 10);
    }
}

static void a_write_that_is_cut_short_is_gone_on_with(void **state)
{
    (void)state;
    int at = 0;
    save_two();
    for (bool goes_on = true; goes_on; at++) {
        memory_disk_copy(&tried, &disk);
        memory_disk_heal(&tried);
        series = (struct checkpoint_series){.next = 3, .good = 2};
        tried.fail_at = at;
        tried.fail_error = 0;
        tried.fail_short = true;
        assert_int_equal(save(&tried), OK);
        goes_on = tried.has_failed;
        memory_disk_heal(&tried);
        must_load(&tried, 3, 0);
    }
    assert_true(at > 8);
}

/* All operations from number `at` on fail, for each `at` below 8. Then the power fails. */
static void a_dying_disk_leaves_the_older_generation(void **state)
{
    (void)state;
    save_two();
    const struct checkpoint_series before = series;
    for (int at = 0; at < 8; at++) {
        for (int kind = 0; kind < CRASH_KINDS; kind++) {
            memory_disk_copy(&tried, &disk);
            memory_disk_heal(&tried);
            tried.fail_at = at;
            tried.fail_error = EIO;
            tried.fail_on = true;
            series = before;
            (void)save(&tried);
            for (unsigned names = 0; names < 1u << tried.pending_count; names++) {
                memory_disk_crash(&crashed, &tried, kind, names);
                go_on(&crashed, 2, 3);
            }
        }
    }
}

static void whatever_operation_fails_in_a_load_nothing_wrong_is_loaded(void **state)
{
    (void)state;
    save_two();
    int older = 0, at = 0;
    for (bool goes_on = true; goes_on; at++) {
        memory_disk_heal(&disk);
        disk.fail_at = at;
        disk.fail_error = EIO;
        const enum error error = load(&disk);
        goes_on = disk.has_failed;
        assert_true(error == OK || (error == FAILED && disk.failed_in == LIST));
        assert_true(error != OK || story_is(&loaded, series.good));
        if (error == OK && goes_on && disk.failed_in != CLOSE) {
            older++;
            assert_int_equal(series.good, 1);
            assert_int_equal(refusals.count, 1);
            assert_non_null(strstr(refusals.last.text, strerror(EIO)));
        }
    }
    assert_true(older >= 3 && at > 5);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_checkpoint_loads_bit_for_bit),
        TEST(a_checkpoint_in_parts_includes_concurrent_changes),
        TEST(an_abandoned_save_leaves_no_file),
        TEST(moments_that_are_not_of_this_optimizer_are_left_out_and_begin_at_zero),
        TEST(without_any_checkpoint_a_load_says_missing_and_begins_the_series),
        TEST(the_last_two_are_kept_and_what_has_other_names),
        TEST(removes_a_half_written_file),
        TEST(after_a_rotten_one_the_older_that_was_loaded_is_kept),
        TEST(after_a_crash_anywhere_the_last_or_the_new_generation_loads),
        TEST(whatever_operation_fails_the_older_generation_loads_and_the_next_save_works),
        TEST(a_write_that_is_cut_short_is_gone_on_with),
        TEST(a_dying_disk_leaves_the_older_generation),
        TEST(whatever_operation_fails_in_a_load_nothing_wrong_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
