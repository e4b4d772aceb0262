/* Random-walk learners exchange updates like other learners. Their account and their digest show
 * errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/rng.h"
#include "training/learner.h"
#include "training/random_walk_learner.h"

#define P     600
#define NODES 3

static struct backend *backend;
static struct arena arena;
/* A copy of the backend with one broken operation of the exchange. */
static struct backend broken;
static struct exchange_operations broken_exchange;
static float weights[P], others[P];
static int32_t units[P], other_units[P];

static const struct publish_terms TERMS = {
    .budget_bytes = 400, .share = 0.25, .gain = 1, .beta = 0.3};

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    backend = backend_cpu(1);
    broken = *backend;
    broken_exchange = *backend->exchange;
    broken.exchange = &broken_exchange;
    return 0;
}

static int end(void **state)
{
    (void)state;
    backend->close(backend);
    arena_release(&arena);
    return 0;
}

static struct random_walk *one(uint64_t seed)
{
    return random_walk_new(&arena, &broken, P, seed, P / 10, true);
}

static void the_seed_determines_the_walk(void **state)
{
    (void)state;
    struct random_walk *a = one(1), *same = one(1), *other = one(2);
    for (int step = 0; step < 10; step++) {
        random_walk_step(a);
        random_walk_step(same);
        random_walk_step(other);
    }
    random_walk_read_weights(a, weights);
    random_walk_read_weights(same, others);
    assert_memory_equal(weights, others, sizeof weights);
    random_walk_read_weights(other, others);
    assert_memory_not_equal(weights, others, sizeof weights);
    random_walk_free(a);
    random_walk_free(same);
    random_walk_free(other);
}

static void a_step_moves_some_weights_by_very_different_amounts(void **state)
{
    (void)state;
    enum { STEPS = 2000 };
    struct random_walk *random_walk = one(1);
    int moved = 0, little = 0, much = 0;
    for (int step = 0; step < STEPS; step++) {
        random_walk_read_weights(random_walk, weights);
        random_walk_step(random_walk);
        random_walk_read_weights(random_walk, others);
        for (int c = 0; c < P; c++) {
            const double by = fabs((double)others[c] - (double)weights[c]);
            moved += by > 0;
            little += by > 0 && by < 1e-5;
            much += by > 0.005;
            assert_true(by <= 0.0201); /* two full moves; three large ones are too rare */
        }
    }
    /* Expected: twelve entries, less those that move twice (one step in ten) or by less than the
     * weight's last bit. 12 · 0.001^(1/5) = 3.0 entries move little, 12 · (1 - 0.5^(1/5)) = 1.55
     * move much. */
    assert_in_range(moved, STEPS * 11.3, STEPS * 12);
    assert_in_range(little, STEPS * 2.4, STEPS * 3.2);
    assert_in_range(much, STEPS * 1.45, STEPS * 1.65);
    random_walk_free(random_walk);
}

static uint64_t digest_from_units(const struct random_walk *random_walk)
{
    uint64_t digest = 0;
    random_walk_read_units(random_walk, units);
    for (uint32_t c = 0; c < P; c++)
        digest = digest_add(digest, digest_of_entry(c, (uint32_t)units[c]));
    return digest;
}

/* One learner steps and publishes, and all others apply the update. Shares, budgets and other terms
 * are random. */
static uint32_t play(struct random_walk *const *nodes, struct rng *rng)
{
    const uint32_t publisher = rng_below(rng, NODES);
    const struct publish_terms terms = {.budget_bytes = 20 + rng_below(rng, 1000),
                                        .share = 0.01 + 0.99 * rng_uniform(rng),
                                        .gain = 0.5 + rng_uniform(rng),
                                        .beta = 0.9 * rng_uniform(rng),
                                        .withheld = rng_below(rng, 2) ? rng_uniform(rng) : 0};
    for (uint32_t step = rng_below(rng, 20); step > 0; step--)
        random_walk_step(nodes[publisher]);
    const struct update *update = random_walk_publish(nodes[publisher], &terms);
    for (uint32_t i = 0; i < NODES; i++)
        if (i != publisher)
            random_walk_apply(nodes[i], update, (float)terms.beta);
    return update->count;
}

