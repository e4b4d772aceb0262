/* Stores the operator's orders on disk. Passes new orders from commands to the node. The struct
 * also has the swarm keys that came with orders (known_swarm_keys.h).
 *
 *   state_dir/orders ─► node ─ new orders ─► state_dir/orders
 *   state_dir/order ──► node_on_order            once a second
 */
#ifndef HEARSAY_DAEMON_OPERATOR_ORDERS_H
#define HEARSAY_DAEMON_OPERATOR_ORDERS_H

#include "daemon/event_log.h"
#include "daemon/known_swarm_keys.h"
#include "daemon/unsaved.h"

struct operator_orders {
    const char *folder; /* borrowed */
    uint8_t *known;     /* [NODE_ORDERS_MAX] bytes: orders on the disk; NULL = no operator */
    uint8_t *handed;    /* [ORDERS_HANDED_MAX] bytes: buffer for new orders from a command */
    size_t bytes;       /* used bytes of `known` */
    uint32_t saved;     /* number of orders on the disk */
    struct unsaved unsaved;
    struct known_swarm_keys swarm_keys;
};

/* Loads the orders in the state folder into the node's options. MALFORMED, MISMATCH: the orders are
 * invalid, or for another swarm. folder must stay valid. */
enum error operator_orders_load(struct operator_orders *orders, const char *folder,
                                struct node_options *options, struct problem *problem) MUST_USE;
void operator_orders_free(struct operator_orders *orders);

/* Saves the node's orders if there is a new one. Cheap enough to be called after every event. */
void operator_orders_keep(struct operator_orders *orders, const struct node *node,
                          struct event_log *report, uint64_t now_ns);
/* Passes new orders of `hearsay expel`, `admit` and `rekey` to the node; called once a second. */
void operator_orders_look(struct operator_orders *orders, struct node *node,
                          struct event_log *report, uint64_t now_ns);

#endif
