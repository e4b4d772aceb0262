/* The daemon: one running node. It gives the node core its sockets (transport), its clock and its
 * learner (learner_thread), and prints the notes for people (event_log).
 *
 *   transport ──────events──► node ──actions──► transport, learner_thread, event_log
 *   learner_thread ─events──►
 */
#ifndef HEARSAY_DAEMON_DAEMON_H
#define HEARSAY_DAEMON_DAEMON_H

#include "config/config.h"

/* Runs until SIGTERM or SIGINT, then leaves gracefully, evaluates and saves. A second signal, at
 * least a second later, ends at once. Returns the exit code; errors were printed. stays_alone:
 * trains on even if its peers have another swarm, model or protocol. */
int daemon_run(const struct config *config, bool stays_alone);

#endif
