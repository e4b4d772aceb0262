/* The configuration: all values that a user may set, read once when the program starts.
 *
 *   defaults ─► file (INI) ─► --set section.key=value … ─► config_check ─► struct config
 * One table (config_key.c) describes all keys. Relative paths begin at the working directory. */
#ifndef HEARSAY_CONFIG_CONFIG_H
#define HEARSAY_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/device.h"
#include "base/error.h"
#include "config/config_address.h"
#include "crypto/identity.h"
#include "data/augment.h"
#include "layers/model.h"
#include "training/optimizer.h"

#define CONFIG_SLICES_MAX       4096
#define CONFIG_PATH_BYTES       1024
#define CONFIG_FILES_BYTES      4096
#define CONFIG_NAME_BYTES       64
#define CONFIG_LINE_BYTES       16384 /* longest line of a file, or --set argument */
#define CONFIG_INCARNATIONS_MAX 32768 /* a larger history would not fit in a checkpoint */
#define CONFIG_AUTO             0     /* stored for `auto` or `none` if the minimum is above 0 */
#define CONFIG_AUTO_OF_0        UINT64_MAX /* stored for `auto` if 0 is a valid number */
#define CONFIG_AUTO_REAL        (-1.0)     /* stored for `auto` or `none` of a real number */

struct slice {
    uint32_t index; /* index of the part, from 0; users write i/n with i from 1 */
    uint32_t count; /* 0 = auto, for keys that allow it */
};

struct config_node {
    struct address listen; /* host "" = the node does not listen */
    /* address that other nodes dial; host "" = the address that they see */
    struct address advertise;
    struct address_list peers;          /* dialled at the start */
    struct address http;                /* address of the page and metrics; host "" = none */
    char http_token[CONFIG_PATH_BYTES]; /* file; "" = no token */
    char identity[CONFIG_PATH_BYTES], swarm_key[CONFIG_PATH_BYTES];
    char swarm[CONFIG_NAME_BYTES];
    char operator_id[KEY_HEX_BYTES]; /* public key in hex; "" = no operator */
    char members[CONFIG_PATH_BYTES]; /* file; "" = every node with the swarm key is admitted */
    char state_dir[CONFIG_PATH_BYTES];
    uint64_t seed; /* 0 = random */
    /* grace_s: longest time that leaving may take. save_s: time between checkpoints; 0 = only at
     * the end. */
    double grace_s, save_s;
    uint32_t older_bases;
    char log[CONFIG_PATH_BYTES]; /* file; "" = none; "-" = standard output */
    /* whether to save the best base and the averaged base beside the newest base */
    bool best_base, averaged_base;
    /* verbose: prints every note. quarantine: votes may expel members. answers: serves inference
     * requests. */
    bool verbose, sandbox, quarantine, answers;
};

struct config_model {
    char name[CONFIG_NAME_BYTES];
    char layers[MODEL_LINE_MAX]; /* layers line; "" = the preset's */
    uint64_t seed;
    char start[CONFIG_PATH_BYTES]; /* file or folder; "" = random weights from the seed */
};

struct config_data {
    enum dataset_source source;
    char dir[CONFIG_PATH_BYTES]; /* folder of IDX files */
    /* npy: files of samples (x) and targets (y); test files "" = the last tenth is the test set */
    char x[CONFIG_FILES_BYTES], y[CONFIG_FILES_BYTES];
    char test_x[CONFIG_FILES_BYTES], test_y[CONFIG_FILES_BYTES];
    char text[CONFIG_FILES_BYTES], tokens[CONFIG_FILES_BYTES];
    /* text, tokens: files of the test set; "" = the last tenth of the samples */
    char valid[CONFIG_FILES_BYTES];
    uint32_t context;   /* text, tokens: tokens of a sample */
    uint64_t seed;      /* seed of the division into shards, and of generated samples */
    struct slice shard; /* part that this node learns */
    uint32_t train_count, test_count; /* generated samples */
    struct augment_options augment;
    enum dataset_task task;     /* npy: whether y has classes or numbers */
    enum npy_channels channels; /* npy: which dimension of x has the channels */
    uint32_t classes;           /* 0 = from the labels of this node */
    bool check_labels; /* publish nothing while labels contradict the base (own_labels.h) */
    /* Mean and standard deviation of byte samples, equal on all nodes; CONFIG_AUTO_REAL = measured
     * on this node's data. */
    double mean, deviation;
};

