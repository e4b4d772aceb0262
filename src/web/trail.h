/* The trail: a node's measurements over time, in bounded memory, for the curves of its page. At
 * first there is a row for each second. When the trail is full, each pair of rows becomes one row,
 * and later rows span twice the time. So it can hold weeks, with equal spacing throughout. Tests:
 * tests/unit/web/test_trail.c.
 */
#ifndef HEARSAY_WEB_TRAIL_H
#define HEARSAY_WEB_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#define TRAIL_MAX 1024

/* Columns of the trail; unknown values are NAN. */
enum trail_value {
    TRAIL_AT_S,      /* seconds since the start of the node */
    TRAIL_LOSS,      /* mean training loss of the last second in which this node made steps */
    TRAIL_BASE_LOSS, /* loss of the shared model at its last evaluation */
    TRAIL_ACCURACY,  /* accuracy of the shared model at its last evaluation, 0 .. 1 */
    TRAIL_SPEED,     /* samples per second that this node trains */
    TRAIL_ALL_SPEED, /* samples per second of all live members, as they report */
    TRAIL_SHARE,     /* this node's share of the swarm's learning at its last publication, 0 .. 1 */
    /* Seconds for which this node has lacked at least one rumor; 0 = it lacks none. */
    TRAIL_LAG_S,
    TRAIL_MOST_LAG_S, /* largest TRAIL_LAG_S of all live members, as they report */
    TRAIL_SENT,       /* bytes sent per second */
    TRAIL_RECEIVED,   /* bytes received per second */
    TRAIL_BUDGET,     /* bytes per second that the node may publish */
    TRAIL_MEMBERS,
    TRAIL_KNOWN,      /* number of rumors that this node knows of */
    TRAIL_WAITING,    /* number of known rumors that this node has not applied yet */
    TRAIL_SENT_BYTES, /* bytes sent since the start */
    TRAIL_VALUES
};

struct trail {
    uint32_t count;   /* complete rows */
    uint32_t each;    /* seconds per row, a power of two */
    uint32_t partial; /* seconds so far in the incomplete row rows[count] */
    double rows[TRAIL_MAX + 1][TRAIL_VALUES];
};

void trail_init(struct trail *trail);
/* Adds the values of one second. Returns true if they completed a row. */
bool trail_add(struct trail *trail, const double second[static TRAIL_VALUES]);

#endif
