/* Shards: no sample is lost or repeated. Each node gets its part, of all classes or of few. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/shards.h"
#include "support/model/data_folder.h"

#define COUNT   2000
#define CLASSES 10
#define NODES   10

static uint8_t pixels[COUNT][2];
static int32_t labels[COUNT];

/* Makes samples of two pixels, which encode the sample's number. */
static struct dataset whole_of(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pixels[i][0] = (uint8_t)(i >> 8);
        pixels[i][1] = (uint8_t)i;
        labels[i] = (int32_t)(i % CLASSES);
    }
    return (struct dataset){.pixels = pixels[0],
                            .labels = labels,
                            .count = count,
                            .shape = {1, 1, 2, 0},
                            .classes = CLASSES,
                            .mean = 3,
                            .scale = 0.25f};
}

static struct shards cut(const struct dataset *whole, uint32_t nodes, const double *weights,
                         double alpha, uint64_t seed)
{
    const struct shards_options options = {
        .nodes = nodes, .weights = weights, .alpha = alpha, .seed = seed};
    struct shards shards;
    struct problem problem;
    assert_int_equal(shards_cut(&shards, whole, &options, &problem), OK);
    return shards;
}

static struct dataset take(const struct shards *shards, const struct dataset *whole, uint32_t node)
{
    struct dataset shard;
    struct problem problem;
    assert_int_equal(shards_take(shards, whole, node, &shard, &problem), OK);
    return shard;
}

static const double EQUAL[NODES] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3};

static void equal_weights_give_the_shards_that_daemons_load(void **state)
{
    (void)state;
    struct dataset_options options = {
        .source = DATASET_GENERATED, .seed = 5, .train_count = 100, .shards = 1};
    struct dataset whole;
    struct problem problem;
    assert_int_equal(dataset_load_train(&whole, &options, &problem), OK);
    static const uint32_t counts[] = {1, 3, 7, 10, 100};
    double equal[100]; /* values whose sums are not exact */
    for (int i = 0; i < 100; i++)
        equal[i] = 0.3;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct shards shards = cut(&whole, counts[i], equal, 0, 5);
        options.shards = counts[i];
        for (options.shard = 0; options.shard < options.shards; options.shard++) {
            struct dataset loaded, taken = take(&shards, &whole, options.shard);
            assert_int_equal(dataset_load_train(&loaded, &options, &problem), OK);
            assert_int_equal(taken.count, loaded.count);
            assert_memory_equal(taken.labels, loaded.labels, loaded.count * sizeof *loaded.labels);
            assert_memory_equal(taken.pixels, loaded.pixels,
                                loaded.count * shape_size(loaded.shape));
            assert_memory_equal(&taken.shape, &loaded.shape, sizeof loaded.shape);
            assert_int_equal(taken.classes, loaded.classes);
            assert_true(taken.mean == loaded.mean && taken.scale == loaded.scale);
            dataset_free(&taken);
            dataset_free(&loaded);
        }
        shards_free(&shards);
    }
    dataset_free(&whole);
}

static void every_sample_goes_to_exactly_one_node(void **state)
{
    (void)state;
    static const double uneven[NODES] = {1, 2, 3.5, 0, 0.5, 10, 1e-9, 0.1, 7, 1};
    static const double alphas[] = {0, 0.001, 0.1, 1, 100};
    const struct dataset whole = whole_of(COUNT);
    for (int i = 0; i < 10; i++) {
        struct shards shards = cut(&whole, NODES, i % 2 ? uneven : EQUAL, alphas[i / 2], 7);
        uint32_t seen[COUNT] = {0}, all = 0;
        for (uint32_t node = 0; node < NODES; node++) {
            if (shards.sizes[node] == 0) {
                assert_true(i % 2 && uneven[node] == 0);
                continue;
            }
            assert_true(i % 2 == 0 || uneven[node] > 0);
            struct dataset shard = take(&shards, &whole, node);
            assert_int_equal(shard.count, shards.sizes[node]);
            assert_true(shard.mean == 3 && shard.scale == 0.25f && shard.classes == CLASSES);
            for (uint32_t s = 0; s < shard.count; s++) {
                const uint32_t number = shard.pixels[2 * s] * 256u + shard.pixels[2 * s + 1];
                assert_int_equal(shard.labels[s], number % CLASSES);
                seen[number]++;
            }
            all += shard.count;
            dataset_free(&shard);
        }
        assert_int_equal(all, COUNT);
        for (uint32_t s = 0; s < COUNT; s++)
            assert_int_equal(seen[s], 1);
        shards_free(&shards);
    }
}

