/* A node with its sockets, its files and its learner's orders: the common part of the daemon and of
 * programs that embed a node.
 *
 *   transport ─► host ─► node ─ actions ─► transport, learner_link, saving, event_log
 *                  ▲ learner_link, saver: woken
 *
 * Its owner calls the functions below in their order. The host calls the owner back, always on the
 * thread that runs the host. The owner also decides which thread makes steps: it creates a
 * learner_link and gives the host one end.
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
    void *self; /* first argument of each call below */
    /* Makes the model and learner (setup.h), once keys and state folder are open. */
    enum error (*make)(void *self, struct setup *setup, struct problem *problem);
    /* A timer fired: the owner also does its due work and returns its next time. */
    uint64_t (*on_time)(void *self, uint64_t now_ns);
    /* Called once a second. */
    void (*on_second)(void *self, uint64_t now_ns, const struct node_stats *stats);
    /* Called for an event of the learner that the host does not use; also when training has
     * diverged for the last time and the node leaves. */
    void (*on_event)(void *self, uint64_t now_ns, const struct learner_event *event);
    /* All requested actions were performed. Returns true if the owner has just given the node an
     * order, so that there are more actions. */
    bool (*on_pumped)(void *self);
    /* Called for signals, as in transport.h; NULL = signals are not handled. */
    void (*on_signal)(void *self, int number);
};

struct host {
    const struct config *config; /* configuration; belongs to the owner */
    struct host_owner owner;
    struct locked_memory keys; /* memory of the keys */
    struct setup setup;
    struct node_options node_options;
    char about_samples[INFERENCE_WORDS_BYTES]; /* form of inference requests in words */
    /* Memory of the node and of the owner's end of the link. */
    struct arena arena;
    struct node *node;
    struct learner_link *link; /* link to the stepping thread; belongs to the owner */
    struct transport *transport;
    struct saving saving;             /* state of saving checkpoints */
    char saves[CHECKPOINT_OWNER_MAX]; /* description of what its checkpoints contain */
    uint32_t refused;                 /* checkpoints that were refused at the start */
    struct operator_orders orders;
    struct known_proofs proofs;
    struct known_votes votes;
    struct members_file members;
    struct event_log report;
    struct status_endpoint endpoint;
    struct status_watch watch;
    struct web web;

    uint64_t status_ns; /* time of the next status line */
    uint64_t owner_ns;  /* next time at which the owner has work */
    struct training_watch training;
    struct resets resets;                 /* times at which training diverged */
    struct learner_saturation saturation; /* last reported saturation */
    bool stays_alone;                     /* continues even if no other member accepts it */
    /* Reasons of its end: no member accepts it; it must start again. */
    bool is_shut_out, starts_again;
    bool has_clash; /* it ended because another process has its identity */
    bool is_shared; /* at its end its base was the swarm's */
};

/* host is zeroed first. Then call these functions in this order, each if the one before returned
 * OK. */
void host_init(struct host *host, const struct config *config, const struct host_owner *owner);
/* Opens the log, the keys and the state folder. is_quiet: nothing is printed. */
enum error host_open(struct host *host, bool is_quiet, struct problem *problem) MUST_USE;
/* Prepares everything else that can fail: learner, saved state, and sockets. */
enum error host_prepare(struct host *host, struct problem *problem) MUST_USE;
/* Creates the node. Its arena has link_bytes more for the owner's end of the link. */
void host_begin(struct host *host, size_t link_bytes);
/* Returns the options of the link for an executor with these operations (learner_link.h). */
struct learner_link_options host_link_options(struct host *host, const struct executor_ops *ops,
                                              void *learner);
/* Runs until the node has left, or transport_stop. Set link before. */
void host_run(struct host *host);
/* Reads messages of the stepping thread now, as after each wake-up; also after the host has ended.
 * Returns false if there are none. */
bool host_drain(struct host *host);
void host_free(struct host *host);

/* Performs the node's requested actions. Call it on the thread that runs the host, between calls of
 * the owner. */
void host_pump(struct host *host);
void host_leave(struct host *host);
/* host_status returns the page of status_watch.h, for json_decref. The next function returns it as
 * one line of text, for free(). */
json_t *host_status(const struct host *host);
char *host_page(const struct host *host, size_t *count);

#endif
