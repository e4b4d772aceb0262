/* Shares: how much each member's progress counts, and which claimed samples are credited. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "node/membership/shares.h"

#define MAX        16
#define SILENCE_NS ((uint64_t)1000000000000)

static const uint8_t context[CONTEXT_BYTES] = {1, 2, 3};
static struct arena arena;
static struct members members;

static struct identity identity_of(uint8_t number)
{
    const uint8_t seed[SEED_BYTES] = {number};
    struct identity identity;
    identity_from_seed(&identity, seed);
    return identity;
}

/* Receives this record of member `number` at now_ns. */
static void meet_record(uint8_t number, struct record record, uint64_t now_ns)
{
    const struct identity identity = identity_of(number);
    record.incarnation = 1;
    record.stamp = now_ns;
    memcpy(record.id, identity.id, ID_BYTES);
    uint8_t bytes[RECORD_BYTES];
    struct member *changed;
    record_create(&record, &identity, context, bytes);
    assert_int_equal(members_learn(&members, bytes, context, now_ns, &changed), OK);
}

static void meet_as(uint8_t number, float samples_per_second, bool trains, uint64_t now_ns)
{
    const struct record record = {.samples_per_second = samples_per_second, .trains = trains};
    meet_record(number, record, now_ns);
}

static void meet(uint8_t number, float samples_per_second, uint64_t now_ns)
{
    meet_as(number, samples_per_second, true, now_ns);
}

static void be(float samples_per_second)
{
    const struct identity own = identity_of(1);
    struct record record = {
        .incarnation = 1, .stamp = 1, .samples_per_second = samples_per_second, .trains = true};
    memcpy(record.id, own.id, ID_BYTES);
    members_update_own(&members, &record, &own, context, 0);
}

static void move(uint8_t number, double moved, uint64_t now_ns)
{
    const struct rumor_facts facts = {.moved = moved, .by_throughput = true, .now_ns = now_ns};
    shares_on_rumor(&members, identity_of(number).id, 1, &facts);
}

/* Receives a rumor in which member `number` claims `samples` samples. */
static void publish(uint8_t number, double moved, uint64_t samples, uint64_t now_ns)
{
    const struct rumor_facts facts = {
        .moved = moved, .samples = samples, .by_throughput = true, .now_ns = now_ns};
    shares_on_rumor(&members, identity_of(number).id, 1, &facts);
}

static double borne_out(uint8_t number)
{
    return members_find(&members, identity_of(number).id)->borne_out;
}

/* Lets all members publish once a second. The first second only establishes the median. */
static void publish_for(uint32_t seconds, const double *moved, const uint64_t *samples)
{
    for (uint32_t second = 0; second <= seconds; second++) {
        for (uint8_t i = 1; i <= 4; i++)
            publish(i, moved[i - 1], samples[i - 1], (second + 1) * SECOND_NS);
        if (second == 0)
            for (uint8_t i = 0; i < members.count; i++)
                members.members[i].borne_out = 0;
        shares_review(&members, true, (second + 1) * SECOND_NS);
    }
}

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    members_init(&members, &arena, MAX, SILENCE_NS);
    be(100);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void alone_a_node_has_the_whole_share(void **state)
{
    (void)state;
    assert_true(shares_own(&members, true, 0) == 1);
    be(0);
    assert_true(shares_own(&members, true, 0) == 1);
}

static void the_share_is_the_part_of_the_throughput(void **state)
{
    (void)state;
    meet(2, 300, 1);
    meet(3, 600, 1);
    assert_true(near(shares_own(&members, true, 1), 0.1));
    assert_true(near(shares_own(&members, false, 1), 1.0 / 3));
}

static void the_dead_and_those_who_only_pass_on_have_no_share(void **state)
{
    (void)state;
    meet(2, 100, 1);
    meet(3, 100, SILENCE_NS);
    meet_as(4, 100, false, SILENCE_NS);
    assert_true(near(shares_own(&members, true, SILENCE_NS + 10), 0.5));
}