static void those_who_applied_the_same_hold_the_same(void **state)
{
    (void)state;
    struct random_walk *const nodes[NODES] = {one(1), one(2), one(3)};
    struct rng rng = rng_new(1, 1);
    uint32_t published = 0;
    for (int turn = 0; turn < 500; turn++) {
        published += play(nodes, &rng);
        for (int i = 0; i < NODES; i++)
            assert_true(random_walk_digest(nodes[i]) == digest_from_units(nodes[0]));
    }
    assert_true(published > 10000);
    for (int i = 1; i < NODES; i++) {
        random_walk_read_units(nodes[0], units);
        random_walk_read_units(nodes[i], other_units);
        assert_memory_equal(units, other_units, sizeof units);
    }
    for (int i = 0; i < NODES; i++)
        random_walk_free(nodes[i]);
}

static void published_and_residual_are_what_was_produced(void **state)
{
    (void)state;
    struct random_walk *const nodes[NODES] = {one(4), one(5), one(6)};
    struct rng rng = rng_new(2, 2);
    double bound, worst = 0, worst_bound = 0;
    for (int i = 0; i < NODES; i++)
        assert_true(random_walk_account_error(nodes[i], &bound) == 0 && bound == 0);
    for (int turn = 0; turn < 3000; turn++) {
        (void)play(nodes, &rng);
        for (int i = 0; i < NODES; i++) {
            const double error = random_walk_account_error(nodes[i], &bound);
            assert_true(error <= bound);
            worst = fmax(worst, error);
            worst_bound = fmax(worst_bound, bound);
        }
    }
    print_message("account: error %.2g of at most %.2g\n", worst, worst_bound);
    assert_true(worst > 0 && worst < 1e-6);
    assert_true(worst_bound < 1e-4);
    for (int i = 0; i < NODES; i++)
        random_walk_free(nodes[i]);
}

/* Lets a random learner catch up and return: it takes a block of a random learner, with or without
 * keeping its weights. It then applies that learner's next update as its own of an earlier
 * incarnation, unless both are the same learner. */
static void come_back(struct random_walk *const *nodes, struct rng *rng)
{
    struct random_walk *to = nodes[rng_below(rng, NODES)], *from = nodes[rng_below(rng, NODES)];
    const size_t first = rng_below(rng, P), count = rng_below(rng, (uint32_t)(P - first) + 1);
    random_walk_read_block(from, first, count, units);
    random_walk_write_block(to, first, count, units, rng_below(rng, 2) != 0);
    for (uint32_t step = rng_below(rng, 20); step > 0; step--)
        random_walk_step(from);
    const struct publish_terms terms = {
        .budget_bytes = 20 + rng_below(rng, 1000), .share = 0.3, .gain = 1, .beta = 0.3};
    const struct update *update = random_walk_publish(from, &terms);
    if (to != from)
        random_walk_apply_own(to, update, (float)terms.beta);
}

static void the_account_holds_through_catching_up_and_coming_back(void **state)
{
    (void)state;
    struct random_walk *const nodes[NODES] = {one(10), one(11), one(12)};
    struct rng rng = rng_new(5, 5);
    double bound, worst = 0, worst_bound = 0;
    for (int turn = 0; turn < 2000; turn++) {
        (void)play(nodes, &rng);
        come_back(nodes, &rng);
        for (int i = 0; i < NODES; i++) {
            const double error = random_walk_account_error(nodes[i], &bound);
            assert_true(error <= bound);
            worst = fmax(worst, error);
            worst_bound = fmax(worst_bound, bound);
        }
    }
    print_message("account: error %.2g of at most %.2g\n", worst, worst_bound);
    assert_true(worst > 0 && worst < 1e-6);
    assert_true(worst_bound < 1e-3);
    for (int i = 0; i < NODES; i++)
        random_walk_free(nodes[i]);
}

/* Defects of the backend that a learner's account must show. */

static void apply_own_without_charging(struct backend *on, const struct update *update, float beta,
                                       struct weights w, int32_t *base)
{
    backend->exchange->apply(on, update, beta, w, base);
}

static void rebase_base_alone(struct backend *on, size_t first, size_t count,
                              const int32_t *host_base, struct weights w, int32_t *base)
{
    (void)w;
    backend->upload(on, base + first, host_base, count * sizeof *base);
}

static void apply_base_alone(struct backend *on, const struct update *update, float beta,
                             struct weights w, int32_t *base)
{
    (void)w;
    float nowhere[P] = {0};
    backend->exchange->apply(on, update, beta, weights_flat(nowhere), base);
}

