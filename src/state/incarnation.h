/* The incarnation: a number that rises with each start of a node.
 *
 *   FOLDER/incarnation: one line, "N H". N, in decimal, is the smallest number never reserved. H is
 *   rng_mix(N) as 16 hex digits, so that a damaged line is detected.
 *
 * Before the node sends its first byte, it durably raises N past `reserve` numbers (atomic_file.h).
 * So a process may raise its incarnation up to reserve - 1 times without the disk, and the next
 * process starts above all of them, even if the clock was set back. Tests:
 * tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_INCARNATION_H
#define HEARSAY_STATE_INCARNATION_H

#include <stdint.h>

#include "base/error.h"
#include "state/disk.h"

/* milliseconds since 1970 */
uint64_t incarnation_wall_ms(void);

/* Reserves the numbers *incarnation .. *incarnation + reserve - 1; reserve >= 1. The first one is
 * wall_ms (milliseconds since 1970), or the smallest unreserved number if that is larger.
 * MALFORMED: the file is damaged. FAILED: it cannot be read or written, or no number is left. After
 * an error the node must not send anything; the problem says what to do. */
enum error incarnation_begin(const struct disk *disk, const char *folder, uint64_t wall_ms,
                             uint64_t reserve, uint64_t *incarnation,
                             struct problem *problem) MUST_USE;

/* Sets *incarnation to the number that incarnation_begin would return now, without writing the
 * file. Returns the errors of incarnation_begin. */
enum error incarnation_look(const struct disk *disk, const char *folder, uint64_t wall_ms,
                            uint64_t reserve, uint64_t *incarnation,
                            struct problem *problem) MUST_USE;

#endif
