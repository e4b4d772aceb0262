/* The daemon's side of `hearsay status`: measures the traffic of each link once a second, and
 * writes the page on request.
 *
 *   node_stats, node_link, node_member ─ tables of fields ─► JSON ~ status.sock ~ status, top
 *
 * A table for each of the node's structs has the JSON name and the unit of each field; unknown
 * values are null. Clients read the fields by these names. Held by
 * tests/unit/daemon/test_status_watch.c and tests/process/test_status.sh.
 */
#ifndef HEARSAY_DAEMON_STATUS_WATCH_H
#define HEARSAY_DAEMON_STATUS_WATCH_H

#include <jansson.h>

#include "daemon/reach.h"
#include "daemon/training_watch.h"
#include "node/inspect.h"
#include "state/member_list.h"

#define WATCH_SECONDS 5 /* most seconds over which rates are averaged */

/* Bytes of one conversation in the last seconds. */
struct status_track {
    uint64_t conn;  /* number of the conversation; 0 = the track is free */
    bool seen;      /* the conversation existed in this second */
    uint32_t count; /* of past */
    struct {
        uint64_t at_ns, sent_bytes, received_bytes;
    } past[WATCH_SECONDS]; /* earlier totals, oldest first */
};

struct status_watch {
    struct status_track total;                  /* totals of all conversations so far */
    struct status_track tracks[NODE_PEERS_MAX]; /* totals of each present conversation */
};

/* Facts that do not change while the node runs, or that the node does not know. */
struct status_facts {
    const struct node_options *options; /* options with which the node was created */
    const struct reach *reach;          /* whether the node reaches any other node */
    const struct member_list *list;     /* member list; NULL = none */
    struct address listen;              /* listening address; host "" = does not listen */
    uint64_t start_ns;                  /* start of the process */
    const struct training_watch *training;
    double checkpoint_age_s; /* age of the last checkpoint; NaN = none */
    uint64_t free_bytes;     /* free bytes on the disk of the checkpoints */
    uint32_t diverged;       /* times that training was reset to the base */
    const struct learner_saturation *saturation;
};

/* Measures the traffic; called once a second. */
void status_watch_look(struct status_watch *watch, const struct node *node, uint64_t now_ns);

/* Returns the page as an object; the caller calls json_decref. */
json_t *status_watch_page(const struct status_watch *watch, const struct node *node,
                          const struct status_facts *facts, uint64_t now_ns);

/* Parts of the measurement, for tests. The first one records the bytes sent and received so far;
 * the second returns the bytes per second since the oldest record, NaN if there is none. */
void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes);
void status_track_rates(const struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                        uint64_t received_bytes, double *sent_per_s, double *received_per_s);

#endif
