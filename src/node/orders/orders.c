#include "node/orders/orders.h"

#include <string.h>

#include "crypto/gate.h"
#include "wire/message.h"

#define AT_ONCE 64 /* maximum orders per message */

_Static_assert(AT_ONCE *ORDER_BYTES_MAX + MESSAGE_ADDS <= MESSAGE_MAX, "they fit into one");

/* An order as signed bytes, with the signature. */
struct signed_order {
    uint32_t bytes; /* size of `text` */
    uint8_t text[ORDER_BYTES_MAX];
};

struct orders {
    /* [ORDERS_MAX] order n at index n - 1; NULL = the swarm has no operator */
    struct order *order;
    struct signed_order *known; /* [ORDERS_MAX] the same orders */
    uint32_t count;
    bool admit; /* some order admits a member */
};

size_t orders_arena_bytes(const struct node_options *options)
{
    return sizeof(struct orders) +
           (options->has_operator ? ORDERS_MAX : 0) *
               (sizeof(struct order) + sizeof(struct signed_order)) +
           (size_t)3 * 64;
}

static void add(struct orders *orders, const struct order *order, const uint8_t *bytes,
                size_t count)
{
    CHECK(order->number == orders->count + 1 && count <= ORDER_BYTES_MAX);
    struct signed_order *known = &orders->known[orders->count];
    orders->order[orders->count++] = *order;
    orders->admit |= order->kind == ORDER_ADMIT;
    known->bytes = (uint32_t)count;
    memcpy(known->text, bytes, count);
}

struct orders *orders_new(struct arena *arena, const struct node *node)
{
    const struct node_options *options = &node->options;
    struct orders *orders = arena_alloc(arena, 1, sizeof *orders);
    if (!options->has_operator)
        return orders;
    orders->order = arena_alloc(arena, ORDERS_MAX, sizeof *orders->order);
    orders->known = arena_alloc(arena, ORDERS_MAX, sizeof *orders->known);
    for (size_t at = 0, taken; at < options->kept.orders.bytes; at += taken) {
        struct order order;
        CHECK(order_parse(options->kept.orders.at + at, options->kept.orders.bytes - at, &order,
                          &taken) == OK);
        add(orders, &order, options->kept.orders.at + at, taken);
    }
    return orders;
}

static enum error check(const struct node_options *options,
                        const uint8_t context[static CONTEXT_BYTES])
{
    struct order order;
    uint64_t number = 1;
    for (size_t at = 0, taken; at < options->kept.orders.bytes; at += taken) {
        if (order_parse(options->kept.orders.at + at, options->kept.orders.bytes - at, &order,
                        &taken) != OK ||
            order.number != number++)
            return MALFORMED;
        if (order_verify(options->kept.orders.at + at, taken, options->operator_id, context) != OK)
            return MISMATCH;
    }
    return OK;
}

enum error node_orders_check(const struct node_options *options, struct problem *problem)
{
    uint8_t context[CONTEXT_BYTES];
    const struct introduction ours = connection_introduction_of(options);
    if (!options->has_operator)
        return OK;
    introduction_context(context, &ours);
    const enum error error = check(options, context);
    if (error == MALFORMED)
        return problem_set(problem, error, "they are damaged, or not the operator's orders");
    if (error == MISMATCH)
        return problem_set(problem, error,
                           "they belong to another operator (node.operator), swarm or model");
    return OK;
}

bool orders_have_operator(const struct node *node)
{
    return node->options.has_operator;
}

uint32_t orders_count(const struct node *node)
{
    return node->orders->count;
}

const struct order *orders_at(const struct node *node, uint32_t number)
{
    CHECK(number > 0 && number <= node->orders->count);
    return &node->orders->order[number - 1];
}

const struct order *orders_all(const struct node *node)
{
    return node->orders->order;
}

bool orders_admit(const struct node *node)
{
    return node->orders->admit;
}

static bool is_about(const struct order *order, const uint8_t id[static ID_BYTES])
{
    CHECK(order->number > 0);
    return order->kind != ORDER_REKEY && memcmp(order->subject, id, ID_BYTES) == 0;
}

