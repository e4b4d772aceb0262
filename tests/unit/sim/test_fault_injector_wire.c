/* Faults of the network, and attackers. Each takes effect and ends, and the swarm reaches one
 * version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/fault_story.h"

/* Kinds of notes that nodes have written. */
enum text {
    WRONG_KEY,
    TOO_LATE,
    WRONG_PROOF,
    WRONG_FRAME,
    NOT_AUTHENTIC,
    NO_HELLO,
    WRONG_HELLO,
    WRONG_MESSAGE,
    RUMOR_MALFORMED,
    RUMOR_FORGED,
    RUMOR_TOO_BIG,
    WRONG_RECORD,
    WRONG_ACK,
    NOT_SIGNED,
    NO_ROOM,
    TEXTS
};

static const char *const texts[TEXTS] = {
    [WRONG_KEY] = "did not prove the swarm key",
    [TOO_LATE] = "the handshake timed out",
    [WRONG_PROOF] = "its last handshake message is invalid",
    [WRONG_FRAME] = "a frame has an invalid size",
    [NOT_AUTHENTIC] = "a record failed authentication",
    [NO_HELLO] = "sent a message before HELLO",
    [WRONG_HELLO] = "sent an invalid HELLO",
    [WRONG_MESSAGE] = "sent an invalid message",
    [RUMOR_MALFORMED] = "sent an invalid rumor (malformed)",
    [RUMOR_FORGED] = "sent an invalid rumor (forged)",
    [RUMOR_TOO_BIG] = "sent an invalid rumor (too big)",
    [WRONG_RECORD] = "sent an invalid member record",
    [WRONG_ACK] = "acknowledged what was not sent",
    [NOT_SIGNED] = "sent an invalid history",
    [NO_ROOM] = "it has more incarnations than limits.incarnations",
};
static uint32_t said[TEXTS];

static void on_note(void *self, uint32_t i, const struct note *note)
{
    (void)self;
    (void)i;
    for (int k = 0; k < TEXTS; k++)
        said[k] += strstr(note->text, texts[k]) != NULL;
}

static void begin_listening(const struct fault *faults, uint32_t count, uint64_t seed)
{
    memset(said, 0, sizeof said);
    begin_faults(faults, count, seed);
    world.on_note = on_note;
}

static uint64_t rumors_of(uint32_t i)
{
    return stats_of(i).version;
}

static uint64_t wants_of(uint32_t i)
{
    return stats_of(i).wants_sent;
}

static uint32_t lost_by(uint32_t i)
{
    return world.nodes[i].notes[NOTE_NEIGHBOUR_LOST];
}

static struct fault west_from_east(double from_s, double to_s)
{
    struct fault made = fault(FAULT_PARTITION, from_s, to_s, 0);
    node_set_add(&made.a, 1);
    for (uint32_t i = 2; i < NODES; i++)
        node_set_add(&made.b, i);
    return made;
}

static void a_partition_lets_nothing_pass_until_it_heals(void **state)
{
    (void)state;
    const struct fault partition = west_from_east(10, 20);
    begin_faults(&partition, 1, 1);
    run_to(10);
    const uint64_t known = rumors_of(2);
    run_to(19.9);
    assert_true(rumors_of(2) < known + 3 * 12); /* node 2's own side publishes once a second */
    assert_true(wire_is_cut(&world.wire, 0, 2) && wire_is_cut(&world.wire, 4, 1));
    assert_false(wire_is_cut(&world.wire, 0, 1) || wire_is_cut(&world.wire, 2, 3));
    run_to(20.1);
    assert_false(wire_is_cut(&world.wire, 0, 2) || wire_is_cut(&world.wire, 4, 1));
    end_well(21);
}

static void a_partition_can_have_one_direction(void **state)
{
    (void)state;
    struct fault partition = west_from_east(10, 20);
    partition.one_way = true;
    begin_faults(&partition, 1, 1);
    run_to(15);
    assert_true(wire_is_cut(&world.wire, 0, 2));
    assert_false(wire_is_cut(&world.wire, 2, 0));
    heal(15);
    assert_false(wire_is_cut(&world.wire, 0, 2));
    leave_world();
}

static void a_partition_can_come_and_go(void **state)
{
    (void)state;
    struct fault partition = west_from_east(10, 21);
    partition.every_ns = seconds(4);
    begin_faults(&partition, 1, 1);
    for (double t = 10; t < 20; t += 4) {
        run_to(t + 1);
        assert_true(wire_is_cut(&world.wire, 0, 2));
        run_to(t + 3);
        assert_false(wire_is_cut(&world.wire, 0, 2));
    }
    run_to(22);
    assert_false(wire_is_cut(&world.wire, 0, 2));
    end_well(22);
}