static void without_skew_weights_are_honoured_to_one_sample(void **state)
{
    (void)state;
    static const double weights[] = {1, 2, 3.5, 0, 0.5};
    /* differences of the cumulative shares, rounded down: 142.9, 428.6, 928.6, 928.6, 1000 */
    static const uint32_t sizes[] = {142, 286, 500, 0, 72};
    const struct dataset whole = whole_of(1000);
    struct shards shards = cut(&whole, 5, weights, 0, 1);
    for (int node = 0; node < 5; node++)
        assert_int_equal(shards.sizes[node], sizes[node]);
    shards_free(&shards);
}

static void every_shard_has_a_sample(void **state)
{
    (void)state;
    static const double little[] = {1e-9, 5, 0, 1e-9, 4};
    const struct dataset ten = whole_of(10);
    struct shards shards = cut(&ten, 5, little, 0, 1);
    /* In proportion to the weights, the sizes are 0, 5, 0, 0, 5. Nodes 0 and 3 then take a sample
     * from node 1 and from node 4. */
    static const uint32_t sizes[] = {1, 4, 0, 1, 4};
    for (int node = 0; node < 5; node++)
        assert_int_equal(shards.sizes[node], sizes[node]);
    shards_free(&shards);
    for (uint64_t seed = 0; seed < 20; seed++) {
        shards = cut(&ten, NODES, EQUAL, 0.01, seed);
        for (int node = 0; node < NODES; node++)
            assert_int_equal(shards.sizes[node], 1);
        shards_free(&shards);
    }
}

static void count_labels(const struct shards *shards, uint32_t of[NODES][CLASSES])
{
    memset(of, 0, NODES * sizeof of[0]);
    for (uint32_t i = 0; i < shards->count; i++)
        of[shards->owner[i]][labels[i]]++;
}

/* Returns how many classes contain nine tenths of a node's samples. */
static int main_classes(const uint32_t of[CLASSES])
{
    uint32_t left[CLASSES], all = 0, sum = 0;
    memcpy(left, of, sizeof left);
    for (int c = 0; c < CLASSES; c++)
        all += left[c];
    int classes = 0;
    for (; sum * 10 < all * 9; classes++) {
        int most = 0;
        for (int c = 1; c < CLASSES; c++)
            most = left[c] > left[most] ? c : most;
        sum += left[most];
        left[most] = 0;
    }
    return classes;
}

static void a_small_alpha_gives_each_node_few_classes(void **state)
{
    (void)state;
    const struct dataset whole = whole_of(COUNT);
    double classes[3] = {0};
    static const double alphas[3] = {0.05, 1, 1000};
    for (int a = 0; a < 3; a++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            uint32_t of[NODES][CLASSES];
            struct shards shards = cut(&whole, NODES, EQUAL, alphas[a], seed);
            count_labels(&shards, of);
            for (int node = 0; node < NODES; node++)
                classes[a] += main_classes(of[node]) / 200.0;
            shards_free(&shards);
        }
    print_message("main classes per node: %.1f %.1f %.1f\n", classes[0], classes[1], classes[2]);
    assert_true(classes[0] < 2.5);
    assert_true(classes[1] > 4 && classes[1] < 8);
    assert_true(classes[2] > 8.9);
}

static void a_large_alpha_gives_each_node_its_part_of_every_class(void **state)
{
    (void)state;
    static const double weights[NODES] = {4, 2, 2, 2, 2, 2, 2, 2, 1, 1};
    const struct dataset whole = whole_of(COUNT);
    uint32_t of[NODES][CLASSES];
    struct shards shards = cut(&whole, NODES, weights, 1e6, 3);
    count_labels(&shards, of);
    for (int node = 0; node < NODES; node++)
        for (int c = 0; c < CLASSES; c++) /* a class has 200 samples */
            assert_true(fabs(of[node][c] - 10 * weights[node]) <= 1);
    shards_free(&shards);
}

/* A part of a Dirichlet distribution with mean m has variance m (1 - m) / (c + 1), where c is the
 * sum of the distribution's parameters. */