static void nobody_counts_more_than_so_many_times_what_is_usual(void **state)
{
    (void)state;
    meet(2, 100, 1);
    meet(3, 10000, 1);
    members.weight_max = 4;
    assert_true(near(shares_own(&members, true, 1), 1.0 / 6));
    assert_true(near(shares_learners(&members, true, 1), 36.0 / 18));
    assert_true(near(shares_own(&members, false, 1), 1.0 / 3));
    members.weight_max = 0;
    assert_true(near(shares_own(&members, true, 1), 1.0 / 102));
}

/* Each node limits its own share as other nodes limit it. */
static void nor_does_this_node(void **state)
{
    (void)state;
    be(10000);
    meet(2, 100, 1);
    meet(3, 100, 1);
    members.weight_max = 4;
    assert_true(near(shares_own(&members, true, 1), 4.0 / 6));
    assert_true(near(shares_learners(&members, true, 1), 36.0 / 18));
}

static void an_unknown_speed_counts_like_ours(void **state)
{
    (void)state;
    meet(2, 0, 1);
    assert_true(near(shares_own(&members, true, 1), 0.5));
    be(0);
    meet(3, 500, 1);
    assert_true(near(shares_own(&members, true, 1), 1.0 / 3));
}

static void as_many_learn_as_leave_as_much_noise(void **state)
{
    (void)state;
    assert_true(shares_learners(&members, true, 0) == 1);
    meet(2, 100, 1);
    meet(3, 100, 1);
    assert_true(near(shares_learners(&members, true, 1), 3));
    meet(4, 700, 1);
    assert_true(near(shares_learners(&members, true, 1), 1000.0 * 1000 / (3 * 10000 + 490000)));
    assert_true(near(shares_learners(&members, false, 1), 4));
    be(0);
    assert_true(near(shares_learners(&members, true, 1), 4));
}

/* Each member has moved the base at least in proportion to its claimed share. */
static void a_supported_claim_counts_in_full(void **state)
{
    (void)state;
    meet(2, 100, 1);
    meet(3, 10000, 1); /* claims a hundred times as much as the other members */
    move(1, 1000, 2);
    move(2, 1000, 2);
    move(3, 1000 * 100 * 10.0, 2);
    assert_true(near(shares_own(&members, true, 2), 1.0 / 102));
    assert_null(shares_doubtful(&members, true, 2));
    members.weight_max = 4; /* a lower weight_max is no reason to doubt the claim */
    assert_null(shares_doubtful(&members, true, 2));
}

static void a_claim_counts_as_far_as_rumors_bear_it_out(void **state)
{
    (void)state;
    meet(2, 100, 1);
    meet(3, 1e30f, 1);
    move(1, 1000, 2);
    move(2, 1000, 2);
    move(3, 100, 2); /* a tenth of each other member's movement, so it is credited 1.6 shares */
    assert_true(near(shares_own(&members, true, 2), 1 / 3.6));
    assert_ptr_equal(shares_doubtful(&members, true, 2), &members.members[2]);
    assert_true(near(shares_learners(&members, true, 2), 3.6 * 3.6 / (2 + 1.6 * 1.6)));
}

/* Credit is relative to the median member, which two liars of five cannot be. */
static void two_liars_do_not_vouch_for_each_other(void **state)
{
    (void)state;
    for (uint8_t i = 2; i <= 5; i++)
        meet(i, i > 3 ? 1e30f : 100, 1);
    for (uint8_t i = 1; i <= 5; i++)
        move(i, i > 3 ? 1 : 1000, 2);
    assert_true(shares_own(&members, true, 2) > 0.32);
}

static void an_unpublished_claim_counts_as_the_mean_and_then_as_zero(void **state)
{
    (void)state;
    meet(2, 1e30f, SECOND_NS);
    move(1, 1000, SECOND_NS);
    assert_true(near(shares_own(&members, true, SECOND_NS), 0.5));
    assert_true(near(shares_own(&members, true, 61 * SECOND_NS), 0.5));
    assert_true(near(shares_own(&members, true, 62 * SECOND_NS), 1));
    move(2, 1000, 63 * SECOND_NS);
    assert_true(shares_own(&members, true, 63 * SECOND_NS) < 0.1);
}

