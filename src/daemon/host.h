/* A node with its sockets, its files and the orders to its learner: the part that the daemon and
 * programs with an embedded node have in common.
 *
 *   transport ─► host ─► node ─ actions ─► transport, learner_link, saving, event_log
 *                  ▲ wake-ups from learner_link and saver
 *
 * The host calls its owner back, always on the thread that runs the host. The owner also decides
 * which thread makes steps: it creates a learner_link between that thread and the host.
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
#include "daemon/resets.h"
#include "daemon/saving.h"
#include "daemon/status_server.h"
#include "daemon/status_watch.h"
#include "daemon/training_watch.h"
#include "daemon/web.h"
#include "socket/transport.h"
#include "state/checkpoint_owner.h"

struct host_owner {
    void *self;
    /* Creates the model and the learner in *setup. The keys and the state folder are already
     * open. */
    enum error (*make)(void *self, struct setup *setup, struct problem *problem);
    /* Called when host_run begins, and whenever the timer fires. Does the owner's due work, and
     * returns the time of its next work; UINT64_MAX = never. */
    uint64_t (*on_time)(void *self, uint64_t now_ns);
    void (*on_second)(void *self, uint64_t now_ns, const struct node_stats *stats);
    /* Called for each evaluation. Also called for the last reset, when training has diverged too
     * often and the node leaves. */
    void (*on_event)(void *self, uint64_t now_ns, const struct learner_event *event);
    /* Called when the node's requested actions were performed. Returns true if the owner has just
     * given the node an order, so that the host performs further actions. */
    bool (*on_pumped)(void *self);
    /* Called for signals (transport.h); NULL = signals are not handled. */
    void (*on_signal)(void *self, int number);
};

struct host {
    const struct config *config; /* borrowed from the owner */
    struct host_owner owner;
    struct locked_memory keys;
    struct setup setup;
    struct node_options node_options;
    /* describes the samples of inference requests */
    char about_samples[INFERENCE_WORDS_BYTES];
    /* memory of the node and, if it needs any, of `link` */
    struct arena arena;
    struct node *node;
    struct learner_link *link; /* link to the thread that makes steps; belongs to the owner */
    struct transport *transport;
    struct saving saving;
    /* binds checkpoints to this identity, swarm and model (checkpoint_owner.h) */
    char saves[CHECKPOINT_OWNER_MAX];
    /* number of checkpoints that could not be used at the start */
    uint32_t refused;
    struct operator_orders orders;
    struct known_proofs proofs;
    struct known_votes votes;
    struct members_file members;
    struct event_log report;
    struct status_endpoint endpoint;
    struct status_watch watch;
    struct web web;

    uint64_t status_ns; /* next time at which the once-a-second work is due */
    uint64_t owner_ns;  /* next time at which the owner has work; UINT64_MAX = never */
    struct training_watch training;
    struct resets resets;
    /* Saturation that the learner last reported. */
    struct learner_saturation saturation;
    bool must_publish; /* training is over, and node_publish_soon has not succeeded yet */
    bool stays_alone; /* the node continues even if no peer accepts it */
    /* Why the node ended. is_shut_out: no peer accepts it. starts_again: it must restart. */
    bool is_shut_out, starts_again;
    bool has_clash; /* the node ended because another process has its identity */
    /* if has_clash: the node's base equalled the base of the swarm (reach_is_shared) */
    bool is_shared;
};

/* Initializes a zeroed host. The owner calls host_open, host_prepare, host_begin and host_run next,
 * each only if the one before returned OK. */
void host_init(struct host *host, const struct config *config, const struct host_owner *owner);
/* Opens the log, the keys and the state folder. is_quiet: the log prints no notes. */
enum error host_open(struct host *host, bool is_quiet, struct problem *problem) MUST_USE;
/* Locks the state folder, creates the learner, opens the sockets and loads the saved state. */
enum error host_prepare(struct host *host, struct problem *problem) MUST_USE;
/* Creates the node. link_bytes: further bytes of the arena, for `link`. */
void host_begin(struct host *host, size_t link_bytes);
/* Returns the options for the owner's learner_link. ops, learner: the operations that perform
 * orders, and their first argument. */
struct learner_link_options host_link_options(struct host *host, const struct executor_ops *ops,
                                              void *learner);
/* Runs the node until it has left or transport_stop was called. The owner sets host->link
 * before. */
void host_run(struct host *host);
/* Handles all waiting events of the learner; returns false if there were none. May be called after
 * the host has ended. */
bool host_drain(struct host *host);
void host_free(struct host *host);

/* Performs the node's requested actions, saves its new orders, proofs and votes, and sets the
 * timer. The owner must call it after each call that changes the node, but not in its callbacks
 * except on_signal. */
void host_pump(struct host *host);
void host_leave(struct host *host);
/* host_status returns the status page (status_watch.h); the caller releases it with json_decref.
 * host_page returns it as one line of text, which the caller frees. */
json_t *host_status(const struct host *host);
char *host_page(const struct host *host, size_t *count);

#endif
