/* Opens the listening socket, and determines the address that other nodes dial. */
#ifndef HEARSAY_DAEMON_LISTEN_H
#define HEARSAY_DAEMON_LISTEN_H

#include "node/node.h"
#include "socket/transport.h"

/* Listens on the address `listen`, unless its host is "". Sets options->listen_port to the actual
 * port, and completes options->advertise, the address that other nodes dial. An empty advertise
 * host stays "" if the node listens on all interfaces. FAILED: it cannot listen. */
enum error listen_begin(struct transport *transport, const struct address *listen,
                        struct node_options *options, struct problem *problem) MUST_USE;

#endif
