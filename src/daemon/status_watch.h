/* Makes the status page of `hearsay status`: measures the traffic of each link once a second, and
 * writes the page as JSON on request.
 *
 *   node_stats, node_link, node_member ─ tables of fields ─► JSON ~ status.sock ~ status, top
 *
 * For each of the node's structs, a table has the JSON name and the unit of each member. Unknown
 * values are null. Tests: tests/unit/daemon/test_status_watch.c and tests/process/test_status.sh.
 */
#ifndef HEARSAY_DAEMON_STATUS_WATCH_H
#define HEARSAY_DAEMON_STATUS_WATCH_H

#include <jansson.h>

#include "daemon/reach.h"
#include "daemon/training_watch.h"
#include "node/inspect.h"
#include "state/member_list.h"

#define WATCH_SECONDS 5 /* maximum number of seconds over which a rate is averaged */

/* Traffic of one connection during the last seconds. */
struct status_track {
    uint64_t conn; /* 0 = this track is free */
    bool seen;     /* the connection was open in this second */
    uint32_t count;
    struct {
        uint64_t at_ns, sent_bytes, received_bytes;
    } past[WATCH_SECONDS]; /* total bytes so far at the end of earlier seconds, oldest first */
};

struct status_watch {
    struct status_track total; /* all connections together */
    struct status_track tracks[NODE_PEERS_MAX];
};

/* Facts for the page that do not come from the node core. */
struct status_facts {
    const struct node_options *options;
    const struct reach *reach;
    const struct member_list *list; /* NULL = there is no member list */
    struct address listen;          /* host "" = the node does not listen */
    uint64_t start_ns;              /* time at which the node started */
    const struct training_watch *training;
    double checkpoint_age_s; /* seconds since the last checkpoint was complete; NAN = none */
    uint64_t free_bytes;     /* on the disk of the state folder */
    uint32_t diverged;       /* number of times that training has diverged */
    const struct learner_saturation *saturation;
};

/* Called once a second. */
void status_watch_look(struct status_watch *watch, const struct node *node, uint64_t now_ns);

/* The caller releases the page with json_decref. */
json_t *status_watch_page(const struct status_watch *watch, const struct node *node,
                          const struct status_facts *facts, uint64_t now_ns);

/* Records the total bytes so far. status_track_rates sets the rates in bytes per second since the
 * oldest record; NAN if there is none. */
void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes);
void status_track_rates(const struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                        uint64_t received_bytes, double *sent_per_s, double *received_per_s);

#endif
