/* Running statistics: the base is the mean of the nodes' statistics, whatever the gain, the delay
 * of updates, their size and the number of publications. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replica.h"
#include "support/model/each_device.h"

#define P          6 /* four weights and, from FIRST on, two statistics */
#define FIRST      2
#define STATISTICS 2
#define NODES_MAX  8
#define QUEUE      64
#define EVERYTHING 1000 /* bytes of a publication */
#define SMALLEST   1e-5f

struct sent {
    struct update update;
    uint32_t index[P];
    int8_t level[P];
    int due; /* round in which the other nodes apply it */
};

struct node {
    struct arena arena;
    struct replica replica;
    /* means of the node's data, towards which training moves its statistics */
    float mean[STATISTICS];
    struct sent queue[QUEUE];
    int sent;
    int applied[NODES_MAX]; /* updates of each other node that were applied */
};

static struct node nodes[NODES_MAX];
static const float start[P] = {1, 2, 0, 1, 3, 4};
static const struct entry_range range = {.first = FIRST, .count = STATISTICS};

static void begin(int count)
{
    for (int i = 0; i < count; i++) {
        nodes[i] = (struct node){.sent = 0};
        arena_init(&nodes[i].arena, 1 << 16);
        replica_init(&nodes[i].replica, &nodes[i].arena, backend, P, NULL, P);
        replica_compand(&nodes[i].replica);
        replica_begin_part(&nodes[i].replica, 0, P, start);
        replica_keep_statistics(&nodes[i].replica, &nodes[i].arena, &range, 1);
    }
}

static void end(int count)
{
    for (int i = 0; i < count; i++) {
        replica_free(&nodes[i].replica);
        arena_release(&nodes[i].arena);
    }
}

static float *trained_at(struct replica *replica, size_t entry)
{
    return weights_all(replica->trained) + entry;
}

static float read_trained(struct replica *replica, size_t entry)
{
    float value;
    backend->download(backend, &value, trained_at(replica, entry), sizeof value);
    return value;
}

static void set_trained(struct replica *replica, size_t entry, float value)
{
    backend->upload(backend, trained_at(replica, entry), &value, sizeof value);
}

static float read_base(struct replica *replica, size_t entry)
{
    float base[P];
    replica_read_base(replica, base);
    return base[entry];
}

/* Moves a statistic as a batch norm does in `steps` steps. */
static void train(struct node *node, int steps)
{
    for (size_t s = 0; s < STATISTICS; s++) {
        float value = read_trained(&node->replica, FIRST + s);
        for (int i = 0; i < steps; i++)
            value += 0.1f * (node->mean[s] - value);
        set_trained(&node->replica, FIRST + s, value);
    }
}

static void publish(struct node *node, const struct publish_terms *terms, int due)
{
    const struct update *update = replica_publish(&node->replica, terms);
    struct sent *sent = &node->queue[node->sent++ % QUEUE];
    *sent = (struct sent){.update = *update, .due = due};
    memcpy(sent->index, update->index, update->count * sizeof *update->index);
    memcpy(sent->level, update->level, update->count * sizeof *update->level);
    sent->update.index = sent->index;
    sent->update.level = sent->level;
}

static void apply_due(int count, int i, int round)
{
    for (int from = 0; from < count; from++)
        while (from != i && nodes[i].applied[from] < nodes[from].sent &&
               nodes[from].queue[nodes[i].applied[from] % QUEUE].due <= round)
            replica_apply(&nodes[i].replica,
                          &nodes[from].queue[nodes[i].applied[from]++ % QUEUE].update, 0.3f);
}

/* Rounds of training, each with `steps` steps and a publication of each node, which arrives `delay`
 * rounds later. */
static void run_rounds(int count, int rounds, int steps, int delay, struct publish_terms terms)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++)
            train(&nodes[i], steps);
        for (int i = 0; i < count; i++) {
            apply_due(count, i, round);
            publish(&nodes[i], &terms, round + delay);
        }
    }
    for (int i = 0; i < count; i++)
        apply_due(count, i, rounds + delay);
}

static struct publish_terms terms_of(int count, float tau)
{
    return (struct publish_terms){.budget_bytes = EVERYTHING,
                                  .tau = tau,
                                  .share = 1.0 / count,
                                  .statistics_share = 1.0 / count,
                                  .gain = sqrt(count),
                                  .beta = 0.3};
}

/* An update moves an entry by at most 127 thresholds, so a smaller threshold needs several. */
static void publish_rest(int count)
{
    for (float tau = 0.02f; tau > SMALLEST; tau /= 10)
        run_rounds(count, 2, 0, 0, terms_of(count, tau));
}

static bool is_near(float value, float wanted, float part)
{
    return fabsf(value - wanted) <= part * fmaxf(fabsf(wanted), 1);
}

