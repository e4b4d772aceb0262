#include "config/setup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/initial_weights.h"
#include "config/shared_settings.h"
#include "crypto/secret.h"
#include "frame/bytes.h"
#include "node/swarm_keys.h"
#include "state/model_folder.h"
#include "wire/block.h"
#include "wire/model_parts.h"

/* Two parts of a swarm that trained separately for more seconds than this merge as after a
 * partition (partition.c). */
#define PARTITION_S 30
#define DENSITY_MAX 0.1 /* automatic maximum part of the parameters in a publication */
/* The automatic maximum always allows this many entries in a publication. */
#define DENSITY_ENTRIES   16384.0
#define EVALUATED_SAMPLES 2000  /* samples per evaluation if evaluate_part is auto */
#define EVALUATED_TOKENS  32768 /* tokens per evaluation if evaluate_part is auto */
/* Order in the flat vector: 1 = by layer; 2 = matrices, then vectors (biases, scales), then running
 * statistics. */
#define PARAMETER_LAYOUT 2
/* Number of outputs of a dense layer from which bfloat16 is faster than TF32. */
#define WIDE        1024
#define BATCH_BYTES ((uint64_t)128 << 20) /* default of batch_bytes on the CPU */
/* Vectors [P] that a GPU has: weights, base, gradients, evaluated base, exchange. */
#define VECTORS          5
#define EVALUATION_BATCH 100
#define EVALUATION_BYTES ((size_t)128 << 20)
/* Maximum number of bytes in an evaluation batch of images or tables. */
#define EVALUATION_IMAGES ((size_t)1 << 30)
#define START_TEXT_BYTES  32

/* Reads the layers line: that of model.layers, of the folder model.start, or of the preset. The
 * outputs of a preset may not fit the data yet. */
static enum error read_line(const struct config *config, char line[static MODEL_LINE_MAX],
                            struct problem *problem)
{
    const struct config_model *model = &config->model;
    const char *preset = model_preset(model->name);
    if (model->layers[0] == '\0' && model_folder_is(model->start)) {
        struct model_folder_about about;
        struct problem why;
        const enum error error = model_folder_read(model->start, &about, &why);
        if (error != OK)
            return problem_set(problem, error, "[model] start: %.495s", why.text);
        memcpy(line, about.layers, MODEL_LINE_MAX);
        return OK;
    }
    if (model->layers[0] == '\0' && !preset)
        return problem_set(problem, WRONG_SETTING, "[model] name = %s: unknown model; %s",
                           model->name, model_preset_hint(model->name).text);
    (void)snprintf(line, MODEL_LINE_MAX, "%s", model->layers[0] ? model->layers : preset);
    return OK;
}

static enum error find_line(const struct config *config, const struct dataset *train,
                            char line[static MODEL_LINE_MAX], struct problem *problem)
{
    const struct config_model *model = &config->model;
    const enum error error = read_line(config, line, problem);
    /* Other nodes may have samples of more classes unless data.classes says how many there are. */
    if (error == OK && model->layers[0] == '\0' && !model_folder_is(model->start))
        model_preset_fit(line, train->classes,
                         config->data.classes > 0 || dataset_is_regression(train));
    return error;
}

/* Returns true for sequences and for models with a dense layer of WIDE outputs or more, where
 * bfloat16 is faster than TF32 (device.h). */
static bool is_wide(const struct config *config)
{
    char line[MODEL_LINE_MAX];
    struct problem problem; /* unused: setup_model reports the problem */
    if (dataset_is_sequences(config->data.source))
        return true;
    return read_line(config, line, &problem) == OK &&
           (model_line_tokens(line) > 0 || model_line_width(line) >= WIDE);
}

/* As many samples as fit in EVALUATION_BYTES (sequences) or EVALUATION_IMAGES bytes (images and
 * tables), from 1 to EVALUATION_BATCH. */
uint32_t setup_evaluation_batch(const char *line, struct shape in, int classes)
{
    const bool is_sequence = in.length > 0;
    const size_t kept = model_sample_bytes(line, in, classes, false);
    if (kept == 0)
        return EVALUATION_BATCH;
    const size_t fitting = is_sequence
                               ? EVALUATION_BYTES / kept
                               : EVALUATION_IMAGES / (kept + shape_size(in) * sizeof(float));
    return fitting >= EVALUATION_BATCH ? EVALUATION_BATCH : fitting > 0 ? (uint32_t)fitting : 1;
}

