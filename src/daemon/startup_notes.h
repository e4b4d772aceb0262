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

/* What is read before the node can begin: files of data and of first weights, which may take long.
 */
void startup_notes_reading(struct event_log *report, uint64_t now_ns, const struct config *config);

void startup_notes_sandbox(struct event_log *report, uint64_t now_ns, const struct config *config,
                           const struct sandbox *sandbox);

/* Where a browser sees it, if anywhere; port is the one that it got. */
void startup_notes_web(struct event_log *report, uint64_t now_ns, const struct address *http,
                       unsigned port);

/* The checkpoint that it goes on from, and what that holds; generation 0: there is none, and no
 * note. is_older: newer ones could not be used. */
/* That keys may be swapped out, if they may. */
void startup_notes_keys(struct event_log *report, uint64_t now_ns,
                        const struct locked_memory *keys);
void startup_notes_resumed(struct event_log *report, uint64_t now_ns, const struct config *config,
                           uint64_t generation, bool is_older, const struct node *node);

/* The swarm key that it uses, if orders have brought a newer one than the configuration names. */
void startup_notes_swarm_key(struct event_log *report, uint64_t now_ns, const struct config *config,
                             const struct setup *setup, const struct node *node);

#endif
