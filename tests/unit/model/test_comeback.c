/* Catching up by blocks, and restoring a saved state, step by step, for replicas, learners and
 * random walks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "exchange/replica.h"
#include "support/model/each_device.h"
#include "training/learner.h"
#include "training/random_walk_learner.h"

#define P     700
#define BLOCK 128

static struct arena arena;
static float init[P], w[P], w_other[P];
static int32_t base[P], base_other[P];

static const struct publish_terms TERMS = {
    .budget_bytes = 100000, .share = 0.25, .gain = 1, .beta = 0.3};
static const struct publish_terms STILL = {
    .budget_bytes = 100000, .share = 0.25, .gain = 1, .beta = 0};

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    struct rng rng = rng_new(1, 1);
    for (int c = 0; c < P; c++)
        init[c] = (float)(0.2 * rng_uniform(&rng) - 0.1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct replica replica_new(void)
{
    struct replica replica;
    replica_init(&replica, &arena, backend, P, init, P);
    return replica;
}

static struct learner_state state_new(size_t parameters, uint32_t moments)
{
    struct learner_state state;
    const size_t bytes = learner_state_bytes(parameters, moments);
    unsigned char *memory = arena_alloc(&arena, bytes, 1);
    memset(memory, 0x5A, bytes);
    learner_state_init(&state, memory, parameters, moments);
    return state;
}

/* Stands for training: moves every weight a little, and some weights more. */
static void learn_something(struct replica *replica, struct rng *rng)
{
    replica_read_weights(replica, w);
    for (int c = 0; c < P; c++) {
        const double x = 2 * rng_uniform(rng) - 1;
        w[c] += (float)(0.01 * x * x * x);
    }
    replica_write_weights(replica, w);
}

static void look_at_both(const struct replica *one, const struct replica *other)
{
    replica_read_weights(one, w);
    replica_read_weights(other, w_other);
    replica_read_units(one, base);
    replica_read_units(other, base_other);
}

static double residual(float weight, int32_t units)
{
    return (double)weight - (double)QUANTUM * units;
}

static void a_restart_does_not_publish_twice(void **state)
{
    (void)state;
    struct replica first = replica_new(), second = replica_new();
    struct learner_state saved = state_new(P, 0);
    struct rng rng = rng_new(4, 4);
    learn_something(&first, &rng);
    replica_save(&first, &saved);
    const struct update *update = replica_publish(&first, &TERMS);
    assert_true(update->count > P / 2);
    replica_restore(&second, &saved);
    replica_apply_own(&second, update, (float)TERMS.beta);
    look_at_both(&first, &second);
    assert_memory_equal(base, base_other, sizeof base);
    assert_memory_equal(w, w_other, sizeof w);
    replica_free(&first);
    replica_free(&second);
}

static void publications_after_the_save_stay_in_the_base(void **state)
{
    (void)state;
    static float before[P];
    struct replica first = replica_new(), second = replica_new();
    struct learner_state saved = state_new(P, 0);
    struct rng rng = rng_new(5, 5);
    learn_something(&first, &rng);
    replica_save(&first, &saved);
    learn_something(&first, &rng);
    learn_something(&first, &rng);
    const struct update *update = replica_publish(&first, &STILL);
    replica_restore(&second, &saved);
    replica_read_weights(&second, before);
    replica_read_units(&second, base);
    double residual_before[P];
    for (int c = 0; c < P; c++)
        residual_before[c] = residual(before[c], base[c]);
    replica_apply_own(&second, update, 0);
    look_at_both(&first, &second);
    assert_memory_equal(base, base_other, sizeof base);
    int eaten = 0;
    for (int c = 0; c < P; c++) { /* at most the residual is subtracted */
        const double left = residual(w_other[c], base_other[c]);
        assert_true(fabs(left) <= fabs(residual_before[c]) + 1e-7);
        assert_true(left * residual_before[c] > -1e-9);
        eaten += fabs(left) < 1e-7;
    }
    assert_true(eaten > P / 10);
    replica_free(&first);
    replica_free(&second);
}

static void copy_blocks(const struct replica *from, struct replica *to, bool keep_weights)
{
    int32_t block[BLOCK];
    for (size_t first = 0; first < P; first += BLOCK) {
        const size_t count = P - first < BLOCK ? P - first : BLOCK;
        replica_read_block(from, first, count, block);
        replica_write_block(to, first, count, block, keep_weights);
    }
}

static struct replica replica_far_away(struct rng *rng)
{
    struct replica replica = replica_new();
    for (int i = 0; i < 3; i++) {
        learn_something(&replica, rng);
        (void)replica_publish(&replica, &TERMS);
    }
    return replica;
}