static void apply_twice_as_far_beyond(struct backend *on, const struct update *update, float beta,
                                      struct weights w, int32_t *base)
{
    backend->exchange->apply(on, update, 2 * beta, w, base);
}

static void cut_without_publishing_own_weights(struct backend *on, uint32_t picked,
                                               const uint32_t *candidates,
                                               const struct cut_terms *terms, struct weights w,
                                               int32_t *base, struct update *update)
{
    float nowhere[P];
    memcpy(nowhere, weights_all(w), sizeof nowhere);
    backend->exchange->cut(on, picked, candidates, terms, weights_flat(nowhere), base, update);
}

static void cut_twice_as_far_beyond(struct backend *on, uint32_t picked, const uint32_t *candidates,
                                    const struct cut_terms *terms, struct weights w, int32_t *base,
                                    struct update *update)
{
    struct cut_terms twice = *terms;
    twice.beta *= 2;
    backend->exchange->cut(on, picked, candidates, &twice, w, base, update);
}

static void cut_and_lose_the_last(struct backend *on, uint32_t picked, const uint32_t *candidates,
                                  const struct cut_terms *terms, struct weights w, int32_t *base,
                                  struct update *update)
{
    backend->exchange->cut(on, picked, candidates, terms, w, base, update);
    if (update->count > 1)
        update->count--;
}

static bool account_holds(void)
{
    struct random_walk *const nodes[NODES] = {one(7), one(8), one(9)};
    struct rng rng = rng_new(3, 3);
    bool holds = true;
    for (int turn = 0; turn < 20; turn++) {
        (void)play(nodes, &rng);
        come_back(nodes, &rng);
    }
    for (int i = 0; i < NODES; i++) {
        double bound;
        holds = holds && random_walk_account_error(nodes[i], &bound) <= bound;
        random_walk_free(nodes[i]);
    }
    return holds;
}

static void the_account_shows_every_defect_of_the_exchange(void **state)
{
    (void)state;
    assert_true(account_holds());
    broken_exchange.apply = apply_base_alone;
    assert_false(account_holds());
    broken_exchange = *backend->exchange;
    broken_exchange.cut = cut_without_publishing_own_weights;
    assert_false(account_holds());
    broken_exchange = *backend->exchange;
    broken_exchange.apply = apply_twice_as_far_beyond;
    assert_false(account_holds());
    broken_exchange = *backend->exchange;
    broken_exchange.cut = cut_twice_as_far_beyond;
    assert_false(account_holds());
    broken_exchange = *backend->exchange;
    broken_exchange.cut = cut_and_lose_the_last;
    assert_false(account_holds());
    broken_exchange = *backend->exchange;
    broken_exchange.apply_own = apply_own_without_charging;
    assert_false(account_holds());
    broken_exchange = *backend->exchange;
    broken_exchange.rebase = rebase_base_alone;
    assert_false(account_holds());
}

static void apply_and_spill(struct backend *on, const struct update *update, float beta,
                            struct weights w, int32_t *base)
{
    backend->exchange->apply(on, update, beta, w, base);
    base[P - 1]++;
}

static void the_digest_shows_a_write_that_no_update_speaks_of(void **state)
{
    (void)state;
    uint32_t at[] = {3};
    int8_t level[] = {-2};
    const struct update update = {
        .tau = 0.5f, .amount = 100, .count = 1, .index = at, .level = level};
    struct random_walk *random_walk = one(1);
    random_walk_apply(random_walk, &update, 0);
    assert_true(random_walk_digest(random_walk) == digest_of_entry(3, (uint32_t)-200));
    broken_exchange.apply = apply_and_spill;
    random_walk_apply(random_walk, &update, 0);
    assert_true(random_walk_digest(random_walk) ==
                digest_add(digest_of_entry(3, (uint32_t)-400), digest_of_entry(P - 1, 1)));
    random_walk_free(random_walk);
}

