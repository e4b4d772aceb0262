/* Expulsion by the operator: rumors of the expelled member leave all bases, whatever the nodes are
 * doing, and do not return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/expulsion_api.h"
#include "support/sim/expulsion_story.h"

/* Starts a busy swarm of four nodes whose logs have lost the first rumors. */
static void start_busy_four(void)
{
    start_four(busy_options());
    run(20 * SECOND_NS);
    assert_true(node_reach(world.nodes[0].node, 0) > 0);
}

static void rumors_of_an_expelled_node_leave_all_bases(void **state)
{
    (void)state;
    start_four(usual_options());
    expel(0, 3);
    run(5 * SECOND_NS);
    assert_true(world.nodes[3].finished); /* node 3 has also received the order */
    assert_int_equal(world.nodes[3].notes[NOTE_EXPELLED], 1);
    assert_int_equal(known_of_node(1, 3), 0);
    must_agree(5 * SECOND_NS);
    must_be_out(3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bases_of(i), 0);
}

static void rumors_that_the_order_keeps_stay(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t known = known_of_node(0, 3);
    struct order order = order_of(0, world.nodes[3].identity.id);
    order.pairs_count = 1;
    order.pairs[0] = (struct order_pair){.incarnation = incarnation_of(3), .keep = known / 2};
    order_expulsion(1, order);
    run(5 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(known_of_node(i, 3), known / 2);
}

/* The order keeps more rumors than node 3 has published. Nodes still accept the missing rumors. */
static void an_order_may_keep_more_than_is_known(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t known = known_of_node(0, 3);
    struct order order = order_of(0, world.nodes[3].identity.id);
    order.pairs_count = 1;
    order.pairs[0] = (struct order_pair){.incarnation = incarnation_of(3), .keep = known + 5};
    order_expulsion(1, order);
    must_agree(10 * SECOND_NS);
    assert_in_range(known_of_node(0, 3), known, known + 5);
}

static void a_later_order_about_the_same_member_counts(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t known = known_of_node(0, 3);
    const uint64_t incarnation = incarnation_of(3);
    struct order order = order_of(0, world.nodes[3].identity.id);
    order.pairs_count = 1;
    order.pairs[0] = (struct order_pair){.incarnation = incarnation, .keep = known / 2};
    order_expulsion(0, order);
    order.pairs[0].keep = known / 4;
    order_expulsion(0, order);
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    assert_int_equal(known_of_node(1, 3), known / 4);
    expel(2, 3);
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    must_be_out(3);
}

/* A log records at most one arrival time a second. So an order also removes the rumors between the
 * last recorded arrival before the moment and the moment itself. */
static void an_order_since_a_moment_keeps_earlier_rumors(void **state)
{
    (void)state;
    start_four(usual_options());
    const uint32_t early = known_of_node(0, 3);
    run(3 * SECOND_NS);
    const uint32_t known = known_of_node(0, 3);
    const uint64_t moment_ns = world_now_ns(&world);
    run(7 * SECOND_NS);
    const uint32_t late = known_of_node(0, 3);
    assert_true(early > 0 && early < known && known < late);
    expel_since(0, 3, moment_ns);
    run(5 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    const uint32_t kept = known_of_node(0, 3);
    assert_in_range(kept, early, known);
    for (uint32_t i = 1; i < 3; i++)
        assert_int_equal(known_of_node(i, 3), kept);
    /* No node has taken over a base: each has subtracted the rumors from its own. */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bases_of(i), 0);
}

/* Node 0's log has lost the first rumors, so it has no marks for them. */
static void marks_end_at_the_log_horizon(void **state)
{
    (void)state;
    static struct node_arrival marks[NODE_ARRIVALS];
    start_busy_four();
    const struct node *node = world.nodes[0].node;
    const uint64_t now_ns = world_now_ns(&world);
    for (uint32_t k = 0; k < node_origins(node); k++) {
        struct node_origin origin;
        node_origin(node, k, &origin);
        const uint32_t count = node_arrivals(node, now_ns, k, marks), reach = node_reach(node, k);
        assert_true(reach > 0 && count > 1);
        assert_int_equal(marks[0].seq, origin.next - 1);
        assert_int_equal(marks[count - 1].seq, reach - 1);
        assert_true(marks[count - 1].came_ns > node_log_horizon_ns(node));
        for (uint32_t i = 1; i < count; i++) {
            assert_true(marks[i].seq < marks[i - 1].seq);
            assert_true(i == count - 1 || marks[i - 1].came_ns - marks[i].came_ns >= SECOND_NS);
        }
    }
    assert_true(node_log_horizon_ns(node) > WORLD_BEGIN_NS && node_log_horizon_ns(node) < now_ns);
    expel_since(0, 3, node_log_horizon_ns(node) + SECOND_NS);
    run(10 * SECOND_NS);
    must_agree(20 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bases_of(i), 0);
}

static void a_returning_node_learns_the_order(void **state)
{
    (void)state;
    start_four(usual_options());
    for (uint32_t i = 0; i < 4; i++)
        if (i != 2)
            cut(2, i);
    run(5 * SECOND_NS);
    expel(0, 3);
    run(5 * SECOND_NS);
    assert_true(known_of_node(2, 3) > 0);
    for (uint32_t i = 0; i < 4; i++)
        if (i != 2)
            heal_cut(2, i);
    run(20 * SECOND_NS);
    must_agree(20 * SECOND_NS);
    must_be_out(3);
}

/* The villain is on the side that yields. Both sides have learned separately for longer than
 * partition_s. */
static void the_end_of_a_partition_brings_no_rumors_back(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.partition_s = 5;
    start_four(options);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 2; k < 4; k++)
            cut(i, k);
    run(15 * SECOND_NS);
    expel(0, 3);
    run(15 * SECOND_NS);
    assert_true(known_of_node(2, 3) > 0);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 2; k < 4; k++)
            heal_cut(i, k);
    run(60 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    must_agree(30 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(known_of_node(i, 3), 0);
}

static void a_later_joiner_takes_no_removed_rumors(void **state)
{
    (void)state;
    start_four(usual_options());
    expel(0, 3);
    run(5 * SECOND_NS);
    const struct node_options options = obedient(usual_options());
    const uint32_t joiner = join(&options, 3);
    until(is_training, joiner, 30 * SECOND_NS);
    must_agree(10 * SECOND_NS);
    must_be_out(3);
}

static void an_order_within_reach_comes_during_a_join(void **state)
{
    (void)state;
    start_busy_four();
    const struct node_options options = obedient(busy_options());
    const uint32_t joiner = join(&options, 3);
    until_blocks(joiner, 5, 20 * SECOND_NS);
    expel_within_reach(0, 3);
    until(has_base, joiner, 60 * SECOND_NS);
    must_agree(40 * SECOND_NS);
    assert_int_equal(known_of_node(joiner, 3), known_of_node(0, 3));
    assert_int_equal(stats_of(joiner).members_live, 4);
}

/* The joiner's log begins at its arrival. The logs of other nodes are complete. */
static void an_order_beyond_a_joiners_log_restarts_its_join(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.log_bytes = 1 << 22;
    start_four(options);
    options = obedient(options);
    const uint32_t joiner = join(&options, 3);
    until(is_training, joiner, 30 * SECOND_NS);
    const uint32_t bases = bases_of(joiner);
    assert_true(bases > 0);
    expel(0, 3);
    run(30 * SECOND_NS);
    assert_true(bases_of(joiner) > bases);
    must_agree(30 * SECOND_NS);
    must_be_out(3);
}

static void an_order_during_a_state_transfer_restarts_it(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.log_bytes = 1 << 22;
    start_four(options);
    options = obedient(options);
    const uint32_t joiner = join(&options, 3);
    until_blocks(joiner, 5, 20 * SECOND_NS);
    expel(0, 3);
    until(has_base, joiner, 60 * SECOND_NS);
    must_agree(30 * SECOND_NS);
    must_be_out(3);
}

static void full_logs_obey_an_order_within_their_horizon(void **state)
{
    (void)state;
    start_busy_four();
    expel_within_reach(0, 3);
    run(10 * SECOND_NS);
    must_agree(20 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(bases_of(i), 0);
        assert_true(known_of_node(i, 3) > 0);
    }
}

static void an_order_that_no_log_reaches_is_noted_and_can_be_replaced(void **state)
{
    (void)state;
    start_busy_four();
    expel(0, 3);
    run(70 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(world.nodes[i].last[NOTE_EXPELLED].level, LEVEL_ERROR);
        assert_non_null(strstr(world.nodes[i].last[NOTE_EXPELLED].text, "without --all"));
    }
    expel_within_reach(0, 3);
    run(10 * SECOND_NS);
    must_agree(20 * SECOND_NS);
}

static struct node_options saving(struct node_options options, double every_s)
{
    options.save_ns = (uint64_t)(every_s * SECOND_NS);
    return options;
}

static void a_restarted_node_obeys_from_the_start(void **state)
{
    (void)state;
    start_four(saving(usual_options(), 2));
    expel(0, 3);
    run(6 * SECOND_NS);
    /* Kills all nodes at once, so that no node can send the order again. */
    for (uint32_t i = 0; i < 3; i++)
        world_kill(&world, i, false);
    for (uint32_t i = 0; i < 3; i++)
        world_start(&world, i);
    assert_int_equal(known_of_node(0, 3), 0);
    assert_int_equal(node_orders_count(world.nodes[2].node), 1);
    world_start(&world, 3);
    run(12 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    must_agree(10 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(known_of_node(i, 3), 0);
}

static void a_readmitted_node_returns_with_its_state_folder(void **state)
{
    (void)state;
    start_four(saving(usual_options(), 2));
    const uint32_t members[] = {0, 1, 2, 3};
    const uint64_t incarnation = incarnation_of(3);
    admit_nodes(0, members, 4);
    expel(0, 3);
    run(10 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    admit_after(1, world.nodes[3].identity.id, incarnation);
    run(2 * SECOND_NS);
    world_start(&world, 3);
    /* Node 3 does not have the sixth order, its readmission, yet. */
    assert_int_equal(node_orders_count(world.nodes[3].node), 5);
    run(40 * SECOND_NS);
    assert_false(world.nodes[3].finished);
    assert_int_equal(neighbours(3), 3);
    assert_true(known_of_node(0, 3) > 0);
    must_agree(20 * SECOND_NS);
}

/* Checks that node i has ended, without a claim that it is expelled, because no member could send
 * it orders after its last one. */
static void must_end_unheard(uint32_t i, uint32_t orders, const char *why)
{
    const char *text = world.nodes[i].last[NOTE_ADMISSION].text;
    char up_to[32];
    (void)snprintf(up_to, sizeof up_to, "up to number %u,", (unsigned)orders);
    assert_true(world.nodes[i].finished);
    assert_int_not_equal(world.nodes[i].last[NOTE_EXPELLED].level, LEVEL_ERROR);
    assert_non_null(strstr(text, up_to));
    assert_non_null(strstr(text, why));
}

/* Node 0 has no seeds, so it counts as joined from the start. */
static void an_expelled_first_node_does_not_train_while_it_asks(void **state)
{
    (void)state;
    start_four(saving(usual_options(), 2));
    expel(1, 0);
    run(6 * SECOND_NS);
    assert_true(world.nodes[0].finished);
    for (uint32_t i = 1; i < 4; i++)
        world_kill(&world, i, false);
    world_start(&world, 0);
    run(5 * SECOND_NS);
    assert_false(world.nodes[0].finished);
    assert_int_equal(stats_of(0).samples, 0);
    assert_int_equal(node_phase(world.nodes[0].node), NODE_EXPELLED);
    run(10 * SECOND_NS);
    assert_true(world.nodes[0].finished);
    must_end_unheard(0, 1, "no peer has answered");
}

/* The swarm gets another key, and the expelled node is admitted again, both while it is away. */
static void an_expelled_node_with_an_old_key_does_not_know_whether_it_is_admitted(void **state)
{
    static const uint8_t newer[KEY_BYTES] = {1};
    (void)state;
    start_four(saving(usual_options(), 2));
    expel(1, 3);
    run(6 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    for (uint32_t i = 0; i < 3; i++) {
        world_kill(&world, i, false);
        world.nodes[i].options.swarm_key = newer;
        world_start(&world, i);
    }
    admit_after(1, world.nodes[3].identity.id, 1);
    world_start(&world, 3);
    run(12 * SECOND_NS);
    must_end_unheard(3, 1, "compare this node's swarm key");
}

/* Node 3 is not admitted when it starts first. When it starts again, no member runs. */
static void a_stranger_that_meets_no_member_does_not_know_whether_it_is_admitted(void **state)
{
    const uint32_t members[] = {0, 1, 2};
    (void)state;
    start_four(saving(usual_options(), 2));
    admit_nodes(0, members, 3);
    run(2 * SECOND_NS);
    world_kill(&world, 3, false);
    world_start(&world, 3);
    run(15 * SECOND_NS);
    assert_true(world.nodes[3].finished);
    assert_non_null(strstr(world.nodes[3].last[NOTE_ADMISSION].text, "have its id listed"));
    for (uint32_t i = 0; i < 3; i++)
        world_kill(&world, i, false);
    world_start(&world, 3);
    run(12 * SECOND_NS);
    must_end_unheard(3, 3, "no peer has answered");
}

static void a_node_restarted_from_an_older_checkpoint_takes_over_a_base(void **state)
{
    (void)state;
    start_four(saving(usual_options(), 2));
    world_kill(&world, 2, false);
    run(3 * SECOND_NS);
    expel(0, 3);
    run(3 * SECOND_NS);
    world_start(&world, 2);
    assert_true(known_of_node(2, 3) > 0);
    run(30 * SECOND_NS);
    assert_true(bases_of(2) > 0);
    must_agree(20 * SECOND_NS);
    must_be_out(3);
}

/* Node 0's log begins after its checkpoint and has no older rumors. */
static void a_restarted_node_accepts_an_order_within_its_log_horizon(void **state)
{
    (void)state;
    start_four(saving(usual_options(), 2));
    world_kill(&world, 0, false);
    world_start(&world, 0);
    run(5 * SECOND_NS);
    const uint32_t known = known_of_node(0, 3);
    expel_within_reach(0, 3);
    run(10 * SECOND_NS);
    must_agree(20 * SECOND_NS);
    assert_in_range(known_of_node(0, 3), 1, known - 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bases_of(i), 0);
}

/* A checkpoint is written in parts over about a second. The order arrives between two parts. */
static void an_order_arrives_during_a_checkpoint(void **state)
{
    (void)state;
    start_four(saving(usual_options(), 0.2));
    expel(0, 3);
    for (int moment = 0; moment < 20; moment++) {
        run(50 * MS_NS);
        world_kill(&world, 1, false);
        world_start(&world,
                    /* every start checks that the saved base is the sum of its rumors */
                    1);
    }
    run(30 * SECOND_NS);
    must_agree(20 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(known_of_node(i, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXPULSION(rumors_of_an_expelled_node_leave_all_bases),
        EXPULSION(rumors_that_the_order_keeps_stay),
        EXPULSION(an_order_may_keep_more_than_is_known),
        EXPULSION(a_later_order_about_the_same_member_counts),
        EXPULSION(an_order_since_a_moment_keeps_earlier_rumors),
        EXPULSION(marks_end_at_the_log_horizon),
        EXPULSION(a_returning_node_learns_the_order),
        EXPULSION(the_end_of_a_partition_brings_no_rumors_back),
        EXPULSION(a_later_joiner_takes_no_removed_rumors),
        EXPULSION(an_order_within_reach_comes_during_a_join),
        EXPULSION(an_order_beyond_a_joiners_log_restarts_its_join),
        EXPULSION(an_order_during_a_state_transfer_restarts_it),
        EXPULSION(full_logs_obey_an_order_within_their_horizon),
        EXPULSION(an_order_that_no_log_reaches_is_noted_and_can_be_replaced),
        EXPULSION(a_restarted_node_obeys_from_the_start),
        EXPULSION(a_readmitted_node_returns_with_its_state_folder),
        EXPULSION(an_expelled_first_node_does_not_train_while_it_asks),
        EXPULSION(an_expelled_node_with_an_old_key_does_not_know_whether_it_is_admitted),
        EXPULSION(a_stranger_that_meets_no_member_does_not_know_whether_it_is_admitted),
        EXPULSION(a_node_restarted_from_an_older_checkpoint_takes_over_a_base),
        EXPULSION(a_restarted_node_accepts_an_order_within_its_log_horizon),
        EXPULSION(an_order_arrives_during_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