static void nodes_with_one_mean_end_at_it(void **state)
{
    static const float means[][STATISTICS] = {{0.3f, 0.8f}, {-5, 9}, {2048, 360000}};
    (void)state;
    for (int count = 1; count <= NODES_MAX; count = count == 1 ? 2 : 4 * count)
        for (int delay = 0; delay <= 8; delay += 8)
            for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
                begin(count);
                for (int i = 0; i < count; i++)
                    memcpy(nodes[i].mean, means[m], sizeof means[m]);
                /* A publication moves a companded value by at most 1, so the largest mean, 19.4,
                 * needs 20. */
                run_rounds(count, 24, 60, delay, terms_of(count, 0.05f));
                publish_rest(count);
                for (size_t s = 0; s < STATISTICS; s++)
                    assert_true(
                        is_near(read_base(&nodes[0].replica, FIRST + s), means[m][s], 0.02f));
                for (int i = 1; i < count; i++)
                    assert_true(replica_digest(&nodes[i].replica) ==
                                replica_digest(&nodes[0].replica));
                end(count);
            }
}

static void the_base_is_the_mean_of_unlike_nodes(void **state)
{
    (void)state;
    begin(2);
    nodes[0].mean[0] = 1;
    nodes[1].mean[0] = -0.5f;
    nodes[0].mean[1] = 0.5f;
    nodes[1].mean[1] = 1.5f;
    run_rounds(2, 60, 3, 2, terms_of(2, 0.001f));
    assert_true(is_near(read_base(&nodes[0].replica, FIRST), 0.25f, 0.03f));
    assert_true(is_near(read_base(&nodes[0].replica, FIRST + 1), 1, 0.03f));
    end(2);
}

/* Treats statistics as weights, as a program without HEARSAY_STATISTICS does. */
static void the_same_weights_overshoot(void **state)
{
    (void)state;
    begin(2);
    for (int i = 0; i < 2; i++) {
        statistics_free(&nodes[i].replica.statistics);
        nodes[i].replica.weights = nodes[i].replica.trained;
        nodes[i].mean[0] = nodes[i].mean[1] = 5;
    }
    run_rounds(2, 8, 60, 8, terms_of(2, 0.05f));
    assert_true(read_base(&nodes[0].replica, FIRST) > 7);
    for (int i = 0; i < 2; i++) {
        backend->free(backend, nodes[i].replica.table);
        nodes[i].replica.table = NULL;
    }
    end(2);
}

/* The nodes' data differ, and each node believes that it has the whole swarm's share. */
static void the_pull_corrects_a_wrong_base_at_any_share(void **state)
{
    (void)state;
    for (int claims = 1; claims <= 4; claims *= 4) {
        begin(2);
        struct publish_terms terms = terms_of(2, 0.001f);
        nodes[0].mean[0] = nodes[0].mean[1] = 1;
        nodes[1].mean[0] = nodes[1].mean[1] = 2;
        terms.statistics_share = 1;
        run_rounds(2, 20, 40, 1, terms);
        assert_true(read_base(&nodes[0].replica, FIRST) > 2.5f);
        terms.statistics_share = 1.0 / claims;
        terms.statistics_pull = 0.1;
        run_rounds(2, 120, 40, 3, terms);
        const float base = read_base(&nodes[0].replica, FIRST);
        if (!is_near(base, 1.5f, 0.05f))
            fail_msg("share 1/%d: %g", claims, (double)base);
        assert_true(is_near(read_trained(&nodes[0].replica, FIRST), 1, 0.01f));
        end(2);
    }
}

static void the_trained_statistic_stays_the_nodes_own(void **state)
{
    (void)state;
    begin(2);
    nodes[0].mean[0] = 1;
    nodes[1].mean[0] = -1;
    run_rounds(2, 10, 40, 1, terms_of(2, 0.001f));
    assert_true(is_near(read_trained(&nodes[0].replica, FIRST), 1, 0.1f));
    assert_true(is_near(read_trained(&nodes[1].replica, FIRST), -1, 0.1f));
    replica_reset_statistics(&nodes[0].replica);
    assert_true(is_near(read_trained(&nodes[0].replica, FIRST), 0, 0.1f));
    end(2);
}

/* Node 1 does not train, like a node whose batch norms are frozen. */
static void an_untrained_statistic_follows_the_base(void **state)
{
    (void)state;
    begin(2);
    nodes[0].mean[0] = 5;
    nodes[0].mean[1] = 7;
    struct publish_terms terms = terms_of(2, 0.001f);
    for (int round = 0; round < 20; round++) {
        train(&nodes[0], 30);
        publish(&nodes[0], &terms, round);
        apply_due(2, 1, round);
    }
    for (size_t s = 0; s < STATISTICS; s++) {
        const float base = read_base(&nodes[1].replica, FIRST + s);
        assert_true(base > 1.5f);
        assert_true(is_near(read_trained(&nodes[1].replica, FIRST + s), base, 0.001f));
    }
    end(2);
}

