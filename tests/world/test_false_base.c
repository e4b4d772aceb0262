/* A node does not keep a false base: the base's digest or the digest votes of neighbours reveal it.
 * In most tests a joiner first meets a liar (liar.h). It meets the swarm while or after it takes
 * over the liar's base. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/liar.h"

#define LONG_NS (40 * SECOND_NS)

static uint32_t swarm;

/* Starts a swarm, and a node that knows its addresses but cannot reach it yet. */
static uint32_t start_joiner(uint32_t n, const struct node_options *options)
{
    swarm = n;
    start_swarm(n, options);
    run(LONG_NS);
    return join_cut_off(options, n);
}

static struct liar *meet(uint32_t node, enum lie lie)
{
    return liars_meet(node, 0, lie, (uint8_t)(liars_count + 1));
}

/* Starts a joiner that takes over the liar's base and then meets the swarm. Returns the joiner's
 * number. */
static uint32_t take_from_liar(uint32_t n, enum lie lie)
{
    const struct node_options options = liars_options();
    const uint32_t joiner = start_joiner(n, &options);
    (void)meet(joiner, lie);
    run(2 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    assert_int_equal(stats_of(joiner).blocks_held, SMALL_BLOCKS);
    return joiner;
}

static const char *name_of(const struct liar *liar)
{
    static char text[ID_TEXT_BYTES];
    identity_text(text, liar->puppet.identity.id);
    return text;
}

static void must_blame(uint32_t joiner, struct liar *liar)
{
    const struct note *note = &world.nodes[joiner].last[NOTE_FALSE_BASE];
    assert_int_equal(note->level, LEVEL_WARNING);
    assert_string_equal(note->who, name_of(liar));
    run(10 * MS_NS);
    assert_true(liar->puppet.closed);
    assert_int_equal(liar->puppet.bye_reason, BYE_BROKEN);
    assert_string_equal(liar->puppet.bye, "sent a base that contradicts its history");
}

static void rejects_a_base_of_zeros(void **state)
{
    (void)state;
    const uint32_t joiner = take_from_liar(3, LIE_ZEROS);
    assert_true(is_catching_up(joiner));
    must_blame(joiner, &liars[0]);
    join_reach(joiner, swarm);
    until(is_training, joiner, 60 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 2);
    assert_int_equal(world.nodes[joiner].notes[NOTE_FALSE_BASE], 1);
    must_agree(5 * SECOND_NS);
}

static void finds_an_entry_that_is_off_by_one(void **state)
{
    (void)state;
    const uint32_t joiner = take_from_liar(3, LIE_OFF);
    assert_true(is_catching_up(joiner));
    must_blame(joiner, &liars[0]);
}

static void a_blamed_donor_is_not_asked_again(void **state)
{
    (void)state;
    const uint32_t joiner = take_from_liar(3, LIE_ZEROS);
    must_blame(joiner, &liars[0]);
    liar_call_again(&liars[0]);
    run(20 * SECOND_NS);
    assert_false(liars[0].puppet.closed);
    assert_int_equal(liars[0].puppet.heard[TAKE], 0);
    assert_true(is_catching_up(joiner));
    join_reach(joiner, swarm);
    until(is_training, joiner, 60 * SECOND_NS);
    assert_int_equal(liars[0].puppet.heard[TAKE] + liars[0].puppet.heard[FETCH], 0);
    must_agree(5 * SECOND_NS);
}

/* The liar sends 16 blocks of the first attempt; honest nodes send all others. The joiner
 * identifies the liar only if it asks the liar first in its next attempt. It never blames another
 * node. Returns true if it identified the liar. */
static bool one_of_many_lies(uint64_t seed)
{
    world_free(&world);
    begin_world(seed);
    const struct node_options options = liars_options();
    const uint32_t joiner = start_joiner(3, &options);
    struct liar *liar = meet(joiner, LIE_OFF);
    liar->gives = 16;
    join_reach(joiner, swarm);
    until(is_catching_up, joiner, SECOND_NS);
    while (world.nodes[joiner].notes[NOTE_FALSE_BASE] == 0)
        run(10 * MS_NS);
    assert_true(is_catching_up(joiner));
    assert_false(liar->puppet.closed);
    assert_non_null(strstr(world.nodes[joiner].last[NOTE_FALSE_BASE].text, "and other members"));
    liar->gives = UINT32_MAX;
    until(is_training, joiner, 60 * SECOND_NS);
    const bool is_known = world.nodes[joiner].notes[NOTE_FALSE_BASE] > 1;
    if (is_known)
        must_blame(joiner, liar);
    assert_int_equal(bases_of(joiner), is_known ? 3 : 2);
    must_agree(5 * SECOND_NS);
    liars_free();
    return is_known;
}

static void finds_a_false_block_and_then_its_donor(void **state)
{
    (void)state;
    uint32_t known = 0;
    const uint32_t seeds = 8;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        known += one_of_many_lies(seed);
    assert_in_range(known, 1, seeds - 1);
}

static void two_neighbours_refute_a_consistent_lie(void **state)
{
    (void)state;
    const uint32_t joiner = take_from_liar(3, LIE_FITS);
    until(is_training, joiner, 5 * SECOND_NS);
    join_reach(joiner, swarm);
    until(is_catching_up, joiner, 60 * SECOND_NS);
    must_blame(joiner, &liars[0]);
    until(has_base, joiner, 30 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 2);
    assert_int_equal(world.nodes[joiner].notes[NOTE_FALSE_BASE], 1);
    for (uint32_t i = 0; i < swarm; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_FALSE_BASE] + bases_of(i), 0);
    must_agree(5 * SECOND_NS);
}

