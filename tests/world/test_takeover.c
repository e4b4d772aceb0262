/* Taking over a base from a peer that breaks rules: false blocks and useless donors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/takeover_story.h"

static void a_joiner_that_requests_a_base_wants_no_rumors(void **state)
{
    (void)state;
    const struct node_options options = patient_options();
    const uint32_t joiner = add(&options), nobody = add(&options);
    /* Makes the joiner wait for another node instead of training. */
    world_introduce(&world, joiner, nobody);
    world_start(&world, joiner);
    puppet_init(&puppet, joiner, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    assert_false(is_training(joiner));
    say_ahead();
    run(3 * SECOND_NS);
    assert_int_equal(puppet.heard[TAKE], 1);
    assert_int_equal(puppet.heard[WANT], 0);
}

/* In one read the joiner receives two messages. The first shows that it lacks nothing, so it joins.
 * The second is the requested history, so its base becomes incomplete. */
static void a_node_does_not_train_on_an_incomplete_base(void **state)
{
    (void)state;
    const struct node_options options = patient_options();
    const uint32_t joiner = add(&options), nobody = add(&options);
    world.check.outsiders_publish = true;
    world_introduce(&world, joiner, nobody);
    world_start(&world, joiner);
    run(8 * SECOND_NS);
    puppet_init(&puppet, joiner, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    say_ahead();
    assert_int_equal(puppet.heard[TAKE], 1);
    /* until NODE_JOIN_WAIT_NS, when the joiner may join although its neighbour has not joined */
    run(2 * SECOND_NS);
    assert_false(is_training(joiner));
    CHECK(peer_say(&puppet.peer, &(struct message){.kind = VERSION, .hash = 1, .whole = 1}));
    say_history(0, 1, history_of(1, MANY));
    run(5 * SECOND_NS);
    assert_true(puppet.heard[FETCH] > 0);
    assert_true(is_catching_up(joiner));
    assert_int_equal(stats_of(joiner).steps, 0);
}

static void start_taking(void)
{
    start_talk_of_much_more();
    say_history(0, 1, history_of(1, MANY));
    assert_true(is_catching_up(0));
    run(SECOND_NS);
    assert_true(puppet.heard[FETCH] > 0);
    assert_int_equal(puppet.last[FETCH].count, 8);
}

static void say_block(struct puppet *by, uint64_t block, const uint8_t *bulk, size_t bytes)
{
    uint8_t slice[VERSION_ENTRY_BYTES];
    puppet_entry(&puppet, MANY, slice);
    puppet_say(by, &(struct message){.kind = BLOCK,
                                     .block = block,
                                     .hash = entries_hash(slice, 1),
                                     .entries = {slice, sizeof slice},
                                     .bulk = {bulk, bytes}});
}

static void must_still_lack_all(void)
{
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_true(is_catching_up(0));
    assert_int_equal(stats_of(0).blocks_held, 0);
    must_have_the_base_it_had();
}

static void ignores_a_nonexistent_block(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    start_taking();
    say_block(&puppet, SMALL_BLOCKS, zeros, sizeof zeros);
    say_block(&puppet, UINT64_MAX, zeros, sizeof zeros);
    say_block(&puppet, (uint64_t)UINT32_MAX + 1, zeros, sizeof zeros);
    must_still_lack_all();
}

static void must_break_off(const uint8_t *bulk, size_t bytes)
{
    start_taking();
    say_block(&puppet, 0, bulk, bytes);
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_BROKEN);
    assert_int_equal(stats_of(0).blocks_held, 0);
    must_have_the_base_it_had();
}

static void an_invalid_block_ends_the_connection(void **state)
{
    (void)state;
    static const uint8_t wide[1 + 5 * SMALL_BLOCK] = {33};
    must_break_off(wide, sizeof wide);
}

static void a_block_that_could_be_narrower_ends_the_connection(void **state)
{
    (void)state;
    static const uint8_t low[1 + SMALL_BLOCK] = {8};
    must_break_off(low, sizeof low);
}

static void a_truncated_block_ends_the_connection(void **state)
{
    (void)state;
    static const uint8_t low[1 + SMALL_BLOCK] = {8, 0xff};
    must_break_off(low, sizeof low - 1);
}

static void ignores_a_block_of_an_unknown_version(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    uint8_t slice[2 * VERSION_ENTRY_BYTES];
    start_taking();
    puppet_entry(&puppet, MANY, slice);
    version_entry_put(slice + VERSION_ENTRY_BYTES, 0x1234, 5, slice);
    struct message block = {.kind = BLOCK,
                            .hash = entries_hash(slice, 2),
                            .entries = {slice, sizeof slice},
                            .bulk = {zeros, 1}};
    puppet_say(&puppet, &block);
    /* A block of base b0 with its correct version. b0 lacks the missing rumors. */
    block.hash = block.entries.count = 0;
    puppet_say(&puppet, &block);
    must_still_lack_all();
}