uint32_t setup_parts(const struct config *config)
{
    return config->train.micro_batches * (uint32_t)device_count(config->train.device);
}

/* Returns the bytes for the samples of a step. On a GPU the automatic value is half of the free
 * memory after everything of fixed size. The other half is for scratch buffers and for errors of
 * this estimate. */
static uint64_t batch_bytes_of(const struct config *config, const struct dataset *train,
                               const char *line, size_t free_bytes)
{
    struct arena arena;
    struct model *model;
    struct problem problem; /* unused: setup_model reports the problem */
    if (config->train.batch_bytes != CONFIG_AUTO)
        return config->train.batch_bytes;
    if (free_bytes == 0)
        return BATCH_BYTES;
    arena_init_growing(&arena);
    uint64_t fixed = dataset_bytes(train);
    /* A data set that needs more than half of the free memory stays in host memory. */
    fixed = fixed > free_bytes / 2 ? 0 : fixed;
    if (model_new(&model, &arena, NULL, line, train->shape, train->classes, 1, &problem) == OK) {
        const struct optimizer optimizer = {.kind = config->train.optimizer};
        const uint64_t vectors =
            VECTORS + optimizers[optimizer.kind].moments + (config->train.micro_batches > 1);
        fixed += vectors * model_parameters(model) * sizeof(float);
        model_free(model);
    }
    arena_release(&arena);
    return fixed < free_bytes ? (free_bytes - fixed) / 2 : 0;
}

uint32_t setup_batch_max(const struct config *config, const struct dataset *train,
                         size_t free_bytes)
{
    char line[MODEL_LINE_MAX];
    struct problem problem; /* unused: setup_model reports the problem */
    if (config->train.batch != CONFIG_AUTO)
        return config->train.batch;
    if (find_line(config, train, line, &problem) != OK)
        return BATCH_SIZE_MAX;
    const size_t sample_bytes =
        model_sample_bytes(line, train->shape, train->classes, config->train.recompute);
    return batch_size_max(sample_bytes / setup_parts(config),
                          batch_bytes_of(config, train, line, free_bytes));
}

struct batch_size setup_batch_size(const struct config *config, const struct model *model)
{
    struct batch_size batch_size = {.batch_max = BATCH_SIZE_MIN, .window_ns = BATCH_SIZE_WINDOW_NS};
    if (config->train.batch != CONFIG_AUTO)
        return batch_size; /* step_ns 0: the batch size is fixed */
    const uint32_t most = setup_parts(config) * (uint32_t)model_batch_max(model);
    while (2 * batch_size.batch_max <= most && batch_size.batch_max < BATCH_SIZE_MAX)
        batch_size.batch_max *= 2;
    CHECK(batch_size.batch_max <= most);
    batch_size.step_ns = (uint64_t)(config->train.step_ms * 1e6);
    return batch_size;
}

uint64_t setup_step_ns_min(const struct config *config)
{
    const double most = config->train.steps_per_s;
    return most > 0 ? (uint64_t)(1e9 / most) : 0;
}

/* Returns exchange.withheld; 0 if it is auto and the optimizer does not withhold. */
static double withheld(const struct config *config)
{
    const bool withholds = optimizers[config->train.optimizer].withholds;
    return config->exchange.withheld == CONFIG_AUTO_REAL && !withholds ? 0
                                                                       : config->exchange.withheld;
}

bool setup_holds(const struct config *config)
{
    return withheld(config) != 0;
}

/* The automatic limit bounds memory, so it does not apply to small models: with a few thousand
 * parameters it would leave nine tenths of many steps unpublished, and the base would follow only
 * after minutes. */
uint32_t setup_density_max(const struct config *config, size_t parameters)
{
    const double part = config->exchange.density_max, all = (double)parameters;
    if (part == CONFIG_AUTO_REAL)
        return (uint32_t)fmax(DENSITY_MAX * all, fmin(all, DENSITY_ENTRIES));
    return (uint32_t)fmax(part * all, 1);
}

