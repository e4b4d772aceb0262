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

#define CONFIG_SLICES_MAX  4096
#define CONFIG_PATH_BYTES  1024
#define CONFIG_FILES_BYTES 4096
#define CONFIG_NAME_BYTES  64
/* Maximum length in bytes of a line in a file, and of a --set argument. */
#define CONFIG_LINE_BYTES 16384
/* Maximum number of incarnations whose history fits in a checkpoint. */
#define CONFIG_INCARNATIONS_MAX 32768
#define CONFIG_AUTO             0 /* value of an unsigned number whose text is `auto` or `none` */
#define CONFIG_AUTO_OF_0        UINT64_MAX /* value for `auto` where 0 is a valid number */
#define CONFIG_AUTO_REAL        (-1.0)     /* value for `auto` of a real number */

struct slice {
    uint32_t index; /* index of the slice from 0; users write i/n with i from 1 */
    uint32_t count; /* number of slices; 0 = auto, for keys that allow it */
};

struct config_node {
    struct address listen; /* address on which the node listens; host "" = it does not listen */
    /* Address under which other nodes dial this one; host "" = they use the address that they
     * see. */
    struct address advertise;
    struct address_list peers; /* addresses that the node dials at the start */
    struct address http; /* listening address of the node's page and metrics; host "" = none */
    char http_token[CONFIG_PATH_BYTES]; /* file with the token for the page; "" = no token */
    char identity[CONFIG_PATH_BYTES], swarm_key[CONFIG_PATH_BYTES]; /* paths of the two key files */
    char swarm[CONFIG_NAME_BYTES];                                  /* name of the swarm */
    char operator_id[KEY_HEX_BYTES]; /* public key of the operator, in hex; "" = no operator */
    /* File of the member list; "" = every node with the swarm key is admitted. */
    char members[CONFIG_PATH_BYTES];
    char state_dir[CONFIG_PATH_BYTES]; /* folder of checkpoints and other files that remain */
    uint64_t seed;                     /* seed of random choices; 0 = random */
    /* grace_s: maximum seconds that leaving may take. save_s: seconds between checkpoints; 0 =
     * one at the end only. */
    double grace_s, save_s;
    uint32_t older_bases;        /* number of older bases to keep */
    char log[CONFIG_PATH_BYTES]; /* log file; "" = none; "-" = standard output */
    /* Whether the best base and the averaged base are saved beside the newest one. */
    bool best_base, averaged_base;
    /* Flags. verbose: prints every note. sandbox: enters the sandbox. quarantine: votes may expel
     * members. answers: serves inference requests. */
    bool verbose, sandbox, quarantine, answers;
};

struct config_model {
    char name[CONFIG_NAME_BYTES]; /* name of a preset */
    char layers[MODEL_LINE_MAX];  /* layers line of the user; "" = the preset's */
    uint64_t seed;                /* seed of the initial weights */
    /* File or folder of initial weights; "" = random weights from the seed. */
    char start[CONFIG_PATH_BYTES];
};

struct config_data {
    enum dataset_source source;  /* format of the data files, or the kind of generated data */
    char dir[CONFIG_PATH_BYTES]; /* folder of IDX files */
    /* Format npy: files of samples (x) and targets (y); test files "" = the last tenth of the
     * samples is the test set. */
    char x[CONFIG_FILES_BYTES], y[CONFIG_FILES_BYTES];
    char test_x[CONFIG_FILES_BYTES], test_y[CONFIG_FILES_BYTES];
    /* Files of text bytes, or of token numbers. */
    char text[CONFIG_FILES_BYTES], tokens[CONFIG_FILES_BYTES];
    /* Files of the test set for `text` and `tokens`; "" = the last tenth of their samples. */
    char valid[CONFIG_FILES_BYTES];
    uint32_t context;   /* text, tokens: length of a sample in tokens */
    uint64_t seed;      /* seed of the division into shards and of generated samples */
    struct slice shard; /* part of the training set that this node uses */
    uint32_t train_count, test_count; /* numbers of generated training and test samples */
    struct augment_options augment;   /* augmentation of training images */
    enum dataset_task task;           /* npy: whether y has classes or numbers to predict */
    enum npy_channels channels;       /* npy: which dimension of x has an image's channels */
    uint32_t classes; /* number of classes in the swarm; 0 = from the labels of this node */
    /* Mean and standard deviation of byte samples, equal on all nodes; CONFIG_AUTO_REAL = measured
     * on this node's data. */
    double mean, deviation;
};