const struct order *orders_about(const struct node *node, const uint8_t id[static ID_BYTES])
{
    for (uint32_t number = node->orders->count; number > 0; number--)
        if (is_about(orders_at(node, number), id))
            return orders_at(node, number);
    return NULL;
}

const struct order *orders_expelling(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct order *order = orders_about(node, id);
    return order && order->kind == ORDER_EXPEL ? order : NULL;
}

const struct order *orders_expelling_self(const struct node *node)
{
    return orders_expelling(node, node->options.identity->id);
}

/* After a member's readmission, its earlier incarnations keep the limit of the order before. */
uint32_t orders_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation)
{
    for (uint32_t number = node->orders->count; number > 0; number--) {
        const struct order *order = orders_at(node, number);
        if (!is_about(order, id))
            continue;
        if (order->kind == ORDER_EXPEL)
            return order_keeps(order, incarnation);
        if (incarnation > order->after)
            return UINT32_MAX;
    }
    return UINT32_MAX;
}

bool orders_have(const struct node *node, uint64_t number, const uint8_t *bytes, size_t count)
{
    const struct orders *orders = node->orders;
    CHECK(number > 0);
    if (number > orders->count)
        return false;
    const struct signed_order *known = &orders->known[number - 1];
    return known->bytes == count && memcmp(known->text, bytes, count) == 0;
}

/* Stores one order if its number is the next one. Checks its signature, unless this node has the
 * same bytes already. Returns MISMATCH if this node has another order with that number. */
static enum error take(struct node *node, const struct order *order, const uint8_t *bytes,
                       size_t count)
{
    struct orders *orders = node->orders;
    if (orders_have(node, order->number, bytes, count))
        return OK;
    const enum error error = order_verify(bytes, count, node->options.operator_id, node->context);
    if (error != OK)
        return error;
    if (order->number <= orders->count)
        return MISMATCH;
    if (order->number == orders->count + 1)
        add(orders, order, bytes, count);
    return OK;
}

enum error orders_take(struct node *node, const uint8_t *bytes, size_t count)
{
    CHECK(node->options.has_operator);
    enum error error = OK;
    struct order order;
    for (size_t at = 0, taken; at < count && error == OK; at += taken) {
        error = order_parse(bytes + at, count - at, &order, &taken);
        if (error == OK)
            error = take(node, &order, bytes + at, taken);
    }
    return error;
}

/* Writes up to `most` orders after number `after` to `out`. Returns the number of bytes. */
static size_t put(const struct orders *orders, uint32_t after, uint32_t most, uint8_t *out)
{
    size_t bytes = 0;
    for (uint32_t i = after; i < orders->count && i - after < most; i++) {
        memcpy(out + bytes, orders->known[i].text, orders->known[i].bytes);
        bytes += orders->known[i].bytes;
    }
    return bytes;
}

size_t orders_put(const struct node *node, uint8_t *out)
{
    return put(node->orders, 0, ORDERS_MAX, out);
}

void orders_show(struct node *node, const struct peer *peer)
{
    if (node->options.has_operator)
        (void)connection_say(node, peer,
                             &(struct message){.kind = ORDERS, .number = node->orders->count});
}

void orders_say(struct node *node, const struct peer *peer, uint32_t after)
{
    CHECK(node->options.has_operator);
    for (uint32_t from = after; from < node->orders->count; from += AT_ONCE) {
        const size_t bytes = put(node->orders, from, AT_ONCE, node->scratch);
        const struct message orders = {
            .kind = ORDERS, .number = node->orders->count, .bulk = {node->scratch, bytes}};
        if (!connection_say(node, peer, &orders))
            return; /* the queue is full; the neighbour will report which orders it lacks */
    }
}

void orders_show_one(struct node *node)
{
    const struct peer *peer = node->options.has_operator ? connection_random(node) : NULL;
    if (peer)
        orders_show(node, peer);
}