static void a_share_of_0_holds_statistics_back(void **state)
{
    (void)state;
    begin(1);
    nodes[0].mean[0] = nodes[0].mean[1] = 100;
    struct publish_terms terms = terms_of(1, 0);
    terms.statistics_share = 0;
    train(&nodes[0], 100);
    set_trained(&nodes[0].replica, 0, start[0] + 0.25f);
    publish(&nodes[0], &terms, 0);
    assert_true(read_base(&nodes[0].replica, FIRST) == start[FIRST]);
    /* The threshold is that of the weights. */
    assert_true(nodes[0].replica.published.tau < 0.26f);
    assert_true(read_base(&nodes[0].replica, 0) > start[0]);
    terms.statistics_share = 1;
    publish(&nodes[0], &terms, 0);
    assert_true(read_base(&nodes[0].replica, FIRST) > start[FIRST]);
    end(1);
}

static void statistics_in_parts_are_the_callers_memory(void **state)
{
    struct weights_part parts[3];
    static const size_t firsts[] = {0, FIRST, FIRST + STATISTICS, P};
    (void)state;
    begin(1);
    for (int i = 0; i < 3; i++) {
        const size_t count = firsts[i + 1] - firsts[i];
        parts[i] = (struct weights_part){.at = backend->alloc(backend, count * sizeof(float)),
                                         .first = firsts[i],
                                         .count = count};
    }
    replica_place_weights(&nodes[0].replica, (struct weights){.part = parts, .parts = 3});
    const float moved[STATISTICS] = {0.5f, 1.5f};
    backend->upload(backend, parts[1].at, moved, sizeof moved);
    struct publish_terms terms = terms_of(1, SMALLEST);
    /* 127 levels of the smallest threshold are less than the movement, so the threshold starts
     * larger. */
    for (int i = 0; i < 12; i++) {
        terms.tau = 0.01f / (float)(1 << i);
        (void)replica_publish(&nodes[0].replica, &terms);
    }
    for (size_t s = 0; s < STATISTICS; s++)
        assert_true(is_near(read_base(&nodes[0].replica, FIRST + s), moved[s], 0.001f));
    float weights[P];
    replica_read_weights(&nodes[0].replica, weights);
    assert_memory_equal(&weights[FIRST], moved, sizeof moved);
    end(1);
    for (int i = 0; i < 3; i++)
        backend->free(backend, parts[i].at);
}

static void a_restored_statistic_is_the_nodes_own(void **state)
{
    (void)state;
    begin(2);
    nodes[0].mean[0] = 1;
    nodes[1].mean[0] = -1;
    run_rounds(2, 10, 40, 1, terms_of(2, 0.001f));
    int32_t base[P];
    float weights[P];
    struct learner_state saved = {.base = base, .weights = weights, .parameters = P};
    replica_save(&nodes[0].replica, &saved);
    const float own = read_trained(&nodes[0].replica, FIRST);
    assert_true(weights[FIRST] == own);
    nodes[0].mean[0] = 3;
    train(&nodes[0], 10);
    replica_restore(&nodes[0].replica, &saved);
    assert_true(read_trained(&nodes[0].replica, FIRST) == own);
    set_trained(&nodes[0].replica, FIRST, own + 0.5f);
    const struct publish_terms terms = terms_of(2, 0.01f);
    /* The movement since the restore is published, the distance from the base is not. */
    (void)replica_publish(&nodes[0].replica, &terms);
    assert_true(is_near(read_base(&nodes[0].replica, FIRST), 0.25f, 0.02f));
    end(2);
}

/* After a restart, statistics follow own updates that come back and updates of other nodes, in any
 * order. */
static void replayed_updates_count_once(void **state)
{
    (void)state;
    for (int own_is_last = 0; own_is_last < 2; own_is_last++) {
        begin(2);
        int32_t base[P];
        float weights[P];
        struct learner_state saved = {.base = base, .weights = weights, .parameters = P};
        replica_save(&nodes[0].replica, &saved);
        nodes[0].mean[0] = nodes[1].mean[0] = 5;
        run_rounds(2, 6, 60, 0, terms_of(2, 0.05f));
        replica_restore(&nodes[0].replica, &saved);
        for (int turn = 0; turn < 2; turn++)
            for (int i = 0; i < 6; i++) {
                const int from = (turn + own_is_last) % 2;
                (from == 0 ? replica_apply_own : replica_apply)(&nodes[0].replica,
                                                                &nodes[from].queue[i].update, 0.3f);
            }
        assert_true(replica_digest(&nodes[0].replica) == replica_digest(&nodes[1].replica));
        run_rounds(2, 20, 60, 1, terms_of(2, 0.001f));
        assert_true(is_near(read_base(&nodes[0].replica, FIRST), 5, 0.03f));
        end(2);
    }
}

