/* The folder in which a node keeps what must outlive it.
 *
 *   state_dir/incarnation     life.h
 *   state_dir/checkpoint-N    checkpoint.h: to go on from
 *   state_dir/base.safetensors   export.h: the model, for anybody
 */
#ifndef HEARSAY_STATE_STATE_DIR_H
#define HEARSAY_STATE_STATE_DIR_H

#include "base/error.h"
#include "node/node.h"

#define STATE_PATH_BYTES 1024

/* It is there, and may be written to; made if it is not. */
enum error state_dir_make(const char *path, struct problem *problem) MUST_USE;

/* MALFORMED: the model starts from what is saved here, and no later start would find it again. */
enum error state_dir_check_start(const char *folder, const char *start,
                                 struct problem *problem) MUST_USE;

/* "state/checkpoint-7, 2h13m old": the checkpoint of this number, and when it was written. */
struct state_dir_checkpoint {
    char text[STATE_PATH_BYTES + 64];
};
struct state_dir_checkpoint state_dir_checkpoint(const char *path, uint64_t generation);

/* TOO_BIG: the options have no room for the history that a checkpoint here gave them. */
enum error state_dir_check_history(const char *path, const struct node_options *options,
                                   struct problem *problem) MUST_USE;

#endif