static void movement_decays_with_its_half_life(void **state)
{
    (void)state;
    meet(2, 1e30f, 1);
    move(1, 1000, 1);
    move(2, 1000, 1);
    assert_true(near(shares_own(&members, true, 1), 1.0 / 17));
    /* ten minutes later this equals the rest of the earlier movement */
    move(1, 500, 1 + 600 * SECOND_NS);
    assert_true(near(shares_own(&members, true, 1 + 600 * SECOND_NS), 1.0 / 9));
}

/* After two weeks nothing is left of member 2's movement, so its claim gets no credit. */
static void a_single_publication_loses_its_credit(void **state)
{
    (void)state;
    meet(2, 1e30f, SECOND_NS);
    move(2, 1000, SECOND_NS);
    const uint64_t later = 1209600 * SECOND_NS;
    meet(2, 1e30f, later);
    move(1, 1000, later);
    assert_true(near(shares_own(&members, true, later), 1));
}

static void a_member_that_trains_again_gets_no_grace_time(void **state)
{
    (void)state;
    move(1, 1000, SECOND_NS);
    meet(2, 100, SECOND_NS);
    meet_as(2, 100, false, 50 * SECOND_NS);
    meet(2, 100, 70 * SECOND_NS);
    assert_true(near(shares_own(&members, true, 70 * SECOND_NS), 1));
}

static void meet_three(void)
{
    for (uint8_t i = 2; i <= 4; i++)
        meet(i, 100, SECOND_NS);
}

static void movement_in_proportion_to_samples_supports_a_claim(void **state)
{
    (void)state;
    meet_three();
    publish_for(60, (double[]){10, 10, 10, 100000}, (uint64_t[]){100, 100, 100, 10000});
    assert_true(near(borne_out(2), 6000));
    assert_true(near(borne_out(4), 600000));
}

static void claims_that_nothing_bears_out_are_not_believed(void **state)
{
    (void)state;
    meet_three();
    publish_for(60, (double[]){10, 10, 10, 10}, (uint64_t[]){100, 100, 100, 1000000});
    assert_true(borne_out(4) < 6000);
}

/* With its huge claim, member 4 publishes with almost the whole share. The movement of other
 * members is small only because of that. This must not support the claim. */
static void a_share_gained_by_claims_does_not_support_them(void **state)
{
    (void)state;
    meet_three();
    publish_for(60, (double[]){1e-3, 1e-3, 1e-3, 10}, (uint64_t[]){100, 100, 100, 1000000});
    assert_true(borne_out(4) < 4 * 6000 * 1.1);
}

static void half_of_the_usual_movement_supports_a_claim(void **state)
{
    (void)state;
    meet_three();
    publish_for(60, (double[]){10, 10, 10, 5}, (uint64_t[]){100, 100, 100, 100});
    assert_true(near(borne_out(4), 6000));
}

/* Two of four members have stopped and claim almost nothing for their earlier movement. The median
 * ratio must not change. Otherwise each active member would consider itself the only one. */
static void stopped_members_take_no_share_from_the_others(void **state)
{
    (void)state;
    be(100);
    meet_three();
    publish_for(60, (double[]){10, 10, 10, 10}, (uint64_t[]){100, 100, 100, 100});
    const uint64_t later = 70 * SECOND_NS;
    assert_true(near(shares_own(&members, true, later), 0.25));
    meet(3, 1e-6f, later);
    meet(4, 1e-6f, later);
    assert_true(near(shares_own(&members, true, later + SECOND_NS), 0.5));
    /* Members 1 and 2 continue for three hours. */
    for (uint32_t minute = 1; minute <= 180; minute++) {
        const uint64_t now_ns = later + minute * 60 * SECOND_NS;
        meet(2, 100, now_ns);
        meet(3, 1e-6f, now_ns);
        meet(4, 1e-6f, now_ns);
        publish(1, 600, 6000, now_ns);
        publish(2, 600, 6000, now_ns);
        shares_review(&members, true, now_ns);
        assert_true(near(shares_own(&members, true, now_ns + SECOND_NS), 0.5));
    }
    assert_true(near(borne_out(2), 6000 + 180 * 6000));
}