/* Returns the mean over the last rounds of a base whose right value is 0.5, which is less than
 * STATISTIC_FAR from both nodes' statistics. */
static double mean_with_resets(void (*reset)(struct replica *), bool applies_between)
{
    struct publish_terms terms = terms_of(2, 0.001f);
    double sum = 0;
    terms.statistics_pull = 0.03;
    begin(2);
    nodes[0].mean[0] = 1.25f;
    nodes[1].mean[0] = -0.25f;
    for (int round = 0; round < 240; round++) {
        run_rounds(2, 1, 40, 0, terms);
        if (round % 20 == 0) {
            reset(&nodes[0].replica);
            train(&nodes[1], 40);
            publish(&nodes[1], &terms, 0);
            if (applies_between)
                apply_due(2, 0, 0);
        }
        if (round >= 120)
            sum += (double)read_base(&nodes[0].replica, FIRST) / 120;
    }
    end(2);
    return sum;
}

static void reset_twice(struct replica *replica)
{
    replica_reset_statistics(replica);
    replica_reset_statistics(replica);
}

static void revert(struct replica *replica)
{
    (void)replica_reset_to_base(replica);
}

/* Saves and restores, as a restart does. */
static void restart(struct replica *replica)
{
    int32_t base[P];
    float weights[P];
    struct learner_state saved = {.base = base, .weights = weights, .parameters = P};
    replica_save(replica, &saved);
    replica_restore(replica, &saved);
}

static void repeated_resets_do_not_shift_the_mean(void **state)
{
    void (*const resets[])(struct replica *) = {replica_reset_statistics, reset_twice, revert,
                                                restart};
    (void)state;
    for (size_t r = 0; r < sizeof resets / sizeof *resets; r++)
        for (int applies = 0; applies < 2; applies++) {
            const double mean = mean_with_resets(resets[r], applies == 1);
            if (fabs(mean - 0.5) > 0.09)
                fail_msg("reset %zu, applies %d: %g", r, applies, mean);
        }
}

/* Statistics are reset while they are held back (statistics_share is 0), as in a settle. */
static void a_reset_keeps_the_movement(void **state)
{
    (void)state;
    begin(1);
    nodes[0].mean[0] = 100;
    struct publish_terms terms = terms_of(1, 0.05f);
    terms.statistics_share = 0;
    train(&nodes[0], 100);
    publish(&nodes[0], &terms, 0);
    replica_reset_statistics(&nodes[0].replica);
    assert_true(is_near(read_trained(&nodes[0].replica, FIRST), 100, 0.01f));
    terms.statistics_share = 1;
    for (int i = 0; i < 10; i++)
        publish(&nodes[0], &terms, 0);
    assert_true(is_near(read_base(&nodes[0].replica, FIRST), 100, 0.05f));
    end(1);
}

static void an_update_says_if_a_statistic_needs_more(void **state)
{
    (void)state;
    struct publish_terms terms = terms_of(1, 0);
    terms.beta = 0;
    begin(1);
    struct replica *replica = &nodes[0].replica;
    for (size_t entry = 0; entry < P; entry++) { /* `entry` moves farther than an update carries */
        const bool is_statistic = entry >= FIRST && entry < FIRST + STATISTICS;
        int publications = 0;
        set_trained(replica, entry, entry % 2 ? -30 : 30);
        while (replica_publish(replica, &terms)->needs_more)
            publications++;
        assert_true(is_statistic ? publications >= 3 : publications == 0);
        for (int i = 0; i < 100; i++)
            assert_false(replica_publish(replica, &terms)->needs_more && is_statistic);
        assert_true(is_near(read_base(replica, entry), entry % 2 ? -30 : 30, 0.05f));
    }
    end(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_with_one_mean_end_at_it),
        cmocka_unit_test(the_base_is_the_mean_of_unlike_nodes),
        cmocka_unit_test(the_same_weights_overshoot),
        cmocka_unit_test(the_pull_corrects_a_wrong_base_at_any_share),
        cmocka_unit_test(the_trained_statistic_stays_the_nodes_own),
        cmocka_unit_test(an_untrained_statistic_follows_the_base),
        cmocka_unit_test(a_share_of_0_holds_statistics_back),
        cmocka_unit_test(statistics_in_parts_are_the_callers_memory),
        cmocka_unit_test(a_restored_statistic_is_the_nodes_own),
        cmocka_unit_test(replayed_updates_count_once),
        cmocka_unit_test(repeated_resets_do_not_shift_the_mean),
        cmocka_unit_test(a_reset_keeps_the_movement),
        cmocka_unit_test(an_update_says_if_a_statistic_needs_more),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
