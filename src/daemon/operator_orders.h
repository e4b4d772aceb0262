/* Stores the operator's orders on disk. They are loaded at the start, and saved as soon as there is
 * a new one. Orders from `hearsay expel`, `admit` or `rekey` are passed to the node. The struct
 * also has the swarm keys that orders bring (known_swarm_keys.h).
 *
 *   state_dir/orders ─► node ─ learns another ─► state_dir/orders
 *   state_dir/order ──► node_on_order            once a second
 */
#ifndef HEARSAY_DAEMON_OPERATOR_ORDERS_H
#define HEARSAY_DAEMON_OPERATOR_ORDERS_H

#include "daemon/event_log.h"
#include "daemon/known_swarm_keys.h"
#include "daemon/unsaved.h"

struct operator_orders {
    const char *folder;     /* state folder; belongs to the caller */
    uint8_t *known;         /* [NODE_ORDERS_MAX] orders on the disk; NULL = no operator */
    uint8_t *handed;        /* [ORDERS_HANDED_MAX] scratch buffer for orders that are handed over */
    size_t bytes;           /* bytes of known */
    uint32_t saved;         /* number of orders on the disk */
    struct unsaved unsaved; /* state of writes that failed */
    struct known_swarm_keys swarm_keys; /* swarm keys that orders have brought */
};

/* Loads the orders of the folder into the node's options. MALFORMED, MISMATCH: they do not fit this
 * node. folder must stay valid. */
enum error operator_orders_load(struct operator_orders *orders, const char *folder,
                                struct node_options *options, struct problem *problem) MUST_USE;
void operator_orders_free(struct operator_orders *orders);

/* Saves new orders, if any. Cheap enough to be called after every event. */
void operator_orders_keep(struct operator_orders *orders, const struct node *node,
                          struct event_log *report, uint64_t now_ns);
/* Passes orders that were handed over to the node; called once a second. */
void operator_orders_look(struct operator_orders *orders, struct node *node,
                          struct event_log *report, uint64_t now_ns);

#endif
