/* Equivocation: a member signs two different rumors with one number. A node that sees both has a
 * proof. All nodes expel the author, end with one base, and blame no other node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/digest.h"
#include "node/broadcast/broadcast.h"
#include "node/orders/proofs.h"
#include "support/net/stream.h"
#include "support/sim/puppet.h"

#define ENTRY    5
#define IDENTITY 77

/* Two puppets with the villain's identity. Each publishes a different stream, to a different node.
 */
static struct puppet left, right;

static bool has_face(const struct puppet *face)
{
    return face->reader != NULL;
}

static void show_face(struct puppet *face, uint32_t node)
{
    const uint8_t chance[SEED_BYTES] = {IDENTITY, (uint8_t)node};
    puppet_init(face, node, IDENTITY);
    /* The puppets have one identity, but different session keys. */
    entropy_from_seed(&face->entropy, chance);
    puppet_meet(face);
    puppet_hello(face);
}

static int stories_begin(void **state)
{
    (void)state;
    memset(&left, 0, sizeof left);
    memset(&right, 0, sizeof right);
    begin_world(1);
    world.check.outsiders_publish = true;
    return 0;
}

static int stories_end(void **state)
{
    (void)state;
    if (has_face(&left))
        puppet_free(&left);
    if (has_face(&right))
        puppet_free(&right);
    world_free(&world);
    return 0;
}

static void publish(struct puppet *face, uint32_t seq, uint32_t index)
{
    uint8_t rumor[RUMOR_MAX];
    puppet_say_bulk(face, RUMOR, rumor, puppet_rumor(face, seq, index, rumor));
}

static void publish_both(uint32_t seq)
{
    publish(&left, seq, ENTRY);
    publish(&right, seq, ENTRY);
}

static const struct proof *proof_of(uint32_t i)
{
    return proofs_against(world.nodes[i].node, left.identity.id);
}

static uint32_t taken_of_villain(uint32_t i)
{
    const struct origin *origin =
        versions_find(broadcast_versions(world.nodes[i].node), origin_tag(left.identity.id, 1));
    return origin ? origin->next : 0;
}

/* Runs for within_ns. Then checks that all running nodes have the proof and one base, and that
 * `keep` rumors of the villain remain. */
static void must_be_out(uint32_t keep, uint64_t within_ns)
{
    run(within_ns);
    for (uint32_t i = 0; i < world.nodes_count; i++) {
        if (!world_is_running(&world, i))
            continue;
        assert_non_null(proof_of(i));
        assert_int_equal(proof_of(i)->keep, keep);
        assert_int_equal(taken_of_villain(i), keep);
        assert_true(world.nodes[i].notes[NOTE_EXPELLED] > 0);
        assert_int_equal(world.nodes[i].notes[NOTE_DIGEST], 0);
    }
    assert_one_version();
    must_agree(10 * SECOND_NS);
}

/* Starts three nodes, and the two puppets as neighbours of nodes 0 and 2. */
static void start_line(void)
{
    const struct node_options options = usual_options();
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    show_face(&left, 0);
    show_face(&right, 2);
}

static void two_rumors_under_one_number_expel_their_author(void **state)
{
    (void)state;
    start_line();
    publish_both(0);
    publish_both(1);
    publish(&left, 2, ENTRY);
    publish(&right, 2, ENTRY + 1);
    must_be_out(2, 3 * SECOND_NS);
    assert_true(left.closed && right.closed);
    assert_int_equal(left.bye_reason, BYE_EXPELLED);
    assert_string_equal(left.bye, "it signed two different rumors under one number");
}

static void streams_that_differ_from_the_start_are_removed_entirely(void **state)
{
    (void)state;
    start_line();
    publish(&left, 0, ENTRY);
    publish(&right, 0, ENTRY + 1);
    must_be_out(0, 3 * SECOND_NS);
}

/* Publishes `same` equal rumors everywhere, and then `other` different rumors on each of two
 * separated sides. When the sides meet, their version hashes differ. So nodes exchange signed heads
 * back to the first difference. */
static void told_apart(uint32_t same, uint32_t other)
{
    const struct node_options options = usual_options();
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    show_face(&left, 0);
    show_face(&right, 2);
    for (uint32_t seq = 0; seq < same; seq++)
        publish_both(seq);
    run(SECOND_NS);
    cut(2, 0);
    cut(2, 1);
    for (uint32_t seq = same; seq < same + other; seq++) {
        publish(&left, seq, ENTRY);
        publish(&right, seq, ENTRY + 1);
    }
    run(4 * SECOND_NS);
    assert_int_equal(taken_of_villain(0), same + other);
    assert_int_equal(taken_of_villain(1), same + other);
    assert_int_equal(taken_of_villain(2), same + other);
    heal_cut(2, 0);
    heal_cut(2, 1);
}