static void a_partition_without_a_second_side_isolates_the_first(void **state)
{
    (void)state;
    const struct fault partition = fault(FAULT_PARTITION, 10, 30, 3);
    begin_faults(&partition, 1, 1);
    run_to(29);
    assert_int_equal(neighbours(3), 0);
    assert_int_equal(neighbours(0), NODES - 2);
    end_well(30);
}

static void a_clogged_node_receives_next_to_nothing(void **state)
{
    (void)state;
    const struct fault clog = fault(FAULT_CLOG, 10, 16, 3);
    begin_faults(&clog, 1, 1);
    run_to(11);
    const uint64_t known = rumors_of(3), others = rumors_of(0);
    run_to(15.9);
    assert_true(rumors_of(3) - known < (rumors_of(0) - others) / 2);
    run_to(18);
    assert_true(rumors_of(3) + 2 * NODES > rumors_of(0));
    end_well(18);
}

static void a_clog_that_ends_early_is_gone(void **state)
{
    (void)state;
    const struct fault clog = fault(FAULT_CLOG, 10, 300, 3);
    begin_faults(&clog, 1, 1);
    run_to(12);
    assert_true(world.wire.parties[3].up.clogged_ns > world_now_ns(&world));
    heal(12);
    assert_int_equal(world.wire.parties[3].up.clogged_ns, 0);
    leave_world();
}

static void a_reset_breaks_the_connections_between_two(void **state)
{
    (void)state;
    struct fault reset = fault(FAULT_RESET, 10, 10, 1);
    node_set_add(&reset.b, 2);
    begin_faults(&reset, 1, 1);
    run_to(9.9);
    const uint32_t before[3] = {lost_by(1), lost_by(2), lost_by(3)};
    run_to(10.1);
    assert_int_equal(lost_by(1), before[0] + 1);
    assert_int_equal(lost_by(2), before[1] + 1);
    assert_int_equal(lost_by(3), before[2]);
    run_to(15);
    assert_int_equal(neighbours(1), NODES - 1);
    end_well(15);
}

static void only_one_end_knows_of_a_half_open_connection(void **state)
{
    (void)state;
    const struct fault half_open = fault(FAULT_HALF_OPEN, 10, 10, 1);
    begin_faults(&half_open, 1, 1);
    run_to(9.9);
    const uint32_t before = lost_by(1), others = lost_by(3);
    run_to(10.05);
    assert_int_equal(lost_by(1), before + NODES - 1);
    assert_int_equal(lost_by(3), others);
    end_well(15);
}

static void a_slow_reader_receives_nothing_until_it_reads(void **state)
{
    (void)state;
    const struct fault slow = fault(FAULT_SLOW_READER, 10, 15, 2);
    begin_faults(&slow, 1, 1);
    run_to(10.1);
    const uint64_t heard = world.nodes[2].applied, steps = world.nodes[2].steps;
    run_to(14.9);
    /* node 2's learner had some rumors left to apply */
    assert_true(world.nodes[2].applied <= heard + 2);
    assert_true(world.nodes[2].steps > steps + 80); /* node 2's learner continues */
    run_to(16);
    assert_true(world.nodes[2].applied > heard + 10);
    end_well(16);
}

static void fragments_have_no_effect(void **state)
{
    (void)state;
    const struct fault fragment = fault(FAULT_FRAGMENT, 2, 20, 2);
    begin_faults(&fragment, 1, 1);
    run_to(10);
    const uint32_t lost = lost_by(2);
    assert_true(world.wire.parties[2].fragment_ns > world_now_ns(&world));
    run_to(20);
    assert_int_equal(lost_by(2), lost);
    assert_true(rumors_of(2) + 2 * NODES > rumors_of(0));
    end_well(20);
}

static void tampered_bytes_only_end_connections(void **state)
{
    (void)state;
    const struct fault tamper = fault(FAULT_TAMPER, 10, 15, 2);
    begin_listening(&tamper, 1, 1);
    run_to(15);
    assert_true(said[NOT_AUTHENTIC] > 2);
    end_well(15);
}

static void instant_tampering_lasts_five_seconds(void **state)
{
    (void)state;
    const struct fault tamper = fault(FAULT_TAMPER, 10, 10, 2);
    begin_listening(&tamper, 1, 1);
    run_to(15);
    assert_true(said[NOT_AUTHENTIC] > 0);
    end_well(15);
}

