/* Counts how often training on this node has diverged. After each divergence, training restarts
 * from the swarm's base. Three divergences within an hour mean that the configuration is wrong and
 * a person must correct it. */
#ifndef HEARSAY_DAEMON_RESETS_H
#define HEARSAY_DAEMON_RESETS_H

#include <stdbool.h>
#include <stdint.h>

#define RESETS_MAX 3
#define RESETS_NS  3600000000000ull

struct resets {
    uint64_t at_ns[RESETS_MAX]; /* times of the last RESETS_MAX resets, oldest first; 0 = none */
    uint32_t count;
    bool are_too_many; /* RESETS_MAX resets have happened within RESETS_NS; never cleared */
};

/* Records that training has diverged; now_ns must not be 0. */
void resets_add(struct resets *resets, uint64_t now_ns);

#endif
