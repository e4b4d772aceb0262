/* Counts how often training has diverged here. After one accident training restarts from the
 * swarm's base. Three within an hour mean a mistake in the configuration, which a person must
 * correct. */
#ifndef HEARSAY_DAEMON_RELAPSES_H
#define HEARSAY_DAEMON_RELAPSES_H

#include <stdbool.h>
#include <stdint.h>

#define RELAPSES_MAX 3
#define RELAPSES_NS  3600000000000ull

struct relapses {
    uint64_t at_ns[RELAPSES_MAX]; /* times of the last resets, oldest first; 0 = fewer */
    uint32_t count;               /* so far */
    bool are_too_many;            /* RELAPSES_MAX resets were within RELAPSES_NS; stays true */
};

/* Records that training has diverged; now_ns > 0. */
void relapses_add(struct relapses *relapses, uint64_t now_ns);

#endif
