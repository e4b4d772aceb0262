/* Everything a user may set, read once at the start.
 *
 *   defaults ─► file (INI) ─► --set section.key=value … ─► config_check ─► struct config
 *
 * One table (config_key.c) says of each key its section, type, unit, default, bounds and meaning;
 * parsing, messages and config_print follow from it. A member is named as its key, so what the
 * file calls [train] batch is config->train.batch here.
 * Relative paths start at the folder the program was started in.
 * Held by tests/unit/config/test_config.c: what config_print writes, config_load reads back, equal.
 */
#ifndef HEARSAY_CONFIG_CONFIG_H
#define HEARSAY_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "socket/address.h"
#include "data/dataset.h"
#include "backend/device.h"
#include "layers/model.h"
#include "training/optimizer.h"
#include "base/error.h"

#define CONFIG_PEERS_MAX  64
#define CONFIG_SLICES_MAX 4096
#define CONFIG_PATH_BYTES 1024
#define CONFIG_NAME_BYTES 64
#define CONFIG_LINE_BYTES 16384 /* the longest line of a file, and the longest --set */

/* What a number is whose key also takes a word, such as auto or none, when it was given that. */
#define CONFIG_AUTO      0
#define CONFIG_AUTO_OF_0 UINT64_MAX /* where 0 is a number */
#define CONFIG_AUTO_REAL (-1.0)

/* Written i/n, counted from 1; kept counted from 0, as dataset_options counts. */
struct slice {
    uint32_t index;
    uint32_t count;
};

struct address_list {
    struct address item[CONFIG_PEERS_MAX];
    uint32_t count;
};

struct config_node {
    struct address listen;    /* host "": do not listen */
    struct address advertise; /* host "": what others see */
    struct address_list peers;
    char identity[CONFIG_PATH_BYTES];
    char swarm_key[CONFIG_PATH_BYTES];
    char swarm[CONFIG_NAME_BYTES];
    char state_dir[CONFIG_PATH_BYTES];
    uint64_t seed; /* 0: from the system */
    double grace_s;
    double save_s;               /* 0: only at the end */
    char log[CONFIG_PATH_BYTES]; /* "": none; "-": standard output */
    bool verbose;
};

struct config_model {
    char name[CONFIG_NAME_BYTES];
    char layers[MODEL_LINE_MAX]; /* "": those of the preset `name` */
    uint64_t seed;
    char start[CONFIG_PATH_BYTES]; /* "": drawn by the seed */
};

struct config_data {
    enum dataset_source source;
    char dir[CONFIG_PATH_BYTES];
    uint64_t seed;
    struct slice shard;
    uint32_t train_count;
    uint32_t test_count;
};

struct config_train {
    bool enabled;
    char device[DEVICE_NAME_MAX];
    enum precision precision;
    uint32_t threads;
    uint32_t batch; /* CONFIG_AUTO: by step_ms and batch_bytes */
    double step_ms;
    uint64_t batch_bytes;
    enum optimizer_kind optimizer;
    double rate;
    double momentum;
    double beta2;
    bool nesterov;
    double weight_decay;
    enum schedule schedule;
    uint64_t period_samples;
    double decay;
    uint64_t samples_max; /* 0: no end */
    double evaluate_s;    /* 0: never */
    struct slice evaluate_part;
};

struct config_exchange {
    uint64_t bytes_per_s; /* 0: as links and members allow */
    uint64_t uplink_max;  /* this and the next two in bytes per second; 0: none */
    uint64_t downlink_max;
    uint64_t neighbour_max;
    double interval_s; /* this, gain and beta: CONFIG_AUTO_REAL, or more */
    uint32_t steps_min;
    double density_max;
    double tau;
    double gain;
    double beta;
    bool weigh_throughput;
    uint64_t log_bytes;
    uint64_t serve_bytes_per_s; /* 0: no bound; or CONFIG_AUTO_OF_0 */
};

#define CONFIG_INCARNATIONS_MAX 32768 /* what they told fits into a checkpoint */

struct config_limits {
    uint32_t peers;
    uint32_t members;
    uint32_t incarnations;
    uint32_t half_open;
    uint32_t half_open_per_net;
    double handshake_s;
    double silence_s;
    uint64_t send_queue_bytes;
    uint32_t notes_per_s;
};

struct config {
    struct config_node node;
    struct config_model model;
    struct config_data data;
    struct config_train train;
    struct config_exchange exchange;
    struct config_limits limits;
};

void config_defaults(struct config *config);

/* Read an INI file over what config holds. A fault leaves config as it was and names file and
 * line: MISSING (no such file), FAILED (cannot be read), MALFORMED (anything in it). */
enum error config_load(struct config *config, const char *path, struct problem *problem) MUST_USE;

/* Set one key from "section.key=value"; later settings win. */
enum error config_set(struct config *config, const char *assignment,
                      struct problem *problem) MUST_USE;

/* What no key can know alone: settings that contradict each other. */
enum error config_check(const struct config *config, struct problem *problem) MUST_USE;

/* A complete file: every key with its meaning, bounds, default, and the value it has in config. */
void config_print(const struct config *config, FILE *out);

#endif
