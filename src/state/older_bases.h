/* Older bases: copies from which a swarm can restart if a member has done harm for longer than the
 * logs reach back (commands/rewind.h).
 *
 *   FOLDER/base-20261125-143005.safetensors   base.safetensors at that time (UTC). A hard link
 *                                             to it, until the next save replaces it
 *
 * Bases are at least an hour apart. If there are too many, the base is removed whose removal leaves
 * the smallest relative gap in age between its neighbours, but never the first or the last. (If
 * only one may be kept, it is the newest.) So recent bases are close together in time, and the
 * oldest one is from the start. Times are seconds since 1970. Tests:
 * tests/unit/state/test_older_bases.c and tests/process/test_rewind.sh.
 */
#ifndef HEARSAY_STATE_OLDER_BASES_H
#define HEARSAY_STATE_OLDER_BASES_H

#include "base/error.h"
#include "state/disk.h"
#include "state/export.h"

#define OLDER_BASES_MAX 64

struct older_bases {
    uint32_t count;
    uint64_t saved_s[OLDER_BASES_MAX + 1]; /* times of saving, oldest first */
};

/* Lists at most OLDER_BASES_MAX bases. FAILED: the folder cannot be read. */
enum error older_bases_list(const struct disk *disk, const char *folder, struct older_bases *bases,
                            struct problem *problem) MUST_USE;
void older_bases_path(char path[static BASE_PATH_BYTES], const char *folder, uint64_t saved_s);

/* Keeps base.safetensors, which was just saved, as an older base, unless one was kept within the
 * last hour. At most `most` bases are kept; if it is 0, nothing is kept or removed. Surplus bases
 * are removed only after the new one is durable. FAILED: it cannot be kept, for example because the
 * file system has no hard links. */
enum error older_bases_keep(const struct disk *disk, const char *folder, uint64_t now_s,
                            uint32_t most, struct problem *problem) MUST_USE;

/* Returns the index of the base to remove, by the rule at the top of this file. There must be at
 * least two bases. */
uint32_t older_bases_to_go(const struct older_bases *bases, uint64_t now_s);

#endif
