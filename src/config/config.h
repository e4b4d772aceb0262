/* Everything a user may set, read once at the start.
 *
 *   defaults ─► file (INI) ─► --set section.key=value … ─► config_check ─► struct config
 * One table (config_key.c) says all of each key. Relative paths start at the working folder. */
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
#define CONFIG_LINE_BYTES       16384      /* the longest line of a file, and the longest --set */
#define CONFIG_INCARNATIONS_MAX 32768      /* what they published fits into a checkpoint */
#define CONFIG_AUTO             0          /* a number whose key was given its word: auto, none */
#define CONFIG_AUTO_OF_0        UINT64_MAX /* the same, where 0 is a number */
#define CONFIG_AUTO_REAL        (-1.0)     /* the same, of a real number */

struct slice {
    uint32_t index; /* from 0, as dataset_options counts; written i/n, from 1 */
    uint32_t count; /* of slices; 0: auto, where the key has that word */
};

struct config_node {
    struct address listen;              /* host "": does not listen */
    struct address advertise;           /* what others dial; host "": the address they see */
    struct address_list peers;          /* to dial at the start */
    struct address http;                /* of its page and metrics; host "": none */
    char http_token[CONFIG_PATH_BYTES]; /* file of what those who ask there know; "": none */
    char identity[CONFIG_PATH_BYTES], swarm_key[CONFIG_PATH_BYTES]; /* the two key files */
    char swarm[CONFIG_NAME_BYTES];                                  /* name of the swarm */
    char operator_id[KEY_HEX_BYTES];   /* public key of its operator, in hex; "": it has none */
    char members[CONFIG_PATH_BYTES];   /* member list; "" = every holder of the swarm key */
    char state_dir[CONFIG_PATH_BYTES]; /* folder of checkpoints */
    uint64_t seed;                     /* of choices; 0: from the system */
    double grace_s, save_s;      /* longest wait when leaving; between checkpoints, 0: at the end */
    uint32_t older_bases;        /* kept beside the newest, to begin again from */
    char log[CONFIG_PATH_BYTES]; /* file of notes; "": none; "-": standard output */
    bool best_base, averaged_base;              /* files beside the saved base */
    bool verbose, sandbox, quarantine, answers; /* switches: configs/node.conf */
};

struct config_model {
    char name[CONFIG_NAME_BYTES];  /* of a preset */
    char layers[MODEL_LINE_MAX];   /* own layers; "": those of the preset */
    uint64_t seed;                 /* draws the initial weights */
    char start[CONFIG_PATH_BYTES]; /* file of initial weights; "": drawn by the seed */
};

struct config_data {
    enum dataset_source source;  /* files, or generated */
    char dir[CONFIG_PATH_BYTES]; /* folder of IDX files */
    /* npy: files of samples and of what is to be predicted; for the test, "": the last tenth */
    char x[CONFIG_FILES_BYTES], y[CONFIG_FILES_BYTES];
    char test_x[CONFIG_FILES_BYTES], test_y[CONFIG_FILES_BYTES];
    char text[CONFIG_FILES_BYTES], tokens[CONFIG_FILES_BYTES]; /* files of bytes, or of tokens */
    char valid[CONFIG_FILES_BYTES];   /* text, tokens: files for the test; "": the last tenth is */
    uint32_t context;                 /* tokens of a sample */
    uint64_t seed;                    /* of the cut into shards, and of generated samples */
    struct slice shard;               /* the part of the training set for this node */
    uint32_t train_count, test_count; /* generated samples */
    struct augment_options augment;   /* of images, as they are learned */
    enum dataset_task task;           /* npy: what y holds */
    enum npy_channels channels;       /* npy: where x has the channels of images */
    uint32_t classes;                 /* of the task; 0: as many as the labels here say */
    double mean, deviation;           /* of samples of bytes, in the swarm; or CONFIG_AUTO_REAL */
};

struct config_train {
    bool enabled;                 /* false: relays only */
    char device[DEVICE_NAME_MAX]; /* what computes */
    enum precision precision;     /* of matrix products on a GPU; auto: setup_precision */
    uint32_t threads;             /* of matrix products on the CPU */
    uint32_t batch;               /* samples a step; CONFIG_AUTO: by step_ms and batch_bytes */
    double step_ms, steps_per_s;  /* target time of a step; steps at most, 0: no limit */
    uint64_t batch_bytes;         /* memory for the samples of a step; or CONFIG_AUTO */
    uint32_t micro_batches;       /* parts of a step, one after the other */
    bool recompute; /* activations inside residual branches are recomputed in the backward pass */
    enum optimizer_kind optimizer; /* how gradients move weights */
    double rate;                   /* learning rate at the start */
    double momentum, beta2;        /* of AdamW; momentum is its beta1 */
    bool nesterov;                 /* Nesterov momentum, for SGD */
    double weight_decay;           /* decoupled for AdamW */
    double clip;                   /* length of the gradients at most; 0: no limit */
    double label_smoothing;        /* part of a label that is spread over all classes */
    enum schedule schedule;        /* of the learning rate */
    uint64_t warmup_samples;       /* until the rate has risen, in samples of the swarm */
    uint64_t period_samples;       /* of the schedule, in samples of the swarm */
    double decay;                  /* of the rate, per period or over it */
    uint64_t samples_max;          /* trained here; 0: no end */
    double evaluate_s;             /* between evaluations; 0: never */
    struct slice evaluate_part;    /* of the test set */
};

struct config_exchange {
    uint64_t bytes_per_s;       /* published; CONFIG_AUTO: as links and members allow */
    uint64_t uplink_max;        /* bytes per second to all neighbours; 0: no limit */
    uint64_t downlink_max;      /* bytes per second from all neighbours; 0: no limit */
    uint64_t neighbour_max;     /* bytes per second to one neighbour; 0: no limit */
    double interval_s;          /* mean publish interval, or CONFIG_AUTO_REAL */
    uint32_t steps_min;         /* local steps between publications, at least; or CONFIG_AUTO */
    double density_max;         /* of the parameters in a publication, or CONFIG_AUTO_REAL */
    double tau;                 /* least published progress, or CONFIG_AUTO_REAL */
    double gain, beta;          /* outer step size and momentum, or CONFIG_AUTO_REAL */
    double held;                /* of what stays unpublished, or CONFIG_AUTO_REAL */
    bool weigh_throughput;      /* progress counts by its samples */
    double weight_max;          /* times what is usual, at most; 0: no bound */
    uint64_t log_bytes;         /* of rumors kept */
    uint64_t serve_bytes_per_s; /* of base blocks; 0: no bound; or CONFIG_AUTO_OF_0 */
};

struct config_limits {
    uint32_t peers;                        /* open connections */
    uint32_t members;                      /* nodes remembered */
    uint32_t incarnations;                 /* of all nodes, ever */
    uint32_t half_open, half_open_per_net; /* callers without the key: all, of one network */
    double handshake_s;                    /* for the proof */
    bool low_ports;                        /* also dial members at ports below 1024 */
    double silence_s;                      /* until a neighbour counts as lost */
    uint64_t send_queue_bytes;             /* for each connection */
    uint32_t notes_per_s;                  /* that others cause */
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
/* Set one key from "section.key=value"; later settings win. */
enum error config_set(struct config *config, const char *assignment,
                      struct problem *problem) MUST_USE;
/* Finds settings that contradict each other. */
enum error config_check(const struct config *config, struct problem *problem) MUST_USE;

/* A complete file: every key with its meaning, bounds, default, and the value it has in config. */
void config_print(const struct config *config, FILE *out);

#endif
