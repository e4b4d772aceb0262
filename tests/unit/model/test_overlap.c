/* Overlap: how often other nodes publish the entries of our publication, how much more novel
 * entries count, and how much withheld progress is dropped because another node's update also
 * counts for it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exchange/replica.h"

#define P 1000

static uint32_t own_index[] = {2, 5, 11, 400}, other_index[] = {1, 5, 11, 12, 999};
static int8_t levels[] = {1, -1, 2, 1, -3}, half_against[] = {1, -2, -1, 1, 1};

static struct update own_of(uint32_t count)
{
    return (struct update){
        .tau = 0.5f, .amount = 1, .count = count, .index = own_index, .level = levels};
}

static struct update other_that_counts(double counts)
{
    return (struct update){.tau = 0.5f,
                           .amount = (uint32_t)lrint(counts * 0.5 / (double)QUANTUM),
                           .count = 5,
                           .index = other_index,
                           .level = levels};
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-6);
}

static void nothing_counts_for_more_before_answers_are_known(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 1);
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 1);
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 4);
}

/* The overlap of a publication with one entry says nothing about the overlap of a publication with
 * many entries. */
static void forgets_the_overlap_of_a_far_smaller_publication(void **state)
{
    (void)state;
    static uint32_t many_indexes[2 * OVERLAP_GROWN];
    static int8_t many_levels[2 * OVERLAP_GROWN];
    struct overlap overlap = {0};
    const struct update few = own_of(1);
    struct update many = own_of(OVERLAP_GROWN + 1);
    many.index = many_indexes;
    many.level = many_levels;
    for (uint32_t i = 0; i < 2 * OVERLAP_GROWN; i++)
        many_indexes[i] = i;
    for (int i = 0; i < 5; i++)
        overlap_on_published(&overlap, &few, 0.25, P);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 4);
    overlap_on_published(&overlap, &many, 0.25, P);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 1);
    assert_near(overlap.density, (OVERLAP_GROWN + 1.0) / P);
    overlap_on_applied(&overlap, &many, &many);
    many.count = 2 * OVERLAP_GROWN; /* a publication of similar size */
    overlap_on_published(&overlap, &many, 0.25, P);
    assert_near(overlap.others, 1);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 4 / (1 + OVERLAP_OTHERS));
}

static void entries_that_no_other_node_publishes_count_in_full(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4);
    overlap_on_published(&overlap, &own, 0.25, P);
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap.others, 0);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 4);
    assert_near(overlap_novelty(&overlap, 1, 1), 1);
}

static void each_entry_that_others_publish_as_well_is_counted(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4), other = other_that_counts(0.25);
    overlap_on_published(&overlap, &own, 0.25, P);
    for (int i = 0; i < 3; i++)
        overlap_on_applied(&overlap, &own, &other); /* matches entries 5 and 11 */
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap.others, 6.0 / 4);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 4 / (1 + OVERLAP_OTHERS * 1.5));
    /* The last publication had no match. `others` is a moving average. */
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap.others, 0.8 * 6 / 4);
}

/* Entries 5 and 11 are matched once each, and one of the two moves in the same direction. The mean
 * agreement is zero. */
static void disagreeing_updates_lower_the_novelty_weight(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4), other = other_that_counts(0.25);
    struct update unlike = other;
    unlike.level = half_against;
    const double in_full = 4 / (1 + OVERLAP_OTHERS * 0.5);
    overlap_on_published(&overlap, &own, 0.25, P);
    overlap_on_applied(&overlap, &own, &unlike);
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 1);
    overlap_on_applied(&overlap, &own, &other);
    /* 0.8 of 3.6 matches disagreed: 2 matches now and 0.8 · 2 before */
    overlap_on_published(&overlap, &own, 0.25, P);
    const double alike = 1 - 2 * 0.8 / 3.6;
    assert_near(overlap_novelty(&overlap, 0.25, 1), 1 + (in_full - 1) * alike);
    overlap_on_published(&overlap, &own, 0.25, P); /* without a match the agreement is unchanged */
    assert_near(overlap_novelty(&overlap, 0.25, 1),
                1 + (4 / (1 + OVERLAP_OTHERS * 0.4) - 1) * alike);
}

static void common_entries_keep_their_usual_weight(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4), same = own_of(4);
    overlap_on_published(&overlap, &own, 0.25, P);
    for (int i = 0; i < 30; i++)
        overlap_on_applied(&overlap, &own, &same);
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap.others, 30);
    assert_near(overlap_novelty(&overlap, 0.25, 1), 1);
}