static void an_empty_joiner_takes_blocks_and_has_no_residual(void **state)
{
    (void)state;
    struct rng rng = rng_new(6, 6);
    struct replica donor = replica_far_away(&rng), joiner = replica_new();
    assert_int_not_equal(replica_digest(&donor), replica_digest(&joiner));
    copy_blocks(&donor, &joiner, false);
    assert_int_equal(replica_digest(&donor), replica_digest(&joiner));
    look_at_both(&donor, &joiner);
    for (int c = 0; c < P; c++)
        assert_true(w_other[c] == QUANTUM * (float)base[c]);
    assert_int_equal(replica_publish(&joiner, &TERMS)->count, 0);
    replica_free(&donor);
    replica_free(&joiner);
}

static void a_lagging_node_keeps_its_residual(void **state)
{
    (void)state;
    static float before[P];
    struct rng rng = rng_new(7, 7);
    struct replica donor = replica_far_away(&rng), late = replica_new();
    learn_something(&late, &rng);
    replica_read_weights(&late, before);
    replica_read_units(&late, base);
    double want[P];
    for (int c = 0; c < P; c++)
        want[c] = residual(before[c], base[c]);
    copy_blocks(&donor, &late, false);
    look_at_both(&donor, &late);
    for (int c = 0; c < P; c++)
        assert_true(fabs(residual(w_other[c], base_other[c]) - want[c]) < 5e-8);
    replica_free(&donor);
    replica_free(&late);
}

static void kept_weights_publish_the_progress_made_alone(void **state)
{
    (void)state;
    static float before[P];
    struct rng rng = rng_new(8, 8);
    struct replica donor = replica_far_away(&rng), alone = replica_far_away(&rng);
    replica_read_weights(&alone, before);
    copy_blocks(&donor, &alone, true);
    look_at_both(&donor, &alone);
    assert_memory_equal(w_other, before, sizeof before);
    assert_memory_equal(base_other, base, sizeof base);
    double published[P] = {0};
    const struct publish_terms terms = {.budget_bytes = 600, .share = 0.25, .gain = 1};
    const struct update *update = replica_publish(&alone, &terms);
    assert_true(update->count > 20);
    for (uint32_t i = 0; i < update->count; i++)
        published[update->index[i]] = (double)update->tau * update->level[i];
    for (int c = 0; c < P; c++) /* equal up to the threshold tau */
        assert_true(fabs(published[c] - residual(before[c], base[c])) <=
                    (double)update->tau * 1.001);
    replica_free(&donor);
    replica_free(&alone);
}

struct trained {
    struct model *model;
    struct learner *learner;
};

static struct trained trained_with(uint64_t node, enum optimizer_kind kind)
{
    struct trained trained;
    struct dataset train;
    struct problem problem;
    const struct dataset_options source = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 150, .test_count = 10, .shards = 1};
    assert_int_equal(dataset_load_train(&train, &source, &problem), OK);
    assert_int_equal(model_new(&trained.model, &arena, backend, "dense 12, relu, dense 10",
                               train.shape, train.classes, 16, &problem),
                     OK);
    const struct learner_options options = {
        .optimizer = {.kind = kind,
                      .sgd = {.rate = 0.02f, .momentum = 0.9f, .weight_decay = 1e-4f},
                      .beta2 = 0.99f,
                      .schedule = COSINE,
                      .period_samples = 2000,
                      .decay = 0.1f},
        .batch = 16,
        .batch_max = 16,
        .model_seed = 3,
        .data_seed = 4,
        .data_node = node,
        .density_max = (uint32_t)model_parameters(trained.model) / 10,
    };
    trained.learner = learner_new(&arena, backend, trained.model, &train, NULL, &options);
    dataset_free(&train);
    return trained;
}

static struct trained trained_new(uint64_t node)
{
    return trained_with(node, OPTIMIZER_SGD);
}

static void trained_free(struct trained *trained)
{
    learner_free(trained->learner);
    model_free(trained->model);
}

static void must_be_the_same_update(const struct update *a, const struct update *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(&a->tau, &b->tau, sizeof a->tau);
    assert_int_equal(a->amount, b->amount);
    assert_memory_equal(a->index, b->index, a->count * sizeof *a->index);
    assert_memory_equal(a->level, b->level, a->count);
}

/* Both learners step, publish, and apply updates of `other`. They must stay equal, bit for bit. */
static void go_on_alike(struct learner *a, struct learner *b, struct learner *other, int rounds)
{
    (void)learner_losses(a), (void)learner_losses(b); /* resets the losses of earlier steps */
    for (int round = 0; round < rounds; round++) {
        for (int step = 0; step < 3; step++) {
            (void)learner_step(a), (void)learner_step(b), (void)learner_step(other);
            assert_true(learner_losses(a) == learner_losses(b));
        }
        must_be_the_same_update(learner_publish(a, &TERMS), learner_publish(b, &TERMS));
        const struct update *applied = learner_publish(other, &TERMS);
        learner_apply(a, applied, (float)TERMS.beta);
        learner_apply(b, applied, (float)TERMS.beta);
        assert_int_equal(learner_digest(a), learner_digest(b));
        assert_int_equal(learner_samples(a), learner_samples(b));
        assert_int_equal(learner_swarm_samples(a), learner_swarm_samples(b));
    }
}