struct evaluated {
    uint32_t from, to;
};

static struct evaluated evaluated_of(const struct slice *part, const struct model *model,
                                     uint32_t tests)
{
    const uint32_t tokens = (uint32_t)model_input(model).length;
    if (part->count == 0) {
        const uint32_t most = tokens ? EVALUATED_TOKENS / tokens + 1 : EVALUATED_SAMPLES;
        return (struct evaluated){.to = u32_min(most, tests)};
    }
    CHECK(part->index < part->count);
    const uint64_t from = (uint64_t)tests * part->index / part->count,
                   to = (uint64_t)tests * (part->index + 1) / part->count;
    /* With fewer samples than parts, several parts have the same sample. */
    const bool is_empty = tests > 0 && from == to;
    return (struct evaluated){.from = (uint32_t)from, .to = (uint32_t)(is_empty ? from + 1 : to)};
}

struct learner_options setup_learner_options(const struct config *config,
                                             const struct setup_model *made, uint64_t data_node,
                                             uint32_t tests)
{
    const struct model *model = made->model;
    const struct config_train *train = &config->train;
    const struct evaluated evaluated = evaluated_of(&train->evaluate_part, model, tests);
    const uint32_t batch_max =
        train->batch == CONFIG_AUTO ? setup_batch_size(config, model).batch_max : 0;
    return (struct learner_options){
        .optimizer = {.kind = train->optimizer,
                      .beta2 = (float)train->beta2,
                      .sgd = {.rate = (float)train->rate,
                              .momentum = (float)train->momentum,
                              .weight_decay = (float)train->weight_decay,
                              .nesterov = train->nesterov},
                      .clip = (float)train->clip,
                      .schedule = train->schedule,
                      .warmup_samples = train->warmup_samples,
                      .period_samples = train->period_samples,
                      .decay = (float)train->decay},
        .micro_batches = setup_parts(config),
        .label_smoothing = (float)train->label_smoothing,
        .batch = batch_max ? u32_min(BATCH_SIZE_START, batch_max) : train->batch,
        .batch_max = batch_max,
        .model_seed = config->model.seed,
        .start = made->start,
        .companded = made->companded,
        .data_seed = config->data.seed,
        .data_node = data_node,
        .augment = config->data.augment,
        .test_from = evaluated.from,
        .test_to = evaluated.to,
        .density_max = setup_density_max(config, model_parameters(model)),
        .holds = setup_holds(config),
        .averages = config->node.averaged_base,
    };
}

/* Loads b0 if it is from a file, and writes the text that identifies the start: seed or digest. */
static enum error make_start(const struct config *config, struct arena *arena,
                             struct setup_model *made, char text[START_TEXT_BYTES],
                             struct problem *problem)
{
    CHECK(made->model);
    made->start = NULL;
    if (config->model.start[0] == '\0') {
        (void)snprintf(text, START_TEXT_BYTES, "seed %" PRIu64, config->model.seed);
        return OK;
    }
    uint64_t digest;
    struct problem why;
    float *weights = arena_alloc(arena, model_parameters(made->model), sizeof *weights);
    const enum error error =
        initial_weights_load(config->model.start, made->model, weights, &digest, &why);
    if (error != OK)
        return problem_set(problem, error, "[model] start: %.495s", why.text);
    made->start = weights;
    (void)snprintf(text, START_TEXT_BYTES, "start %016" PRIx64, digest);
    return OK;
}

static const char *key_of_line(const struct config *config)
{
    if (config->model.layers[0])
        return "layers";
    return model_folder_is(config->model.start) ? "start" : "name";
}

/* Returns a preset for these samples, to suggest instead of the refused one; NULL = none. */
static const char *other_preset(const struct config *config, const char *line, struct shape in)
{
    if (strcmp(key_of_line(config), "name") != 0)
        return NULL;
    if (in.length > 0)
        return model_line_tokens(line) > 0 ? NULL : "gpt-char";
    return strcmp(config->model.name, "mlp") == 0 ? NULL : "mlp";
}

/* Writes the problem of a layers line, with its key and, if there is one, a preset that fits the
 * samples. */
