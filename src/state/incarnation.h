/* The incarnation: a number that this node's every life gets higher than all before.
 *
 *   FOLDER/incarnation: one line, "N H": the smallest number that no life has had (decimal), and
 *   rng_mix(N) as 16 hex digits, so that a damaged line is noticed.
 *
 * Before the first byte is sent the file is raised by `reserve`, durably (draft.h): so a life may
 * go to a higher incarnation up to reserve - 1 times without asking the disk, and the next life
 * begins above all of them, even if the clock was set back. Held by
 * tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_INCARNATION_H
#define HEARSAY_STATE_INCARNATION_H

#include <stdint.h>

#include "state/disk.h"
#include "base/error.h"

/* This life's are *incarnation .. *incarnation + reserve - 1, reserve >= 1; the first is wall_ms
 * (milliseconds since 1970) or, if lives before had that, above theirs.
 * MALFORMED: the file is damaged. FAILED: it cannot be read or written. Either way the node must
 * not speak; the sentence says what to do. */
enum error incarnation_begin(const struct disk *disk, const char *folder, uint64_t wall_ms,
                             uint64_t reserve, uint64_t *incarnation,
                             struct problem *problem) MUST_USE;

/* With which a life would begin now. Reads only, and fails as incarnation_begin does before it
 * writes. */
enum error incarnation_look(const struct disk *disk, const char *folder, uint64_t wall_ms,
                            uint64_t reserve, uint64_t *incarnation,
                            struct problem *problem) MUST_USE;

#endif
