/* Each configuration key reaches its field in the options of the node or the learner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cuda/cuda_module.h"
#include "config/config_key.h"
#include "config/setup.h"
#include "support/config/config_story.h"

/* A key with a value other than the default, and the only field that it sets. */
struct way {
    const char *set;
    size_t at;
    size_t bytes;
};

#define TO(set_, of_, field_)                                                                      \
    {                                                                                              \
        .set = (set_), .at = offsetof(struct of_, field_),                                         \
        .bytes = sizeof(((struct of_ *)NULL)->field_)                                              \
    }

static const struct way to_node[] = {
    TO("node.advertise=192.0.2.7:9000", node_options, advertise),
    TO("node.peers=192.0.2.1:9000", node_options, seeds_count),
    TO("node.seed=7", node_options, seed),
    TO("node.grace_s=7", node_options, grace_ns),
    TO("node.save_s=7", node_options, save_ns),
    TO("train.enabled=no", node_options, trains),
    TO("train.momentum=0.7", node_options, momentum),
    TO("exchange.bytes_per_s=7000", node_options, bytes_per_s),
    TO("exchange.uplink_max=7000", node_options, uplink_max),
    TO("exchange.downlink_max=7000", node_options, downlink_max),
    TO("exchange.neighbour_max=7000", node_options, neighbour_max),
    TO("exchange.interval_s=7", node_options, interval_ns),
    TO("exchange.steps_min=7", node_options, steps_min),
    TO("exchange.tau=0.07", node_options, tau),
    TO("exchange.gain=7", node_options, gain),
    TO("exchange.beta=0.7", node_options, beta),
    TO("exchange.withheld=0.7", node_options, withheld),
    TO("exchange.weigh_throughput=no", node_options, weigh_throughput),
    TO("exchange.weight_max=7", node_options, limits.weight_max),
    TO("exchange.log_bytes=7M", node_options, log_bytes),
    TO("exchange.serve_bytes_per_s=7000", node_options, serve_bytes_per_s),
    TO("limits.peers=7", node_options, limits.peers_max),
    TO("limits.members=7", node_options, limits.members_max),
    TO("limits.incarnations=77", node_options, limits.incarnations_max),
    TO("limits.half_open=7", node_options, limits.half_open_max),
    TO("limits.half_open_per_net=7", node_options, limits.half_open_per_net_max),
    TO("limits.low_ports=yes", node_options, limits.low_ports),
    TO("node.quarantine=yes", node_options, limits.quarantines),
    TO("limits.handshake_s=7", node_options, limits.handshake_ns),
    TO("limits.silence_s=7", node_options, limits.silence_ns),
    TO("limits.send_queue_bytes=7M", node_options, limits.send_queue_bytes),
    TO("limits.notes_per_s=7", node_options, limits.notes_per_s),
};

static const struct way to_learner[] = {
    TO("model.seed=7", learner_options, model_seed),
    TO("data.seed=7", learner_options, data_seed),
    TO("train.batch=7", learner_options, batch),
    TO("train.batch=auto", learner_options, batch_max),
    TO("train.optimizer=adam", learner_options, optimizer.kind),
    TO("train.rate=0.7", learner_options, optimizer.sgd.rate),
    TO("train.momentum=0.7", learner_options, optimizer.sgd.momentum),
    TO("train.nesterov=yes", learner_options, optimizer.sgd.nesterov),
    TO("train.weight_decay=0.7", learner_options, optimizer.sgd.weight_decay),
    TO("train.beta2=0.7", learner_options, optimizer.beta2),
    TO("train.micro_batches=7", learner_options, micro_batches),
    TO("train.device=cuda:0,1", learner_options, micro_batches),
    TO("train.label_smoothing=0.7", learner_options, label_smoothing),
    TO("train.clip=0.7", learner_options, optimizer.clip),
    TO("train.schedule=cosine", learner_options, optimizer.schedule),
    TO("train.schedule=linear", learner_options, optimizer.schedule),
    TO("train.warmup_samples=7", learner_options, optimizer.warmup_samples),
    TO("train.period_samples=7", learner_options, optimizer.period_samples),
    TO("train.decay=0.7", learner_options, optimizer.decay),
    TO("train.evaluate_part=2/7", learner_options, test_from),
    TO("train.evaluate_part=1/7", learner_options, test_to),
    TO("exchange.density_max=0.7", learner_options, density_max),
};

