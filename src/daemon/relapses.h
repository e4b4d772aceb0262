/* How often training has diverged here. Once is an accident, after which the swarm's base is a new
 * start. Three times in an hour is a mistake of the configuration, which a person has to mend. */
#ifndef HEARSAY_DAEMON_RELAPSES_H
#define HEARSAY_DAEMON_RELAPSES_H

#include <stdbool.h>
#include <stdint.h>

#define RELAPSES_MAX 3
#define RELAPSES_NS  3600000000000ull

struct relapses {
    uint64_t at_ns[RELAPSES_MAX]; /* times of the last resets, oldest first; 0 = fewer */
    uint32_t count;               /* so far */
    bool are_too_many;            /* RELAPSES_MAX of them within RELAPSES_NS; that stays so */
};

/* Training has diverged again; now_ns > 0. */
void relapses_add(struct relapses *relapses, uint64_t now_ns);

#endif