static void statistics_have_equal_shares_at_first(void **state)
{
    (void)state;
    be(100);
    assert_true(shares_equal(&members, 0, UINT64_MAX, 0) == 1);
    meet(2, 10000, 1);
    assert_true(near(shares_equal(&members, 0, UINT64_MAX, 1), 1.0 / 2));
    /* A new member may be about to train. If it does not in a minute, it only relays. */
    meet_as(3, 0, false, 1);
    assert_true(near(shares_equal(&members, 0, UINT64_MAX, SECOND_NS), 1.0 / 3));
    meet(2, 10000, 61 * SECOND_NS);
    meet_as(3, 0, false, 61 * SECOND_NS);
    assert_true(near(shares_equal(&members, 0, UINT64_MAX, 61 * SECOND_NS), 1.0 / 2));
}

static void a_newcomer_is_awaited_until_its_first_step(void **state)
{
    const struct record joins = {.trains = false}, ready = {.trains = true},
                        learns = {.trains = true, .samples = 1, .swarm_samples = 1};
    (void)state;
    assert_false(shares_await_newcomer(&members, 0));
    meet_record(2, joins, 1);
    assert_true(shares_await_newcomer(&members, SECOND_NS));
    assert_false(shares_await_newcomer(&members, 61 * SECOND_NS));
    /* A state transfer of more than a minute: training begins now. */
    meet_record(2, ready, 100 * SECOND_NS);
    assert_true(shares_await_newcomer(&members, 159 * SECOND_NS));
    assert_false(shares_await_newcomer(&members, 161 * SECOND_NS));
    meet_record(2, learns, 102 * SECOND_NS);
    assert_false(shares_await_newcomer(&members, 102 * SECOND_NS));
}

static void members_that_will_make_no_step_are_not_awaited(void **state)
{
    const struct record relays = {.swarm_samples = 1000}, leaves = {.stage = STAGE_LEAVING},
                        has_left = {.trains = true, .stage = STAGE_LEFT};
    (void)state;
    meet_record(2, relays, 1);
    meet_record(3, leaves, 1);
    meet_record(4, has_left, 1);
    assert_false(shares_await_newcomer(&members, 1));
    assert_true(shares_equal(&members, 0, UINT64_MAX, 1) == 1);
    members.silence_ns = SECOND_NS; /* a newcomer that has died */
    meet_record(5, (struct record){.renew_ms = 100}, 1);
    assert_true(shares_await_newcomer(&members, 1));
    assert_false(shares_await_newcomer(&members, 10 * SECOND_NS));
}

/* Members that ended training before the time, by a record with or without a stage, do not count.
 */
static void members_whose_training_ended_since_a_time_count(void **state)
{
    const uint64_t ends = 61 * SECOND_NS, later = ends + SECOND_NS;
    const struct record leaves = {.trains = true, .samples = 1, .stage = STAGE_LEAVING};
    (void)state;
    be(100);
    meet_three();
    publish_for(60, (double[]){10, 10, 10, 10}, (uint64_t[]){100, 100, 100, 100});
    meet_as(3, 100, false, ends);
    meet_record(4, leaves, ends);
    meet(2, 100, ends);
    assert_true(near(shares_own(&members, true, ends), 1.0 / 2));
    assert_true(near(shares_with_finished(&members, true, ends - 1, UINT64_MAX, ends), 1.0 / 4));
    assert_true(near(shares_equal(&members, ends - 1, UINT64_MAX, ends), 1.0 / 4));
    assert_true(near(shares_with_finished(&members, true, ends, UINT64_MAX, later), 1.0 / 2));
    assert_true(near(shares_equal(&members, ends, UINT64_MAX, later), 1.0 / 2));
    /* Later records do not renew the end. */
    meet_as(3, 100, false, later);
    meet_record(4, leaves, later);
    assert_true(near(shares_equal(&members, ends, UINT64_MAX, later), 1.0 / 2));
}