static void the_parts_have_mean_and_variance_of_their_distribution(void **state)
{
    (void)state;
    enum { SEEDS = 1000, PARTS = 4 };
    static const double weights[PARTS] = {4, 3, 2, 1};
    static const double alphas[] = {0.05, 0.5, 3};
    const struct dataset whole = whole_of(COUNT);
    for (int a = 0; a < 3; a++) {
        double sum[PARTS] = {0}, squares[PARTS] = {0};
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            uint32_t of[NODES][CLASSES];
            struct shards shards = cut(&whole, PARTS, weights, alphas[a], seed);
            count_labels(&shards, of);
            shards_free(&shards);
            for (int i = 0; i < PARTS * CLASSES; i++) {
                const double part = of[i / CLASSES][i % CLASSES] / (double)(COUNT / CLASSES);
                sum[i / CLASSES] += part;
                squares[i / CLASSES] += part * part;
            }
        }
        for (int i = 0; i < PARTS; i++) {
            const double expected = weights[i] / 10;
            const double spread = expected * (1 - expected) / (alphas[a] * PARTS + 1);
            const double mean = sum[i] / (SEEDS * CLASSES);
            const double variance = squares[i] / (SEEDS * CLASSES) - mean * mean;
            assert_true(fabs(mean - expected) < 0.02);
            assert_true(fabs(variance - spread) < 0.06 * spread);
        }
    }
}

static void the_seed_alone_decides(void **state)
{
    (void)state;
    const struct dataset whole = whole_of(COUNT);
    for (int skewed = 0; skewed < 2; skewed++) {
        struct shards one = cut(&whole, NODES, EQUAL, 0.5 * skewed, 1);
        struct shards same = cut(&whole, NODES, EQUAL, 0.5 * skewed, 1);
        struct shards other = cut(&whole, NODES, EQUAL, 0.5 * skewed, 2);
        assert_memory_equal(one.owner, same.owner, COUNT * sizeof *one.owner);
        assert_memory_not_equal(one.owner, other.owner, COUNT * sizeof *one.owner);
        shards_free(&one);
        shards_free(&same);
        shards_free(&other);
    }
}

static void more_nodes_than_samples_are_refused(void **state)
{
    (void)state;
    static const double weights[] = {1, 0, 1, 1, 1};
    const struct shards_options options = {.nodes = 5, .weights = weights};
    struct problem problem;
    struct shards shards;
    struct dataset whole = whole_of(3);
    assert_int_equal(shards_cut(&shards, &whole, &options, &problem), MISMATCH);
    assert_string_equal(problem.text, "3 samples cannot be cut into 4 shards; use at most 3 nodes "
                                      "that train, or more samples");
    whole = whole_of(4);
    shards = cut(&whole, 5, weights, 0, 0);
    shards_free(&shards);
}

#define TOKENS 5003

static uint16_t tokens[TOKENS];

static struct dataset sequences_of(int context)
{
    for (uint32_t i = 0; i < TOKENS; i++)
        tokens[i] = (uint16_t)i;
    return (struct dataset){.tokens = tokens,
                            .tokens_count = TOKENS,
                            .token_bytes = 2,
                            .count = (uint32_t)(TOKENS / context - 1),
                            .shape = {1, 1, 1, context},
                            .classes = TOKENS,
                            .scale = 1};
}

static void equal_weights_give_the_stretches_that_daemons_load(void **state)
{
    (void)state;
    const struct dataset all = sequences_of(8);
    write_data("a.bin", tokens, sizeof tokens);
    const struct data_path path = data_path("a.bin");
    struct dataset_options options = {
        .source = DATASET_TOKENS, .files = path.text, .context = 8, .shards = 1};
    struct dataset whole;
    struct problem problem;
    assert_int_equal(dataset_load_train(&whole, &options, &problem), OK);
    assert_true(whole.tokens_count < all.tokens_count); /* a tenth of the tokens is for the test */
    static const uint32_t counts[] = {1, 3, 7, 10, 100};
    double equal[100];
    for (int i = 0; i < 100; i++)
        equal[i] = 0.3;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct shards shards = cut(&whole, counts[i], equal, 0, 5);
        options.shards = counts[i];
        for (options.shard = 0; options.shard < options.shards; options.shard++) {
            struct dataset loaded, taken = take(&shards, &whole, options.shard);
            assert_int_equal(dataset_load_train(&loaded, &options, &problem), OK);
            assert_int_equal(taken.tokens_count, loaded.tokens_count);
            assert_int_equal(taken.count, loaded.count);
            assert_int_equal(taken.count, shards.sizes[options.shard]);
            assert_memory_equal(taken.tokens, loaded.tokens, 2 * loaded.tokens_count);
            assert_int_equal(taken.shape.length, 8);
            assert_int_equal(taken.classes, loaded.classes);
            dataset_free(&taken);
            dataset_free(&loaded);
        }
        shards_free(&shards);
    }
    dataset_free(&whole);
}

