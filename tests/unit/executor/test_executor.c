/* Orders to a learner while its state is copied to a snapshot. The state restored from the
 * snapshot's records equals the learner's, bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "executor/executor.h"

#define P    500
#define PART 100

static struct backend *backend;
static struct arena arena;
static struct snapshot_queue queue;
static float w[P], w_other[P];

/* A learner that consists only of a replica. */

static uint64_t followed; /* the swarm's samples, as the last order told */

static void follow(void *replica, uint64_t swarm_samples)
{
    (void)replica;
    followed = swarm_samples;
}

static const struct update *publish(void *replica, const struct publish_terms *terms)
{
    return replica_publish(replica, terms);
}

static void revert(void *replica)
{
    (void)replica_reset_to_base(replica);
}

static void apply(void *replica, const struct update *update, float beta)
{
    replica_apply(replica, update, beta);
}

static double agreement(void *replica, const struct update *update)
{
    return replica_agreement(replica, update);
}

static void apply_own(void *replica, const struct update *update, float beta)
{
    replica_apply_own(replica, update, beta);
}

static void write_block(void *replica, size_t first, size_t count, const int32_t *units,
                        bool keep_weights)
{
    replica_write_block(replica, first, count, units, keep_weights);
}

static void save(void *replica, struct learner_state *part)
{
    replica_save(replica, part);
}

static const struct executor_ops OPS = {.follow = follow,
                                        .publish = publish,
                                        .revert = revert,
                                        .apply = apply,
                                        .agreement = agreement,
                                        .apply_own = apply_own,
                                        .write_block = write_block,
                                        .save = save};

static struct replica one, other, restored;

static int begin(void **state)
{
    (void)state;
    backend = backend_cpu(1);
    arena_init(&arena, (size_t)1 << 24);
    snapshot_queue_init(&queue, &arena, P, PART, 0, 10 * P);
    const float *zeros = arena_alloc(&arena, P, sizeof *zeros);
    replica_init(&one, &arena, backend, P, zeros, P);
    replica_init(&other, &arena, backend, P, zeros, P);
    replica_init(&restored, &arena, backend, P, zeros, P);
    return 0;
}

static int end(void **state)
{
    (void)state;
    replica_free(&one);
    replica_free(&other);
    replica_free(&restored);
    arena_release(&arena);
    backend->close(backend);
    return 0;
}

static void learn_something(struct replica *replica, struct rng *rng)
{
    replica_read_weights(replica, w);
    for (int c = 0; c < P; c++)
        w[c] += (float)(0.01 * (rng_uniform(rng) - 0.5));
    replica_write_weights(replica, w);
}

static void replay(void)
{
    for (const struct snapshot_record *record; (record = snapshot_next(&queue));) {
        if (record->kind == SNAPSHOT_PART)
            replica_restore(&restored, &record->part);
        else
            snapshot_replay(record, &restored);
        snapshot_done(&queue);
    }
}

static struct answer perform(const struct action *order)
{
    const struct executor executor = {.ops = &OPS, .learner = &one, .snapshot = &queue};
    return executor_perform(&executor, order);
}

static const struct publish_terms TERMS = {
    .budget_bytes = 300, .share = 0.25, .gain = 1, .beta = 0.3};

static void perform_one_of_some(struct rng *rng)
{
    if (rng_below(rng, 2) == 0) {
        const struct action order = {.kind = ACTION_PUBLISH, .terms = TERMS};
        assert_true(perform(&order).update->count > 10);
        return;
    }
    learn_something(&other, rng);
    const struct action order = {.kind = ACTION_APPLY,
                                 .update = replica_publish(&other, &TERMS),
                                 .own = rng_below(rng, 2) == 0,
                                 .beta = 0.2 * rng_below(rng, 3),
                                 .swarm_samples = followed + 1};
    assert_int_equal(perform(&order).entries, order.update->count);
    assert_int_equal(followed, order.swarm_samples);
}

static void restores_orders_performed_between_two_parts(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 1);
    for (int round = 0; round < 50; round++) {
        learn_something(&one, &rng);
        for (size_t first = 0; first < P; replay()) {
            for (uint32_t i = rng_below(&rng, 4); first > 0 && i > 0; i--)
                perform_one_of_some(&rng);
            const struct action order = {.kind = ACTION_SAVE, .first = first};
            first += perform(&order).entries;
        }
        replica_read_weights(&one, w);
        replica_read_weights(&restored, w_other);
        assert_memory_equal(w, w_other, sizeof w);
        assert_true(replica_digest(&one) == replica_digest(&restored));
    }
}

