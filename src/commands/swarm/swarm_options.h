/* Options of `hearsay swarm`. */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H
#define HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H

#include "base/error.h"
#include "commands/swarm/swarm_score.h"
#include "config/config.h"

#define SWARM_SETS_MAX 64

struct swarm_options {
    struct config config; /* configuration that all nodes share */
    int nodes;            /* number of processes */
    bool names_data;      /* --data was given */
    enum score_kind kind; /* kind of the score */
    double target;        /* target score, 0 .. 1 (swarm_score.h) */
    /* Each node evaluates one of this many parts of the test set, since long texts take long. */
    uint32_t evaluate_parts;
    double seconds;                  /* time limit; 0 = not set */
    uint64_t samples;                /* limit on the samples of all nodes; 0 = not set */
    uint64_t seed;                   /* seed of the model, the data and random choices */
    const char *json;                /* file for the results; NULL = none */
    const char *dir;                 /* folder that is kept; NULL = a temporary one */
    const char *set[SWARM_SETS_MAX]; /* assignments that override each node's configuration */
    int sets;                        /* number of assignments */
    bool help;                       /* --help was given */
};

extern const char swarm_options_usage[];

/* Parses the arguments and keeps pointers into argv. Returns MALFORMED with a sentence for wrong
 * ones. */
enum error swarm_options_parse(struct swarm_options *options, int argc, char **argv,
                               struct problem *problem) MUST_USE;

/* Returns true if the IDX files are where the configuration says. */
bool swarm_options_has_files(const struct config *config);

#endif