static void an_equivocator_to_two_sides_is_expelled_when_they_meet(void **state)
{
    (void)state;
    told_apart(2, 3);
    must_be_out(2, 30 * SECOND_NS);
}

static void finds_equivocation_further_back_than_one_message(void **state)
{
    (void)state;
    told_apart(2, 150);
    must_be_out(2, 60 * SECOND_NS);
}

/* Both sides have equally many rumors. Only their version hashes differ. */
static void finds_equivocation_at_the_very_beginning(void **state)
{
    (void)state;
    told_apart(0, 1);
    must_be_out(0, 30 * SECOND_NS);
}

static void a_returning_node_obeys_the_proof(void **state)
{
    (void)state;
    start_line();
    publish_both(0);
    run(SECOND_NS);
    world_kill(&world, 1, false);
    publish(&left, 1, ENTRY);
    publish(&right, 1, ENTRY + 1);
    run(SECOND_NS);
    world_start(&world, 1);
    must_be_out(1, 20 * SECOND_NS);
}

/* Node 2 loads the proof from its disk. */
static void a_restarted_node_remembers_the_proof(void **state)
{
    (void)state;
    start_line();
    publish(&left, 0, ENTRY);
    publish(&right, 0, ENTRY + 1);
    run(3 * SECOND_NS);
    world_kill(&world, 2, false);
    run(SECOND_NS);
    world_start(&world, 2);
    assert_non_null(proof_of(2));
    must_be_out(0, 10 * SECOND_NS);
}

static void a_later_joiner_receives_the_proof(void **state)
{
    (void)state;
    start_line();
    publish(&left, 0, ENTRY);
    publish(&right, 0, ENTRY + 1);
    run(3 * SECOND_NS);
    const struct node_options options = usual_options();
    const uint32_t late = add(&options);
    world_introduce(&world, late, 1);
    world_start(&world, late);
    run(10 * SECOND_NS);
    assert_non_null(proof_of(late));
    assert_int_equal(taken_of_villain(late), 0);
    assert_one_version();
}

/* Makes a proof from rumor `seq` of two streams that differ from their first rumor on. Returns its
 * size in bytes. */
static size_t proof_of_left(uint32_t seq, uint8_t *out)
{
    const struct signed_head one = stream_head(&left.identity, 1, seq, 1, left.context),
                             two = stream_head(&left.identity, 1, seq, 2, left.context);
    CHECK(proof_create(&one, &two, world.nodes[0].options.parameters, out) == OK);
    return PROOF_BYTES;
}

/* Starts three nodes and a puppet that sends proofs against other members. */
static void start_with_a_messenger(void)
{
    start_line();
    puppet_free(&right);
    puppet_init(&right, 2, IDENTITY + 1);
    puppet_meet(&right);
    puppet_hello(&right);
}

static void forwarding_a_proof_is_not_blamed(void **state)
{
    (void)state;
    uint8_t proof[PROOF_BYTES];
    start_with_a_messenger();
    publish(&left, 0, ENTRY);
    puppet_say_bulk(&right, PROOF, proof, proof_of_left(0, proof));
    must_be_out(0, 3 * SECOND_NS);
    assert_true(left.closed);
    assert_false(right.closed);
}

static void refuses_an_invented_proof(void **state)
{
    (void)state;
    uint8_t proof[PROOF_BYTES];
    start_with_a_messenger();
    (void)proof_of_left(0, proof);
    proof[PROOF_BYTES - 1] ^= 1;
    puppet_say_bulk(&right, PROOF, proof, sizeof proof);
    run(SECOND_NS);
    assert_true(right.closed);
    assert_int_equal(right.bye_reason, BYE_BROKEN);
    assert_string_equal(right.bye, "sent an invalid proof");
    assert_false(left.closed);
    for (uint32_t i = 0; i < 3; i++)
        assert_null(proof_of(i));
}

/* The result does not depend on the order in which the proofs arrive. */
static void the_stricter_of_two_proofs_counts(void **state)
{
    (void)state;
    uint8_t strict[PROOF_BYTES], mild[PROOF_BYTES];
    start_with_a_messenger();
    (void)proof_of_left(3, strict);
    struct signed_head one = stream_head(&left.identity, 1, 3, 1, left.context),
                       two = stream_head(&left.identity, 1, 4, 2, left.context);
    CHECK(proof_create(&one, &two, world.nodes[0].options.parameters, mild) == OK);
    puppet_say_bulk(&right, PROOF, mild, sizeof mild);
    run(SECOND_NS);
    assert_int_equal(proof_of(0)->keep, 3);
    puppet_say_bulk(&right, PROOF, strict, sizeof strict);
    run(SECOND_NS);
    assert_int_equal(proof_of(0)->keep, 2);
    puppet_say_bulk(&right, PROOF, mild, sizeof mild);
    run(SECOND_NS);
    assert_int_equal(proof_of(0)->keep, 2);
}