static void a_snapshot_during_which_another_base_is_written_is_broken_off(void **state)
{
    (void)state;
    static const int32_t units[10];
    const struct action first = {.kind = ACTION_SAVE},
                        second = {.kind = ACTION_SAVE, .first = PART};
    const struct action write = {.kind = ACTION_WRITE, .first = 5, .entries = 10, .units = units};
    assert_int_equal(perform(&first).entries, PART);
    assert_int_equal(perform(&write).entries, 10);
    replay();
    assert_int_equal(perform(&second).entries, 0);
}

static void it_is_said_how_far_an_update_agrees_before_it_is_applied(void **state)
{
    (void)state;
    uint32_t at[] = {3};
    int8_t level[] = {-2};
    const struct update update = {
        .tau = 0.5f, .amount = 100, .count = 1, .index = at, .level = level};
    struct action order = {.kind = ACTION_APPLY, .update = &update, .beta = 0.5, .compares = true};
    assert_true(perform(&order).agreement == 0); /* nothing was learned, so there is no agreement */
    order.beta = 0;
    assert_true(perform(&order).agreement > 0.99); /* the residual is the first APPLY's momentum */
    replica_read_weights(&one, w);
    assert_true(w[3] == -2.5f * 200 * QUANTUM);
}

/* Returns true if the weights are the base, which is zeros. */
static bool has_no_progress(void)
{
    static const float zeros[P];
    replica_read_weights(&one, w);
    return memcmp(w, zeros, sizeof w) == 0;
}

static void a_held_publication_drops_the_progress_but_from_no_snapshot(void **state)
{
    (void)state;
    struct rng rng = rng_new(2, 2);
    struct action held = {.kind = ACTION_PUBLISH, .terms = TERMS};
    const struct action first = {.kind = ACTION_SAVE},
                        second = {.kind = ACTION_SAVE, .first = PART};
    held.terms.is_held = true;
    held.terms.budget_bytes = 0; /* the replica, unlike a learner, would publish */
    held.terms.tau = TAU_MAX;
    learn_something(&one, &rng);
    assert_false(has_no_progress());
    (void)perform(&held);
    assert_true(has_no_progress());
    learn_something(&one, &rng);
    assert_int_equal(perform(&first).entries, PART);
    replay();
    (void)perform(&held);
    assert_false(has_no_progress());
    held.last = true;
    (void)perform(&held);
    assert_true(has_no_progress());
    assert_int_equal(perform(&second).entries, 0);
}

static struct base_trial sum_of_entries(void *learner, const struct update *updates, uint32_t count,
                                        uint32_t tried)
{
    struct base_trial trial = {.samples = tried};
    assert_ptr_equal(learner, &one);
    for (uint32_t u = 0; u < count; u++)
        for (uint32_t i = 0; i < updates[u].count; i++)
            trial.after += (double)updates[u].index[i] * updates[u].level[i];
    return trial;
}

static void a_copied_trial_has_the_entries_of_all_updates(void **state)
{
    (void)state;
    uint32_t at[] = {3, 4, 7};
    int8_t level[] = {-2, 5, 1};
    const struct update updates[] = {
        {.tau = 0.5f, .amount = 100, .count = 2, .index = at, .level = level},
        {.tau = 0.5f, .amount = 100, .count = 1, .index = at + 2, .level = level + 2}};
    const struct action order = {.kind = ACTION_TRIAL, .update = updates, .updates = 2, .tried = 1};
    static max_align_t room[64];
    assert_true(order_bytes(&order) <= sizeof room);
    const struct action *copy = order_copy(room, &order);
    memset(at, 0, sizeof at);
    memset(level, 0, sizeof level);
    const struct executor_ops ops = {.trial = sum_of_entries};
    const struct executor executor = {.ops = &ops, .learner = &one};
    const struct answer answer = executor_perform(&executor, copy);
    assert_int_equal(answer.entries, 3);
    assert_true(answer.trial.after == 3 * -2 + 4 * 5 + 7);
    assert_int_equal(answer.trial.samples, 1);
    const struct executor_ops none = {0};
    const struct executor without = {.ops = &none, .learner = &one};
    assert_int_equal(executor_perform(&without, copy).trial.samples, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(restores_orders_performed_between_two_parts),
        TEST(a_snapshot_during_which_another_base_is_written_is_broken_off),
        TEST(it_is_said_how_far_an_update_agrees_before_it_is_applied),
        TEST(a_held_publication_drops_the_progress_but_from_no_snapshot),
        TEST(a_copied_trial_has_the_entries_of_all_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