static void stretches_follow_each_other_by_weight(void **state)
{
    (void)state;
    static const double weights[] = {1, 2, 0, 3.5, 0.5, 0};
    /* 5003 · weight / 7, rounded so that the sum is 5003 */
    static const size_t counts[] = {714, 1430, 0, 2501, 358, 0};
    const struct dataset whole = sequences_of(16);
    struct shards shards = cut(&whole, 6, weights, 0, 1);
    size_t next = 0;
    for (uint32_t node = 0; node < 6; node++) {
        assert_int_equal(shards.sizes[node], counts[node] ? counts[node] / 16 - 1 : 0);
        if (counts[node] == 0)
            continue;
        struct dataset shard = take(&shards, &whole, node);
        assert_int_equal(shard.tokens_count, counts[node]);
        assert_memory_equal(shard.tokens, tokens + next, 2 * counts[node]);
        next += shard.tokens_count;
        dataset_free(&shard);
    }
    assert_int_equal(next, TOKENS);
    shards_free(&shards);
}

static void skewed_or_short_sequences_are_refused(void **state)
{
    (void)state;
    static const double little[] = {1, 0, 0.001, 1};
    struct shards_options options = {.nodes = 4, .weights = little, .alpha = 0.5};
    const struct dataset whole = sequences_of(16);
    struct problem problem;
    struct shards shards;
    assert_int_equal(shards_cut(&shards, &whole, &options, &problem), MISMATCH);
    assert_non_null(strstr(problem.text, "skew: sequences have no labels to be skewed by; set"));
    options.alpha = 0;
    assert_int_equal(shards_cut(&shards, &whole, &options, &problem), MISMATCH);
    assert_non_null(strstr(problem.text, "the shard of node 3 of 4 has 2 tokens, and with a "
                                         "context of 16 at least 32 are needed; take fewer"));
}

static void four_samples_for_all_are_whole_with_everybody_who_wants_some(void **state)
{
    (void)state;
    const double weights[NODES] = {1, 0, 2, 1, 1, 1, 1, 1, 1, 1};
    const struct shards_options options = {.nodes = NODES, .weights = weights, .is_whole = true};
    const struct dataset whole = whole_of(4);
    struct problem problem;
    struct shards shards;
    assert_int_equal(shards_cut(&shards, &whole, &options, &problem), OK);
    assert_true(shards.sizes[0] == 4 && shards.sizes[1] == 0 && shards.sizes[2] == 4);
    struct dataset shard = take(&shards, &whole, 2);
    assert_int_equal(shard.count, 4);
    assert_memory_equal(shard.pixels, whole.pixels, 8);
    assert_memory_equal(shard.labels, whole.labels, 4 * sizeof *whole.labels);
    dataset_free(&shard);
    shards_free(&shards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_weights_give_the_shards_that_daemons_load),
        cmocka_unit_test(every_sample_goes_to_exactly_one_node),
        cmocka_unit_test(without_skew_weights_are_honoured_to_one_sample),
        cmocka_unit_test(every_shard_has_a_sample),
        cmocka_unit_test(a_small_alpha_gives_each_node_few_classes),
        cmocka_unit_test(a_large_alpha_gives_each_node_its_part_of_every_class),
        cmocka_unit_test(the_parts_have_mean_and_variance_of_their_distribution),
        cmocka_unit_test(the_seed_alone_decides),
        cmocka_unit_test(more_nodes_than_samples_are_refused),
        cmocka_unit_test(four_samples_for_all_are_whole_with_everybody_who_wants_some),
        IN_DATA_FOLDER(equal_weights_give_the_stretches_that_daemons_load),
        cmocka_unit_test(stretches_follow_each_other_by_weight),
        cmocka_unit_test(skewed_or_short_sequences_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
