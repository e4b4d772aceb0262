/* The configuration: all values that a user may set, read once at the start.
 *
 *   defaults ─► file (INI) ─► --set section.key=value … ─► config_check ─► struct config
 * One table (config_key.c) describes all keys. Relative paths start at the working folder. */
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
#define CONFIG_LINE_BYTES       16384      /* longest line of a file, and longest --set */
#define CONFIG_INCARNATIONS_MAX 32768      /* most incarnations whose heads fit into a checkpoint */
#define CONFIG_AUTO             0          /* for a number's word: auto or none */
#define CONFIG_AUTO_OF_0        UINT64_MAX /* value for auto if 0 is a valid number */
#define CONFIG_AUTO_REAL        (-1.0)     /* value for auto of a real number */

struct slice {
    uint32_t index; /* index of the slice from 0, as in dataset_options; users write i/n, from 1 */
    uint32_t count; /* number of slices; 0 = auto, for keys with that word */
};

struct config_node {
    struct address listen; /* address to listen on; host "" = does not listen */
    /* Address that other nodes dial; host "" = as they see it. */
    struct address advertise;
    struct address_list peers;          /* addresses to dial at the start */
    struct address http;                /* address of the node's page and metrics; host "" = none */
    char http_token[CONFIG_PATH_BYTES]; /* file with the token for that address; "" = no token */
    char identity[CONFIG_PATH_BYTES], swarm_key[CONFIG_PATH_BYTES]; /* paths of the two key files */
    char swarm[CONFIG_NAME_BYTES];                                  /* name of the swarm */
    char operator_id[KEY_HEX_BYTES]; /* public key of the operator, in hex; "" = no operator */
    /* File of the member list; "" = every holder of the swarm key. */
    char members[CONFIG_PATH_BYTES];
    char state_dir[CONFIG_PATH_BYTES]; /* folder of checkpoints */
    uint64_t seed;                     /* seed of random choices; 0 = from the system */
    /* Longest wait when leaving; time between checkpoints, 0 = only at the end. */
    double grace_s, save_s;
    uint32_t older_bases;        /* number of older bases kept beside the newest one */
    char log[CONFIG_PATH_BYTES]; /* log file; "" = none; "-" = standard output */
    /* Writes the best, or the averaged, base beside the saved one. */
    bool best_base, averaged_base;
    bool verbose, sandbox, quarantine, answers; /* switches; see configs/node.conf */
};

struct config_model {
    char name[CONFIG_NAME_BYTES];  /* name of a preset */
    char layers[MODEL_LINE_MAX];   /* own layers; "" = those of the preset */
    uint64_t seed;                 /* seed of the initial weights */
    char start[CONFIG_PATH_BYTES]; /* file of initial weights; "" = drawn by the seed */
};

struct config_data {
    enum dataset_source source;  /* kind of data files, or generated data */
    char dir[CONFIG_PATH_BYTES]; /* folder of IDX files */
    /* npy: files of samples and targets; test files "" = the last tenth of the samples */
    char x[CONFIG_FILES_BYTES], y[CONFIG_FILES_BYTES];
    char test_x[CONFIG_FILES_BYTES], test_y[CONFIG_FILES_BYTES];
    char text[CONFIG_FILES_BYTES], tokens[CONFIG_FILES_BYTES]; /* files of text, or of tokens */
    char valid[CONFIG_FILES_BYTES];   /* text, tokens: files for the test; "" = the last tenth */
    uint32_t context;                 /* tokens per sample */
    uint64_t seed;                    /* seed of the cut into shards, and of generated samples */
    struct slice shard;               /* part of the training set for this node */
    uint32_t train_count, test_count; /* numbers of generated samples */
    struct augment_options augment;   /* augmentation of training images */
    enum dataset_task task;           /* npy: meaning of y */
    enum npy_channels channels;       /* npy: position of the channels of images in x */
    uint32_t classes;                 /* classes of the task; 0 = as many as the labels here */
    /* Mean and deviation of byte samples in the swarm; CONFIG_AUTO_REAL = measured here. */
    double mean, deviation;
};

