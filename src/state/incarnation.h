/* The incarnation: a number that rises with each start of a node.
 *
 *   FOLDER/incarnation: one line, "N H": N the smallest number never used (decimal), H rng_mix(N)
 *   as 16 hex digits, so that a damaged line is detected.
 *
 * Before the first byte is sent the file is raised by `reserve`, durably (atomic_file.h). So a
 * process may raise its incarnation up to reserve - 1 times without the disk, and the next process
 * starts above all of them, even if the clock was set back. Held by
 * tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_INCARNATION_H
#define HEARSAY_STATE_INCARNATION_H

#include <stdint.h>

#include "base/error.h"
#include "state/disk.h"

/* Returns milliseconds since 1970 by this machine's clock. */
uint64_t incarnation_wall_ms(void);

/* Reserves the numbers *incarnation .. *incarnation + reserve - 1, reserve >= 1. The first is
 * wall_ms (milliseconds since 1970) or, if earlier starts have used that, one above theirs.
 * MALFORMED: the file is damaged. FAILED: it cannot be read or written. In both cases the node must
 * not send anything; the sentence says what to do. */
enum error incarnation_begin(const struct disk *disk, const char *folder, uint64_t wall_ms,
                             uint64_t reserve, uint64_t *incarnation,
                             struct problem *problem) MUST_USE;

/* Computes the incarnation that a start would get now. Only reads the file; fails as
 * incarnation_begin does before its write. */
enum error incarnation_look(const struct disk *disk, const char *folder, uint64_t wall_ms,
                            uint64_t reserve, uint64_t *incarnation,
                            struct problem *problem) MUST_USE;

#endif
