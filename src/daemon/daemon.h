/* The daemon: one running node. Gives the core its sockets (transport), its clock and its learner
 * (hatch), and tells the person what happens (report).
 *
 *   transport ──events──► node ──actions──► transport, hatch, report
 *   hatch ─────events──►
 */
#ifndef HEARSAY_DAEMON_DAEMON_H
#define HEARSAY_DAEMON_DAEMON_H

#include "config/config.h"

/* Run until SIGTERM or SIGINT, then leave gracefully, evaluate, save; a second signal ends at
 * once. Returns the exit code; what went wrong was printed. */
int daemon_run(const struct config *config);

#endif