static enum error refuse_line(const struct config *config, const char *line, struct shape in,
                              const struct problem *why, struct problem *problem)
{
    const char *preset = other_preset(config, line, in);
    return problem_set(problem, WRONG_SETTING, "[model] %s: %.400s%s%s%s", key_of_line(config),
                       why->text, preset ? "; for these samples, set model.name = " : "",
                       preset ? preset : "", preset ? ", or write model.layers" : "");
}

enum error setup_model(const struct config *config, uint32_t batch_max, const struct dataset *train,
                       struct arena *arena, struct backend *backend, struct setup_model *made,
                       struct problem *problem)
{
    char line[MODEL_LINE_MAX];
    enum error error = find_line(config, train, line, problem);
    if (error != OK)
        return error;
    const uint32_t tested = setup_evaluation_batch(line, train->shape, train->classes);
    const uint32_t parts = setup_parts(config), part = (batch_max + parts - 1) / parts;
    const struct model_use use = {.batch_max = (int)u32_max(part, tested),
                                  .recompute = config->train.recompute,
                                  .exact = dataset_is_regression(train)};
    struct problem why;
    error =
        model_new_for(&made->model, arena, backend, line, train->shape, train->classes, &use, &why);
    if (error != OK)
        return refuse_line(config, line, train->shape, &why, problem);
    char start[START_TEXT_BYTES];
    error = make_start(config, arena, made, start, problem);
    if (error != OK) {
        model_free(made->model);
        return error;
    }
    made->companded = initial_weights_compand(made->model, made->start);
    const struct setup_input input = setup_input(train);
    (void)snprintf(made->description, sizeof made->description, "%s%s, layout %d%s: %s; %s",
                   input.text, dataset_is_regression(train) ? ", regression" : "", PARAMETER_LAYOUT,
                   made->companded ? ", companded" : "", model_line(made->model), start);
    return OK;
}

static const char *device_of(const struct config *config)
{
    const bool is_left_to_us = strcmp(config->train.device, "auto") == 0;
    return is_left_to_us && !config->train.enabled ? "cpu" : config->train.device;
}

enum precision setup_precision(const struct config *config)
{
    return config->train.precision == PRECISION_AUTO
               ? device_precision(device_of(config), is_wide(config))
               : config->train.precision;
}

double setup_peak_flops(const struct config *config)
{
    struct gpu gpu;
    const char *device = device_of(config);
    return device_gpu(device, &gpu) ? gpu.flops[setup_precision(config)] * device_count(device) : 0;
}

enum error setup_device(const struct config *config, struct backend **backend, struct team **team,
                        char text[DEVICE_TEXT_MAX], struct problem *problem)
{
    const enum precision precision = setup_precision(config);
    const enum error error = device_open_team(device_of(config), (int)config->train.threads,
                                              precision, backend, team, text, problem);
    if (error == OK && strcmp((*backend)->name, "cpu") != 0) {
        const size_t length = strlen(text);
        (void)snprintf(text + length, DEVICE_TEXT_MAX - length, ", multiplies in %s",
                       device_precision_name(precision));
    }
    return error;
}

/* Returns the number of classes for the metadata. For images and tables that is the number of
 * outputs: other nodes may have samples of classes that this node lacks. */
static int classes_of(const struct model *model, const struct dataset *train)
{
    const bool is_sequence = model_input(model).length > 0;
    return is_sequence || dataset_is_regression(train) ? train->classes : model_outputs(model);
}

