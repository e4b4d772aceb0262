/* Builds the parts of a node from a configuration: keys, data, model, learner, node options. */
#ifndef HEARSAY_CONFIG_SETUP_H
#define HEARSAY_CONFIG_SETUP_H

#include "backend/device.h"
#include "base/arena.h"
#include "config/config.h"
#include "node/inspect.h"
#include "state/safetensors.h"
#include "state/saver.h"
#include "training/batch_size.h"
#include "training/learner.h"
#include "wire/message.h"

#define SETUP_DESCRIPTION_BYTES (MODEL_LINE_MAX + 128)
#define SETUP_DATA_TEXT         1024 /* capacity for sentences about the data */

struct own_keys {
    struct identity identity;
    uint8_t swarm_key[KEY_BYTES];
    struct entropy entropy; /* source of all random keys of the node */
};

struct setup {
    struct arena arena;    /* memory of the model and the learner */
    struct own_keys *keys; /* the node's keys, in locked memory */
    struct backend *backend;
    struct team *team; /* further GPUs for data-parallel training; NULL = none */
    char device[DEVICE_TEXT_MAX];
    struct model *model;
    struct learner *learner;                   /* the learner, with its model, optimizer and data */
    bool companded;                            /* the learner's base is companded (companding.h) */
    struct safetensors_about about;            /* description that saved models get */
    char description[SETUP_DESCRIPTION_BYTES]; /* identifies the model */
    const char *parts; /* lines of the description (wire/model_parts.h), in the arena */
    char settings[SETTINGS_MAX + 1]; /* text of shared_settings.h */
    /* sentences about the data, each ended by '\n': detected properties, and likely mistakes */
    char data_notes[SETUP_DATA_TEXT], data_warnings[SETUP_DATA_TEXT];
};

/* Call setup_keys first: it clears the setup and reads the keys into the arena `keys`, whose owner
 * wipes them. setup_keys_bytes: bytes that the arena needs, also for the node's own secrets. Then
 * call setup_make, which loads the data and creates model and learner. On errors the problem says
 * what is wrong and what to do. */
size_t setup_keys_bytes(const struct config *config);
enum error setup_keys(struct setup *setup, const struct config *config, struct arena *keys,
                      struct problem *problem) MUST_USE;
enum error setup_make(struct setup *setup, const struct config *config,
                      struct problem *problem) MUST_USE;

/* Returns the options of the node, which point into setup and config. The caller sets
 * listen_port, incarnation, keys.memory, limits.answers, and all that the state folder contains. */
struct node_options setup_node_options(const struct setup *setup, const struct config *config);

void setup_free(struct setup *setup);

void setup_name_parts(struct setup *setup);

/* The following functions are for setup_make, and for programs that make the parts of a node
 * themselves. */

/* Returns the options of the data set. If data.classes is set and data.task is auto, the task is
 * classes. */
struct dataset_options setup_dataset_options(const struct config_data *data);

/* Loads training and test data, both normalised with mean and scale of the training set or of the
 * configuration. *train and *test must be zeros; the caller frees them, even after an error. */
enum error setup_data(const struct config *config, struct dataset *train, struct dataset *test,
                      struct problem *problem) MUST_USE;

/* Writes a sentence for each property that was recognised in the training data, each ended by
 * '\n'. */
void setup_data_notes(char text[static SETUP_DATA_TEXT], const struct dataset *train);

/* Writes a sentence for each likely mistake in the training data, each ended by '\n'. */
void setup_data_warnings(char text[static SETUP_DATA_TEXT], const struct dataset *train);

/* Input of a model for this data: "1x28x28", "64 bytes" (of text) or "64 tokens". */
struct setup_input {
    char text[48];
};
struct setup_input setup_input(const struct dataset *dataset);

/* Returns the precision of matrix products. `auto` is resolved by the data source, the layers line
 * and the GPUs that train.device names. `auto` loads the CUDA module unless the device is cpu. */
enum precision setup_precision(const struct config *config);

/* Returns the peak rate of matrix products on the devices, in floating-point operations per second;
 * 0 = unknown, for example for the CPU. */
double setup_peak_flops(const struct config *config);

/* Opens the configured device, or the CPU if it is auto and the node only relays; see
 * device_open_team. */
enum error setup_device(const struct config *config, struct backend **backend, struct team **team,
                        char text[DEVICE_TEXT_MAX], struct problem *problem) MUST_USE;

/* Returns the number of parts of each step: micro_batches for each device. */
uint32_t setup_parts(const struct config *config);

struct setup_model {
    struct model *model; /* the caller frees it with model_free */
    const float *start;  /* [P] initial weights, in the arena; NULL = random from the seed */
    bool companded;      /* the base is companded (companding.h) */
    /* Description as in struct setup. */
    char description[SETUP_DESCRIPTION_BYTES];
};
/* batch_max: largest batch of all learners that use the model. */
enum error setup_model(const struct config *config, uint32_t batch_max, const struct dataset *train,
                       struct arena *arena, struct backend *backend, struct setup_model *made,
                       struct problem *problem) MUST_USE;

/* Returns the largest batch that a learner with this configuration may use. free_bytes: free
 * memory of the GPU in bytes; 0 = the device is the CPU. */
uint32_t setup_batch_max(const struct config *config, const struct dataset *train,
                         size_t free_bytes);

/* Returns how many samples a model of this line and data evaluates at once. */
uint32_t setup_evaluation_batch(const char *line, struct shape in, int classes);

/* Returns the options of a learner. data_node: determines the order of its samples, so it differs
 * between nodes. tests: number of test samples. */
struct learner_options setup_learner_options(const struct config *config,
                                             const struct setup_model *made, uint64_t data_node,
                                             uint32_t tests);

/* The batch size is fixed unless train.batch is auto. */
struct batch_size setup_batch_size(const struct config *config, const struct model *model);

/* Returns the minimum nanoseconds between the starts of two steps; 0 = no limit. */
uint64_t setup_step_ns_min(const struct config *config);

/* Returns the most entries of a publication, at least 1. */
uint32_t setup_density_max(const struct config *config, size_t parameters);

/* Returns true if publications may withhold a part of the unpublished residual from the weights
 * (model/exchange/replica.h). */
bool setup_holds(const struct config *config);

/* Returns the node options that follow from the configuration and the number of parameters. The
 * caller sets the others, such as keys, model and digest. */
struct node_options setup_plain_options(const struct config *config, size_t parameters);

/* Returns the options of the saver for this many parameters and moments. The caller sets the
 * owner's text, the base's file and the wake-up. */
struct saver_options setup_saver_options(const struct config *config, size_t parameters,
                                         uint32_t moments);

#endif
