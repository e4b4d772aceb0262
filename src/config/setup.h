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

/* Keys of a node at its start. */
struct own_keys {
    struct identity identity;     /* identity of the node */
    uint8_t swarm_key[KEY_BYTES]; /* swarm key from the configuration */
    struct entropy entropy;       /* source of all keys that the node makes */
};

struct setup {
    struct arena arena;                        /* memory of model and learner */
    struct own_keys *keys;                     /* in locked memory */
    struct backend *backend;                   /* the computing backend */
    struct team *team;                         /* further GPUs; NULL = none */
    char device[DEVICE_TEXT_MAX];              /* name of the computing device */
    struct model *model;                       /* the layers */
    struct learner *learner;                   /* model, optimizer and data together */
    bool companded;                            /* its base (companding.h) */
    struct safetensors_about about;            /* what saved models say of the data */
    char description[SETUP_DESCRIPTION_BYTES]; /* of the model: input, layers, seed or start */
    const char *parts;                         /* of the model (wire/model_parts.h); in arena */
    char settings[SETTINGS_MAX + 1];           /* those that all nodes must share */
    char data_notes[512];                      /* sentences, each ended by '\n' */
};

/* setup_keys reads the keys into an otherwise empty setup, since nothing starts without them. They
 * are in memory of `keys`, sizeof(struct own_keys), whose owner wipes them. setup_make then loads
 * and builds everything except the sockets. On errors the problem says what is wrong and what to
 * do. */
size_t setup_keys_bytes(const struct config *config); /* all secrets of such a node */
enum error setup_keys(struct setup *setup, const struct config *config, struct arena *keys,
                      struct problem *problem) MUST_USE;
enum error setup_make(struct setup *setup, const struct config *config,
                      struct problem *problem) MUST_USE;

/* Returns the options of the node; the caller sets listen_port and incarnation. They point into
 * setup and config. */
struct node_options setup_node_options(const struct setup *setup, const struct config *config);

void setup_free(struct setup *setup);

/* Sets the parts of the model from its description. */
void setup_name_parts(struct setup *setup);

/* The steps of setup_make, for a program with more than one node. */

struct dataset_options setup_dataset_options(const struct config_data *data);

/* Loads the configured data; the test set is normalised with mean and scale of the training set.
 * The caller frees both, also on errors (start with zeros). */
enum error setup_data(const struct config *config, struct dataset *train, struct dataset *test,
                      struct problem *problem) MUST_USE;

/* Text that describes the input of a model of this data: "1x28x28", "64 bytes" (of text) or "64
 * tokens". */
struct setup_input {
    char text[48];
};
struct setup_input setup_input(const struct dataset *dataset);

/* Returns the precision of matrix products, with `auto` resolved by the data source, the layers
 * line and the GPUs that the device names. Loads the CUDA module unless the device is cpu. */
enum precision setup_precision(const struct config *config);

/* Returns the peak rate of matrix products on the devices, in floating-point operations per second;
 * 0 = unknown, as for the CPU. */
double setup_peak_flops(const struct config *config);

/* Peak rate of matrix products on the devices, in floating-point operations per second; 0 =
 * unknown, as of the CPU. */
double setup_peak_flops(const struct config *config);

/* Opens the configured device (device_open_team). auto: the CPU for a node that only relays. */
enum error setup_device(const struct config *config, struct backend **backend, struct team **team,
                        char text[DEVICE_TEXT_MAX], struct problem *problem) MUST_USE;

/* Returns the number of parts of each step: micro_batches for each device. */
uint32_t setup_parts(const struct config *config);

struct setup_model {
    struct model *model; /* model; the caller frees it with model_free */
    /* [P] initial weights, in the arena; NULL = drawn by the seed. */
    const float *start;
    bool companded;                            /* the base is companded (companding.h) */
    char description[SETUP_DESCRIPTION_BYTES]; /* description of the model, as in struct setup */
};
/* Makes the model. batch_max: largest batch of all learners with this model. */
enum error setup_model(const struct config *config, uint32_t batch_max, const struct dataset *train,
                       struct arena *arena, struct backend *backend, struct setup_model *made,
                       struct problem *problem) MUST_USE;

/* Returns the largest batch that a learner with this configuration may reach. free_bytes: free
 * memory of the device; 0 = it is the host's memory. */
uint32_t setup_batch_max(const struct config *config, const struct dataset *train,
                         size_t free_bytes);

/* Returns how many samples a model of this line and data evaluates at once. */
uint32_t setup_evaluation_batch(const char *line, struct shape in, int classes);

/* Returns the options of a learner. data_node: determines the order of its samples, which differs
 * between nodes. tests: number of test samples. */
struct learner_options setup_learner_options(const struct config *config,
                                             const struct setup_model *made, uint64_t data_node,
                                             uint32_t tests);

/* Returns how the batch size adapts to the speed of the machine, if configured. */
struct batch_size setup_batch_size(const struct config *config, const struct model *model);

/* Returns the shortest time between the starts of two steps. */
uint64_t setup_step_ns_min(const struct config *config);

/* Returns the largest number of entries in a publication; >= 1. */
uint32_t setup_density_max(const struct config *config, size_t parameters);

/* Returns true if publications may withhold a part of the unpublished rest
 * (model/exchange/replica.h). */
bool setup_holds(const struct config *config);
/* Returns true if an average of the base is kept (model/training/base_average.h). */
bool setup_averages(const struct config *config);

/* Returns the node options that follow from the configuration and the size of the model; the caller
 * sets keys, model and digest. */
struct node_options setup_plain_options(const struct config *config, size_t parameters);

/* Options of the saver for this many parameters and moments; the caller sets the learner and the
 * wake-up. */
struct saver_options setup_saver_options(const struct config *config, size_t parameters,
                                         uint32_t moments);

#endif
