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
    TRAIL_AT_S,       /* seconds since the start of the process */
    TRAIL_LOSS,       /* mean loss of the samples learned in this second */
    TRAIL_BASE_LOSS,  /* loss of the shared model in the last evaluation */
    TRAIL_ACCURACY,   /* accuracy in the last evaluation */
    TRAIL_SPEED,      /* samples per second of this node */
    TRAIL_ALL_SPEED,  /* samples per second of all live members, as reported */
    TRAIL_SHARE,      /* share of the last publication */
    TRAIL_LAG_S,      /* how long a rumor has been missing here */
    TRAIL_MOST_LAG_S, /* maximum over live members, as reported */
    TRAIL_SENT,       /* bytes sent per second */
    TRAIL_RECEIVED,   /* bytes received per second */
    TRAIL_BUDGET,     /* publication budget, bytes per second */
    TRAIL_MEMBERS,    /* number of live members */
    TRAIL_KNOWN,      /* number of known rumors */
    TRAIL_WAITING,    /* number of known rumors that are not applied yet */
    TRAIL_SENT_BYTES, /* total */
    TRAIL_VALUES
};

struct trail {
    uint32_t count;   /* number of complete rows */
    uint32_t each;    /* seconds per row: a power of two */
    uint32_t partial; /* seconds in the incomplete row rows[count] */
    double rows[TRAIL_MAX + 1][TRAIL_VALUES];
};

void trail_init(struct trail *trail);
/* Adds a second. Returns true if that completed rows[count - 1]. */
bool trail_add(struct trail *trail, const double second[static TRAIL_VALUES]);

#endif