#define COUNT(ways) (sizeof(ways) / sizeof((ways)[0]))

static void set(struct config *config, const char *assignment)
{
    config_defaults(config);
    if (assignment)
        must_set(config, assignment);
}

static void must_follow(const struct way *way, const void *before, const void *after)
{
    if (memcmp((const char *)before + way->at, (const char *)after + way->at, way->bytes) == 0)
        fail_msg("%s changes nothing", way->set);
}

static void exchange_settings_reach_the_node(void **state)
{
    (void)state;
    struct config plain, changed;
    set(&plain, NULL);
    const struct node_options before = setup_plain_options(&plain, 1000);
    for (size_t i = 0; i < COUNT(to_node); i++) {
        set(&changed, to_node[i].set);
        const struct node_options after = setup_plain_options(&changed, 1000);
        must_follow(&to_node[i], &before, &after);
    }
}

static void the_swarm_is_called_as_is_said(void **state)
{
    (void)state;
    struct config config;
    set(&config, "node.swarm=another");
    assert_string_equal(setup_plain_options(&config, 1000).swarm_id, "another");
}

static void times_are_in_nanoseconds(void **state)
{
    (void)state;
    struct config config;
    set(&config, "exchange.interval_s=0.25");
    assert_int_equal(setup_plain_options(&config, 1000).interval_ns, 250000000);
    set(&config, "exchange.interval_s=auto");
    assert_int_equal(setup_plain_options(&config, 1000).interval_ns, 0);
}

/* The momentum of Adam and LAMB is a mean, so it does not lengthen steps. */
static void only_momentum_that_adds_up_is_told_to_the_node(void **state)
{
    (void)state;
    static const char *const means[] = {"train.optimizer=adam", "train.optimizer=lamb"};
    struct config config;
    for (int i = 0; i < 2; i++) {
        set(&config, means[i]);
        assert_true(setup_plain_options(&config, 1000).momentum == 0);
    }
    set(&config, "train.optimizer=sgd");
    assert_true(setup_plain_options(&config, 1000).momentum == config.train.momentum);
    assert_true(config.train.momentum > 0);
}

static bool is_listed(const struct config_key *key)
{
    const size_t section = strlen(key->section);
    const struct way *const lists[] = {to_node, to_learner};
    const size_t counts[] = {COUNT(to_node), COUNT(to_learner)};
    for (size_t l = 0; l < COUNT(lists); l++)
        for (size_t i = 0; i < counts[l]; i++) {
            const char *set = lists[l][i].set;
            if (strncmp(set, key->section, section) == 0 && set[section] == '.' &&
                strcspn(set + section + 1, "=") == strlen(key->name) &&
                strncmp(set + section + 1, key->name, strlen(key->name)) == 0)
                return true;
        }
    return false;
}

/* A new key of these sections must be added to the list above. */
static void every_key_of_the_exchange_and_its_limits_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        const bool must =
            strcmp(key->section, "exchange") == 0 || strcmp(key->section, "limits") == 0;
        if (must && !is_listed(key))
            fail_msg("[%s] %s is not looked for in the options", key->section, key->name);
    }
}

