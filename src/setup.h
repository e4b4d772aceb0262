/* From a configuration to what a node is made of: keys, data, model, learner, node options. */
#ifndef HEARSAY_SETUP_H
#define HEARSAY_SETUP_H

#include "arena.h"
#include "config.h"
#include "learner.h"
#include "node.h"

/* Entries with the learner and not yet applied, at most. */
#define SETUP_APPLY_WINDOW RUMOR_ENTRIES_MAX

struct setup {
    struct arena arena;
    struct identity identity;
    uint8_t swarm_key[KEY_BYTES];
    struct backend *backend;
    struct model *model;
    struct learner *learner;
    int classes;
    float mean; /* how the data is normalised */
    float scale;
    char description[MODEL_LINE_MAX + 128]; /* of the model: input, layers, seed */
};

/* Load and build everything but the sockets. The problem says what is wrong and what to do. */
enum status setup_make(struct setup *setup, const struct config *config,
                       struct problem *problem) MUST_USE;

/* How the node behaves; listen_port and incarnation are the caller's. Points into setup and
 * config. */
struct node_options setup_node_options(const struct setup *setup, const struct config *config);

void setup_free(struct setup *setup);

#endif
