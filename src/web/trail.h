/* The trail: the numbers of a node, second by second, in bounded memory, for the curves of its
 * page. When it is full, neighbouring rows are merged in pairs and rows come half as often. So it
 * holds weeks, at one resolution throughout. Held by tests/unit/web/test_trail.c.
 */
#ifndef HEARSAY_WEB_TRAIL_H
#define HEARSAY_WEB_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#define TRAIL_MAX 1024

/* Unknown values are NAN. */
enum trail_value {
    TRAIL_AT_S,       /* since the start of the process */
    TRAIL_LOSS,       /* mean loss of the samples learned in this second */
    TRAIL_BASE_LOSS,  /* loss of the shared model in the last evaluation */
    TRAIL_ACCURACY,   /* accuracy in the last evaluation */
    TRAIL_SPEED,      /* samples per second of this node */
    TRAIL_ALL_SPEED,  /* of all live members, as reported */
    TRAIL_SHARE,      /* of the last publication */
    TRAIL_LAG_S,      /* how long a rumor has been missing here */
    TRAIL_MOST_LAG_S, /* maximum over live members, as reported */
    TRAIL_SENT,       /* bytes per second */
    TRAIL_RECEIVED,   /* bytes per second */
    TRAIL_BUDGET,     /* publication budget, bytes per second */
    TRAIL_MEMBERS,    /* live members */
    TRAIL_KNOWN,      /* rumors in the version */
    TRAIL_WAITING,    /* of those, not applied yet */
    TRAIL_SENT_BYTES, /* total */
    TRAIL_VALUES
};

struct trail {
    uint32_t count;   /* complete rows */
    uint32_t each;    /* seconds per row: a power of two */
    uint32_t partial; /* seconds in the incomplete row, rows[count] */
    double rows[TRAIL_MAX + 1][TRAIL_VALUES];
};

void trail_init(struct trail *trail);
/* Adds a second. Returns true if it completed rows[count - 1]. */
bool trail_add(struct trail *trail, const double second[static TRAIL_VALUES]);

#endif