static void the_shares_have_settled_once_most_members_are_known_for_a_while(void **state)
{
    (void)state;
    be(100);
    assert_true(shares_have_settled(&members, 10 * SECOND_NS, 0));
    meet(2, 100, SECOND_NS);
    assert_false(shares_have_settled(&members, 10 * SECOND_NS, 10 * SECOND_NS));
    assert_true(shares_have_settled(&members, 10 * SECOND_NS, 11 * SECOND_NS));
    for (uint8_t who = 3; who <= 7; who++)
        meet(who, 100, SECOND_NS);
    meet(8, 100, 20 * SECOND_NS); /* one in eight */
    assert_true(shares_have_settled(&members, 10 * SECOND_NS, 21 * SECOND_NS));
    meet(9, 100, 20 * SECOND_NS);
    assert_false(shares_have_settled(&members, 10 * SECOND_NS, 21 * SECOND_NS));
}

/* Members 2 to 4 have published for a minute; their last rumors are of the 60th second. */
static void a_quiet_member_takes_no_part(void **state)
{
    const uint64_t then = 60 * SECOND_NS, now = 64 * SECOND_NS;
    (void)state;
    be(100);
    meet_three();
    publish_for(60, (double[]){10, 10, 10, 10}, (uint64_t[]){100, 100, 100, 100});
    publish(2, 100, 1000, now);
    assert_true(near(shares_equal(&members, then, UINT64_MAX, now), 1.0 / 4));
    assert_true(near(shares_equal(&members, then, 2 * SECOND_NS, now), 1.0 / 2));
    assert_true(near(shares_with_finished(&members, true, then, UINT64_MAX, now), 1.0 / 4));
    assert_true(near(shares_with_finished(&members, true, then, 2 * SECOND_NS, now), 1.0 / 2));
    assert_true(near(shares_own(&members, true, now), 1.0 / 4));
}

static void a_member_that_ended_without_progress_does_not_count(void **state)
{
    (void)state;
    be(100);
    meet(2, 0, 1);
    meet_as(2, 0, false, 62 * SECOND_NS);
    assert_true(shares_equal(&members, SECOND_NS, UINT64_MAX, 62 * SECOND_NS) == 1);
}

int main(void)
{
    secret_start();
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(alone_a_node_has_the_whole_share),
        TEST(the_share_is_the_part_of_the_throughput),
        TEST(the_dead_and_those_who_only_pass_on_have_no_share),
        TEST(nobody_counts_more_than_so_many_times_what_is_usual),
        TEST(nor_does_this_node),
        TEST(an_unknown_speed_counts_like_ours),
        TEST(as_many_learn_as_leave_as_much_noise),
        TEST(a_supported_claim_counts_in_full),
        TEST(a_claim_counts_as_far_as_rumors_bear_it_out),
        TEST(two_liars_do_not_vouch_for_each_other),
        TEST(an_unpublished_claim_counts_as_the_mean_and_then_as_zero),
        TEST(movement_decays_with_its_half_life),
        TEST(a_single_publication_loses_its_credit),
        TEST(a_member_that_trains_again_gets_no_grace_time),
        TEST(movement_in_proportion_to_samples_supports_a_claim),
        TEST(claims_that_nothing_bears_out_are_not_believed),
        TEST(a_share_gained_by_claims_does_not_support_them),
        TEST(half_of_the_usual_movement_supports_a_claim),
        TEST(stopped_members_take_no_share_from_the_others),
        TEST(statistics_have_equal_shares_at_first),
        TEST(a_newcomer_is_awaited_until_its_first_step),
        TEST(members_that_will_make_no_step_are_not_awaited),
        TEST(the_shares_have_settled_once_most_members_are_known_for_a_while),
        TEST(a_quiet_member_takes_no_part),
        TEST(members_whose_training_ended_since_a_time_count),
        TEST(a_member_that_ended_without_progress_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
