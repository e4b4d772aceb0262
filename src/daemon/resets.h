/* Counts how often training has diverged here. After one accident training restarts from the
 * swarm's base. Three within an hour mean a mistake in the configuration, which a person must
 * correct. */
#ifndef HEARSAY_DAEMON_RESETS_H
#define HEARSAY_DAEMON_RESETS_H

#include <stdbool.h>
#include <stdint.h>

#define RESETS_MAX 3
#define RESETS_NS  3600000000000ull

struct resets {
    uint64_t at_ns[RESETS_MAX]; /* times of the last resets, oldest first; 0 = fewer */
    uint32_t count;             /* so far */
    bool are_too_many;          /* RESETS_MAX resets were within RESETS_NS; stays true */
};

/* Records that training has diverged; now_ns > 0. */
void resets_add(struct resets *resets, uint64_t now_ns);

#endif