static void training_settings_reach_the_learner(void **state)
{
    (void)state;
    struct config plain, changed;
    struct problem problem = {""};
    struct dataset train = {0}, test = {0};
    struct backend *backend;
    char device[DEVICE_TEXT_MAX];
    struct setup_model made;
    struct arena arena;
    set(&plain, "data.source=xor");
    assert_int_equal(setup_data(&plain, &train, &test, &problem), OK);
    assert_int_equal(config_set(&plain, "model.layers=dense 16, relu, dense 2", &problem), OK);
    assert_int_equal(device_open("cpu", 1, PRECISION_FP32, &backend, device, &problem), OK);
    arena_init(&arena, 64u << 20);
    if (setup_model(&plain, 4096, &train, &arena, backend, &made, &problem) != OK)
        fail_msg("%s", problem.text);

    /* tests/process/test_from_model.sh tests models with first weights from a file */
    assert_null(made.start);
    set(&plain, NULL);
    const struct learner_options before = setup_learner_options(&plain, &made, 0, 700);
    for (size_t i = 0; i < COUNT(to_learner); i++) {
        set(&changed, to_learner[i].set);
        const struct learner_options after = setup_learner_options(&changed, &made, 0, 700);
        must_follow(&to_learner[i], &before, &after);
    }
    /* Of two test samples, each of seven parts has one. Without test samples, parts are empty. */
    for (uint32_t i = 1; i <= 7; i++) {
        char part[32];
        (void)snprintf(part, sizeof part, "train.evaluate_part=%u/7", (unsigned)i);
        set(&changed, part);
        const struct learner_options of_two = setup_learner_options(&changed, &made, 0, 2);
        assert_int_equal(of_two.test_to, of_two.test_from + 1);
        assert_true(of_two.test_to <= 2);
        assert_int_equal(setup_learner_options(&changed, &made, 0, 0).test_to, 0);
    }
    const float start[] = {0};
    made.start = start;
    assert_ptr_equal(setup_learner_options(&plain, &made, 0, 700).start, start);
    model_free(made.model);
    backend->close(backend);
    arena_release(&arena);
    dataset_free(&train);
    dataset_free(&test);
}

/* Sequences: the configured files are loaded. Settings that other nodes must share follow from
 * them. */

struct text_file {
    char path[64];
    char setting[96]; /* assignment that names the file */
};

/* Writes `count` bytes that alternate between 0 and `odd`. Read as tokens of two bytes, all tokens
 * are 256 * odd. */
