/* The first notes of a node: its identity, its model, its device, its checkpoint. */
#ifndef HEARSAY_DAEMON_STARTUP_NOTES_H
#define HEARSAY_DAEMON_STARTUP_NOTES_H

#include "config/config.h"
#include "config/setup.h"
#include "crypto/locked_memory.h"
#include "daemon/event_log.h"
#include "daemon/sandbox.h"

void startup_notes_say(struct event_log *report, uint64_t now_ns, const struct config *config,
                       const struct setup *setup, const struct node_options *options);

/* Reports files that are read before the node can start: data and initial weights, which may take
 * long. */
void startup_notes_reading(struct event_log *report, uint64_t now_ns, const struct config *config);

void startup_notes_sandbox(struct event_log *report, uint64_t now_ns, const struct config *config,
                           const struct sandbox *sandbox);

/* Reports the address for browsers, if any. port: the actual port. */
void startup_notes_web(struct event_log *report, uint64_t now_ns, const struct address *http,
                       unsigned port);

/* Reports the checkpoint from which the node continues, and its contents; nothing for generation 0.
 * is_older: newer checkpoints could not be used. */
/* Reports that keys may be swapped out, if that is so. */
void startup_notes_keys(struct event_log *report, uint64_t now_ns,
                        const struct locked_memory *keys);
void startup_notes_resumed(struct event_log *report, uint64_t now_ns, const struct config *config,
                           uint64_t generation, bool is_older, const struct node *node);

/* Reports the swarm key in use, if orders have brought a newer one than the configured key. */
void startup_notes_swarm_key(struct event_log *report, uint64_t now_ns, const struct config *config,
                             const struct setup *setup, const struct node *node);

#endif
