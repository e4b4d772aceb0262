/* What `hearsay swarm` was asked to do. */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H
#define HEARSAY_COMMANDS_SWARM_SWARM_OPTIONS_H

#include "config/config.h"
#include "base/error.h"

#define SWARM_SETS_MAX 64

struct swarm_options {
    struct config config; /* what all nodes have in common */
    int nodes;
    double target;
    double seconds;
    uint64_t seed;
    const char *json;
    const char *dir;
    const char *set[SWARM_SETS_MAX]; /* set once more in each node's configuration: they win */
    int sets;
    bool help;
};

extern const char swarm_options_usage[];

/* MALFORMED and a sentence for what cannot be. Points into argv. */
enum error swarm_options_parse(struct swarm_options *options, int argc, char **argv,
                               struct problem *problem) MUST_USE;

/* Are the IDX files where the configuration says? */
bool swarm_options_has_files(const struct config *config);

#endif
