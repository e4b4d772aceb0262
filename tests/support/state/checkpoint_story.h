/* Checkpoints to save and to recognise: all values of generation k follow from k.
 *
 * A story stands for a learner. Its state is copied in parts of story_part entries (snapshot.h).
 * Between two parts, updates change its base and weights.
 */
#ifndef HEARSAY_TESTS_SUPPORT_STATE_CHECKPOINT_STORY_H
#define HEARSAY_TESTS_SUPPORT_STATE_CHECKPOINT_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "state/checkpoint_file.h"
#include "support/state/memory_disk.h"

#define P_MAX  8200
#define P      5454 /* parameters; they make a file slightly larger than one chunk */
#define OWN    76
#define MODEL  "1x28x28: dense 5, relu, dense 10"
#define OTHERS "1x28x28: dense 6, relu, dense 10"

struct story {
    struct checkpoint checkpoint;
    struct learner_state state; /* the state that the checkpoint saves */
    int32_t vectors[4 * P_MAX + 64];
    uint8_t own[CHECKPOINT_OWN_MAX];
};

extern size_t story_part; /* entries of a part; the last part may have fewer */

/* Makes an empty story, into which a checkpoint is loaded. */
void story_init(struct story *story, size_t parameters, uint32_t moments);
void story_fill(struct story *story, uint64_t generation);
/* Copies the story part by part, with updates between the parts. Writes the parts unless `writer`
 * is NULL. */
void story_walk(struct story *story, uint64_t generation, struct checkpoint_writer *writer);

/* Returns the digest of a base, computed entry by entry. */
uint64_t story_digest(const struct learner_state *state);

bool story_is(const struct story *got, uint64_t generation);

/* Number of checkpoints that a load has skipped, and the reason for the last one. */
struct story_refusals {
    int count;
    struct problem last;
};

extern struct memory_disk disk;
extern struct story saved, loaded;
extern struct checkpoint_series series;
extern struct story_refusals refusals;
extern struct problem problem;

int begin(void **state);

enum error save(struct memory_disk *to);
/* story_stream copies the data of a generation's file without the checksums. story_put_stream
 * writes a file with such data and valid checksums. */
size_t story_stream(struct memory_disk *on, uint64_t generation, uint8_t stream[FILE_MAX]);
void story_put_stream(struct memory_disk *on, uint64_t generation, const uint8_t *stream,
                      size_t bytes);
enum error load_with(struct memory_disk *from, size_t parameters, uint32_t moments);
enum error load(struct memory_disk *from);
void save_two(void);
struct memory_file *file_of(struct memory_disk *on, uint64_t generation);
void must_load(struct memory_disk *from, uint64_t generation, int refused);

#endif
