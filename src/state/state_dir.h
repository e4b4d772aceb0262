/* The folder in which a node keeps what must outlive its process.
 *
 *   STATE_DIR/incarnation        incarnation.h
 *   STATE_DIR/checkpoint-N       checkpoint.h: to go on from
 *   STATE_DIR/device             what computed at the last start (startup_notes.c)
 *   STATE_DIR/orders             order_files.h: of the operator
 *   STATE_DIR/started.conf       saved_config.h: the configuration of the last start
 *   STATE_DIR/base.safetensors   export.h: the model, for anybody
 *   STATE_DIR/base-T.safetensors older_bases.h: as it was at time T
 */
#ifndef HEARSAY_STATE_STATE_DIR_H
#define HEARSAY_STATE_STATE_DIR_H

#include "base/error.h"
#include "node/node.h"

#define STATE_PATH_BYTES 1024

/* Makes the folder if it is not there. FAILED: it cannot be made, or not be written to. */
enum error state_dir_make(const char *path, struct problem *problem) MUST_USE;

/* MALFORMED: model.start is the base that this node saves here, so that no later start would find
 * the same weights. */
enum error state_dir_check_start(const char *folder, const char *start,
                                 struct problem *problem) MUST_USE;

/* "state/checkpoint-7, 2h13m old": the checkpoint of this number, and its age. */
struct state_dir_checkpoint {
    char text[STATE_PATH_BYTES + 64];
};
struct state_dir_checkpoint state_dir_checkpoint(const char *path, uint64_t generation);

/* TOO_BIG: the options have no room for the history that a checkpoint here holds. */
enum error state_dir_check_history(const char *path, const struct node_options *options,
                                   struct problem *problem) MUST_USE;

#endif
