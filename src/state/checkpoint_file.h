/* Format of a checkpoint file: shared by checkpoint.c, checkpoint_read.c and checkpoint_write.c. */
#ifndef HEARSAY_STATE_CHECKPOINT_FILE_H
#define HEARSAY_STATE_CHECKPOINT_FILE_H

#include "state/checkpoint.h"

#define CHECKPOINT_FORMAT        5
#define CHECKPOINT_FORMAT_BEFORE 4 /* a load also accepts it (checkpoint.h) */
#define CHECKPOINT_MAGIC         "hearsayC"
#define CHECKPOINT_NAME          "checkpoint-"
/* largest part that a load accepts */
#define CHECKPOINT_PART_BYTES_MAX ((size_t)64 << 20)
/* kind of the last record, after the kinds of snapshot.h */
#define CHECKPOINT_THE_END SNAPSHOT_KINDS

/* The structs have the layout of the file; checkpoint.h explains the fields. */
struct checkpoint_header {
    char magic[8];
    uint32_t format;
    uint32_t moments;
    uint64_t generation;
    uint64_t parameters;
    uint32_t part_parameters;
    uint32_t model_bytes;
};

struct checkpoint_head {
    uint32_t kind;
    uint32_t count;
    float tau;
    uint32_t amount;
    float beta;
};

struct checkpoint_numbers {
    uint64_t incarnation;
    uint64_t samples;
    uint64_t swarm_samples;
    uint64_t steps;
    uint64_t epoch;
    uint64_t random_walk;
    uint32_t at;
    uint32_t batch;
    uint64_t digest;
};

_Static_assert(sizeof(struct checkpoint_header) == 40 && sizeof(struct checkpoint_head) == 20 &&
                   sizeof(struct checkpoint_numbers) == 64,
               "no padding: the structs are what is in the file");
_Static_assert(CHECKPOINT_THE_END == 4, "the kinds are as in the file");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(float) == 4,
               "the file holds little-endian numbers, and so must the memory");

/* Writes the last record and completes the file. Returns FAILED if this or an earlier write
 * failed. */
enum error checkpoint_write_end(struct checkpoint_writer *writer, struct checkpoint *checkpoint,
                                struct problem *problem) MUST_USE;
enum error checkpoint_read(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, const struct checkpoint_target *target,
                           uint64_t generation, struct problem *problem) MUST_USE;

/* Returns the number that a record adds to the digest of the base. The digest is linear, so these
 * numbers add up to it, and no copy of the base is needed. */
uint64_t checkpoint_digest_of(const struct snapshot_record *record);

/* name: CHECKPOINT_NAME_MAX bytes */
void checkpoint_name(char *name, uint64_t generation);

#endif
