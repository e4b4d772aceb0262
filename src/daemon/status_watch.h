/* The daemon's side of `hearsay status`: looks at the node once a second, to know what goes over
 * each link, and writes the page when somebody asks. */
#ifndef HEARSAY_DAEMON_STATUS_WATCH_H
#define HEARSAY_DAEMON_STATUS_WATCH_H

#include "node/inspect.h"
#include "commands/status/status_page.h"

#define WATCH_SECONDS 5 /* rates are those of so many seconds, at most */

/* Bytes of one conversation, as they were in the last seconds. */
struct status_track {
    uint64_t conn; /* 0: free */
    bool seen;     /* in this second */
    uint32_t count;
    struct {
        uint64_t at_ns, sent_bytes, received_bytes;
    } past[WATCH_SECONDS]; /* the oldest first */
};

struct status_watch {
    struct status_track total;
    struct status_track tracks[NODE_PEERS_MAX];
};

/* What does not change while the node runs, and what the node does not know. */
struct status_facts {
    const struct node_options *options;
    struct address listen; /* host "": it does not listen */
    uint64_t start_ns;
    double loss;             /* not a number: none yet */
    double checkpoint_age_s; /* not a number: there is none */
};

/* Once a second. */
void status_watch_look(struct status_watch *watch, const struct node *node, uint64_t now_ns);

/* The page as JSON, *count bytes; to be freed. */
char *status_watch_page(const struct status_watch *watch, const struct node *node,
                        const struct status_facts *facts, uint64_t now_ns, size_t *count);

/* The parts of it, for its tests: bytes seen now; and per second since the oldest seen. */
void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes);
void status_track_rates(const struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                        uint64_t received_bytes, double *sent_per_s, double *received_per_s);

#endif