struct config_train {
    bool enabled;                 /* false = the node only relays rumors */
    char device[DEVICE_NAME_MAX]; /* name of the computing device */
    /* Precision of matrix products on a GPU; auto = see setup_precision. */
    enum precision precision;
    uint32_t threads; /* threads for matrix products on the CPU */
    uint32_t batch;   /* samples per step; CONFIG_AUTO = chosen to fit step_ms and batch_bytes */
    /* step_ms: target milliseconds of a step; steps_per_s: maximum number of steps per second; 0
     * = no limit. */
    double step_ms, steps_per_s;
    uint64_t batch_bytes;   /* bytes for the samples of a step; CONFIG_AUTO = automatic */
    uint32_t micro_batches; /* parts of a step that a device computes one after the other */
    bool recompute;         /* the backward pass recomputes activations inside residual branches */
    enum optimizer_kind optimizer; /* optimizer of local steps */
    double rate;                   /* learning rate at the start of the schedule */
    /* momentum: of SGD, or beta1 of other optimizers; beta2: of other optimizers. */
    double momentum, beta2;
    bool nesterov;           /* Nesterov momentum, for SGD */
    double weight_decay;     /* weight decay; an L2 penalty for SGD, otherwise decoupled */
    double clip;             /* largest global norm of the gradients; 0 = no limit */
    double label_smoothing;  /* part of each label that is spread over all classes, 0 .. 1 */
    enum schedule schedule;  /* schedule of the learning rate */
    uint64_t warmup_samples; /* samples of the whole swarm during which the rate rises from 0 */
    uint64_t period_samples; /* period of the schedule, in samples of the whole swarm */
    /* Factor on the rate: per period (step), or at the end of the period (cosine, linear). */
    double decay;
    /* Maximum number of samples that this node trains; 0 = no limit. */
    uint64_t samples_max;
    double evaluate_s;          /* minimum seconds between evaluations; 0 = none are made */
    struct slice evaluate_part; /* part of the test set for evaluations */
};

struct config_exchange {
    /* Bytes per second of the node's own rumors; CONFIG_AUTO = as much as links and members can
     * take. */
    uint64_t bytes_per_s;
    /* Maximum bytes per second sent to all neighbours together; 0 = no limit. */
    uint64_t uplink_max;
    /* Maximum bytes per second received from all neighbours together; 0 = no limit. */
    uint64_t downlink_max;
    uint64_t neighbour_max; /* maximum bytes per second sent to one neighbour; 0 = no limit */
    /* Mean seconds between publications; CONFIG_AUTO_REAL = automatic. */
    double interval_s;
    /* Minimum number of local steps between publications; CONFIG_AUTO = automatic. */
    uint32_t steps_min;
    /* Largest part of the parameters in one publication; CONFIG_AUTO_REAL = automatic. */
    double density_max;
    double tau; /* smallest residual that is published; CONFIG_AUTO_REAL = automatic */
    /* Step size and momentum of the outer optimizer; CONFIG_AUTO_REAL = automatic. */
    double gain, beta;
    /* Part of the unpublished residual that is withheld from the weights; CONFIG_AUTO_REAL =
     * automatic. */
    double withheld;
    bool weigh_throughput; /* weighs each node's progress by the samples it learned */
    /* Largest weight of a node as a multiple of the median weight; 0 = no limit. */
    double weight_max;
    uint64_t log_bytes; /* maximum size of the log of rumors, in bytes */
    /* Bytes per second of base blocks sent to nodes that catch up; 0 = no limit; CONFIG_AUTO_OF_0 =
     * automatic. */
    uint64_t serve_bytes_per_s;
};

struct config_limits {
    uint32_t peers;   /* maximum number of open connections */
    uint32_t members; /* maximum number of nodes in the member table */
    /* Maximum number of incarnations of all nodes in the history of the swarm. */
    uint32_t incarnations;
    /* Maximum number of connections that have not proved the swarm key yet: in total, and from
     * one network. */
    uint32_t half_open, half_open_per_net;
    double handshake_s;        /* seconds in which a new connection must prove the swarm key */
    bool low_ports;            /* also dials members at ports below 1024 */
    double silence_s;          /* seconds of silence after which a neighbour is lost */
    uint64_t send_queue_bytes; /* bytes of the send queue of each connection */
    uint32_t notes_per_s;      /* maximum number of notes per second that other nodes can cause */
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
/* Sets one key from the text "section.key=value". A later call for the same key replaces the
 * value. */
enum error config_set(struct config *config, const char *assignment,
                      struct problem *problem) MUST_USE;
/* Returns MALFORMED if two settings contradict each other; the problem names the key. */
enum error config_check(const struct config *config, struct problem *problem) MUST_USE;

/* Prints a complete configuration file: every key with its meaning, bounds, default, and its value
 * in config. */
void config_print(const struct config *config, FILE *out);

#endif
