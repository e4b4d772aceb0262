/* One file of the series: what checkpoint.c shares with checkpoint_read.c and checkpoint_write.c.
 */
#ifndef HEARSAY_STATE_CHECKPOINT_FILE_H
#define HEARSAY_STATE_CHECKPOINT_FILE_H

#include "state/checkpoint.h"

#define CHECKPOINT_FORMAT   2
#define CHECKPOINT_FORMAT_1 1 /* its header is the first part of ours */
#define CHECKPOINT_MAGIC    "hearsayC"
#define CHECKPOINT_NAME_MAX 32
#define CHECKPOINT_NAME     "checkpoint-"

/* As it lies in the file; the offsets and meanings stand in checkpoint.h. */
struct checkpoint_header {
    char magic[8];
    uint32_t format;
    uint32_t moments;
    uint64_t total_bytes;
    uint64_t generation;
    uint64_t incarnation;
    uint64_t parameters;
    uint64_t digest;
    uint64_t samples;
    uint64_t epoch;
    uint64_t random_walk;
    uint32_t at;
    uint32_t model_bytes;
    uint32_t own_bytes;
    uint32_t batch;
    uint64_t steps; /* format 1 ends before it */
    uint64_t swarm_samples;
};

#define CHECKPOINT_HEADER_1_BYTES offsetof(struct checkpoint_header, steps)

_Static_assert(sizeof(struct checkpoint_header) == 112,
               "no padding: the struct is the file's header");
_Static_assert(CHECKPOINT_HEADER_1_BYTES == 96, "the length of a header of format 1");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(float) == 4,
               "the file holds little-endian numbers, and so must the memory");

/* The length of the file, from the counts in its header, which are within their limits. */
uint64_t checkpoint_total_bytes(const struct checkpoint_header *header);

/* Write the file of this generation, and read it. */
enum error checkpoint_write(const struct disk *disk, const char *folder,
                            const struct checkpoint *checkpoint, uint64_t generation,
                            struct problem *problem) MUST_USE;
enum error checkpoint_read(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, uint64_t generation,
                           struct problem *problem) MUST_USE;

/* name[CHECKPOINT_NAME_MAX] */
void checkpoint_name(char *name, uint64_t generation);

#endif