/* The puppet and the node know different rumors of origins that the block does not list. */
static void ignores_a_block_of_ambiguous_version(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    uint8_t slice[VERSION_ENTRY_BYTES];
    start_taking();
    puppet_entry(&puppet, MANY, slice);
    const uint32_t asked = puppet.heard[FETCH];
    for (uint64_t block = 0; block < 16; block++) /* answers all requested blocks */
        puppet_say(&puppet, &(struct message){.kind = BLOCK,
                                              .block = block,
                                              .hash = entries_hash(slice, 1) + 1,
                                              .entries = {slice, sizeof slice},
                                              .bulk = {zeros, 1}});
    must_still_lack_all();
    run(5 * SECOND_NS);
    /* The node waits before it asks the puppet again. */
    assert_int_equal(puppet.heard[FETCH], asked);
    say_block(&puppet, 0, zeros, sizeof zeros);
    run(SECOND_NS);
    assert_int_equal(stats_of(0).blocks_held, 1);
}

static void an_unrequested_block_changes_nothing(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    start_talk_at_rest();
    say_block(&puppet, 0, zeros, sizeof zeros);
    say_block(&puppet, SMALL_BLOCKS, NULL, 0);
    run(SECOND_NS);
    assert_int_equal(puppet.heard[FETCH], 0);
    assert_int_equal(stats_of(0).block_bytes, 0);
    must_go_on_with_its_own_base();
}

static void a_node_with_half_a_base_gives_none(void **state)
{
    (void)state;
    start_taking();
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(puppet.heard[HISTORY], 1);
    assert_int_equal(puppet.last[HISTORY].parts, 0);
    fetch(0, 8);
    assert_int_equal(puppet.heard[BLOCK], 1);
    assert_int_equal(puppet.last[BLOCK].bulk.count, 0);
}

/* Starts two nodes that train, and a joiner whose first neighbour is the puppet. Returns the
 * joiner's number. */
static uint32_t join_with_puppet(uint64_t serve_bytes_per_s)
{
    struct node_options options = patient_options();
    options.serve_bytes_per_s = serve_bytes_per_s;
    start_swarm(2, &options);
    run(30 * SECOND_NS);
    const uint32_t joiner = join(&options, 2);
    puppet_init(&puppet, joiner, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    until(is_catching_up, joiner, 5 * SECOND_NS);
    return joiner;
}

/* Claims more rumors than exist. The puppet sends this in answer to each request for a version. */
static const struct message knows_all = {
    .kind = VERSION, .hash = 1, .rumors = 1ull << 40, .base = 1};

/* Sends `answer` to each request for blocks until the joiner trains. Returns the number of answers.
 */
static uint32_t answer_with(uint32_t joiner, const struct message *answer, uint64_t within_ns)
{
    uint32_t answered = 0;
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    uint32_t shown = 0;
    while (!is_training(joiner)) {
        assert_true(world_now_ns(&world) < end_ns);
        for (; shown < puppet.heard[WANT]; shown = puppet.heard[WANT])
            puppet_say(&puppet, &knows_all);
        for (; answer && answered < puppet.heard[FETCH]; answered++) {
            struct message block = *answer;
            block.block = puppet.last[FETCH].block;
            puppet_say(&puppet, &block);
        }
        run(MS_NS);
    }
    return answered;
}

static void a_refused_node_asks_others(void **state)
{
    (void)state;
    const uint32_t joiner = join_with_puppet(2000);
    const struct message refusal = {.kind = BLOCK};
    assert_in_range(answer_with(joiner, &refusal, 4 * SECOND_NS), 1, 3);
    must_agree(5 * SECOND_NS);
}

static void ignores_blocks_of_a_donor_that_is_behind(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    const uint32_t joiner = join_with_puppet(2000);
    /* A block of the base b0. */
    const struct message born = {.kind = BLOCK, .bulk = {zeros, sizeof zeros}};
    assert_in_range(answer_with(joiner, &born, 20 * SECOND_NS), 1, 6);
    must_agree(5 * SECOND_NS);
}

static void blocks_of_a_slow_donor_come_from_others(void **state)
{
    (void)state;
    const uint32_t joiner = join_with_puppet(2000);
    (void)answer_with(joiner, NULL, 20 * SECOND_NS);
    assert_true(puppet.heard[FETCH] > 0);
    must_agree(5 * SECOND_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK(a_joiner_that_requests_a_base_wants_no_rumors),
        TALK(a_node_does_not_train_on_an_incomplete_base),
        TALK(ignores_a_nonexistent_block),
        TALK(an_invalid_block_ends_the_connection),
        TALK(a_block_that_could_be_narrower_ends_the_connection),
        TALK(a_truncated_block_ends_the_connection),
        TALK(ignores_a_block_of_an_unknown_version),
        TALK(ignores_a_block_of_ambiguous_version),
        TALK(an_unrequested_block_changes_nothing),
        TALK(a_node_with_half_a_base_gives_none),
        TALK(a_refused_node_asks_others),
        TALK(ignores_blocks_of_a_donor_that_is_behind),
        TALK(blocks_of_a_slow_donor_come_from_others),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
