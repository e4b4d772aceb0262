/* The state folder: the files of a node that outlive its process.
 *
 *   STATE_DIR/incarnation        incarnation.h
 *   STATE_DIR/checkpoint-N       checkpoint.h: state to continue from
 *   STATE_DIR/device             computing device of the last start (startup_notes.c)
 *   STATE_DIR/orders             order_files.h: the operator's orders
 *   STATE_DIR/started.conf       saved_config.h: the configuration of the last start
 *   STATE_DIR/base.safetensors   export.h: the model, for other programs
 *   STATE_DIR/base-T.safetensors older_bases.h: as it was at time T
 */
#ifndef HEARSAY_STATE_STATE_DIR_H
#define HEARSAY_STATE_STATE_DIR_H

#include "base/error.h"
#include "node/node.h"

#define STATE_PATH_BYTES 1024

/* Creates the folder if it is missing. FAILED: it cannot be created or written. */
enum error state_dir_make(const char *path, struct problem *problem) MUST_USE;

/* Returns MALFORMED if model.start is the base that this node saves here, because later starts
 * would then find other weights. */
enum error state_dir_check_start(const char *folder, const char *start,
                                 struct problem *problem) MUST_USE;

/* Text for the checkpoint of this number with its age: "state/checkpoint-7, 2h13m old". */
struct state_dir_checkpoint {
    char text[STATE_PATH_BYTES + 64];
};
struct state_dir_checkpoint state_dir_checkpoint(const char *path, uint64_t generation);

/* Returns TOO_BIG if the history in a checkpoint here does not fit the options. */
enum error state_dir_check_history(const char *path, const struct node_options *options,
                                   struct problem *problem) MUST_USE;

#endif