static struct text_file text_of(size_t count, char odd, const char *key)
{
    struct text_file text = {.path = "/tmp/hearsay-setup-XXXXXX"};
    const int file = mkstemp(text.path);
    assert_true(file >= 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(write(file, i % 2 ? &odd : "\0", 1), 1);
    assert_int_equal(close(file), 0);
    (void)snprintf(text.setting, sizeof text.setting, "%s=%s", key, text.path);
    return text;
}

static void sequences_are_loaded_as_is_said(void **state)
{
    (void)state;
    static const char *const sources[][4] = {
        {"data.source=text", "data.text", "embed 256 4, logits tied",
         "20 bytes, layout 2: embed 256 4, "},
        {"data.source=tokens", "data.tokens", "embed 513 4, logits",
         "20 tokens, layout 2: embed 513 4, "}};
    for (size_t i = 0; i < 2; i++) {
        struct config config;
        struct problem problem = {""};
        struct dataset train = {0}, test = {0};
        struct setup_model made;
        struct arena arena;
        struct backend *backend = backend_cpu(1);
        const struct text_file learned = text_of(1000, 1, sources[i][1]);
        const struct text_file tested = text_of(402, 2, "data.valid");
        set(&config, sources[i][0]);
        (void)snprintf(config.model.layers, sizeof config.model.layers, "%s", sources[i][2]);
        assert_int_equal(config_set(&config, "data.context=20", &problem), OK);
        assert_int_equal(config_set(&config, learned.setting, &problem), OK);
        assert_int_equal(config_set(&config, tested.setting, &problem), OK);
        if (setup_data(&config, &train, &test, &problem) != OK)
            fail_msg("%s", problem.text);
        assert_int_equal(train.count, 1000 / train.token_bytes / 20 - 1);
        assert_int_equal(test.count, (402 / test.token_bytes - 1) / 20);
        /* the training data have the classes of training and test data together */
        assert_int_equal(train.classes, i ? 513 : 256);
        arena_init(&arena, 64u << 20);
        if (setup_model(&config, 8, &train, &arena, backend, &made, &problem) != OK)
            fail_msg("%s", problem.text);
        if (strncmp(made.description, sources[i][3], strlen(sources[i][3])) != 0)
            fail_msg("described as %s", made.description);
        model_free(made.model);
        backend->close(backend);
        arena_release(&arena);
        dataset_free(&train);
        dataset_free(&test);
        assert_int_equal(unlink(learned.path), 0);
        assert_int_equal(unlink(tested.path), 0);
    }
}

/* A hundred long sequences of wide layers would take gigabytes of memory. */
static void fewer_sequences_than_images_are_evaluated_at_once(void **state)
{
    (void)state;
    const struct shape image = {1, 28, 28, 0}, tokens = {1, 1, 1, 1024}, few = {1, 1, 1, 8};
    assert_int_equal(setup_evaluation_batch("dense 50257", image, 50257), 100);
    assert_int_equal(setup_evaluation_batch("embed 9 2, logits tied", few, 9), 100);
    assert_int_equal(setup_evaluation_batch("embed 9 99999, norm, logits", tokens, 9), 1);
    const uint32_t some = setup_evaluation_batch("embed 999 8, logits tied", tokens, 999);
    assert_true(some > 10 && some < 100);
}

/* A configured batch of 1 does not become automatic. A model of long sequences may fit in memory
 * only with one sample. */
static void a_batch_that_was_named_stays_however_small(void **state)
{
    (void)state;
    struct config config;
    struct arena arena;
    struct model *model = NULL;
    struct problem problem;
    arena_init(&arena, 4096);
    assert_int_equal(model_new(&model, &arena, NULL, "embed 9 4, norm, logits",
                               (struct shape){1, 1, 1, 8}, 9, 1, &problem),
                     OK);
    set(&config, "train.batch=1");
    assert_int_equal(setup_batch_size(&config, model).step_ns, 0);
    model_free(model);
    arena_release(&arena);
}

static void all_of_a_small_model_may_be_in_one_publication(void **state)
{
    (void)state;
    struct config config;
    set(&config, NULL);
    assert_int_equal(setup_density_max(&config, 5), 5);
    assert_int_equal(setup_density_max(&config, 16384), 16384);
    assert_int_equal(setup_density_max(&config, 100000), 16384);
    assert_int_equal(setup_density_max(&config, 1000000), 100000);
    set(&config, "exchange.density_max=0.5");
    assert_int_equal(setup_density_max(&config, 5000), 2500);
    assert_int_equal(setup_density_max(&config, 1), 1);
}

static void a_learner_of_a_large_model_is_given_as_much_as_ten_others_publish(void **state)
{
    (void)state;
    struct config config;
    set(&config, NULL);
    assert_int_equal(setup_plain_options(&config, 1000).limits.apply_window, RUMOR_ENTRIES_MAX);
    assert_int_equal(setup_plain_options(&config, 160000000).limits.apply_window, 10000000);
}

static void assert_precision(const char *capability, const char *assignment,
                             enum precision precision)
{
    struct config config;
    set(&config, assignment);
    assert_int_equal(setenv("CUDA_ON_CPU_CAPABILITY", capability, 1), 0);
    assert_int_equal(setup_precision(&config), precision);
    assert_int_equal(unsetenv("CUDA_ON_CPU_CAPABILITY"), 0);
}

static void a_cpu_multiplies_in_float32(void **state)
{
    (void)state;
    assert_precision("9", "train.device=cpu", PRECISION_FP32);
    /* a node that only relays uses no GPU by default */
    assert_precision("9", "train.enabled=no", PRECISION_FP32);
    assert_precision("9", "train.device=cuda:99", PRECISION_FP32);
    assert_precision("9", "train.precision=tf32", PRECISION_TF32);
    if (cuda_module()->devices() == 0)
        assert_precision("9", "data.source=text", PRECISION_FP32);
}

/* The stand-in for CUDA reads its compute capability from the environment. */
static void a_gpu_multiplies_as_fast_as_it_can_and_the_layers_gain(void **state)
{
    (void)state;
    if (!getenv("HEARSAY_CUDA"))
        skip();
    assert_precision("7", "data.source=text", PRECISION_FP32);
    assert_precision("8", "data.source=text", PRECISION_BF16);
    assert_precision("9", "data.source=tokens", PRECISION_BF16);
    assert_precision("9", "model.name=gpt-mini", PRECISION_BF16);
    assert_precision("9", "model.name=lenet", PRECISION_TF32);
    assert_precision("9", "model.layers=dense 1023, relu, dense 10", PRECISION_TF32);
    assert_precision("9", "model.layers=2 * (Dense 1024, relu), dense 10", PRECISION_BF16);
    assert_precision("9", "model.name=none", PRECISION_TF32);
    assert_precision("9", "train.device=cuda:0", PRECISION_TF32);
    assert_precision("7", "model.layers=dense 4096, relu, dense 10", PRECISION_FP32);
    /* opening the device will reject this precision */
    assert_precision("7", "train.precision=bf16", PRECISION_BF16);
}

/* GPT-2's samples have 1,024 tokens. */
static void the_automatic_batch_follows_the_free_memory_of_a_gpu(void **state)
{
    (void)state;
    struct config config;
    const struct dataset train = {
        .shape = {1, 1, 1, 1024}, .classes = 50257, .tokens_count = 1 << 20, .token_bytes = 2};
    const size_t gib = (size_t)1 << 30;
    config_defaults(&config);
    must_set(&config, "train.batch=auto");
    must_set(&config, "model.name=gpt2-124m");
    config.train.optimizer = OPTIMIZER_ADAM;
    assert_int_equal(setup_batch_max(&config, &train, 0), BATCH_SIZE_MIN);
    assert_int_equal(setup_batch_max(&config, &train, gib), BATCH_SIZE_MIN);
    assert_int_equal(setup_batch_max(&config, &train, 40 * gib), 2 * BATCH_SIZE_MIN);
    assert_int_equal(setup_batch_max(&config, &train, 80 * gib), 4 * BATCH_SIZE_MIN);
    must_set(&config, "train.batch_bytes=1M");
    assert_int_equal(setup_batch_max(&config, &train, 80 * gib), BATCH_SIZE_MIN);
    must_set(&config, "train.batch=77");
    assert_int_equal(setup_batch_max(&config, &train, 80 * gib), 77);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(a_learner_of_a_large_model_is_given_as_much_as_ten_others_publish),
        cmocka_unit_test(all_of_a_small_model_may_be_in_one_publication),
        cmocka_unit_test(exchange_settings_reach_the_node),
        cmocka_unit_test(the_swarm_is_called_as_is_said),
        cmocka_unit_test(times_are_in_nanoseconds),
        cmocka_unit_test(only_momentum_that_adds_up_is_told_to_the_node),
        cmocka_unit_test(every_key_of_the_exchange_and_its_limits_is_listed),
        cmocka_unit_test(training_settings_reach_the_learner),
        cmocka_unit_test(sequences_are_loaded_as_is_said),
        cmocka_unit_test(fewer_sequences_than_images_are_evaluated_at_once),
        cmocka_unit_test(a_batch_that_was_named_stays_however_small),
        cmocka_unit_test(the_automatic_batch_follows_the_free_memory_of_a_gpu),
        cmocka_unit_test(a_cpu_multiplies_in_float32),
        cmocka_unit_test(a_gpu_multiplies_as_fast_as_it_can_and_the_layers_gain),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