static void a_stranger_is_refused_without_effect(void **state)
{
    (void)state;
    const struct fault stranger = fault(FAULT_WRONG_KEY, 10, 10, 1);
    begin_listening(&stranger, 1, 1);
    run_to(9);
    const uint32_t lost = lost_by(1);
    run_to(14.9);
    assert_true(said[WRONG_KEY] > 0);
    assert_true(world.nodes[1].notes[NOTE_REFUSED] > 0);
    assert_int_equal(lost_by(1), lost);
    assert_int_equal(neighbours(1), NODES - 1);
    run_to(16);
    assert_null(world.outsiders[0].self);
    end_well(16);
}

/* Returns how many rumors node i knows that no node has published. */
static uint32_t rumors_of_outsiders(uint32_t i)
{
    uint32_t rumors = 0;
    for (uint32_t k = 0; k < node_origins(world.nodes[i].node); k++) {
        struct node_origin origin;
        bool is_nodes = false;
        node_origin(world.nodes[i].node, k, &origin);
        for (uint32_t j = 0; j < world.nodes_count; j++)
            is_nodes |= memcmp(origin.id, world.nodes[j].identity.id, ID_BYTES) == 0;
        rumors += is_nodes ? 0 : origin.next;
    }
    return rumors;
}

/* Only the attackers' valid rumors at the limits move the base. */
static void every_attack_is_refused_and_only_valid_rumors_are_accepted(void **state)
{
    (void)state;
    uint32_t together[TEXTS] = {0}, rumors = 0;
    int heard = 0;
    for (uint64_t seed = 1; seed <= 60 && heard < TEXTS; seed++) {
        struct fault hostile[2] = {fault(FAULT_HOSTILE, 4, 40, 1), fault(FAULT_HOSTILE, 4, 40, 2)};
        hostile[0].seed = seed;
        begin_listening(hostile, 2, seed);
        run_to(40);
        rumors += rumors_of_outsiders(0);
        end_well(40); /* checks that the base is the sum of the published rumors */
        heard = 0;
        for (int k = 0; k < TEXTS; k++)
            heard += (together[k] += said[k]) > 0;
    }
    for (int k = 0; k < TEXTS; k++)
        if (together[k] == 0)
            fail_msg("nobody said: %s", texts[k]);
    assert_true(rumors > 0);
}

static void a_mute_neighbour_keeps_no_rumor_from_the_others(void **state)
{
    (void)state;
    const struct fault mute = fault(FAULT_MUTE, 10, 40, 1);
    begin_faults(&mute, 1, 1);
    for (double t = 12; t < 40; t += 1) {
        run_to(t);
        assert_int_equal(neighbours(1), NODES); /* the mute node counts as a neighbour */
    }
    assert_true(rumors_of(1) + 2 * NODES > rumors_of(0));
    assert_true(wants_of(1) > wants_of(0) + 10); /* no request to the mute node was answered */
    run_to(41);
    assert_int_equal(neighbours(1), NODES - 1);
    end_well(41);
}

static void an_attacker_without_a_free_slot_does_not_enter(void **state)
{
    (void)state;
    struct fault crowd[OUTSIDERS_MAX + 2];
    for (uint32_t i = 0; i < OUTSIDERS_MAX + 2; i++)
        crowd[i] = fault(FAULT_MUTE, 5, 20, i % NODES);
    begin_faults(crowd, OUTSIDERS_MAX + 2, 1);
    run_to(10);
    uint32_t entered = 0;
    for (uint32_t i = 0; i < world.outsiders_max; i++)
        entered += world.outsiders[i].self != NULL;
    assert_int_equal(entered, OUTSIDERS_MAX);
    end_well(21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partition_lets_nothing_pass_until_it_heals),
        cmocka_unit_test(a_partition_can_have_one_direction),
        cmocka_unit_test(a_partition_can_come_and_go),
        cmocka_unit_test(a_partition_without_a_second_side_isolates_the_first),
        cmocka_unit_test(a_clogged_node_receives_next_to_nothing),
        cmocka_unit_test(a_clog_that_ends_early_is_gone),
        cmocka_unit_test(a_reset_breaks_the_connections_between_two),
        cmocka_unit_test(only_one_end_knows_of_a_half_open_connection),
        cmocka_unit_test(a_slow_reader_receives_nothing_until_it_reads),
        cmocka_unit_test(fragments_have_no_effect),
        cmocka_unit_test(tampered_bytes_only_end_connections),
        cmocka_unit_test(instant_tampering_lasts_five_seconds),
        cmocka_unit_test(a_stranger_is_refused_without_effect),
        cmocka_unit_test(every_attack_is_refused_and_only_valid_rumors_are_accepted),
        cmocka_unit_test(a_mute_neighbour_keeps_no_rumor_from_the_others),
        cmocka_unit_test(an_attacker_without_a_free_slot_does_not_enter),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