struct config_train {
    bool enabled;                 /* false = the node only relays */
    char device[DEVICE_NAME_MAX]; /* name of the computing device */
    enum precision precision;     /* precision of matrix products on a GPU; auto: setup_precision */
    uint32_t threads;             /* threads for matrix products on the CPU */
    uint32_t batch;               /* samples per step; CONFIG_AUTO = by step_ms and batch_bytes */
    double step_ms, steps_per_s;  /* target time of a step; most steps per second, 0 = no limit */
    uint64_t batch_bytes;         /* memory for the samples of a step; CONFIG_AUTO = automatic */
    uint32_t micro_batches;       /* parts of a step that are computed one after the other */
    bool recompute; /* activations inside residual branches are recomputed in the backward pass */
    enum optimizer_kind optimizer; /* optimizer of local steps */
    double rate;                   /* learning rate at the start */
    double momentum, beta2;        /* momentum; AdamW: momentum is beta1 */
    bool nesterov;                 /* Nesterov momentum, for SGD */
    double weight_decay;           /* weight decay; decoupled for AdamW */
    double clip;                   /* greatest norm of the gradients; 0 = no limit */
    double label_smoothing;        /* part of each label that is spread over all classes */
    enum schedule schedule;        /* schedule of the learning rate */
    uint64_t warmup_samples;       /* samples of the swarm until the rate has risen */
    uint64_t period_samples;       /* period of the schedule, in samples of the swarm */
    double decay;                  /* factor on the rate, per period or over one period */
    uint64_t samples_max;          /* most samples trained here; 0 = no limit */
    double evaluate_s;             /* seconds between evaluations; 0 = never */
    struct slice evaluate_part;    /* part of the test set for evaluations */
};

struct config_exchange {
    /* Bytes per second to publish; CONFIG_AUTO = as links and members allow. */
    uint64_t bytes_per_s;
    uint64_t uplink_max;    /* most bytes per second to all neighbours; 0 = no limit */
    uint64_t downlink_max;  /* most bytes per second from all neighbours; 0 = no limit */
    uint64_t neighbour_max; /* most bytes per second to one neighbour; 0 = no limit */
    /* Mean seconds between publications; CONFIG_AUTO_REAL = automatic. */
    double interval_s;
    /* Fewest local steps between publications; CONFIG_AUTO = automatic. */
    uint32_t steps_min;
    /* Largest part of the parameters per publication; CONFIG_AUTO_REAL = automatic. */
    double density_max;
    double tau;        /* smallest published residual; CONFIG_AUTO_REAL = automatic */
    double gain, beta; /* outer step size and momentum; CONFIG_AUTO_REAL = automatic */
    /* Withheld part of the unpublished rest; CONFIG_AUTO_REAL = automatic. */
    double held;
    bool weigh_throughput; /* weighs each node's progress by its samples */
    double weight_max;     /* largest multiple of the median weight; 0 = no limit */
    uint64_t log_bytes;    /* bytes of rumors that the log keeps */
    /* Bytes per second of base blocks; 0 = no limit; CONFIG_AUTO_OF_0 = automatic. */
    uint64_t serve_bytes_per_s;
};

struct config_limits {
    uint32_t peers;        /* most open connections */
    uint32_t members;      /* most nodes in the member table */
    uint32_t incarnations; /* most incarnations of all nodes, ever */
    /* Most callers without the key: in total, and per network. */
    uint32_t half_open, half_open_per_net;
    double handshake_s;        /* seconds for a caller to show the key */
    bool low_ports;            /* also dials members at ports below 1024 */
    double silence_s;          /* seconds of silence after which a neighbour is lost */
    uint64_t send_queue_bytes; /* send queue of each connection, bytes */
    uint32_t notes_per_s;      /* most notes per second that others can cause */
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
/* Sets one key from "section.key=value"; later settings win. */
enum error config_set(struct config *config, const char *assignment,
                      struct problem *problem) MUST_USE;
/* Returns MALFORMED with a sentence if settings contradict each other. */
enum error config_check(const struct config *config, struct problem *problem) MUST_USE;

/* Prints a complete file: every key with its meaning, bounds, default, and its value in config. */
void config_print(const struct config *config, FILE *out);

#endif