static enum error make_learner(struct setup *setup, const struct config *config,
                               const struct dataset *train, const struct dataset *test,
                               struct problem *problem)
{
    struct setup_model made;
    CHECK(!setup->learner && !setup->backend);
    enum error error = setup_device(config, &setup->backend, &setup->team, setup->device, problem);
    if (error == OK)
        error = setup_model(
            config, setup_batch_max(config, train, setup->backend->memory(setup->backend).free),
            train, &setup->arena, setup->backend, &made, problem);
    if (error != OK)
        return error;
    setup->model = made.model;
    setup->companded = made.companded;
    memcpy(setup->description, made.description, sizeof setup->description);
    setup_name_parts(setup);
    setup->about = (struct safetensors_about){.classes = classes_of(made.model, train),
                                              .is_regression = dataset_is_regression(train),
                                              .mean = train->mean,
                                              .scale = train->scale};
    /* Determines the order of samples: by slice if the data is divided, otherwise by node id. */
    const uint64_t data_node = config->data.shard.count > 1
                                   ? config->data.shard.index
                                   : bytes_get(setup->keys->identity.id, 8);
    struct learner_options options = setup_learner_options(config, &made, data_node, test->count);
    options.team = setup->team;
    setup->learner = learner_new(&setup->arena, setup->backend, setup->model,
                                 config->train.enabled ? train : NULL, test, &options);
    learner_reserve(setup->learner);
    if (learner_reads_far(setup->learner))
        strncat(setup->device, ", and fetches its samples from the memory of the host",
                sizeof setup->device - strlen(setup->device) - 1);
    return OK;
}

size_t setup_keys_bytes(const struct config *config)
{
    return sizeof(struct own_keys) + 64 + NODE_SWARM_KEYS_MAX + 64 +
           node_keys_bytes(config->limits.peers);
}

/* Secrets are random numbers from the system even if node.seed is set; that seed serves the node's
 * other random choices. */
enum error setup_keys(struct setup *setup, const struct config *config, struct arena *keys,
                      struct problem *problem)
{
    memset(setup, 0, sizeof *setup);
    struct own_keys *own = setup->keys = arena_alloc(keys, 1, sizeof *own);
    entropy_from_system(&own->entropy);
    const enum error error = identity_load(&own->identity, config->node.identity, problem);
    return error == OK ? swarm_key_load(own->swarm_key, config->node.swarm_key, problem) : error;
}

/* Writes a sentence about each property that the user did not configure and the node detected. */
static void describe_data(struct setup *setup, const struct config *config,
                          const struct dataset *train)
{
    const int outputs = model_outputs(setup->model);
    const int known = config->data.classes > 0 ? train->classes : train->highest_label + 1;
    setup_data_notes(setup->data_notes, train);
    const size_t used = strlen(setup->data_notes);
    if (train->labels && outputs > known)
        (void)snprintf(setup->data_notes + used, sizeof setup->data_notes - used,
                       "the model has %d outputs, but local labels go up to %d; other nodes may "
                       "have the remaining classes (data.classes)\n",
                       outputs, train->highest_label);
}

enum error setup_make(struct setup *setup, const struct config *config, struct problem *problem)
{
    struct dataset train = {0}, test = {0};
    enum error error = setup_data(config, &train, &test, problem);
    if (error == OK) {
        arena_init_growing(&setup->arena);
        error = make_learner(setup, config, &train, &test, problem);
    }
    shared_settings_text(config, error == OK ? &train : NULL, setup->settings);
    if (error == OK) {
        describe_data(setup, config, &train);
        setup_data_warnings(setup->data_warnings, &train);
    }
    dataset_free(&train);
    dataset_free(&test);
    return error;
}

static uint64_t ns_of(double seconds)
{
    CHECK(seconds >= 0 && seconds < 1e10);
    return (uint64_t)(seconds * 1e9);
}

/* The node's limit for a connection attempt; longer than the transport's own
 * (socket/connector.h). */
#define DIAL_NS 30000000000ull

_Static_assert(NODE_SERVE_AUTO == CONFIG_AUTO_OF_0, "applied on as it is");

/* Returns the maximum number of entries queued at the learner: as many as ten peers publish during
 * one step if each publishes DENSITY_MAX of the parameters every sixteen steps. At least one rumor
 * fits. */
static uint32_t apply_window(size_t parameters)
{
    return (uint32_t)fmax(RUMOR_ENTRIES_MAX, 10.0 / 16 * DENSITY_MAX * (double)parameters);
}

