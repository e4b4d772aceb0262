/* A node with its sockets, its files and its learner's orders: the common part of the daemon and of
 * programs that embed a node.
 *
 *   transport ─► host ─► node ─ actions ─► transport, learner_link, saving, event_log
 *                  ▲ learner_link, saver: woken
 *
 * Its owner begins it in the order of the functions below, and is called at four moments, always on
 * the thread that runs it. Who steps is the owner's business: it makes one end of a learner_link,
 * and gives the host the other.
 */
#ifndef HEARSAY_DAEMON_HOST_H
#define HEARSAY_DAEMON_HOST_H

#include "config/config.h"
#include "config/inference_words.h"
#include "config/setup.h"
#include "crypto/locked_memory.h"
#include "daemon/event_log.h"
#include "daemon/known_proofs.h"
#include "daemon/known_votes.h"
#include "daemon/learner_link.h"
#include "daemon/members_file.h"
#include "daemon/operator_orders.h"
#include "daemon/relapses.h"
#include "daemon/saving.h"
#include "daemon/status_server.h"
#include "daemon/status_watch.h"
#include "daemon/training_watch.h"
#include "daemon/web.h"
#include "socket/transport.h"
#include "state/checkpoint_owner.h"

struct host_owner {
    void *self; /* passed to each call below */
    /* Makes what learns (setup.h), once the keys are there and the state folder is this node's. */
    enum error (*make)(void *self, struct setup *setup, struct problem *problem);
    /* A timer fired: the owner also does its due work and returns its next time. */
    uint64_t (*on_time)(void *self, uint64_t now_ns);
    /* Once a second. */
    void (*on_second)(void *self, uint64_t now_ns, const struct node_stats *stats);
    /* The learner has said something that the host does not use, or training has diverged for the
     * last time, and the node leaves. */
    void (*on_event)(void *self, uint64_t now_ns, const struct learner_event *event);
    /* All requested actions were performed. Returns true if the owner has just given the node an
     * order, so that there are more actions. */
    bool (*on_pumped)(void *self);
    /* As transport.h; NULL: signals are left alone. */
    void (*on_signal)(void *self, int number);
};

struct host {
    const struct config *config; /* the owner's */
    struct host_owner owner;
    struct locked_memory keys; /* where they lie */
    struct setup setup;
    struct node_options node_options;
    char about_samples[INFERENCE_WORDS_BYTES]; /* what may be asked, in words */
    struct arena arena;                        /* of the node, and of the owner's end of the link */
    struct node *node;
    struct learner_link *link; /* link to the stepping thread; belongs to the owner */
    struct transport *transport;
    struct saving saving;             /* of checkpoints */
    char saves[CHECKPOINT_OWNER_MAX]; /* what its checkpoints are of */
    uint32_t refused;                 /* checkpoints that were passed over at the start */
    struct operator_orders orders;
    struct known_proofs proofs;
    struct known_votes votes;
    struct members_file members;
    struct event_log report;
    struct status_door door;
    struct status_watch watch;
    struct web web;

    uint64_t status_ns; /* next status line */
    uint64_t owner_ns;  /* the owner's next time */
    struct training_watch training;
    struct relapses relapses;             /* when training diverged */
    struct learner_saturation saturation; /* as it was reported last */
    bool stays_alone;                     /* it was told to go on, even if it is shut out */
    bool is_shut_out, starts_again;       /* why it ended */
    bool has_clash;                       /* it ended because another process has its identity */
    bool is_shared;                       /* its base was the swarm's then */
};

/* host is zeroed. Then, in this order, each if the one before was OK: */
void host_init(struct host *host, const struct config *config, const struct host_owner *owner);
/* The log, the keys and the state folder. is_quiet: nothing is printed. */
enum error host_open(struct host *host, bool is_quiet, struct problem *problem) MUST_USE;
/* All else that can fail: what learns, what was saved, and the sockets. */
enum error host_prepare(struct host *host, struct problem *problem) MUST_USE;
/* The node. Its arena has room for link_bytes more, of the owner's end of the link. */
void host_begin(struct host *host, size_t link_bytes);
/* How the end of the link that steps is made, of an executor's operations (learner_link.h). */
struct learner_link_options host_link_options(struct host *host, const struct executor_ops *ops,
                                              void *learner);
/* Runs until the node has left, or transport_stop. Before it: link is set. */
void host_run(struct host *host);
/* Reads messages of the stepping thread now, as after each wake-up; also after the host has ended.
 * Returns false if there are none. */
bool host_drain(struct host *host);
void host_free(struct host *host);

/* On the thread that runs it, between its calls of the owner: what the node asks for is done. */
void host_pump(struct host *host);
void host_leave(struct host *host);
/* The page of status_watch.h: for json_decref; and as one line of text, to be freed. */
json_t *host_status(const struct host *host);
char *host_page(const struct host *host, size_t *count);

#endif