static void one_differing_neighbour_decides_nothing(void **state)
{
    (void)state;
    char text[ID_TEXT_BYTES];
    const uint32_t joiner = take_from_liar(1, LIE_FITS);
    join_reach(joiner, swarm);
    run(30 * SECOND_NS);
    const struct note *note = &world.nodes[joiner].last[NOTE_FALSE_BASE];
    assert_int_equal(world.nodes[joiner].notes[NOTE_FALSE_BASE], 1);
    assert_string_equal(note->who, name_of(&liars[0]));
    identity_text(text, world.nodes[0].identity.id);
    assert_non_null(strstr(note->text, text));
    assert_false(liars[0].puppet.closed);
    assert_int_equal(bases_of(joiner), 1);
}

static void a_second_differing_neighbour_decides(void **state)
{
    (void)state;
    const uint32_t joiner = take_from_liar(2, LIE_FITS);
    heal_cut(0, joiner);
    run(30 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    heal_cut(1, joiner);
    until(is_catching_up, joiner, 60 * SECOND_NS);
    must_blame(joiner, &liars[0]);
    until(has_base, joiner, 30 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

/* Starts a joiner that takes over an honest base. Returns the joiner's number. */
static uint32_t join_honest(uint32_t n)
{
    const struct node_options options = liars_options();
    const uint32_t joiner = start_joiner(n, &options);
    join_reach(joiner, swarm);
    until(is_training, joiner, 60 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    return joiner;
}

/* Adds a neighbour that shows the joiner's version with a wrong digest. */
static void meet_slanderer(uint32_t joiner, uint64_t aside)
{
    struct liar *liar = liars_meet(joiner, joiner, LIE_NONE, (uint8_t)(liars_count + 1));
    liar->aside = aside;
    for (int i = 0; i < 5; i++) { /* at least one call shows exactly the joiner's current version */
        liar_show(liar);
        run(MS_NS);
    }
}

static void must_stand_by_its_base(uint32_t joiner)
{
    run(20 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    assert_false(is_catching_up(joiner));
}

static void two_neighbours_with_different_digests_refute_nothing(void **state)
{
    (void)state;
    const uint32_t joiner = join_honest(1);
    meet_slanderer(joiner, 1);
    meet_slanderer(joiner, 2);
    must_stand_by_its_base(joiner);
    /* A tie: each of the three digests has one vote. */
    assert_int_equal(world.nodes[joiner].notes[NOTE_FALSE_BASE], 1);
}

static void a_base_confirmed_by_two_stays(void **state)
{
    (void)state;
    const uint32_t joiner = join_honest(3);
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < swarm; i++)
        world_kill(&world, i, false);
    run(SECOND_NS);
    meet_slanderer(joiner, 1);
    meet_slanderer(joiner, 1);
    must_stand_by_its_base(joiner);
    assert_int_equal(world.nodes[joiner].notes[NOTE_FALSE_BASE], 0);
    assert_true(world.nodes[joiner].notes[NOTE_DIGEST] > 0);
}

static void an_undisputed_base_stays_after_a_minute(void **state)
{
    (void)state;
    const uint32_t joiner = join_honest(1);
    run(65 * SECOND_NS);
    meet_slanderer(joiner, 1);
    meet_slanderer(joiner, 1);
    must_stand_by_its_base(joiner);
    assert_int_equal(world.nodes[joiner].notes[NOTE_FALSE_BASE], 0);
}

/* The joiner saved the liar's base before it meets another node. It must not train on that base,
 * because its publications would then be wrong. */
static void a_restored_base_is_also_verified(void **state)
{
    (void)state;
    const struct node_options options = liars_options();
    const uint32_t joiner = start_joiner(3, &options);
    world_kill(&world, joiner, false);
    world.nodes[joiner].options.trains = false;
    world.nodes[joiner].options.save_ns = SECOND_NS / 2;
    world_start(&world, joiner);
    run(100 * MS_NS);
    (void)meet(joiner, LIE_FITS);
    run(4 * SECOND_NS);
    assert_true(has_base(joiner));
    world_kill(&world, joiner, false);
    join_reach(joiner, swarm);
    /* Disables the check that the joiner's base is the sum of its rumors. */
    world.check.enabled = false;
    world_start(&world, joiner);
    world.check.enabled = true;
    run(20 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    assert_string_equal(world.nodes[joiner].last[NOTE_FALSE_BASE].who, "");
    assert_non_null(strstr(world.nodes[joiner].last[NOTE_FALSE_BASE].text,
                           "restored from the checkpoint is not"));
    must_agree(5 * SECOND_NS);
}

int main(void)
{
#define LIES(name) cmocka_unit_test_setup_teardown(name, liars_begin, liars_end)
    const struct CMUnitTest tests[] = {
        LIES(rejects_a_base_of_zeros),
        LIES(finds_an_entry_that_is_off_by_one),
        LIES(a_blamed_donor_is_not_asked_again),
        LIES(finds_a_false_block_and_then_its_donor),
        LIES(two_neighbours_refute_a_consistent_lie),
        LIES(one_differing_neighbour_decides_nothing),
        LIES(a_second_differing_neighbour_decides),
        LIES(two_neighbours_with_different_digests_refute_nothing),
        LIES(a_base_confirmed_by_two_stays),
        LIES(an_undisputed_base_stays_after_a_minute),
        LIES(a_restored_base_is_also_verified),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
