/* Writes the first notes of a node: its identity, its model, its device, its checkpoint. */
#ifndef HEARSAY_DAEMON_STARTUP_NOTES_H
#define HEARSAY_DAEMON_STARTUP_NOTES_H

#include "config/config.h"
#include "config/setup.h"
#include "crypto/locked_memory.h"
#include "daemon/event_log.h"
#include "daemon/sandbox.h"

void startup_notes_say(struct event_log *report, uint64_t now_ns, const struct config *config,
                       const struct setup *setup, const struct node_options *options);

/* Reports the files of data and initial weights, because reading them may take long. */
void startup_notes_reading(struct event_log *report, uint64_t now_ns, const struct config *config);

void startup_notes_sandbox(struct event_log *report, uint64_t now_ns, const struct config *config,
                           const struct sandbox *sandbox);

/* port: the actual port of the web server. */
void startup_notes_web(struct event_log *report, uint64_t now_ns, const struct address *http,
                       unsigned port);

/* Warns if the keys may be swapped to disk, because their memory is not locked. */
void startup_notes_keys(struct event_log *report, uint64_t now_ns,
                        const struct locked_memory *keys);

/* Reports the checkpoint from which the node continues. generation: its number; 0 = there is none.
 * is_older: newer checkpoints could not be used. */
void startup_notes_resumed(struct event_log *report, uint64_t now_ns, const struct config *config,
                           uint64_t generation, bool is_older, const struct node *node);

/* Reports that orders have brought a newer swarm key than the configured one, or name one that this
 * node lacks. */
void startup_notes_swarm_key(struct event_log *report, uint64_t now_ns, const struct config *config,
                             const struct setup *setup, const struct node *node);

#endif
