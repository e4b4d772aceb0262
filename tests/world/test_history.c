/* Which base a node requests, and which histories it accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "faults/false_base.h"
#include "node/broadcast/broadcast.h"
#include "support/net/stream.h"
#include "support/sim/expulsion_story.h"
#include "support/sim/takeover_story.h"

static void most_gone_answers_lead_to_a_state_transfer(void **state)
{
    (void)state;
    static struct false_base base;
    const struct node_options options = patient_options();
    start_swarm(4, &options); /* with the puppet, node 0 has four neighbours */
    run(2 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    puppet_init(&puppet, 0, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    CHECK(false_base_take(&base, &world, 1, LIE_NONE));
    const struct message version = false_base_version(&base); /* node 0's own version */
    puppet_say(&puppet, &version);
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
    false_base_free(&base);
}

/* Returns true if the puppet with this seed would have a smaller origin tag than every node. */
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

/* Node 1 only relays, and has just taken over a base. The puppet has separately learned `times`
 * times as many samples as node 0, and each side has one member that trains. So node 1 prefers the
 * puppet's base unless that has clearly fewer samples. */
static void start_talk_of_another_side(double times)
{
    struct node_options options = patient_options();
    options.partition_s = 1;
    start_swarm(1, &options);
    run(40 * SECOND_NS);
    options.trains = false;
    (void)join(&options, 1);
    run(3 * SECOND_NS);
    world_rest(&world);
    uint8_t seed = 1;
    while (!would_be_first(seed))
        seed++;
    puppet_init(&puppet, 1, seed);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    uint8_t slice[VERSION_ENTRY_BYTES], learned[LEARNED_BYTES];
    const double samples = times * (double)node_swarm_samples(world.nodes[1].node);
    puppet_entry(&puppet, 5, slice);
    learned_put(learned, &(struct learned){.samples = (uint64_t)samples, .rate = 1});
    puppet_say(&puppet, &(struct message){.kind = VERSION,
                                          .hash = entries_hash(slice, 1),
                                          .rumors = 5,
                                          .base = 1,
                                          .whole = 1,
                                          .learned = {learned, sizeof learned},
                                          .bulk = {slice, sizeof slice}});
}

static void a_new_base_is_kept_for_a_while(void **state)
{
    (void)state;
    start_talk_of_another_side(1.1);
    run(15 * SECOND_NS);
    assert_int_equal(puppet.heard[TAKE], 0);
    must_ask_within(15 * SECOND_NS);
}

static void a_new_base_yields_to_a_side_that_learned_clearly_more(void **state)
{
    (void)state;
    start_talk_of_another_side(1.5);
    must_ask_within(5 * SECOND_NS);
}

static void an_unrequested_history_changes_nothing(void **state)
{
    (void)state;
    start_talk_at_rest();
    say_history(0, 1, history_of(1, MANY));
    say_history(0, 1, 13);
    run(SECOND_NS);
    must_go_on_with_its_own_base();
}

/* Checks that the node ignores the rest of an invalid history, and requests a history again only
 * after a while. */
static void must_refuse(void)
{
    assert_false(is_catching_up(0));
    say_history(0, 1, history_of(1, MANY)); /* the node no longer expects a history */
    const uint32_t heard = puppet.heard[TAKE];
    run(9 * SECOND_NS);
    assert_int_equal(puppet.heard[TAKE], heard);
    must_go_on_with_its_own_base();
    must_ask_within(8 * SECOND_NS);
}

static void rejects_a_history_of_impossible_size(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 1, history_of(1, MANY) - 1);
    must_refuse();
    say_history(0, 1, history_of(1, MANY) + 1);
    must_refuse();
}

static void rejects_a_history_in_the_wrong_order(void **state)
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

