/* A member signs a rumor that moves the base too far or claims too many samples. No node accepts
 * such a rumor. The rumor's signed head is the proof with which all nodes expel the author. A node
 * whose own weights leap publishes the change in pieces of allowed size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "node/broadcast/broadcast.h"
#include "node/orders/proofs.h"
#include "support/sim/puppet.h"

#define ENTRY 5

static struct puppet villain, messenger;

static int stories_begin(void **state)
{
    (void)state;
    memset(&villain, 0, sizeof villain);
    memset(&messenger, 0, sizeof messenger);
    begin_world(1);
    world.check.outsiders_publish = true;
    return 0;
}

static int stories_end(void **state)
{
    (void)state;
    if (villain.reader)
        puppet_free(&villain);
    if (messenger.reader)
        puppet_free(&messenger);
    world_free(&world);
    return 0;
}

static void enter(struct puppet *puppet, uint32_t node, uint8_t identity)
{
    puppet_init(puppet, node, identity);
    puppet_meet(puppet);
    puppet_hello(puppet);
}

/* Starts three nodes that know each other. The villain is a neighbour of node 0. */
static void start_three(void)
{
    const struct node_options options = usual_options();
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    enter(&villain, 0, 77);
}

static void publish(uint32_t seq)
{
    uint8_t rumor[RUMOR_MAX];
    puppet_say_bulk(&villain, RUMOR, rumor, puppet_rumor(&villain, seq, ENTRY, rumor));
}

/* Makes and signs the villain's next rumor with one changed field in its head. Returns the rumor's
 * size in bytes. */
static size_t changed_rumor(uint32_t seq, size_t at, uint64_t value, size_t bytes, uint8_t *out)
{
    const size_t count = puppet_rumor(&villain, seq, ENTRY, out);
    bytes_put(out + at, value, bytes);
    const size_t body_bytes = count - HEAD_BYTES - SIGNATURE_BYTES;
    CHECK(rumor_seal(out, body_bytes, &villain.identity, villain.context) == count);
    rumor_signed_head(out, count, villain.context, &villain.made[seq]);
    return count;
}

static void say_changed(struct puppet *by, uint32_t seq, size_t at, uint64_t value, size_t bytes)
{
    uint8_t rumor[RUMOR_MAX];
    puppet_say_bulk(by, RUMOR, rumor, changed_rumor(seq, at, value, bytes, rumor));
}

static const struct proof *proof_of(uint32_t i)
{
    return proofs_against(world.nodes[i].node, villain.identity.id);
}

static void must_be_out(uint32_t keep)
{
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        const struct origin *origin = versions_find(broadcast_versions(world.nodes[i].node),
                                                    origin_tag(villain.identity.id, 1));
        assert_non_null(proof_of(i));
        assert_int_equal(proof_of(i)->kind, PROOF_EXCESS);
        assert_int_equal(proof_of(i)->keep, keep);
        assert_int_equal(origin ? origin->next : 0, keep);
        assert_true(world.nodes[i].notes[NOTE_EXPELLED] > 0);
        assert_int_equal(world.nodes[i].notes[NOTE_DIGEST], 0);
    }
    assert_one_version();
    must_agree(10 * SECOND_NS);
}

static void all_expel_a_member_that_moves_an_entry_too_far(void **state)
{
    (void)state;
    start_three();
    publish(0);
    publish(1);
    say_changed(&villain, 2, HEAD_AMOUNT_AT, MOVE_MAX + 1, 4);
    must_be_out(2);
    assert_true(villain.closed);
    assert_int_equal(villain.bye_reason, BYE_BROKEN);
}

static void all_expel_a_member_that_claims_too_many_samples(void **state)
{
    (void)state;
    start_three();
    publish(0);
    publish(1);
    say_changed(&villain, 2, HEAD_SAMPLES_AT, HEAD_SAMPLES_STEP + 1, HEAD_SAMPLES_BYTES);
    must_be_out(2);
    assert_true(villain.closed);
    assert_int_equal(villain.bye_reason, BYE_EXPELLED);
    assert_string_equal(villain.bye, "it signed a rumor beyond the limits of the protocol");
}