/* Before other nodes have reacted, a node publishes similar entries again. Four quick publications
 * count as one. */
static void publications_before_an_answer_count_as_one(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4);
    overlap_on_published(&overlap, &own, 0.125, P);
    overlap_on_published(&overlap, &own, 0.125, P);
    assert_near(overlap_novelty(&overlap, 0.125, 1), 8);
    assert_near(overlap_novelty(&overlap, 0.125, 4), 2);
    assert_near(overlap_novelty(&overlap, 0.125, 16), 1);
}

static void large_publications_hardly_count_for_more(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4);
    overlap_on_published(&overlap, &own, 0.25, 20);
    overlap_on_published(&overlap, &own, 0.25, 20); /* the publication has a fifth of all entries */
    assert_near(overlap_novelty(&overlap, 0.25, 1), OVERLAP_DENSITY / 0.2);
    struct overlap larger = {0};
    overlap_on_published(&larger, &own, 0.25, 4);
    overlap_on_published(&larger, &own, 0.25, 4);
    assert_near(overlap_novelty(&larger, 0.25, 1), 1);
}

static void the_novelty_weight_of_an_update_decides_the_release(void **state)
{
    (void)state;
    struct overlap overlap = {0};
    const struct update own = own_of(4);
    const struct update usual = other_that_counts(0.25), half = other_that_counts(0.625),
                        full = other_that_counts(1), more = other_that_counts(2),
                        less = other_that_counts(0.1);
    assert_near(overlap_spoken_for(&overlap, &full), 0); /* nothing was published yet */
    overlap_on_published(&overlap, &own, 0.25, P);
    assert_near(overlap_spoken_for(&overlap, &usual), 0);
    assert_near(overlap_spoken_for(&overlap, &less), 0);
    assert_near(overlap_spoken_for(&overlap, &half), 0.5);
    assert_near(overlap_spoken_for(&overlap, &full), 1);
    assert_near(overlap_spoken_for(&overlap, &more), 1);
}

/* Two entries of a replica are withheld. Another node publishes one of them. */
static void a_replica_lets_go_of_what_was_said_for_it(void **state)
{
    (void)state;
    static float start[P], weights[P];
    const struct publish_terms terms = {.budget_bytes = 4000,
                                        .share = 0.25,
                                        .gain = 1,
                                        .tau = 0.5f,
                                        .withheld = 0.75,
                                        .at_once = 1};
    struct arena arena;
    struct replica replica;
    arena_init(&arena, (size_t)1 << 24);
    struct backend *backend = backend_cpu(1);
    replica_init(&replica, &arena, backend, P, start, P);
    replica_allow_withholding(&replica);
    weights[5] = weights[6] = 0.4f; /* below tau, so these stay withheld */
    weights[400] = 1;
    replica_write_weights(&replica, weights);
    assert_int_equal(replica_publish(&replica, &terms)->count, 1);
    const struct update full = {.tau = 0.1f,
                                .amount = (uint32_t)lrint(0.1 / (double)QUANTUM),
                                .count = 1,
                                .index = own_index + 1,
                                .level = levels};
    replica_apply(&replica, &full, 0); /* publishes entry 5 */
    uint16_t withheld[2];
    backend->download(backend, withheld, replica.withheld + 5, sizeof withheld);
    assert_true(fabsf(half_of_bfloat16(withheld[0]) - 0.2f) < 2e-3f);
    assert_true(fabsf(half_of_bfloat16(withheld[1]) - 0.3f) < 1e-3f);
    replica_free(&replica);
    backend->close(backend);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_counts_for_more_before_answers_are_known),
        cmocka_unit_test(forgets_the_overlap_of_a_far_smaller_publication),
        cmocka_unit_test(entries_that_no_other_node_publishes_count_in_full),
        cmocka_unit_test(each_entry_that_others_publish_as_well_is_counted),
        cmocka_unit_test(disagreeing_updates_lower_the_novelty_weight),
        cmocka_unit_test(common_entries_keep_their_usual_weight),
        cmocka_unit_test(publications_before_an_answer_count_as_one),
        cmocka_unit_test(large_publications_hardly_count_for_more),
        cmocka_unit_test(the_novelty_weight_of_an_update_decides_the_release),
        cmocka_unit_test(a_replica_lets_go_of_what_was_said_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