/* The history is valid except for rumors of an expelled member. These rumors must not return. */
static void rejects_a_history_with_removed_rumors(void **state)
{
    (void)state;
    struct node_options options = patient_options();
    options = obedient(options);
    start_talk_at_rest_as(&options);
    const struct identity own = puppet.identity;
    const uint8_t other[SEED_BYTES] = {78};
    identity_from_seed(&puppet.identity, other);
    const size_t bytes = history_of(1, MANY);
    expel_id(0, puppet.identity.id);
    puppet.identity = own;
    say_ahead();
    must_ask_within(5 * SECOND_NS);
    say_history(0, 1, bytes);
    must_refuse();
}

static void gives_up_a_history_that_does_not_continue(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 2, history_of(1, MANY));
    run(6 * SECOND_NS);
    say_history(1, 2, history_of(1, MANY));
    must_refuse();
}

static void rejects_a_history_with_too_many_rumors(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_history(0, 1, history_of(1, UINT32_MAX));
    must_refuse();
}

/* Without signatures, a history could contain invented rumors of other members. */
static void rejects_an_unsigned_history(void **state)
{
    (void)state;
    start_talk_of_much_more();
    struct signed_head head = puppet_head(&puppet, 1, MANY - 1);
    head.bytes[SIGNED_HEAD_BYTES - 1] ^= 1;
    puppet_say(&puppet, &(struct message){.kind = HISTORY,
                                          .digest = 7,
                                          .parts = 1,
                                          .bulk = {head.bytes, HISTORY_ENTRY_BYTES}});
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_string_equal(puppet.bye, "sent an invalid history");
    assert_false(is_catching_up(0));
    assert_int_equal(bases_of(0), 0);
}

static void rejects_a_history_of_too_many_origins(void **state)
{
    (void)state;
    start_talk_of_much_more();
    say_whole_history(history_of(513, 1));
    assert_int_equal(world.nodes[0].notes[NOTE_FULL], 1);
    must_refuse();
    /* a node has space for 512 incarnations, including its own */
    say_whole_history(history_of(512, 1));
    assert_int_equal(world.nodes[0].notes[NOTE_FULL], 1); /* the note is not repeated */
    must_refuse();
}

/* Starts a talk with a puppet that has learned separately. The node prefers the puppet's base,
 * because the puppet has learned more. */
static void start_talk_across_a_partition(void)
{
    struct node_options options = patient_options();
    options.partition_s = 1;
    start_talk(&options);
    run(5 * SECOND_NS);
    world_rest(&world);
    uint8_t slice[VERSION_ENTRY_BYTES], learned[LEARNED_BYTES];
    puppet_entry(&puppet, 5, slice);
    learned_put(learned, &(struct learned){.samples = LEARNED, .rate = 1});
    puppet_say(&puppet, &(struct message){.kind = VERSION,
                                          .hash = entries_hash(slice, 1),
                                          .rumors = 5,
                                          .base = 1,
                                          .whole = 1,
                                          .learned = {learned, sizeof learned},
                                          .bulk = {slice, sizeof slice}});
    must_ask_within(5 * SECOND_NS);
}

/* Checks that the node refuses a history with wrong facts about the node's own rumors. */
static void must_refuse_about_itself(uint64_t incarnations_later, uint32_t rumors_more)
{
    start_talk_across_a_partition();
    struct node_origin own;
    node_own(world.nodes[0].node, &own);
    assert_true(own.next > 0);
    uint8_t bytes[2 * HISTORY_ENTRY_BYTES];
    struct signed_head head = puppet_head(&puppet, 1, 4);
    memcpy(bytes, head.bytes, HISTORY_ENTRY_BYTES);
    head = stream_head(&world.nodes[0].identity, own.incarnation + incarnations_later,
                       own.next + rumors_more - 1, LEARNED, puppet.context);
    memcpy(bytes + HISTORY_ENTRY_BYTES, head.bytes, HISTORY_ENTRY_BYTES);
    puppet_say(
        &puppet,
        &(struct message){.kind = HISTORY, .digest = 7, .parts = 1, .bulk = {bytes, sizeof bytes}});
    run(SECOND_NS);
    assert_false(puppet.closed);
    assert_false(is_catching_up(0));
    assert_int_equal(bases_of(0), 0);
    assert_int_equal(node_incarnation(world.nodes[0].node), own.incarnation);
}

