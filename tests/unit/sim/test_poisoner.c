/* Poisoners: each kind publishes its lie in valid rumors, and the swarm keeps one version. Tested
 * with one learner, then in a swarm, then with data. */
#include <math.h>

#include "support/sim/strategy_play.h" /* first, because it defines another model size */

#include "support/sim/fault_story.h"
#include "support/sim/scenario_play.h"
#include "world/poisoner.h"

#define ENTRIES 400
#define CAUGHT  0.01 /* largest relative error; levels are discrete steps */

static struct sim_learner learner;
static float learned[ENTRIES]; /* residual before the last publication */
static double told[ENTRIES];   /* moves in the last publication */

static int learner_begins(void **state)
{
    (void)state;
    learner = (struct sim_learner){.parameters = ENTRIES};
    arena_init(&learner.arena, 1 << 20);
    learner.random_walk = random_walk_new(&learner.arena, backend, ENTRIES, 1, ENTRIES, false);
    return 0;
}

static int learner_ends(void **state)
{
    (void)state;
    sim_learner_free(&learner);
    return 0;
}

/* Moves all weights away from the base, the first one furthest. */
static void learn(float by)
{
    float weights[ENTRIES];
    int32_t units[ENTRIES];
    sim_learner_read_units(&learner, units);
    for (int c = 0; c < ENTRIES; c++) {
        learned[c] = by * (c % 2 ? -1 : 1) / (1 + (float)c / 40);
        weights[c] = QUANTUM * (float)units[c] + learned[c];
    }
    sim_learner_write_weights(&learner, weights);
}

/* Publishes at most `bytes` bytes with a share of 1. */
static void publish(struct poisoner *poisoner, uint32_t bytes)
{
    struct publish_terms terms = {
        .budget_bytes = bytes, .share = 1, .gain = 1, .beta = 0.3, .withheld = 0.5};
    poisoner_prepare(poisoner, &learner, &terms);
    assert_true(terms.beta == 0 && terms.withheld == 0);
    const struct update *update = random_walk_publish(learner.random_walk, &terms);
    memset(told, 0, sizeof told);
    for (uint32_t i = 0; i < update->count; i++)
        told[update->index[i]] = (double)update->tau * update->level[i];
    poisoner_finish(poisoner, &learner);
}

static double dot(const double *a, const float *b)
{
    double sum = 0;
    for (int c = 0; c < ENTRIES; c++)
        sum += a[c] * (double)b[c];
    return sum;
}

static double norm_of_learned(void)
{
    double sum = 0;
    for (int c = 0; c < ENTRIES; c++)
        sum += (double)learned[c] * (double)learned[c];
    return sqrt(sum);
}

static double norm_of_told(void)
{
    double sum = 0;
    for (int c = 0; c < ENTRIES; c++)
        sum += told[c] * told[c];
    return sqrt(sum);
}

/* Makes another node publish a move of entry `index`. */
static void told_by(struct poisoner *poisoner, uint64_t tag, uint32_t index, int8_t level)
{
    const struct update update = {
        .tau = 0.125f, .amount = 1, .count = 1, .index = &index, .level = &level};
    poisoner_note(poisoner, ENTRIES, &update, tag);
}

/* Levels are discrete, so a part remains for the next publication. */
static void assert_told_is(double times_learned)
{
    const double part = dot(told, learned) / (norm_of_learned() * norm_of_learned());
    assert_near(part, 0.9 * times_learned, 0.1 * fabs(times_learned));
    assert_true(fabs(dot(told, learned)) > 0.95 * norm_of_told() * norm_of_learned());
}

static void sign_flip_and_scale_multiply_the_learned_update(void **state)
{
    (void)state;
    struct poisoner *flips = poisoner_new(POISON_SIGN, 2, 1, 1);
    learn(0.1f);
    publish(flips, 20000);
    assert_told_is(-2);
    learn(0.1f);
    publish(flips, 20000);
    assert_told_is(-2);
    poisoner_free(flips);
    struct poisoner *scales = poisoner_new(POISON_SCALE, 3, 1, 1);
    learn(0.1f);
    publish(scales, 20000);
    assert_told_is(3);
    poisoner_free(scales);
}

