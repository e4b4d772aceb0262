/* Determines which swarm key a start would use: the configured one, or one that an operator's order
 * has brought. */
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/memory.h"
#include "commands/doctor/doctor.h"
#include "state/incarnation.h"
#include "state/order_files.h"
#include "state/swarm_key_files.h"

/* Returns the latest order for a swarm key in the state folder; its number is 0 if there is none.
 */
static struct order latest_order(const char *folder)
{
    struct order latest = {0}, order;
    struct problem problem;
    uint8_t *bytes = memory_new(NODE_ORDERS_MAX, 1);
    size_t count = 0;
    if (order_files_load(disk_real(), folder, bytes, &count, &problem) != OK)
        count = 0;
    for (size_t at = 0, taken; order_parse(bytes + at, count - at, &order, &taken) == OK;
         at += taken)
        if (order.kind == ORDER_REKEY)
            latest = order;
    free(bytes);
    return latest;
}

static bool is_of(const struct order *order, const uint8_t key[static KEY_BYTES])
{
    uint8_t hash[HASH_BYTES];
    swarm_key_hash(hash, key);
    return memcmp(hash, order->subject, HASH_BYTES) == 0;
}

static void say_kept(struct doctor *doctor, const struct order *order)
{
    const struct config_node *node = &doctor->config.node;
    const bool lets_in = incarnation_wall_ms() < order->until_ms;
    doctor_say(doctor, VERDICT_OK, "swarm key",
               "%s/" SWARM_KEY_FILE ": the node uses this key of order %u, not %s, which is %s%s",
               node->state_dir, (unsigned)order->number, node->swarm_key,
               lets_in ? "accepted until " : "no longer accepted",
               lets_in ? amount_moment(order->until_ms).text : "");
}

static void say_missing(struct doctor *doctor, const struct order *order)
{
    const struct config_node *node = &doctor->config.node;
    if (incarnation_wall_ms() < order->until_ms)
        doctor_say(doctor, VERDICT_WARN, "swarm key",
                   "%s: the operator has ordered a new swarm key (order %u); other nodes send it "
                   "to this node if it joins before %s",
                   node->swarm_key, (unsigned)order->number, amount_moment(order->until_ms).text);
    else
        doctor_say(doctor, VERDICT_WARN, "swarm key",
                   "%s: the operator has ordered a new swarm key (order %u), and other nodes may "
                   "no longer accept this one: copy %s/" SWARM_KEY_FILE " of another node to %s",
                   node->swarm_key, (unsigned)order->number, node->state_dir, node->swarm_key);
}

/* Compares the configured key with the latest key order in the folder: the key that it introduced
 * and the key that it replaced. If the folder has the introduced key, reports that one. A node
 * would instead prefer a configured key that no order names. */
static void look_at_orders(struct doctor *doctor)
{
    const struct config_node *node = &doctor->config.node;
    const struct order order = latest_order(node->state_dir);
    uint8_t kept[NODE_SWARM_KEYS_MAX], configured[HASH_BYTES];
    struct problem problem;
    size_t bytes = 0;
    swarm_key_hash(configured, doctor->swarm_key);
    if (swarm_key_files_load(node->state_dir, kept, &bytes, &problem) != OK) {
        doctor_say(doctor, VERDICT_FAIL, "swarm key", "%s", problem.text);
        doctor->has_swarm_key = false;
    } else if (order.number > 0 && bytes > 0 && is_of(&order, kept) &&
               !is_of(&order, doctor->swarm_key)) {
        say_kept(doctor, &order);
        memcpy(doctor->swarm_key, kept, KEY_BYTES);
    } else if (order.number > 0 && memcmp(configured, order.before, HASH_BYTES) == 0) {
        say_missing(doctor, &order);
    } else {
        doctor_say(doctor, VERDICT_OK, "swarm key", "%s: key of swarm \"%s\", secret",
                   node->swarm_key, node->swarm);
    }
    secret_wipe(kept, sizeof kept);
}

void doctor_look_at_swarm_key(struct doctor *doctor)
{
    const struct config_node *node = &doctor->config.node;
    struct problem problem;
    doctor->has_swarm_key = swarm_key_load(doctor->swarm_key, node->swarm_key, &problem) == OK;
    if (!doctor->has_swarm_key)
        doctor_say(doctor, VERDICT_FAIL, "swarm key", "%s", problem.text);
    else if (node->operator_id[0])
        look_at_orders(doctor);
    else
        doctor_say(doctor, VERDICT_OK, "swarm key", "%s: key of swarm \"%s\", secret",
                   node->swarm_key, node->swarm);
}
