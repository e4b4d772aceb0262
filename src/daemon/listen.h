/* Listening, and the address that the node shows to others. */
#ifndef HEARSAY_DAEMON_LISTEN_H
#define HEARSAY_DAEMON_LISTEN_H

#include "node/node.h"
#include "socket/transport.h"

/* Listens on the address, unless its host is "". Sets in the options the actual port and the
 * address that others are to dial. FAILED: it cannot listen. */
enum error listen_begin(struct transport *transport, const struct address *listen,
                        struct node_options *options, struct problem *problem) MUST_USE;

#endif