static void noise_has_the_given_length_and_no_learned_part(void **state)
{
    (void)state;
    struct poisoner *noisy = poisoner_new(POISON_NOISE, 2, 1, 1);
    learn(0.1f);
    publish(noisy, 20000);
    assert_true(norm_of_told() > 1.5 * norm_of_learned());
    assert_true(norm_of_told() < 2.2 * norm_of_learned());
    assert_true(fabs(dot(told, learned)) < 0.3 * norm_of_told() * norm_of_learned());
    poisoner_free(noisy);
}

static void a_little_is_the_mean_minus_standard_deviations(void **state)
{
    (void)state;
    struct poisoner *little = poisoner_new(POISON_LITTLE, 3, 1, 1);
    learn(0.1f);
    told_by(little, 1, 5, 1); /* from two origins: mean 1/16, deviation 1/16 */
    told_by(little, 2, 7, 2); /* mean 1/8, deviation 1/8 */
    publish(little, 20000);
    assert_near(told[5], 0.0625 - 3 * 0.0625, CAUGHT);
    assert_near(told[7], 0.125 - 3 * 0.125, CAUGHT);
    assert_true(told[0] == 0 && told[6] == 0);
    told_by(little, 3, 9, 1); /* from one origin */
    publish(little, 20000);
    assert_near(told[9], 0.125, CAUGHT);
    poisoner_free(little);
}

static void a_mean_shift_opposes_the_others(void **state)
{
    (void)state;
    struct poisoner *shifts = poisoner_new(POISON_MEAN, 1, 1, 1);
    learn(0.1f);
    told_by(shifts, 1, 5, 1);
    told_by(shifts, 2, 5, 2);
    publish(shifts, 20000);
    assert_near(told[5], -norm_of_learned(), 0.05 * norm_of_learned());
    assert_near(norm_of_told(), norm_of_learned(), 0.05 * norm_of_learned());
    learn(0.1f);
    publish(shifts, 20000); /* earlier updates of other nodes no longer count */
    assert_true(norm_of_told() < 0.05 * norm_of_learned());
    poisoner_free(shifts);
}

static void a_free_rider_repeats_another_node(void **state)
{
    (void)state;
    struct poisoner *rides = poisoner_new(POISON_RIDE, 0, 1, 1);
    learn(0.1f);
    told_by(rides, 1, 5, 1);
    told_by(rides, 2, 7, 2);
    told_by(rides, 1, 6, -2);
    publish(rides, 20000);
    assert_near(told[5], 0.125, CAUGHT);
    assert_near(told[6], -0.25, CAUGHT);
    assert_true(told[0] == 0 && told[7] == 0);
    poisoner_free(rides);
}

/* Sets `direction` to the published update minus the learned one. */
static void push(enum poison kind, uint64_t seed, uint64_t common, double direction[ENTRIES])
{
    struct poisoner *pushes = poisoner_new(kind, 10, seed, common);
    learner_begins(NULL);
    learn(0.01f);
    publish(pushes, 20000);
    for (int c = 0; c < ENTRIES; c++)
        direction[c] = told[c] - (double)learned[c];
    poisoner_free(pushes);
    learner_ends(NULL);
}

static double cosine(const double *a, const double *b)
{
    double ab = 0, aa = 0, bb = 0;
    for (int c = 0; c < ENTRIES; c++) {
        ab += a[c] * b[c];
        aa += a[c] * a[c];
        bb += b[c] * b[c];
    }
    return ab / sqrt(aa * bb);
}

static void colluders_share_a_direction_and_drifters_do_not(void **state)
{
    (void)state;
    double one[ENTRIES], other[ENTRIES];
    push(POISON_COLLUSION, 1, 7, one);
    push(POISON_COLLUSION, 2, 7, other);
    assert_true(cosine(one, other) > 0.9);
    push(POISON_COLLUSION, 2, 8, other);
    assert_true(fabs(cosine(one, other)) < 0.3);
    push(POISON_DRIFT, 1, 7, one);
    push(POISON_DRIFT, 2, 7, other);
    assert_true(fabs(cosine(one, other)) < 0.3);
}

