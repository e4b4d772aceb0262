/* The common work of the operator's commands: read members and orders from a node on this machine,
 * sign new orders, give them to the node, and wait until the node applies them.
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
    json_t *page;                   /* status page of the node, as read at the start */
    struct operator_key key;        /* key that signs the orders */
    uint8_t context[CONTEXT_BYTES]; /* bytes that bind orders to the node's swarm and model */
    uint32_t next;                  /* number of the next order */
    bool as_json;
};

/* Reads the operator's key and the node's status page. An error is explained in `problem`; then
 * order_giver_end must not be called. */
enum error order_giver_begin(struct order_giver *giver, const char *dir, const char *key_path,
                             struct problem *problem) MUST_USE;
void order_giver_end(struct order_giver *giver);

/* Returns MALFORMED if the text is neither a whole id nor the first digits of one. */
enum error order_giver_check_id(const char *text, struct problem *problem) MUST_USE;
/* Finds the one known id that begins with these digits. Returns MISSING if there is none, MISMATCH
 * if there are several, and MALFORMED if the status page holds an invalid id. */
enum error order_giver_find(const struct order_giver *giver, const char *begin,
                            uint8_t id[static ID_BYTES], struct problem *problem) MUST_USE;
/* Numbers and signs the orders, gives them to the node, and waits until it applies them. */
enum error order_giver_give(struct order_giver *giver, struct order *orders, uint32_t count,
                            struct problem *problem) MUST_USE;

/* Prints the orders: {"orders": [{"number": 1, "id": "…", "text": "…"}]}. For an order with a new
 * swarm key, the id is the hash of that key. */
void order_giver_print_json(const struct order *orders, uint32_t count);

/* Returns a field of an object of the status page; "" or 0 if it is absent. */
const char *page_text(const json_t *row, const char *key);
uint64_t page_number(const json_t *row, const char *key);
/* page_operator returns a field of the page's "operator" object. The other two return its arrays of
 * orders and of origins. NULL if absent. */
const json_t *page_operator(const json_t *page, const char *key);
const json_t *page_orders(const json_t *page);
const json_t *page_origins(const json_t *page);

#endif