struct config_train {
    bool enabled; /* false = the node only relays rumors */
    char device[DEVICE_NAME_MAX];
    enum precision precision; /* precision of products on a GPU; auto: see setup_precision */
    uint32_t threads;         /* threads for matrix products on the CPU */
    uint32_t batch; /* samples per step; CONFIG_AUTO = chosen to fit step_ms and batch_bytes */
    /* step_ms: target time of a step if batch is CONFIG_AUTO. steps_per_s: maximum rate of steps; 0
     * = no limit. */
    double step_ms, steps_per_s;
    uint64_t batch_bytes;   /* memory for the samples of a step; CONFIG_AUTO = automatic */
    uint32_t micro_batches; /* parts of a step that a device computes one after the other */
    bool recompute;         /* the backward pass recomputes activations inside residual branches */
    enum optimizer_kind optimizer;
    double rate; /* learning rate at the start of the schedule */
    /* momentum: of SGD and Muon, and beta1 of Adam, LAMB and Muon. beta2: not for SGD */
    double momentum, beta2;
    bool nesterov;          /* Nesterov momentum, for SGD and Muon */
    double weight_decay;    /* an L2 penalty for SGD, otherwise decoupled */
    double clip;            /* largest global norm of the gradients; 0 = no limit */
    double label_smoothing; /* part of each label that is spread over all classes, 0 .. 0.9 */
    enum schedule schedule;
    uint64_t warmup_samples; /* samples of the whole swarm during which the rate rises from 0 */
    uint64_t period_samples; /* period in samples of the whole swarm; inverse_root: of each node */
    /* schedule `step`: factor on the rate per period; others: final rate, as a part of `rate` */
    double decay;
    uint64_t samples_max;           /* most samples that this node trains; 0 = no limit */
    char frozen[CONFIG_NAME_BYTES]; /* checksum of a program's frozen tensors; "" = none */
    double evaluate_s;              /* least time between evaluations; 0 = none */
    struct slice evaluate_part;     /* part of the test set that evaluations use */
};

struct config_exchange {
    /* bytes per second for the node's own rumors; CONFIG_AUTO = what links and members can take */
    uint64_t bytes_per_s;
    uint64_t uplink_max;   /* bytes per second sent, summed over all neighbours; 0 = no limit */
    uint64_t downlink_max; /* bytes per second received, summed over all neighbours; 0 = no limit */
    uint64_t neighbour_max; /* bytes per second sent to one neighbour; 0 = no limit */
    double interval_s;      /* mean time between publications; CONFIG_AUTO_REAL = automatic */
    /* minimum number of steps between publications; CONFIG_AUTO = automatic */
    uint32_t steps_min;
    /* largest part of the parameters in one publication; CONFIG_AUTO_REAL = automatic */
    double density_max;
    double tau; /* smallest residual that is published; CONFIG_AUTO_REAL = automatic */
    /* step size and momentum of the outer optimizer; CONFIG_AUTO_REAL = automatic */
    double gain, beta;
    /* Part of the unpublished residual that the weights lack; CONFIG_AUTO_REAL = automatic. */
    double withheld;
    bool weigh_throughput; /* weighs progress by learned samples */
    /* largest weight of a node as a multiple of the median weight; CONFIG_AUTO_REAL = no limit */
    double weight_max;
    uint64_t log_bytes; /* size of the rumor log */
    /* Largest rate at which this node sends base blocks while it trains, in bytes per second; 0 =
     * no limit; CONFIG_AUTO_OF_0 = automatic. */
    uint64_t serve_bytes_per_s;
};

struct config_limits {
    uint32_t peers;        /* most open connections */
    uint32_t members;      /* most nodes in the member table */
    uint32_t incarnations; /* most incarnations of all nodes in the history */
    /* Most connections without proof of the swarm key: in total, and from one network. */
    uint32_t half_open, half_open_per_net;
    double handshake_s;        /* time for the proof of the swarm key */
    bool low_ports;            /* also dials members at ports below 1024 */
    double silence_s;          /* silence after which a neighbour is lost */
    uint64_t send_queue_bytes; /* size of each connection's send queue */
    uint32_t notes_per_s;      /* notes per second that other nodes can cause */
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
/* Returns the value of a text or path in [data]; "" if name is NULL. */
const char *config_data_text(const struct config_data *data, const char *name);
/* assignment: "section.key=value". A later call for the same key replaces the value. */
enum error config_set(struct config *config, const char *assignment,
                      struct problem *problem) MUST_USE;
/* Returns MALFORMED if a setting is invalid or contradicts another; the problem names the key. */
enum error config_check(const struct config *config, struct problem *problem) MUST_USE;

/* Prints a complete configuration file: every key with its meaning, bounds, default and value. */
void config_print(const struct config *config, FILE *out);

#endif
