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
    const char *dir;                /* state folder of the node */
    json_t *page;                   /* status page of the node, as read at the start */
    struct operator_key key;        /* signs */
    uint8_t context[CONTEXT_BYTES]; /* bytes that bind orders to the node's swarm and model */
    uint32_t next;                  /* number of the next order */
    bool as_json;                   /* prints the result as JSON */
};

/* Starts. On an error the sentence says why no order can be given here, and order_giver_end must
 * not be called. */
enum error order_giver_begin(struct order_giver *giver, const char *dir, const char *key_path,
                             struct problem *problem) MUST_USE;
void order_giver_end(struct order_giver *giver);

/* Returns MALFORMED if the text is neither an id nor the beginning of one. */
enum error order_giver_check_id(const char *text, struct problem *problem) MUST_USE;
/* Finds the only known id that begins with these digits. MISSING: there is none. */
enum error order_giver_find(const struct order_giver *giver, const char *begin,
                            uint8_t id[static ID_BYTES], struct problem *problem) MUST_USE;
/* Sets the numbers of the orders, signs them and hands them to the node at once. */
enum error order_giver_give(struct order_giver *giver, struct order *orders, uint32_t count,
                            struct problem *problem) MUST_USE;

/* Prints the orders: {"orders": [{"number": 1, "id": "…", "text": "…"}]}; the id of an order for a
 * new key is the hash of the key. */
void order_giver_print_json(const struct order *orders, uint32_t count);

/* Returns a field of a row of the status JSON; "" or 0 if it is absent. */
const char *page_text(const json_t *row, const char *key);
uint64_t page_number(const json_t *row, const char *key);
/* Returns the operator's part of the status JSON, or its rows of orders or of origins. */
const json_t *page_operator(const json_t *page, const char *key);
const json_t *page_orders(const json_t *page);
const json_t *page_origins(const json_t *page);

#endif
