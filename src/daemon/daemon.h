/* The daemon: runs one node. It connects the node core to its sockets (transport), its clock and
 * its learner (learner_thread), and prints the notes for people (event_log).
 *
 *   transport ──────events──► node ──actions──► transport, learner_thread, event_log
 *   learner_thread ─events──►
 */
#ifndef HEARSAY_DAEMON_DAEMON_H
#define HEARSAY_DAEMON_DAEMON_H

#include "config/config.h"

/* Runs a node until it ends, for example after SIGTERM, SIGINT, or SIGHUP without a member list. A
 * leaving node saves its base and, depending on train.evaluate_s and train.evaluate_part, evaluates
 * it. A second signal, at least a second later, ends the node without waiting.
 * Returns the exit code; errors were printed. stays_alone: the node trains on even if its peers
 * have another swarm, model or protocol. */
int daemon_run(const struct config *config, bool stays_alone);

#endif
