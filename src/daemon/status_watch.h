/* The daemon's side of `hearsay status`: looks at the node once a second, to know what goes over
 * each link, and writes the page when somebody asks.
 *
 *   node_stats, node_link, node_member ─ tables of fields ─► JSON ~ status.sock ~ hearsay status,
 * top
 *
 * One table for each of the node's structs says how a field is called in JSON and in which unit it
 * is given; what is not known is null. Whoever asks reads the fields by these names.
 * Held by tests/unit/daemon/test_status_watch.c and tests/process/test_status.sh.
 */
#ifndef HEARSAY_DAEMON_STATUS_WATCH_H
#define HEARSAY_DAEMON_STATUS_WATCH_H

#include <jansson.h>

#include "daemon/reach.h"
#include "daemon/training_watch.h"
#include "node/inspect.h"
#include "state/member_list.h"

#define WATCH_SECONDS 5 /* rates are those of so many seconds, at most */

/* Bytes of one conversation, as they were in the last seconds. */
struct status_track {
    uint64_t conn;  /* the conversation; 0: the track is free */
    bool seen;      /* the conversation was there in this second */
    uint32_t count; /* of past */
    struct {
        uint64_t at_ns, sent_bytes, received_bytes;
    } past[WATCH_SECONDS]; /* the oldest first */
};

struct status_watch {
    struct status_track total;                  /* of all conversations there ever were */
    struct status_track tracks[NODE_PEERS_MAX]; /* one for each conversation */
};

/* What does not change while the node runs, and what the node does not know. */
struct status_facts {
    const struct node_options *options; /* as the node was made */
    const struct reach *reach;          /* whether it reaches anybody */
    const struct member_list *list;     /* of members; NULL: there is none */
    struct address listen;              /* host "": it does not listen */
    uint64_t start_ns;                  /* of the process */
    const struct training_watch *training;
    double checkpoint_age_s; /* not a number: there is none */
    uint64_t free_bytes;     /* where checkpoints are kept */
    uint32_t diverged;       /* how often training began anew from the base */
    const struct learner_saturation *saturation;
};

/* Once a second. */
void status_watch_look(struct status_watch *watch, const struct node *node, uint64_t now_ns);

/* The page: an object, for json_decref. */
json_t *status_watch_page(const struct status_watch *watch, const struct node *node,
                          const struct status_facts *facts, uint64_t now_ns);

/* Its parts, for its tests: note the bytes that went so far; and the bytes per second since the
 * oldest note, not a number when there is none. */
void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes);
void status_track_rates(const struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                        uint64_t received_bytes, double *sent_per_s, double *received_per_s);

#endif
