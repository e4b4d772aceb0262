/* What `hearsay swarm` was asked to do. */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H
#define HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H

#include "base/error.h"
#include "commands/swarm/swarm_score.h"
#include "config/config.h"

#define SWARM_SETS_MAX 64

struct swarm_options {
    struct config config;    /* what all nodes have in common */
    int nodes;               /* processes to start */
    bool names_data;         /* --data was given */
    enum score_kind kind;    /* what its score is of */
    double target;           /* score, 0 .. 1 (swarm_score.h) */
    uint32_t evaluate_parts; /* a node evaluates one of this many parts of its test set, since long
                                texts take long */
    double seconds;          /* limit; 0: none was set */
    uint64_t samples;        /* limit, of all nodes together; 0: none was set */
    uint64_t seed;           /* of the model, the data and the choices */
    const char *json;        /* file for the results, or NULL */
    const char *dir;         /* folder to keep, or NULL */
    const char *set[SWARM_SETS_MAX]; /* set once more in each node's configuration: they win */
    int sets;                        /* that are there */
    bool help;                       /* asked for, instead of a run */
};

extern const char swarm_options_usage[];

/* MALFORMED and a sentence for what cannot be. Points into argv. */
enum error swarm_options_parse(struct swarm_options *options, int argc, char **argv,
                               struct problem *problem) MUST_USE;

/* Are the IDX files where the configuration says? */
bool swarm_options_has_files(const struct config *config);

#endif