static void refuses_unsigned_heads(void **state)
{
    (void)state;
    start_with_a_messenger();
    publish(&left, 0, ENTRY);
    run(SECOND_NS);
    struct signed_head made_up = stream_head(&left.identity, 1, 0, 9, left.context);
    made_up.bytes[SIGNED_HEAD_BYTES - 1] ^= 1;
    puppet_say(&right, &(struct message){.kind = HEADS,
                                         .tag = origin_tag(left.identity.id, 1),
                                         .bulk = {made_up.bytes, SIGNED_HEAD_BYTES}});
    run(SECOND_NS);
    assert_true(right.closed);
    assert_string_equal(right.bye, "sent an invalid head");
    assert_null(proof_of(2));
}

static void contradicting_heads_are_a_proof(void **state)
{
    (void)state;
    start_with_a_messenger();
    publish(&left, 0, ENTRY);
    run(SECOND_NS);
    const struct signed_head other = stream_head(&left.identity, 1, 0, 9, left.context);
    puppet_say(&right, &(struct message){.kind = HEADS,
                                         .tag = origin_tag(left.identity.id, 1),
                                         .bulk = {other.bytes, SIGNED_HEAD_BYTES}});
    must_be_out(0, 3 * SECOND_NS);
    assert_false(right.closed);
}

/* Two machines run with node 1's key and sign different rumors with one number. */
static void a_copy_of_a_node_is_expelled_and_receives_the_proof(void **state)
{
    (void)state;
    start_line();
    const struct origin *own = broadcast_own(world.nodes[1].node);
    const uint64_t incarnation = own->incarnation;
    assert_true(own->next > 0);
    const uint64_t tag = own->tag;
    const struct signed_head copied =
        stream_head(&world.nodes[1].identity, incarnation, 0, 9, left.context);
    puppet_say(&left, &(struct message){
                          .kind = HEADS, .tag = tag, .bulk = {copied.bytes, SIGNED_HEAD_BYTES}});
    run(3 * SECOND_NS);
    assert_true(world.nodes[1].finished || !world_is_running(&world, 1));
    assert_non_null(proofs_against(world.nodes[0].node, world.nodes[1].identity.id));
    assert_non_null(proofs_against(world.nodes[2].node, world.nodes[1].identity.id));
    assert_true(world.nodes[1].notes[NOTE_EXPELLED] > 0);
}

static void throwaway_keys_fill_no_table(void **state)
{
    (void)state;
    struct node_proof proof;
    start_with_a_messenger();
    puppet_prove_outsiders(&right, NODE_PROOFS);
    run(2 * SECOND_NS);
    assert_false(right.closed);
    for (uint32_t i = 0; i < 3; i++)
        assert_false(node_proof(world.nodes[i].node, 0, &proof));
    uint8_t bytes[PROOF_BYTES];
    publish(&left, 0, ENTRY);
    puppet_say_bulk(&right, PROOF, bytes, proof_of_left(0, bytes));
    must_be_out(0, 3 * SECOND_NS);
}

int main(void)
{
#define TOLD(name) cmocka_unit_test_setup_teardown(name, stories_begin, stories_end)
    const struct CMUnitTest tests[] = {
        TOLD(two_rumors_under_one_number_expel_their_author),
        TOLD(streams_that_differ_from_the_start_are_removed_entirely),
        TOLD(an_equivocator_to_two_sides_is_expelled_when_they_meet),
        TOLD(finds_equivocation_further_back_than_one_message),
        TOLD(finds_equivocation_at_the_very_beginning),
        TOLD(a_returning_node_obeys_the_proof),
        TOLD(a_restarted_node_remembers_the_proof),
        TOLD(a_later_joiner_receives_the_proof),
        TOLD(forwarding_a_proof_is_not_blamed),
        TOLD(refuses_an_invented_proof),
        TOLD(the_stricter_of_two_proofs_counts),
        TOLD(throwaway_keys_fill_no_table),
        TOLD(refuses_unsigned_heads),
        TOLD(contradicting_heads_are_a_proof),
        TOLD(a_copy_of_a_node_is_expelled_and_receives_the_proof),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
