/* Makes the status page of `hearsay status`: measures the traffic of each link once a second, and
 * writes the page as JSON on request.
 *
 *   node_stats, node_link, node_member ─ tables of fields ─► JSON ~ status.sock ~ status, top
 *
 * For each of the node's structs, a table has the JSON name and the unit of each member. Unknown
 * values are null. Tests:
 * tests/unit/daemon/test_status_watch.c and tests/process/test_status.sh.
 */
#ifndef HEARSAY_DAEMON_STATUS_WATCH_H
#define HEARSAY_DAEMON_STATUS_WATCH_H

#include <jansson.h>

#include "daemon/reach.h"
#include "daemon/training_watch.h"
#include "node/inspect.h"
#include "state/member_list.h"

#define WATCH_SECONDS 5 /* maximum number of seconds over which a rate is averaged */

/* Bytes sent and received by one connection during the last seconds. */
struct status_track {
    uint64_t conn;  /* number of the connection; 0 = this track is free */
    bool seen;      /* the connection was open in this second */
    uint32_t count; /* number of entries in `past` */
    struct {
        uint64_t at_ns, sent_bytes, received_bytes;
    } past[WATCH_SECONDS]; /* total bytes so far at the end of earlier seconds, oldest first */
};

struct status_watch {
    struct status_track total;                  /* track of all connections together */
    struct status_track tracks[NODE_PEERS_MAX]; /* tracks of the open connections */
};

/* Facts for the page that do not come from the node core. */
struct status_facts {
    const struct node_options *options; /* options with which the node was created */
    const struct reach *reach;          /* whether the node reaches any other node */
    const struct member_list *list;     /* member list; NULL = none */
    struct address listen; /* address on which the node listens; host "" = it does not listen */
    uint64_t start_ns;     /* time at which the process started */
    const struct training_watch *training;
    double checkpoint_age_s; /* seconds since the last checkpoint was complete; NAN = none */
    uint64_t free_bytes;     /* free bytes on the disk that has the checkpoints */
    uint32_t diverged;       /* number of resets because training had diverged */
    const struct learner_saturation *saturation;
};

/* Records the traffic of each connection; called once a second. */
void status_watch_look(struct status_watch *watch, const struct node *node, uint64_t now_ns);

/* Returns the page as a JSON object, which the caller releases with json_decref. */
json_t *status_watch_page(const struct status_watch *watch, const struct node *node,
                          const struct status_facts *facts, uint64_t now_ns);

/* Parts of the measurement, public for tests. status_track_see records the total bytes sent and
 * received so far. status_track_rates returns the bytes per second since the oldest record; NAN if
 * there is none. */
void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes);
void status_track_rates(const struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                        uint64_t received_bytes, double *sent_per_s, double *received_per_s);

#endif