static void all_expel_a_member_that_claims_fewer_samples_than_before(void **state)
{
    (void)state;
    start_three();
    say_changed(&villain, 0, HEAD_SAMPLES_AT, HEAD_SAMPLES_STEP, HEAD_SAMPLES_BYTES);
    run(SECOND_NS);
    assert_false(villain.closed);
    publish(1); /* the next rumor claims 0 samples */
    must_be_out(1);
}

static void forwarding_an_excessive_rumor_ends_the_connection_and_expels_its_author(void **state)
{
    (void)state;
    start_three();
    enter(&messenger, 2, 78);
    say_changed(&messenger, 0, HEAD_AMOUNT_AT, MOVE_MAX + 1, 4);
    must_be_out(0);
    assert_int_equal(messenger.bye_reason, BYE_BROKEN);
    assert_int_equal(villain.bye_reason, BYE_EXPELLED);
    assert_null(proofs_against(world.nodes[2].node, messenger.identity.id));
}

static void an_unsigned_excess_proves_nothing(void **state)
{
    (void)state;
    start_three();
    enter(&messenger, 2, 78);
    uint8_t rumor[RUMOR_MAX];
    const size_t count = changed_rumor(0, HEAD_AMOUNT_AT, MOVE_MAX + 1, 4, rumor);
    rumor[count - 1] ^= 1;
    puppet_say_bulk(&messenger, RUMOR, rumor, count);
    run(SECOND_NS);
    assert_int_equal(messenger.bye_reason, BYE_BROKEN);
    for (uint32_t i = 0; i < 3; i++)
        assert_null(proof_of(i));
    assert_false(villain.closed);
}

static void an_excessive_head_is_a_proof_in_any_message(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    start_three();
    publish(0);
    run(SECOND_NS);
    (void)changed_rumor(1, HEAD_AMOUNT_AT, MOVE_MAX + 1, 4, rumor);
    enter(&messenger, 2, 78);
    puppet_say(&messenger, &(struct message){.kind = HEADS,
                                             .tag = origin_tag(villain.identity.id, 1),
                                             .bulk = {villain.made[1].bytes, SIGNED_HEAD_BYTES}});
    must_be_out(1);
    assert_false(messenger.closed);
}

static void refuses_an_unsigned_excessive_head(void **state)
{
    (void)state;
    uint8_t rumor[RUMOR_MAX];
    start_three();
    publish(0);
    run(SECOND_NS);
    (void)changed_rumor(1, HEAD_AMOUNT_AT, MOVE_MAX + 1, 4, rumor);
    villain.made[1].bytes[SIGNED_HEAD_BYTES - 1] ^= 1;
    enter(&messenger, 2, 78);
    puppet_say(&messenger, &(struct message){.kind = HEADS,
                                             .tag = origin_tag(villain.identity.id, 1),
                                             .bulk = {villain.made[1].bytes, SIGNED_HEAD_BYTES}});
    run(SECOND_NS);
    assert_true(messenger.closed);
    assert_string_equal(messenger.bye, "sent an invalid head");
    assert_null(proof_of(2));
}

/* Node 1's learner multiplies every weight by 40. One rumor may not contain such a change. */
static void a_leaping_learner_publishes_in_allowed_pieces(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    const uint64_t before = rumors_published();
    random_walk_leap(world.nodes[1].sim_learner.random_walk, 40);
    run(20 * SECOND_NS);
    /* The leap moves every weight, and a rumor has at most nine entries. */
    assert_true(rumors_published() - before > parameters / 10);
    must_agree(60 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_EXPELLED], 0);
}

#define OF_VILLAIN(name) cmocka_unit_test_setup_teardown(name, stories_begin, stories_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_VILLAIN(all_expel_a_member_that_moves_an_entry_too_far),
        OF_VILLAIN(all_expel_a_member_that_claims_too_many_samples),
        OF_VILLAIN(all_expel_a_member_that_claims_fewer_samples_than_before),
        OF_VILLAIN(forwarding_an_excessive_rumor_ends_the_connection_and_expels_its_author),
        OF_VILLAIN(an_unsigned_excess_proves_nothing),
        OF_VILLAIN(an_excessive_head_is_a_proof_in_any_message),
        OF_VILLAIN(refuses_an_unsigned_excessive_head),
        STORY(a_leaping_learner_publishes_in_allowed_pieces),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
