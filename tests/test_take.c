/* Taking a base over from somebody who keeps to no rule: histories, blocks, donors of no use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "give_story.h"
#include "inside.h"

#define MANY    10000   /* rumors that the puppet says there are ... */
#define LEARNED 1000000 /* ... and samples */

static void must_go_on_with_its_own_base(void)
{
    assert_false(puppet.closed);
    assert_false(is_catching_up(0));
    assert_int_equal(bases_of(0), 0);
    must_have_the_base_it_had();
    assert_one_version();
}

/* Histories. */

/* Somebody who knows so many rumors more. */
static void say_knows(uint32_t rumors)
{
    uint8_t slice[VERSION_ENTRY_BYTES];
    version_entry_put(slice, origin_tag(puppet.identity.id, 1), rumors);
    uint8_t learned[LEARNED_BYTES];
    learned_put(learned, &(struct learned){.samples = LEARNED});
    puppet_say(&puppet, &(struct message){.kind = VERSION,
                                          .hash = entries_hash(slice, 1),
                                          .rumors = MANY,
                                          .base = 1,
                                          .whole = 1,
                                          .text = {learned, sizeof learned},
                                          .bulk = {slice, sizeof slice}});
}

static void say_ahead(void)
{
    say_knows(MANY);
}

static void must_ask_within(uint64_t within_ns)
{
    const uint32_t heard = puppet.heard[TAKE];
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (puppet.heard[TAKE] == heard) {
        assert_true(world_now_ns(&world) < end_ns);
        run(10 * MILLI_NS);
    }
}

static void who_is_told_by_most_that_a_rumor_is_gone_takes_over_a_base(void **state)
{
    (void)state;
    const struct node_options options = patient_options();
    start_swarm(4, &options); /* with the puppet, four neighbours */
    run(2 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS); /* what was under way */
    puppet_init(&puppet, 0, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    say_knows(5);
    const struct world_node *other = &world.nodes[1];
    const struct message gone = {
        .kind = GONE,
        .tag = origin_tag(other->identity.id, other->options.incarnation),
        .seq = MANY,
    };
    for (int i = 0; i < 2; i++) {
        puppet_say(&puppet, &gone);
        run(3 * SECOND_NS);
        assert_int_equal(puppet.heard[TAKE], 0);
    }
    puppet_say(&puppet, &gone);
    must_ask_within(10 * SECOND_NS);
}

/* Has the puppet of this seed the smallest origin of all? */
static bool would_be_first(uint8_t seed)
{
    const uint8_t secret[SEED_BYTES] = {seed, 0x77};
    struct identity identity;
    identity_from_seed(&identity, secret);
    const uint64_t tag = origin_tag(identity.id, 1);
    for (uint32_t i = 0; i < world.nodes_count; i++)
        if (origin_tag(world.nodes[i].identity.id, incarnation_of(i)) < tag)
            return false;
    return true;
}

/* Node 2 has just taken over a base; and somebody who has learned apart from all of them, so many
 * times as much as they, and whose base wins if that is not clearly more. */
static void start_talk_of_another_side(double times)
{
    struct node_options options = patient_options();
    options.apart_s = 1;
    start_swarm(2, &options);
    run(40 * SECOND_NS);
    until(is_training, join(&options, 2), 10 * SECOND_NS);
    world_rest(&world);
    uint8_t seed = 1;
    while (!would_be_first(seed))
        seed++;
    puppet_init(&puppet, 2, seed);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    uint8_t slice[VERSION_ENTRY_BYTES], learned[LEARNED_BYTES];
    const double samples = times * (double)node_swarm_samples(world.nodes[2].node);
    version_entry_put(slice, origin_tag(puppet.identity.id, 1), 5);
    learned_put(learned, &(struct learned){.samples = (uint64_t)samples, .rate = 1});
    puppet_say(&puppet, &(struct message){.kind = VERSION,
                                          .hash = entries_hash(slice, 1),
                                          .rumors = 5,
                                          .base = 1,
                                          .whole = 1,
                                          .text = {learned, sizeof learned},
                                          .bulk = {slice, sizeof slice}});
}

static void who_has_just_taken_over_a_base_keeps_it_for_a_while(void **state)
{
    (void)state;
    start_talk_of_another_side(1.1);
    run(15 * SECOND_NS);
    assert_int_equal(puppet.heard[TAKE], 0);
    must_ask_within(15 * SECOND_NS);
}

static void but_not_against_who_has_clearly_learned_more(void **state)
{
    (void)state;
    start_talk_of_another_side(1.5);
    must_ask_within(5 * SECOND_NS);
}

static void start_talk_of_much_more(void)
{
    start_talk_at_rest();
    say_ahead();
    must_ask_within(5 * SECOND_NS);
}

static uint8_t history_bytes[(HISTORY_ENTRY_BYTES + 1) * 1000];

/* n lives of the puppet, each of which told so much; and all that the node told. */
static size_t history_of(uint32_t lives, uint32_t next)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < lives; i++) {
        struct history_entry entry = {.incarnation = 1 + i, .next = next, .samples = LEARNED};
        memcpy(entry.id, puppet.identity.id, ID_BYTES);
        history_entry_put(history_bytes + bytes, &entry);
        bytes += HISTORY_ENTRY_BYTES;
    }
    return bytes;
}