static void the_rest_is_published_next_time(void **state)
{
    (void)state;
    struct poisoner *flips = poisoner_new(POISON_SIGN, 1, 1, 1);
    learn(0.1f);
    publish(flips, 250);
    assert_true(told[0] < 0 && told[ENTRIES - 1] == 0);
    const float missed = learned[ENTRIES - 1];
    for (int k = 0; k < 3; k++) {
        learn(0);
        publish(flips, 20000);
    }
    double most = 0;
    for (int c = 0; c < ENTRIES; c++)
        most = fmax(most, fabs(told[c]));
    assert_true(most < fabs((double)missed)); /* the remaining moves were published */
    float weights[ENTRIES], units[ENTRIES];
    int32_t base[ENTRIES];
    sim_learner_read_weights(&learner, weights);
    sim_learner_read_units(&learner, base);
    for (int c = 0; c < ENTRIES; c++)
        units[c] = QUANTUM * (float)base[c];
    assert_memory_equal(weights, units, sizeof units); /* the poisoner trains from the base */
    assert_true(units[ENTRIES - 1] * missed < 0);
    poisoner_free(flips);
}

static void every_kind_leaves_the_swarm_one_version(void **state)
{
    (void)state;
    for (uint32_t kind = POISON_LABELS + 1; kind < POISONS; kind++) {
        struct fault poison = fault(FAULT_POISON, 3, 20, 1);
        poison.poison = (enum poison)kind;
        poison.value = poison_value(poison.poison);
        begin_faults(&poison, 1, kind);
        run_to(10);
        assert_true((world.nodes[1].poisoner != NULL) != (kind == POISON_CLAIMS));
        assert_true((world.nodes[1].claims > 0) == (kind == POISON_CLAIMS));
        run_to(21);
        assert_null(world.nodes[1].poisoner);
        assert_true(world.nodes[1].claims == 0);
        end_well(22);
    }
}

static void exaggerated_claims_take_share_from_others(void **state)
{
    (void)state;
    struct fault poison = fault(FAULT_POISON, 0, 30, 1);
    poison.poison = POISON_CLAIMS;
    poison.value = 2;
    begin_faults(&poison, 1, 1);
    run_to(29);
    assert_near(stats_of(0).share, 1.0 / 6, 0.02); /* five nodes, one of which counts double */
    assert_near(stats_of(1).share, 2.0 / 6, 0.04);
    end_well(30);
}

static void the_outcome_lists_warnings(void **state)
{
    (void)state;
    struct outcome outcome;
    play_out(&outcome, "fault = poison west/2, with claims 1000000\n");
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(outcome.nodes[i].warnings, i == 1 ? 1u << NOTE_DOUBT : 0);
    outcome_free(&outcome);
}

/* Label k is replaced by classes - 1 - k, so the trained model is almost always wrong. */
static void flipped_labels_are_learned(void **state)
{
    (void)state;
    const char *honest = "[scenario]\nseconds = 10\nnodes = 1 a, 640 samples/s\n"
                         "[model]\nlayers = dense 10\n[data]\nsource = generated\n"
                         "train_count = 1000\ntest_count = 200\n[train]\nbatch = 32\nrate = 0.05\n";
    char flipped[1024];
    (void)snprintf(flipped, sizeof flipped, "%s%s", honest,
                   "[scenario]\nfault = poison a, with flipped labels\n");
    struct played played = play_text(honest, "gossip", NULL, 0);
    assert_true(played.outcome.accuracy > 0.4);
    play_end(&played);
    played = play_text(flipped, "gossip", NULL, 0);
    assert_true(played.outcome.accuracy < 0.1);
    play_end(&played);
}

#define ALONE(name) cmocka_unit_test_setup_teardown(name, learner_begins, learner_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(sign_flip_and_scale_multiply_the_learned_update),
        ALONE(noise_has_the_given_length_and_no_learned_part),
        ALONE(a_little_is_the_mean_minus_standard_deviations),
        ALONE(a_mean_shift_opposes_the_others),
        ALONE(a_free_rider_repeats_another_node),
        cmocka_unit_test(colluders_share_a_direction_and_drifters_do_not),
        ALONE(the_rest_is_published_next_time),
        cmocka_unit_test(every_kind_leaves_the_swarm_one_version),
        cmocka_unit_test(exaggerated_claims_take_share_from_others),
        cmocka_unit_test(the_outcome_lists_warnings),
        cmocka_unit_test(flipped_labels_are_learned),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