/* With such a history the node could not start the incarnation in which it publishes again. */
static void rejects_a_history_with_a_future_incarnation(void **state)
{
    (void)state;
    must_refuse_about_itself(1, 0);
}

/* With such a history the node's next rumor would have an unexpected number. */
static void rejects_a_history_with_our_future_rumors(void **state)
{
    (void)state;
    must_refuse_about_itself(0, 1);
}

/* A member's incarnations may take an eighth of the 512 entries of a version. */
static void rejects_a_history_with_too_many_incarnations_of_one_node(void **state)
{
    (void)state;
    start_talk_of_much_more();
    const uint32_t origins = node_origins(world.nodes[0].node);
    say_whole_history(history_of(65, 1));
    assert_int_equal(node_origins(world.nodes[0].node), origins);
    must_refuse();
    say_whole_history(history_of(64, 1));
    assert_true(is_catching_up(0));
    assert_int_equal(node_origins(world.nodes[0].node), origins + 63);
}

/* Once the node has joined, a quarter of its 512 entries is reserved for known members. */
static void rejects_a_history_with_too_many_unknown_nodes(void **state)
{
    (void)state;
    start_talk_of_much_more();
    const uint32_t origins = node_origins(world.nodes[0].node);
    say_whole_history(history_of_strangers(384 - origins + 1));
    assert_int_equal(node_origins(world.nodes[0].node), origins);
    must_refuse();
    say_whole_history(history_of_strangers(384 - origins));
    assert_true(is_catching_up(0));
    assert_int_equal(node_origins(world.nodes[0].node), 384);
}

static void a_rejected_history_uses_no_memory(void **state)
{
    (void)state;
    start_talk_of_much_more();
    const uint32_t origins = node_origins(world.nodes[0].node);
    say_whole_history(history_of(512, 1));
    assert_int_equal(node_origins(world.nodes[0].node), origins);
}

static uint64_t incarnation_at(const struct versions *versions, uint32_t from_latest)
{
    const struct origin *origin = versions_older(versions, NULL);
    for (; from_latest > 0; from_latest--)
        origin = versions_older(versions, origin);
    return origin->incarnation;
}

/* The node also takes over the order of origins. Origins outside the history count as the latest.
 */
static void a_history_keeps_the_order_of_publication(void **state)
{
    (void)state;
    start_talk_of_much_more();
    const struct versions *versions = broadcast_versions(world.nodes[0].node);
    const uint64_t own = broadcast_own(world.nodes[0].node)->incarnation;
    assert_int_equal(versions->count, 2);
    assert_int_equal(incarnation_at(versions, 0), own);
    say_history(0, 1, history_of(3, MANY));
    assert_true(is_catching_up(0));
    assert_int_equal(versions->count, 4);
    assert_int_equal(incarnation_at(versions, 0), own);
    for (uint32_t i = 1; i <= 3; i++)
        assert_int_equal(incarnation_at(versions, i), 4 - i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK(a_new_base_is_kept_for_a_while),
        TALK(a_new_base_yields_to_a_side_that_learned_clearly_more),
        TALK(most_gone_answers_lead_to_a_state_transfer),
        TALK(an_unrequested_history_changes_nothing),
        TALK(rejects_a_history_of_impossible_size),
        TALK(rejects_a_history_in_the_wrong_order),
        cmocka_unit_test_setup_teardown(rejects_a_history_with_removed_rumors, expulsion_begins,
                                        conversation_ends),
        TALK(gives_up_a_history_that_does_not_continue),
        TALK(rejects_a_history_with_too_many_rumors),
        TALK(rejects_an_unsigned_history),
        TALK(rejects_a_history_of_too_many_origins),
        TALK(rejects_a_history_with_a_future_incarnation),
        TALK(rejects_a_history_with_our_future_rumors),
        TALK(rejects_a_history_with_too_many_incarnations_of_one_node),
        TALK(rejects_a_history_with_too_many_unknown_nodes),
        TALK(a_rejected_history_uses_no_memory),
        TALK(a_history_keeps_the_order_of_publication),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
