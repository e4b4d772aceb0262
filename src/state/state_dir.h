/* The state folder: files of a node that remain after its process ends.
 *
 *   STATE_DIR/incarnation        incarnation.h
 *   STATE_DIR/checkpoint-N       checkpoint.h: state from which the node continues
 *   STATE_DIR/device             startup_notes.c: device of the last start with train.device = auto
 *   STATE_DIR/orders             order_files.h: the operator's orders; beside it proofs and votes
 *   STATE_DIR/swarm.key          swarm_key_files.h: swarm key that came with an order
 *   STATE_DIR/started.conf       saved_config.h: the configuration of the last start
 *   STATE_DIR/base.safetensors   export.h: the model, for other programs
 *   STATE_DIR/base-T.safetensors older_bases.h: base.safetensors at time T
 *   STATE_DIR/base-best.safetensors, base-averaged.safetensors   best_base.h, averaged_base.h
 *   STATE_DIR/caller             library/caller_file.h: bytes of a host program
 */
#ifndef HEARSAY_STATE_STATE_DIR_H
#define HEARSAY_STATE_STATE_DIR_H

#include "base/error.h"
#include "node/node.h"

#define STATE_PATH_BYTES  1024
#define STATE_CALLER_FILE "caller"

/* Creates a missing folder, which only its owner may enter. An existing one keeps its mode. FAILED:
 * it cannot be created, or this user may not write to it. */
enum error state_dir_make(const char *path, struct problem *problem) MUST_USE;

/* Returns true if the folder belongs to a node inside another program, such as a Python script. */
bool state_dir_is_of_program(const char *path);

/* Returns MALFORMED if model.start is the file in which this node saves its base: later starts
 * would begin with other weights. */
enum error state_dir_check_start(const char *folder, const char *start,
                                 struct problem *problem) MUST_USE;

/* "state/checkpoint-7, 2h13m old" */
struct state_dir_checkpoint {
    char text[STATE_PATH_BYTES + 64];
};
struct state_dir_checkpoint state_dir_checkpoint(const char *path, uint64_t generation);

/* Returns TOO_BIG if options->history does not fit limits.incarnations. path: state folder, for the
 * message. */
enum error state_dir_check_history(const char *path, const struct node_options *options,
                                   struct problem *problem) MUST_USE;

#endif