static void without_an_account_it_walks_the_same_way(void **state)
{
    (void)state;
    struct random_walk *with = one(1);
    struct random_walk *without = random_walk_new(&arena, backend, P, 1, P / 10, false);
    for (int turn = 0; turn < 50; turn++) {
        random_walk_step(with);
        random_walk_step(without);
        const struct update *a = random_walk_publish(with, &TERMS),
                            *b = random_walk_publish(without, &TERMS);
        assert_int_equal(a->count, b->count);
        random_walk_apply(with, b, (float)TERMS.beta);
        random_walk_apply(without, a, (float)TERMS.beta);
        assert_true(random_walk_digest(with) == random_walk_digest(without));
    }
    random_walk_read_weights(with, weights);
    random_walk_read_weights(without, others);
    assert_memory_equal(weights, others, sizeof weights);
    random_walk_free(with);
    random_walk_free(without);
}

/* A real learner's account, kept from outside as learner.h describes. */

struct observed {
    struct model *model;
    struct learner *learner;
    double produced[P];
    double published[P];
};

static void observe(struct observed *observed, const struct dataset *train, uint64_t node)
{
    struct problem problem;
    struct learner_options options = {
        .optimizer = {.sgd = {.rate = 0.1f, .momentum = 0.9f}}, .batch = 4, .data_node = node};
    memset(observed, 0, sizeof *observed);
    assert_int_equal(model_new(&observed->model, &arena, backend, "dense 8, tanh, dense 2",
                               train->shape, train->classes, 4, &problem),
                     OK);
    options.density_max = (uint32_t)model_parameters(observed->model);
    observed->learner = learner_new(&arena, backend, observed->model, train, NULL, &options);
}

static void observe_step(struct observed *observed)
{
    learner_read_weights(observed->learner, weights);
    (void)learner_step(observed->learner);
    learner_read_weights(observed->learner, others);
    for (size_t c = 0; c < learner_parameters(observed->learner); c++)
        observed->produced[c] += (double)others[c] - (double)weights[c];
}

static void observe_momentum(struct observed *observed, const struct update *update, double beta)
{
    for (uint32_t i = 0; i < update->count; i++)
        observed->produced[update->index[i]] +=
            beta * (double)QUANTUM * update->amount * update->level[i];
}

static const struct update *observe_publish(struct observed *observed,
                                            const struct publish_terms *terms)
{
    const struct update *update = learner_publish(observed->learner, terms);
    observe_momentum(observed, update, terms->beta);
    for (uint32_t i = 0; i < update->count; i++)
        observed->published[update->index[i]] += (double)update->tau * update->level[i];
    return update;
}

static double observed_error(const struct observed *observed)
{
    double worst = 0;
    learner_read_weights(observed->learner, weights);
    learner_read_units(observed->learner, units);
    for (size_t c = 0; c < learner_parameters(observed->learner); c++) {
        const double residual = (double)weights[c] - (double)QUANTUM * units[c];
        worst = fmax(worst, fabs(observed->produced[c] - observed->published[c] - residual));
    }
    return worst;
}

static void a_learner_can_be_held_to_account_from_outside(void **state)
{
    (void)state;
    static struct observed both[2];
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    for (uint64_t i = 0; i < 2; i++)
        observe(&both[i], &train, i);
    dataset_free(&train);
    double published = 0;
    for (int round = 0; round < 200; round++) {
        const struct publish_terms terms = {
            .budget_bytes = 300, .share = 0.4, .gain = 1.1, .beta = 0.1 * (round % 5)};
        struct observed *publisher = &both[round % 2], *receiver = &both[1 - round % 2];
        observe_step(publisher);
        const struct update *update = observe_publish(publisher, &terms);
        learner_apply(receiver->learner, update, (float)terms.beta);
        observe_momentum(receiver, update, terms.beta);
        published += update->count;
        for (int i = 0; i < 2; i++)
            assert_true(observed_error(&both[i]) < 2e-6);
    }
    assert_true(published > 2000);
    for (int i = 0; i < 2; i++) {
        learner_free(both[i].learner);
        model_free(both[i].model);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_seed_determines_the_walk),
        TEST(a_step_moves_some_weights_by_very_different_amounts),
        TEST(those_who_applied_the_same_hold_the_same),
        TEST(published_and_residual_are_what_was_produced),
        TEST(the_account_holds_through_catching_up_and_coming_back),
        TEST(the_account_shows_every_defect_of_the_exchange),
        TEST(the_digest_shows_a_write_that_no_update_speaks_of),
        TEST(a_learner_can_be_held_to_account_from_outside),
        TEST(without_an_account_it_walks_the_same_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