static void must_go_on_bit_for_bit(enum optimizer_kind kind)
{
    struct trained one = trained_with(1, kind), again = trained_with(1, kind);
    struct trained other = trained_new(2);
    const size_t parameters = learner_parameters(one.learner);
    const uint32_t moments = kind == OPTIMIZER_ADAM ? 2 : 1;
    struct learner_state saved = state_new(parameters, moments);
    struct learner_state end_one = state_new(parameters, moments);
    struct learner_state end_again = state_new(parameters, moments);
    assert_int_equal(learner_moments(one.learner), moments);
    for (int step = 0; step < 17; step++) { /* enough steps to reach the second epoch */
        (void)learner_step(one.learner);
        if (step % 5 == 4)
            (void)learner_publish(one.learner, &TERMS);
    }
    learner_follow(one.learner, 500); /* 500 of the schedule's 2000 samples */
    learner_set_batch(one.learner, 8);
    learner_save(one.learner, &saved);
    assert_true(saved.epoch == 1 && saved.at == 17 * 16 - 150 && saved.samples == 17 * 16);
    assert_true(saved.steps == 17 && saved.swarm_samples == 500 && saved.batch == 8);
    learner_restore(again.learner, &saved);
    go_on_alike(one.learner, again.learner, other.learner, 20);
    learner_save(one.learner, &end_one);
    learner_save(again.learner, &end_again);
    assert_memory_equal(end_one.base, end_again.base, learner_state_bytes(parameters, moments));
    assert_true(end_one.epoch == end_again.epoch && end_one.at == end_again.at);
    assert_true(end_one.steps == end_again.steps && end_one.batch == end_again.batch);
    trained_free(&one);
    trained_free(&again);
    trained_free(&other);
}

static void a_learner_restored_goes_on_bit_for_bit(void **state)
{
    (void)state;
    must_go_on_bit_for_bit(OPTIMIZER_SGD);
    must_go_on_bit_for_bit(OPTIMIZER_ADAM);
}

static void a_batch_without_room_for_it_is_not_restored(void **state)
{
    (void)state;
    struct trained one = trained_new(1);
    struct learner_state saved = state_new(learner_parameters(one.learner), 1);
    learner_save(one.learner, &saved);
    saved.batch = 17;
    learner_restore(one.learner, &saved);
    assert_int_equal(learner_batch(one.learner), 16);
    trained_free(&one);
}

static void a_learner_without_data_has_a_state_without_momentum(void **state)
{
    (void)state;
    struct trained one = trained_new(1);
    const struct learner_options options = {.batch = 16, .model_seed = 9, .density_max = 10};
    struct learner *idle = learner_new(&arena, backend, one.model, NULL, NULL, &options);
    struct learner_state saved = state_new(learner_parameters(idle), 0);
    const uint64_t digest = learner_digest(idle);
    learner_save(idle, &saved);
    const int32_t zeros[BLOCK] = {0};
    learner_write_block(idle, 3, BLOCK, zeros, false);
    assert_int_not_equal(learner_digest(idle), digest);
    learner_restore(idle, &saved);
    assert_int_equal(learner_digest(idle), digest);
    learner_free(idle);
    trained_free(&one);
}

static void a_random_walk_restored_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_walk *one = random_walk_new(&arena, backend, P, 1, P / 10, true);
    struct random_walk *again = random_walk_new(&arena, backend, P, 99, P / 10, true);
    struct learner_state saved = state_new(P, 0);
    double bound;
    for (int turn = 0; turn < 40; turn++) {
        for (int step = 0; step < 10; step++) {
            random_walk_step(one);
            if (turn >= 20)
                random_walk_step(again);
        }
        const struct update *update = random_walk_publish(one, &TERMS);
        if (turn >= 20) {
            must_be_the_same_update(update, random_walk_publish(again, &TERMS));
            assert_int_equal(random_walk_digest(one), random_walk_digest(again));
            assert_true(random_walk_account_error(again, &bound) <= bound);
        }
        if (turn == 19) {
            for (int step = 0; step < 5; step++)
                random_walk_step(one);
            random_walk_save(one, &saved);
            random_walk_restore(again, &saved);
            assert_true(random_walk_account_error(again, &bound) <= bound);
        }
    }
    random_walk_read_weights(one, w);
    random_walk_read_weights(again, w_other);
    assert_memory_equal(w, w_other, sizeof w);
    random_walk_free(one);
    random_walk_free(again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_restart_does_not_publish_twice),
        TEST(publications_after_the_save_stay_in_the_base),
        TEST(an_empty_joiner_takes_blocks_and_has_no_residual),
        TEST(a_lagging_node_keeps_its_residual),
        TEST(kept_weights_publish_the_progress_made_alone),
        TEST(a_learner_restored_goes_on_bit_for_bit),
        TEST(a_batch_without_room_for_it_is_not_restored),
        TEST(a_learner_without_data_has_a_state_without_momentum),
        TEST(a_random_walk_restored_goes_on_bit_for_bit),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
