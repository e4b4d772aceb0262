/* The common work of the operator's commands: read members and orders from a node on this machine,
 * sign new orders, hand them over, and wait until the node obeys.
 *
 *   status page ─► begin ─► find … ─► give: state_dir/order ─► the node ─► status page
 */
#ifndef HEARSAY_COMMANDS_OPERATOR_ORDER_GIVER_H
#define HEARSAY_COMMANDS_OPERATOR_ORDER_GIVER_H

#include <jansson.h>

#include "config/config.h"
#include "wire/order.h"

struct order_giver {
    const char *dir;                /* the node's state folder */
    json_t *page;                   /* its status, as it was at the beginning */
    struct operator_key key;        /* signs */
    uint8_t context[CONTEXT_BYTES]; /* binds orders to the node's swarm and model */
    uint32_t next;                  /* the number of the next order */
    bool as_json;                   /* what was done is printed as JSON */
};

/* Anything but OK: the sentence says why no order can be given here; nothing is to be ended. */
enum error order_giver_begin(struct order_giver *giver, const char *dir, const char *key_path,
                             struct problem *problem) MUST_USE;
void order_giver_end(struct order_giver *giver);

/* MALFORMED: this is no id, nor the beginning of one. */
enum error order_giver_check_id(const char *text, struct problem *problem) MUST_USE;
/* The only one of the ids that the node knows which begins so. MISSING: there is none. */
enum error order_giver_find(const struct order_giver *giver, const char *begin,
                            uint8_t id[static ID_BYTES], struct problem *problem) MUST_USE;
/* The number of the next order is set, and they are signed and given at once. */
enum error order_giver_give(struct order_giver *giver, struct order *orders, uint32_t count,
                            struct problem *problem) MUST_USE;

/* Prints orders that were given: {"orders": [{"number": 1, "id": "…", "text": "…"}]}; of a new key
 * the id is the hash of that. */
void order_giver_print_json(const struct order *orders, uint32_t count);

/* A row of the status JSON; "" and 0 = absent. */
const char *page_text(const json_t *row, const char *key);
uint64_t page_number(const json_t *row, const char *key);
/* The part of the status JSON for the operator; its rows of orders, and of origins. */
const json_t *page_operator(const json_t *page, const char *key);
const json_t *page_orders(const json_t *page);
const json_t *page_origins(const json_t *page);

#endif
