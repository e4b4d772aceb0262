/* Where the node listens, and what address it shows to others. */
#ifndef HEARSAY_DAEMON_LISTEN_H
#define HEARSAY_DAEMON_LISTEN_H

#include "node/node.h"
#include "socket/transport.h"

/* Listens there, unless its host is "", and writes into the options the port that it got and what
 * others are to dial. FAILED: it cannot. */
enum error listen_begin(struct transport *transport, const struct address *listen,
                        struct node_options *options, struct problem *problem) MUST_USE;

#endif
