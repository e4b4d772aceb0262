/* What the figures of a node's page show: its numbers, second by second, in memory that does not
 * grow. When it is full, each two neighbours become one, and moments come half as often: weeks fit
 * into it, the last of them as coarse as the first. Held by tests/unit/web/test_trail.c.
 */
#ifndef HEARSAY_WEB_TRAIL_H
#define HEARSAY_WEB_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#define TRAIL_MAX 1024

/* What is not known is not a number. */
enum trail_value {
    TRAIL_AT_S,       /* since the start of the process */
    TRAIL_LOSS,       /* of what was learned in this second */
    TRAIL_BASE_LOSS,  /* of the shared model, in the last evaluation */
    TRAIL_ACCURACY,   /* likewise */
    TRAIL_SPEED,      /* samples per second of this node */
    TRAIL_ALL_SPEED,  /* of all live members, as they say */
    TRAIL_SHARE,      /* of the last publication */
    TRAIL_LAG_S,      /* for how long something has been missing here */
    TRAIL_MOST_LAG_S, /* the most of any live member, as they say */
    TRAIL_SENT,       /* bytes per second */
    TRAIL_RECEIVED,   /* likewise */
    TRAIL_BUDGET,     /* bytes per second of rumors that may be published */
    TRAIL_MEMBERS,    /* that are live */
    TRAIL_KNOWN,      /* rumors in the version */
    TRAIL_WAITING,    /* of those, not yet applied */
    TRAIL_SENT_BYTES, /* in all */
    TRAIL_VALUES
};

struct trail {
    uint32_t count;   /* whole ones */
    uint32_t each;    /* seconds that one of them is the mean of: a power of two */
    uint32_t partial; /* seconds in the one that is being made, rows[count] */
    double rows[TRAIL_MAX + 1][TRAIL_VALUES];
};

void trail_init(struct trail *trail);
/* Once a second. True: with it one became whole, rows[count - 1]. */
bool trail_add(struct trail *trail, const double second[static TRAIL_VALUES]);

#endif
