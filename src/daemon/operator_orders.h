/* The operator's orders and the disk: those that are known are loaded at the start, and saved as
 * soon as there is a new one; and what `hearsay expel`, `admit` or `rekey` hands over is given to
 * the node. With them go the swarm keys that they bring (known_swarm_keys.h).
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
    const char *folder; /* the state folder; the caller's */
    uint8_t *known;     /* [NODE_ORDERS_MAX] as they are on the disk; NULL: there is no operator */
    uint8_t *handed;    /* [ORDERS_HANDED_MAX] scratch, for those that are handed over */
    size_t bytes;       /* of those known */
    uint32_t saved;     /* how many orders the disk has */
    struct unsaved unsaved;             /* those that it could not be given yet */
    struct known_swarm_keys swarm_keys; /* swarm keys that orders have brought */
};

/* Load those of the folder, and show them to the node that is to be made; MALFORMED, MISMATCH: they
 * are not for it. folder must stay. */
enum error operator_orders_load(struct operator_orders *orders, const char *folder,
                                struct node_options *options, struct problem *problem) MUST_USE;
void operator_orders_free(struct operator_orders *orders);

/* Save what is new, if anything is: cheap enough for every event. */
void operator_orders_keep(struct operator_orders *orders, const struct node *node,
                          struct event_log *report, uint64_t now_ns);
/* Once a second: were orders handed over? */
void operator_orders_look(struct operator_orders *orders, struct node *node,
                          struct event_log *report, uint64_t now_ns);

#endif
