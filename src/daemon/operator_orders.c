#include "daemon/operator_orders.h"

#include <stdlib.h>

#include "base/memory.h"
#include "state/order_files.h"

enum error operator_orders_load(struct operator_orders *orders, const char *folder,
                                struct node_options *options, struct problem *problem)
{
    struct problem why;
    if (!options->has_operator)
        return OK;
    orders->folder = folder;
    orders->known = memory_new(NODE_ORDERS_MAX, 1);
    orders->handed = memory_new(ORDERS_HANDED_MAX, 1);
    enum error error =
        order_files_load(disk_real(), folder, orders->known, &orders->bytes, problem);
    if (error != OK)
        return error;
    options->kept.orders.at = orders->known;
    options->kept.orders.bytes = orders->bytes;
    error = node_orders_check(options, &why);
    if (error == OK)
        return known_swarm_keys_load(&orders->swarm_keys, folder, options, problem);
    return problem_set(problem, error,
                       "%.300s/" ORDERS_FILE ": %s; if this is intended, remove the file, and the "
                       "node fetches the operator's orders from other nodes",
                       folder, why.text);
}

void operator_orders_free(struct operator_orders *orders)
{
    free(orders->known);
    free(orders->handed);
    orders->known = orders->handed = NULL;
}

void operator_orders_keep(struct operator_orders *orders, const struct node *node,
                          struct event_log *report, uint64_t now_ns)
{
    struct problem problem;
    known_swarm_keys_keep(&orders->swarm_keys, node, report, now_ns);
    const uint32_t count = node_orders_count(node);
    if (!orders->known || count == orders->saved || !unsaved_may_try(&orders->unsaved, now_ns))
        return;
    const size_t before = orders->bytes;
    orders->bytes = node_orders(node, orders->known);
    /* no order is new since the last write, and that write did not fail */
    const bool is_on_disk = orders->bytes == before && !orders->unsaved.has_failed;
    const enum error error = is_on_disk ? OK
                                        : order_files_save(disk_real(), orders->folder,
                                                           orders->known, orders->bytes, &problem);
    if (unsaved_on_tried(&orders->unsaved, error, &problem, NOTE_EXPELLED, ORDERS_FILE, report,
                         now_ns))
        orders->saved = count;
}

void operator_orders_look(struct operator_orders *orders, struct node *node,
                          struct event_log *report, uint64_t now_ns)
{
    size_t bytes;
    struct problem problem, why;
    if (!orders->known)
        return;
    enum error error =
        order_files_handed(disk_real(), orders->folder, orders->handed, &bytes, &problem);
    if (error == OK) {
        error = node_on_order(node, now_ns, orders->handed, bytes, &why);
        if (error != OK)
            (void)problem_set(&problem, error, "the order from hearsay was refused: %s", why.text);
    }
    if (error != OK && error != MISSING)
        event_log_say(report, now_ns, NOTE_EXPELLED, LEVEL_ERROR, problem.text);
    /* Before the node has saved them, the file may have the only copy of the orders. A wrong file
     * is removed at once; otherwise the node would read it again every second. */
    if (error == OK ? orders->saved == node_orders_count(node) : error != MISSING)
        order_files_taken(disk_real(), orders->folder);
    known_swarm_keys_look(&orders->swarm_keys, node, report, now_ns);
}