static void say_history(uint64_t part, uint64_t parts, size_t bytes)
{
    puppet_say(&puppet, &(struct message){.kind = HISTORY,
                                          .digest = 7,
                                          .part = part,
                                          .parts = parts,
                                          .bulk = {history_bytes, bytes}});
}

static void a_history_that_nobody_asked_for_changes_nothing(void **state)
{
    (void)state;
    start_talk_at_rest();
    say_history(0, 1, history_of(1, MANY));
    say_history(0, 1, 13);
    run(SECOND_NS);
    must_go_on_with_its_own_base();
}

/* Once a history is wrong, no other part is listened to, and it is asked again only after a while.
 */
static void must_refuse(void)
{
    assert_false(is_catching_up(0));
    say_history(0, 1, history_of(1, MANY)); /* too late */
    const uint32_t heard = puppet.heard[TAKE];
    run(9 * SECOND_NS);
    assert_int_equal(puppet.heard[TAKE], heard);
    must_go_on_with_its_own_base();
    must_ask_within(8 * SECOND_NS);
}

static void a_history_of_impossible_size_is_refused(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 1, history_of(1, MANY) - 1);
    must_refuse();
    say_history(0, 1, history_of(1, MANY) + 1);
    must_refuse();
}

static void a_history_in_the_wrong_order_is_refused(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(1, 2, history_of(1, MANY));
    must_refuse();
    say_history(0, 2, history_of(1, MANY));
    say_history(0, 2, history_of(1, MANY));
    must_refuse();
    say_history(0, 0, 0);
    must_refuse();
}

static void a_history_that_does_not_go_on_is_waited_for_and_given_up(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 2, history_of(1, MANY));
    run(6 * SECOND_NS);
    say_history(1, 2, history_of(1, MANY));
    must_refuse();
}

static void a_history_of_more_rumors_than_there_can_be_is_refused(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 1, history_of(1, UINT32_MAX));
    must_refuse();
}

/* Room for 512 lives. */
static void a_history_of_too_many_origins_is_refused(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 1, history_of(513, 1));
    assert_int_equal(world.nodes[0].notes[NOTE_FULL], 1);
    must_refuse();
    say_history(0, 1, history_of(512, 1)); /* the node itself is one more */
    assert_int_equal(world.nodes[0].notes[NOTE_FULL], 2);
    must_refuse();
}

static void what_a_refused_history_said_takes_no_room(void **state)
{
    (void)state;
    start_talk_of_much_more();
    const uint32_t origins = node_origins(world.nodes[0].node);
    say_history(0, 1, history_of(512, 1));
    assert_int_equal(node_origins(world.nodes[0].node), origins);
}

static uint64_t incarnation_at(const struct versions *versions, uint32_t from_latest)
{
    const struct origin *origin = versions_older(versions, NULL);
    for (; from_latest > 0; from_latest--)
        origin = versions_older(versions, origin);
    return origin->incarnation;
}

/* Which of the lives told later is taken over, too; what is not in the history came after it. */
static void a_history_says_who_told_later(void **state)
{
    (void)state;
    start_talk_of_much_more();
    const struct versions *versions = &world.nodes[0].node->versions;
    const uint64_t own = world.nodes[0].node->own->incarnation;
    assert_int_equal(versions->count, 2); /* the puppet's, too */
    assert_int_equal(incarnation_at(versions, 0), own);
    say_history(0, 1, history_of(3, MANY));
    assert_true(is_catching_up(0));
    assert_int_equal(versions->count, 4);
    assert_int_equal(incarnation_at(versions, 0), own);
    for (uint32_t i = 1; i <= 3; i++)
        assert_int_equal(incarnation_at(versions, i), 4 - i);
}

