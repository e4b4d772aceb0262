/* The daemon: one running node. It gives the core its sockets (transport), its clock and its
 * learner (learner_thread), and a person the notes (event_log).
 *
 *   transport ──────events──► node ──actions──► transport, learner_thread, event_log
 *   learner_thread ─events──►
 */
#ifndef HEARSAY_DAEMON_DAEMON_H
#define HEARSAY_DAEMON_DAEMON_H

#include "config/config.h"

/* Run until SIGTERM or SIGINT, then leave gracefully, evaluate, save; a second signal that comes a
 * second later or more ends at once. Returns the exit code; what went wrong was printed.
 * stays_alone: it trains on even if its peers have another swarm, model or protocol. */
int daemon_run(const struct config *config, bool stays_alone);

#endif