static struct node_limits limits_of(const struct config *config, size_t parameters)
{
    return (struct node_limits){
        .apply_window = apply_window(parameters),
        .peers_max = config->limits.peers,
        .members_max = config->limits.members,
        .incarnations_max = config->limits.incarnations,
        .half_open_max = config->limits.half_open,
        .half_open_per_net_max = config->limits.half_open_per_net,
        .low_ports = config->limits.low_ports,
        .handshake_ns = ns_of(config->limits.handshake_s),
        .silence_ns = ns_of(config->limits.silence_s),
        .send_queue_bytes = config->limits.send_queue_bytes,
        .notes_per_s = config->limits.notes_per_s,
        .quarantines = config->node.quarantine,
        .weight_max = fmax(config->exchange.weight_max, 0),
    };
}

struct node_options setup_plain_options(const struct config *config, size_t parameters)
{
    struct node_options options = {
        .swarm_id = config->node.swarm,
        .has_operator = config->node.operator_id[0] != '\0',
        .advertise = config->node.advertise,
        .seeds_count = config->node.peers.count,
        .trains = config->train.enabled,
        .checks_labels = config->data.check_labels,
        .bytes_per_s = config->exchange.bytes_per_s,
        .uplink_max = config->exchange.uplink_max,
        .downlink_max = config->exchange.downlink_max,
        .neighbour_max = config->exchange.neighbour_max,
        .interval_ns = ns_of(fmax(config->exchange.interval_s, 0)),
        .steps_min = config->exchange.steps_min,
        .tau = (float)fmax(config->exchange.tau, 0),
        .gain = fmax(config->exchange.gain, 0),
        .beta = config->exchange.beta,
        .withheld = withheld(config),
        .momentum = optimizers[config->train.optimizer].adds_up ? config->train.momentum : 0,
        .partition_s = PARTITION_S,
        .block_entries = BLOCK_ENTRIES,
        .weigh_throughput = config->exchange.weigh_throughput,
        .log_bytes = config->exchange.log_bytes,
        .serve_bytes_per_s = config->exchange.serve_bytes_per_s,
        .save_ns = ns_of(config->node.save_s),
        .parameters = parameters,
        .grace_ns = ns_of(config->node.grace_s),
        .seed = config->node.seed,
        .limits = limits_of(config, parameters),
    };
    CHECK(options.seeds_count <= NODE_SEEDS_MAX);
    if (options.has_operator) /* config_check has made sure that it is a public key */
        CHECK(key_from_hex(options.operator_id, config->node.operator_id) == OK);
    memcpy(options.seeds, config->node.peers.item, options.seeds_count * sizeof *options.seeds);
    return options;
}

/* `entries`: while the disk writes a part, the saver's queue must hold one publication, one rumor,
 * and all entries that were queued at the learner. */
struct saver_options setup_saver_options(const struct config *config, size_t parameters,
                                         uint32_t moments)
{
    return (struct saver_options){
        .disk = disk_real(),
        .folder = config->node.state_dir,
        .older_bases = config->node.older_bases,
        .parameters = parameters,
        .moments = moments,
        .part_parameters = snapshot_part_parameters(parameters, moments),
        .entries = setup_density_max(config, parameters) + (size_t)RUMOR_ENTRIES_MAX +
                   apply_window(parameters),
        .averages = config->node.averaged_base,
    };
}

struct node_options setup_node_options(const struct setup *setup, const struct config *config)
{
    CHECK(setup->learner);
    struct node_options options = setup_plain_options(config, learner_parameters(setup->learner));
    options.has_tests = learner_tests(setup->learner, false) > 0;
    options.identity = &setup->keys->identity;
    options.swarm_key = setup->keys->swarm_key;
    options.keys.entropy = setup->keys->entropy.seed;
    options.model = setup->description;
    options.parts = setup->parts;
    options.settings = setup->settings;
    options.digest = learner_digest(setup->learner);
    options.limits.dial_ns = DIAL_NS;
    return options;
}

void setup_name_parts(struct setup *setup)
{
    char *parts = arena_alloc(&setup->arena, strlen(setup->description) + 1, 1);
    model_parts_of(parts, setup->description);
    setup->parts = parts;
}

void setup_free(struct setup *setup)
{
    if (setup->learner)
        learner_free(setup->learner);
    if (setup->model)
        model_free(setup->model);
    if (setup->team)
        setup->team->close(setup->team);
    if (setup->backend)
        setup->backend->close(setup->backend);
    arena_release(&setup->arena);
}