/* Blocks. */

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
    version_entry_put(slice, origin_tag(puppet.identity.id, 1), MANY);
    puppet_say(by, &(struct message){.kind = BLOCK,
                                     .block = block,
                                     .hash = entries_hash(slice, 1),
                                     .text = {slice, sizeof slice},
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

static void a_block_that_no_base_has_is_not_taken(void **state)
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

static void a_block_that_is_none_ends_the_conversation(void **state)
{
    (void)state;
    static const uint8_t wide[1 + 5 * SMALL_BLOCK] = {33};
    must_break_off(wide, sizeof wide);
}

static void a_block_that_could_be_narrower_ends_the_conversation(void **state)
{
    (void)state;
    static const uint8_t low[1 + SMALL_BLOCK] = {8};
    must_break_off(low, sizeof low);
}

static void a_block_cut_short_ends_the_conversation(void **state)
{
    (void)state;
    static const uint8_t low[1 + SMALL_BLOCK] = {8, 0xff};
    must_break_off(low, sizeof low - 1);
}

static void a_block_of_a_version_nobody_knows_is_not_taken(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    uint8_t slice[2 * VERSION_ENTRY_BYTES];
    start_taking();
    version_entry_put(slice, origin_tag(puppet.identity.id, 1), MANY);
    version_entry_put(slice + VERSION_ENTRY_BYTES, 0x1234, 5);
    struct message block = {.kind = BLOCK,
                            .hash = entries_hash(slice, 2),
                            .text = {slice, sizeof slice},
                            .bulk = {zeros, 1}};
    puppet_say(&puppet, &block);
    block.hash = block.text.count = 0; /* b0, and it says so: nobody has all that it lacks */
    puppet_say(&puppet, &block);
    must_still_lack_all();
}

/* It has something else than we of what it does not list. */
static void a_block_of_which_it_is_not_sure_what_it_is_made_of_is_not_taken(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    uint8_t slice[VERSION_ENTRY_BYTES];
    start_taking();
    version_entry_put(slice, origin_tag(puppet.identity.id, 1), MANY);
    const uint32_t asked = puppet.heard[FETCH];
    puppet_say(&puppet, &(struct message){.kind = BLOCK,
                                          .hash = entries_hash(slice, 1) + 1,
                                          .text = {slice, sizeof slice},
                                          .bulk = {zeros, 1}});
    must_still_lack_all();
    run(5 * SECOND_NS);
    assert_int_equal(puppet.heard[FETCH], asked); /* not so soon */
    say_block(&puppet, 0, zeros, sizeof zeros);
    run(SECOND_NS);
    assert_int_equal(stats_of(0).blocks_held, 1);
}

static void a_block_that_nobody_asked_for_changes_nothing(void **state)
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

static void who_has_nothing_but_half_a_base_gives_none(void **state)
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

/* Donors that are of no use, among others that are. */

/* Another node joins two that train, and the puppet is its neighbour first. */
static uint32_t join_with_puppet(uint64_t give_bytes_per_s)
{
    struct node_options options = patient_options();
    options.give_bytes_per_s = give_bytes_per_s;
    start_swarm(2, &options);
    run(30 * SECOND_NS);
    const uint32_t joiner = join(&options, 2);
    puppet_init(&puppet, joiner, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    until(is_catching_up, joiner, 5 * SECOND_NS);
    return joiner;
}

/* It says that it knows more than there is, whenever it is asked. */
static const struct message knows_all = {
    .kind = VERSION, .hash = 1, .rumors = 1ull << 40, .base = 1};

/* What it is asked for it answers with this, until the other trains. */
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
        run(MILLI_NS);
    }
    return answered;
}

static void who_is_refused_asks_others(void **state)
{
    (void)state;
    const uint32_t joiner = join_with_puppet(2000);
    const struct message refusal = {.kind = BLOCK};
    assert_in_range(answer_with(joiner, &refusal, 4 * SECOND_NS), 1, 3); /* at once */
    must_agree(5 * SECOND_NS);
}

static void what_a_donor_gives_that_is_behind_is_not_taken(void **state)
{
    (void)state;
    static const uint8_t zeros[1] = {0};
    const uint32_t joiner = join_with_puppet(2000);
    const struct message born = {.kind = BLOCK, .bulk = {zeros, sizeof zeros}}; /* of b0 */
    assert_in_range(answer_with(joiner, &born, 20 * SECOND_NS), 1, 6);
    must_agree(5 * SECOND_NS);
}

static void what_a_donor_does_not_give_for_long_comes_from_others(void **state)
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
        TALK(who_has_just_taken_over_a_base_keeps_it_for_a_while),
        TALK(but_not_against_who_has_clearly_learned_more),
        TALK(who_is_told_by_most_that_a_rumor_is_gone_takes_over_a_base),
        TALK(a_history_that_nobody_asked_for_changes_nothing),
        TALK(a_history_of_impossible_size_is_refused),
        TALK(a_history_in_the_wrong_order_is_refused),
        TALK(a_history_that_does_not_go_on_is_waited_for_and_given_up),
        TALK(a_history_of_more_rumors_than_there_can_be_is_refused),
        TALK(a_history_of_too_many_origins_is_refused),
        TALK(what_a_refused_history_said_takes_no_room),
        TALK(a_history_says_who_told_later),
        TALK(a_block_that_no_base_has_is_not_taken),
        TALK(a_block_that_is_none_ends_the_conversation),
        TALK(a_block_that_could_be_narrower_ends_the_conversation),
        TALK(a_block_cut_short_ends_the_conversation),
        TALK(a_block_of_a_version_nobody_knows_is_not_taken),
        TALK(a_block_of_which_it_is_not_sure_what_it_is_made_of_is_not_taken),
        TALK(a_block_that_nobody_asked_for_changes_nothing),
        TALK(who_has_nothing_but_half_a_base_gives_none),
        TALK(who_is_refused_asks_others),
        TALK(what_a_donor_gives_that_is_behind_is_not_taken),
        TALK(what_a_donor_does_not_give_for_long_comes_from_others),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
