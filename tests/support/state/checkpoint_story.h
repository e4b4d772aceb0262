/* Checkpoints to save and to recognise: every number of generation k follows from k.
 *
 * A story plays a learner: it is taken in parts of story_part entries (snapshot.h), and between two
 * parts updates move its base and its weights. */
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
#define P      5454 /* so that a file takes a little more than one chunk */
#define OWN    76
#define MODEL  "1x28x28: dense 5, relu, dense 10"
#define OTHERS "1x28x28: dense 6, relu, dense 10"

struct story {
    struct checkpoint checkpoint;
    struct learner_state state; /* what the checkpoint is of */
    int32_t vectors[4 * P_MAX + 64];
    uint8_t own[CHECKPOINT_OWN_MAX];
};

extern size_t story_part; /* entries of a part; as many as there are, if that is less */

/* Nothing in it yet: as for a load. */
void story_init(struct story *story, size_t parameters, uint32_t moments);
void story_fill(struct story *story, uint64_t generation);
/* It goes through its parts and what happens between them, and writes it; or not, if the writer is
 * NULL. */
void story_walk(struct story *story, uint64_t generation, struct checkpoint_writer *writer);

/* The digest of a base, entry by entry. */
uint64_t story_digest(const struct learner_state *state);

/* All that was loaded is, bit for bit, what generation k has. */
bool story_is(const struct story *got, uint64_t generation);

/* How many were passed over in a load, and why the last was. */
struct story_refusals {
    int count;
    struct problem last;
};

/* One story on one disk. */

extern struct memory_disk disk;
extern struct story saved, loaded;
extern struct checkpoint_series series;
extern struct story_refusals refusals;
extern struct problem problem;

int begin(void **state);

/* Generation series.next, whose content follows from its number. */
enum error save(struct memory_disk *to);
/* The bytes of the stream in generation k's file, without the checksums; and such a file of them.
 */
size_t story_stream(struct memory_disk *on, uint64_t generation, uint8_t stream[FILE_MAX]);
void story_put_stream(struct memory_disk *on, uint64_t generation, const uint8_t *stream,
                      size_t bytes);
enum error load_with(struct memory_disk *from, size_t parameters, uint32_t moments);
enum error load(struct memory_disk *from);
void save_two(void);
struct memory_file *file_of(struct memory_disk *on, uint64_t generation);
void must_load(struct memory_disk *from, uint64_t generation, int refused);

#endif
