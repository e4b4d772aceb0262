/* Options of `hearsay swarm`. */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H
#define HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H

#include "base/error.h"
#include "commands/swarm/swarm_score.h"
#include "config/command.h"
#include "config/config.h"

#define SWARM_SETS_MAX 64

struct swarm_options {
    struct config config; /* configuration that all nodes share */
    int nodes;
    bool names_data; /* --data was given */
    enum score_kind kind;
    double target; /* target score, 0 .. 1 (swarm_score.h) */
    /* In each evaluation, a node tests 1 / evaluate_parts of its test samples, since long texts
     * take long. */
    uint32_t evaluate_parts;
    double seconds;   /* time limit; 0 = not set */
    uint64_t samples; /* limit on the sum of all nodes' samples; 0 = not set */
    uint64_t seed;    /* seed of the model, the data and random choices */
    const char *json; /* path of the file for the results; NULL = none */
    const char *dir;  /* folder that is kept at the end; NULL = a temporary one */
    /* [sets] assignments SECTION.KEY=VALUE that override the configuration. */
    const char *set[SWARM_SETS_MAX];
    int sets;
};

void swarm_options_init(struct swarm_options *options);

/* Chooses the data and the settings that were not given, as the `finish` of the command. */
enum error swarm_options_finish(void *options, int count, char **operands, struct problem *problem);

extern const struct command_option swarm_options_table[];

/* Returns true if the IDX file of training images in data.dir is readable. */
bool swarm_options_has_files(const struct config *config);

#endif
