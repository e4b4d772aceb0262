/* Proofs about old rumors. All nodes remove the rumors that most nodes can remove, and keep all
 * other rumors. No node is suspended for long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/orders/proofs.h"
#include "support/net/stream.h"
#include "support/sim/expulsion_story.h"
#include "support/sim/fetch_story.h"
#include "support/sim/puppet.h"

#define VILLAIN     3
#define REACHES_ALL (1u << 22) /* bytes of a log that can hold all rumors of these tests */

static struct puppet messenger;

static int suspension_begins(void **state)
{
    memset(&messenger, 0, sizeof messenger);
    return expulsion_begins(state);
}

static int suspension_ends(void **state)
{
    if (messenger.reader)
        puppet_free(&messenger);
    return world_ends(state);
}

/* Starts a busy swarm of four nodes. The logs of the first `far` nodes never lose a rumor. */
static void start_busy(uint32_t far)
{
    for (uint32_t i = 0; i < 4; i++) {
        struct node_options options = busy_options();
        options.save_ns = 2 * SECOND_NS;
        if (i < far)
            options.log_bytes = REACHES_ALL;
        (void)add(&options);
        if (i > 0)
            world_introduce(&world, i, 0);
    }
    start_all();
    run(30 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(node_reach(world.nodes[i].node, 0) > 0, i >= far);
}

static void begin_message(void)
{
    puppet_init(&messenger, 0, 1);
    puppet_meet(&messenger);
    puppet_hello(&messenger);
}

/* Sends a proof of equivocation in the villain's first rumor. With earlier > 0 the proof is about
 * an unknown, earlier incarnation. Such a proof would remove the rumors of all later incarnations.
 */
static void prove(uint64_t earlier)
{
    uint8_t proof[PROOF_BYTES];
    const struct node_options *options = &world.nodes[VILLAIN].options;
    const struct identity *identity = &world.nodes[VILLAIN].identity;
    const struct signed_head one = stream_head(identity, options->incarnation - earlier, 0, 1,
                                               messenger.context),
                             two = stream_head(identity, options->incarnation - earlier, 0, 2,
                                               messenger.context);
    CHECK(proof_create(&one, &two, world.nodes[0].options.parameters, proof) == OK);
    puppet_say_bulk(&messenger, PROOF, proof, sizeof proof);
}

static void prove_at_once(uint32_t far)
{
    start_busy(far);
    begin_message();
    prove(0);
    run(SECOND_NS);
    assert_non_null(proofs_in_force(world.nodes[2].node, world.nodes[VILLAIN].identity.id));
}

static uint64_t villains_samples(uint32_t i)
{
    const uint64_t tag =
        origin_tag(world.nodes[VILLAIN].identity.id, world.nodes[VILLAIN].options.incarnation);
    const struct origin *origin = versions_find(broadcast_versions(world.nodes[i].node), tag);
    CHECK(origin);
    assert_int_equal(origin->samples, signed_head_samples(&origin->last));
    return origin->samples;
}

static void must_stay(void)
{
    struct node_proof proof;
    must_agree(20 * SECOND_NS);
    for (uint32_t i = 0; i < world.nodes_count; i++) {
        if (!world_is_running(&world, i))
            continue;
        const uint8_t *id = world.nodes[VILLAIN].identity.id;
        assert_non_null(proofs_against(world.nodes[i].node, id));
        assert_null(proofs_in_force(world.nodes[i].node, id));
        assert_true(node_proof(world.nodes[i].node, 0, &proof) && proof.is_suspended);
        assert_memory_equal(proof.id, id, ID_BYTES);
        assert_true(known_of_node(i, VILLAIN) > 0);
        assert_int_equal(known_of_node(i, VILLAIN), known_of_node(0, VILLAIN));
        assert_true(villains_samples(i) > 0);
        assert_int_equal(stats_of(i).members_live, world_running(&world));
        assert_int_equal(world.nodes[i].notes[NOTE_DIGEST], 0);
    }
}

/* Adds a node and checks that it trains within `ns`. */
static void join_within(uint64_t ns)
{
    const struct node_options options = busy_options();
    const uint32_t joiner = join(&options, 3);
    until(is_training, joiner, ns);
}

static void rumors_beyond_all_logs_stay_and_their_author_is_expelled(void **state)
{
    (void)state;
    prove_at_once(0);
    run(40 * SECOND_NS);
    assert_false(world_is_running(&world, VILLAIN));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bases_of(i), 0);
    must_stay();
}

static void an_unknown_incarnation_does_not_remove_them(void **state)
{
    (void)state;
    start_busy(0);
    begin_message();
    prove(1);
    run(40 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bases_of(i), 0);
    must_stay();
    join_within(30 * SECOND_NS);
    must_stay();
}

static void stricter_proofs_hold_no_node_up_again(void **state)
{
    (void)state;
    prove_at_once(0);
    run(40 * SECOND_NS);
    prove(1);
    run(SECOND_NS);
    must_stay();
}

static void a_later_joiner_is_not_held_up(void **state)
{
    (void)state;
    prove_at_once(0);
    run(40 * SECOND_NS);
    join_within(30 * SECOND_NS);
    must_stay();
}

static void an_early_joiner_joins_once_that_is_decided(void **state)
{
    (void)state;
    prove_at_once(0);
    join_within(60 * SECOND_NS);
    run(100 * SECOND_NS); /* at first no node served a base, so the joiner began without one */
    must_stay();
}

static void a_restarted_node_decides_again(void **state)
{
    (void)state;
    prove_at_once(0);
    run(40 * SECOND_NS);
    world_kill(&world, 2, false);
    world_start(&world, 2);
    run(60 * SECOND_NS);
    must_stay();
}

static void a_single_node_with_a_long_log_yields(void **state)
{
    (void)state;
    prove_at_once(1);
    assert_int_equal(known_of_node(0, VILLAIN), 0);
    assert_true(known_of_node(1, VILLAIN) > 0);
    run(60 * SECOND_NS);
    assert_int_equal(bases_of(1) + bases_of(2), 0);
    must_stay();
}

static void all_obey_if_most_logs_reach_back(void **state)
{
    (void)state;
    prove_at_once(2);
    run(60 * SECOND_NS);
    assert_true(bases_of(2) > 0);
    must_agree(20 * SECOND_NS);
    must_be_out(VILLAIN);
}

/* The messenger claims a base that lacks the rumors which are older than all logs. */
static void a_single_neighbour_replaces_no_base(void **state)
{
    (void)state;
    prove_at_once(0);
    puppet_say(
        &messenger,
        &(struct message){.kind = VERSION, .hash = 1, .rumors = 1u << 20, .base = 1, .whole = 1});
    run(40 * SECOND_NS);
    assert_int_equal(messenger.heard[TAKE], 0);
    must_agree(20 * SECOND_NS);
    assert_true(known_of_node(0, VILLAIN) > 0);
}

int main(void)
{
#define TOLD(name) cmocka_unit_test_setup_teardown(name, suspension_begins, suspension_ends)
    const struct CMUnitTest tests[] = {
        TOLD(rumors_beyond_all_logs_stay_and_their_author_is_expelled),
        TOLD(an_unknown_incarnation_does_not_remove_them),
        TOLD(stricter_proofs_hold_no_node_up_again),
        TOLD(a_later_joiner_is_not_held_up),
        TOLD(an_early_joiner_joins_once_that_is_decided),
        TOLD(a_restarted_node_decides_again),
        TOLD(a_single_node_with_a_long_log_yields),
        TOLD(all_obey_if_most_logs_reach_back),
        TOLD(a_single_neighbour_replaces_no_base),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
