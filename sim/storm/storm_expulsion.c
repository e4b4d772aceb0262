#include "storm/storm_expulsion.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "node/expulsion_api.h"
#include "storm/storm_votes.h"

static void make_key(struct operator_key *key)
{
    static const uint8_t seed[SEED_BYTES] = {0x6f, 0x70};
    operator_key_from_seed(key, seed);
}

void storm_expulsion_prepare(struct node_options *options)
{
    struct operator_key key;
    make_key(&key);
    options->has_operator = true;
    memcpy(options->operator_id, key.id, ID_BYTES);
}

void storm_expulsion_prepare_for(const struct storm_expulsion *expulsion,
                                 struct node_options *options)
{
    if (!expulsion->is_drawn)
        return;
    if (expulsion->voters > 0)
        storm_votes_prepare(options);
    else
        storm_expulsion_prepare(options);
}

void storm_expulsion_describe(const struct storm_expulsion *expulsion, FILE *out)
{
    if (expulsion->is_drawn)
        (void)fprintf(out, "# %s node %u out at %.3f s\n",
                      expulsion->voters > 0 ? "members vote" : "the operator puts",
                      expulsion->villain, (double)(WORLD_BEGIN_NS + expulsion->at_ns) * 1e-9);
}

static bool may_be_asked(const struct storm_expulsion *expulsion, const struct world *world,
                         uint32_t i)
{
    const struct world_node *at = &world->nodes[i];
    return at->node && !node_is_leaving(at->node) &&
           memcmp(at->identity.id, world->nodes[expulsion->villain].identity.id, ID_BYTES) != 0 &&
           node_orders_count(at->node) == expulsion->given;
}

static int by_incarnation(const void *a, const void *b)
{
    const struct order_pair *x = a, *y = b;
    return (x->incarnation > y->incarnation) - (x->incarnation < y->incarnation);
}

/* Returns how many rumors of origin k an order keeps. If is_since and node i lists arrival times of
 * the origin's rumors, the order keeps the rumors up to the median of that list. Otherwise it keeps
 * the rumors older than node i's log, which node i cannot remove. */
static uint32_t keep_of(const struct storm_expulsion *expulsion, const struct world *world,
                        uint32_t i, uint32_t k)
{
    struct node_arrival marks[NODE_ARRIVALS];
    const struct node *node = world->nodes[i].node;
    const uint32_t count = node_arrivals(node, world_now_ns(world), k, marks);
    return expulsion->is_since && count > 0 ? marks[count / 2].seq + 1 : node_reach(node, k);
}

static struct order order_for(const struct storm_expulsion *expulsion, const struct world *world,
                              uint32_t i)
{
    struct order order = {.kind = ORDER_EXPEL, .reason = "a storm wants it so"};
    const struct node *node = world->nodes[i].node;
    memcpy(order.subject, world->nodes[expulsion->villain].identity.id, ID_BYTES);
    for (uint32_t k = 0; k < node_origins(node) && order.pairs_count < ORDER_PAIRS_MAX; k++) {
        struct node_origin origin;
        const uint32_t keep = keep_of(expulsion, world, i, k);
        node_origin(node, k, &origin);
        if (keep > 0 && memcmp(origin.id, order.subject, ID_BYTES) == 0)
            order.pairs[order.pairs_count++] =
                (struct order_pair){.incarnation = origin.incarnation, .keep = keep};
    }
    qsort(order.pairs, order.pairs_count, sizeof *order.pairs, by_incarnation);
    return order;
}

uint32_t storm_expulsion_whom_to_ask(const struct storm_expulsion *expulsion,
                                     const struct world *world)
{
    uint32_t i = 0;
    while (i < world->nodes_count && !may_be_asked(expulsion, world, i))
        i++;
    return i;
}

void storm_expulsion_give(struct storm_expulsion *expulsion, struct world *world, uint32_t i,
                          struct order *order)
{
    uint8_t bytes[ORDER_BYTES_MAX];
    struct operator_key key;
    CHECK(may_be_asked(expulsion, world, i));
    make_key(&key);
    order->number = ++expulsion->given;
    const size_t count = order_create(order, &key, node_context(world->nodes[i].node), bytes);
    CHECK(world_order(world, i, bytes, count) == OK);
}

void storm_expulsion_order(struct storm_expulsion *expulsion, struct world *world)
{
    const uint32_t i = storm_expulsion_whom_to_ask(expulsion, world);
    CHECK(expulsion->is_drawn);
    if (i == world->nodes_count || (expulsion->voters > 0 && expulsion->is_ordered))
        return;
    if (expulsion->voters > 0) {
        storm_votes_give(world, expulsion->voters, i, expulsion->villain);
        expulsion->is_ordered = true;
        return;
    }
    struct order order = order_for(expulsion, world, i);
    storm_expulsion_give(expulsion, world, i, &order);
    expulsion->is_ordered = true;
}
