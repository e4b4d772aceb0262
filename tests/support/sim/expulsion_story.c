#include "support/sim/expulsion_story.h"

#include "node/expulsion_api.h"

struct operator_key operator_key;
static uint32_t orders;

int expulsion_begins(void **state)
{
    const uint8_t seed[SEED_BYTES] = {0x0B};
    operator_key_from_seed(&operator_key, seed);
    orders = 0;
    return world_begins(state);
}

struct node_options obedient(struct node_options options)
{
    options.has_operator = true;
    memcpy(options.operator_id, operator_key.id, ID_BYTES);
    return options;
}

struct order order_of(uint32_t number, const uint8_t subject[static ID_BYTES])
{
    struct order order = {.number = number, .kind = ORDER_EXPEL, .reason = REASON, .issued_ms = 1};
    memcpy(order.subject, subject, ID_BYTES);
    return order;
}

size_t sign(const struct order *order, uint8_t out[static ORDER_BYTES_MAX])
{
    return order_create(order, &operator_key, node_context(world.nodes[0].node), out);
}

void order_expulsion(uint32_t i, struct order order)
{
    uint8_t bytes[ORDER_BYTES_MAX];
    order.number = ++orders;
    const size_t count = sign(&order, bytes);
    assert_int_equal(world_order(&world, i, bytes, count), OK);
}

void admit_nodes(uint32_t i, const uint32_t *members, uint32_t count)
{
    static uint8_t bytes[NODE_ORDERS_MAX];
    size_t used = 0;
    for (uint32_t k = 0; k < count; k++) {
        struct order order = order_of(++orders, world.nodes[members[k]].identity.id);
        order.kind = ORDER_ADMIT;
        used += sign(&order, bytes + used);
    }
    assert_int_equal(world_order(&world, i, bytes, used), OK);
}

void admit_after(uint32_t i, const uint8_t id[static ID_BYTES], uint64_t after)
{
    struct order order = order_of(0, id);
    order.kind = ORDER_ADMIT;
    order.after = after;
    order_expulsion(i, order);
}

void expel_id(uint32_t i, const uint8_t id[static ID_BYTES])
{
    order_expulsion(i, order_of(0, id));
}

void expel(uint32_t i, uint32_t villain)
{
    expel_id(i, world.nodes[villain].identity.id);
}

void expel_within_reach(uint32_t i, uint32_t villain)
{
    struct order order = order_of(0, world.nodes[villain].identity.id);
    const struct node *node = world.nodes[i].node;
    for (uint32_t k = 0; k < node_origins(node); k++) {
        struct node_origin origin;
        node_origin(node, k, &origin);
        if (memcmp(origin.id, order.subject, ID_BYTES) == 0 && node_reach(node, k) > 0)
            order.pairs[order.pairs_count++] =
                (struct order_pair){.incarnation = origin.incarnation, .keep = node_reach(node, k)};
    }
    order_expulsion(i, order);
}

void expel_since(uint32_t i, uint32_t villain, uint64_t moment_ns)
{
    static struct node_arrival marks[NODE_ARRIVALS];
    struct order order = order_of(0, world.nodes[villain].identity.id);
    const struct node *node = world.nodes[i].node;
    for (uint32_t k = 0; k < node_origins(node); k++) {
        struct node_origin origin;
        uint32_t at = 0;
        const uint32_t count = node_arrivals(node, world_now_ns(&world), k, marks);
        node_origin(node, k, &origin);
        while (at < count && marks[at].came_ns > moment_ns)
            at++;
        if (memcmp(origin.id, order.subject, ID_BYTES) == 0 && at < count)
            order.pairs[order.pairs_count++] =
                (struct order_pair){.incarnation = origin.incarnation, .keep = marks[at].seq + 1};
    }
    order_expulsion(i, order);
}

uint32_t known_of_id(uint32_t i, const uint8_t id[static ID_BYTES])
{
    uint32_t known = 0;
    for (uint32_t k = 0; k < node_origins(world.nodes[i].node); k++) {
        struct node_origin origin;
        node_origin(world.nodes[i].node, k, &origin);
        known += memcmp(origin.id, id, ID_BYTES) == 0 ? origin.next : 0;
    }
    return known;
}

uint32_t known_of_node(uint32_t i, uint32_t villain)
{
    return known_of_id(i, world.nodes[villain].identity.id);
}

/* Checks that node i's base is b0 plus everything published, except the villain's updates. */
static void must_be_the_sum_without(uint32_t i, uint32_t villain)
{
    static int32_t units[PARAMETERS_MAX];
    static uint32_t sum[PARAMETERS_MAX];
    assert_int_equal(world.check.starts_count, 1);
    memcpy(sum, world.check.starts[0].units, parameters * sizeof *sum);
    for (uint32_t k = 0; k < world.check.published_count; k++) {
        const struct published *published = &world.check.published[k];
        for (uint32_t c = 0; published->node != villain && c < published->update.count; c++) {
            const int level = published->update.level[c];
            sum[published->update.index[c]] += published->update.amount * (uint32_t)level;
        }
    }
    sim_learner_read_units(&world.nodes[i].sim_learner, units);
    assert_memory_equal(units, sum, parameters * sizeof *units);
}

void must_be_out(uint32_t villain)
{
    for (uint32_t i = 0; i < world.nodes_count; i++) {
        if (!world_is_running(&world, i))
            continue;
        assert_int_equal(known_of_node(i, villain), 0);
        assert_int_equal(stats_of(i).members_live, world_running(&world));
    }
    assert_one_version();
    for (uint32_t i = 0; i < world.nodes_count; i++)
        if (world_is_running(&world, i))
            must_be_the_sum_without(i, villain);
}

void start_four(struct node_options options)
{
    options = obedient(options);
    start_swarm(4, &options);
    run(10 * SECOND_NS);
    assert_true(known_of_node(0, 3) > 0);
}
