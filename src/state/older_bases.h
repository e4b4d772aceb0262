/* Older bases: a swarm can restart from one when a member has harmed it for longer than its logs
 * reach back (commands/rewind.h).
 *
 *   FOLDER/base-20261125-143005.safetensors   base.safetensors as it was then (UTC): another name
 * of the same file, until a new one takes its place
 *
 * Bases are at least an hour apart. If there are too many, the one whose removal leaves the
 * smallest relative gap of ages goes, but never the first. So young bases lie close together, and
 * the oldest reaches back to the start. Times are seconds since 1970. Held by
 * tests/unit/state/test_older_bases.c and tests/process/test_rewind.sh.
 */
#ifndef HEARSAY_STATE_OLDER_BASES_H
#define HEARSAY_STATE_OLDER_BASES_H

#include "base/error.h"
#include "state/disk.h"
#include "state/export.h"

#define OLDER_BASES_MAX 64

struct older_bases {
    uint32_t count;                        /* how many there are */
    uint64_t saved_s[OLDER_BASES_MAX + 1]; /* when each was saved, the oldest first */
};

/* Those in the folder. FAILED: it cannot be read. Beyond the room there is, some are left out. */
enum error older_bases_list(const struct disk *disk, const char *folder, struct older_bases *bases,
                            struct problem *problem) MUST_USE;
void older_bases_path(char path[static BASE_PATH_BYTES], const char *folder, uint64_t saved_s);

/* After base.safetensors was saved: also keeps it if the last one is old enough, with at most `max`
 * in all; 0 = none. Removes another one only once this one is durable. FAILED: it cannot be kept,
 * for example without hard links. */
enum error older_bases_keep(const struct disk *disk, const char *folder, uint64_t now_s,
                            uint32_t most, struct problem *problem) MUST_USE;

/* Which of two or more goes. */
uint32_t older_bases_to_go(const struct older_bases *bases, uint64_t now_s);

#endif
