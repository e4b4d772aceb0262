/* Determines which swarm key a start would use: the configured one, or one that an operator's order
 * has brought. Reports an order or a proof in the state folder that expels this node. */
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/memory.h"
#include "commands/doctor/doctor.h"
#include "state/incarnation.h"
#include "state/order_files.h"
#include "state/swarm_key_files.h"

/* The swarm key that a start would use. */
struct chosen_key {
    struct order *orders; /* [count] orders in the state folder, order n at index n - 1 */
    uint32_t count;
    uint32_t latest; /* number of the latest order for a swarm key; 0 = none */
    /* number of the order that dates the chosen key; higher = newer (swarm_key_age) */
    uint32_t age;
    bool is_kept; /* the key is that of the state folder, not the configured one */
};

/* Reads the stored orders without checking their signatures; none if the file cannot be read. */
static void read_orders(const char *folder, struct chosen_key *chosen)
{
    struct order order;
    struct problem problem;
    uint8_t *bytes = memory_new(NODE_ORDERS_MAX, 1);
    size_t count = 0;
    chosen->orders = memory_new(ORDERS_MAX, sizeof *chosen->orders);
    if (order_files_load(disk_real(), folder, bytes, &count, &problem) != OK)
        count = 0;
    for (size_t at = 0, taken; order_parse(bytes + at, count - at, &order, &taken) == OK &&
                               order.number == chosen->count + 1;
         at += taken) {
        chosen->orders[chosen->count++] = order;
        if (order.kind == ORDER_REKEY)
            chosen->latest = chosen->count;
    }
    free(bytes);
}

/* Chooses as the node does (orders/key_rotation.h): a kept key only if it is newer than the
 * configured one. Writes it to doctor->swarm_key. */
static void choose(struct doctor *doctor, struct chosen_key *chosen, const uint8_t *kept,
                   size_t bytes)
{
    chosen->age = swarm_key_age(chosen->orders, chosen->count, doctor->swarm_key, chosen->count);
    for (size_t at = 0; at < bytes; at += KEY_BYTES) {
        const uint32_t age = swarm_key_age(chosen->orders, chosen->count, kept + at, chosen->count);
        if (age <= chosen->age)
            continue;
        chosen->age = age;
        chosen->is_kept = true;
        memcpy(doctor->swarm_key, kept + at, KEY_BYTES);
    }
}

static void say_kept(struct doctor *doctor, const struct chosen_key *chosen, uint32_t configured)
{
    const struct config_node *node = &doctor->config.node;
    const uint64_t until_ms = swarm_key_until_ms(chosen->orders, chosen->count, configured);
    const bool lets_in = incarnation_wall_ms() < until_ms;
    doctor_say(doctor, VERDICT_OK, "swarm key",
               "%s/" SWARM_KEY_FILE ": the node uses this key of order %u, not %s, which is %s%s",
               node->state_dir, (unsigned)chosen->age, node->swarm_key,
               lets_in ? "accepted until " : "no longer accepted",
               lets_in ? amount_moment(until_ms).text : "");
}

static void say_missing(struct doctor *doctor, const struct chosen_key *chosen)
{
    const struct config_node *node = &doctor->config.node;
    const uint64_t until_ms = swarm_key_until_ms(chosen->orders, chosen->count, chosen->age);
    const char *folder = chosen->is_kept ? node->state_dir : "";
    const char *file = chosen->is_kept ? "/" SWARM_KEY_FILE : node->swarm_key;
    if (incarnation_wall_ms() < until_ms)
        doctor_say(doctor, VERDICT_WARN, "swarm key",
                   "%s%s: the operator has ordered a new swarm key (order %u); other nodes send it "
                   "to this node if it joins before %s",
                   folder, file, (unsigned)chosen->latest, amount_moment(until_ms).text);
    else
        doctor_say(doctor, VERDICT_WARN, "swarm key",
                   "%s%s: the operator has ordered a new swarm key (order %u), and other nodes may "
                   "no longer accept this one: copy %s/" SWARM_KEY_FILE " of another node to %s",
                   folder, file, (unsigned)chosen->latest, node->state_dir, node->swarm_key);
}

/* Reports the last order about this node, if it expels the node. */
static void say_expelling(struct doctor *doctor, const struct chosen_key *chosen)
{
    const struct order *last = NULL;
    char id[KEY_HEX_BYTES];
    for (uint32_t i = 0; i < chosen->count; i++)
        if (chosen->orders[i].kind != ORDER_REKEY &&
            memcmp(chosen->orders[i].subject, doctor->identity.id, ID_BYTES) == 0)
            last = &chosen->orders[i];
    if (!last || last->kind != ORDER_EXPEL)
        return;
    key_hex(id, doctor->identity.id);
    doctor_say(doctor, VERDICT_WARN, "expulsion",
               "%s/" ORDERS_FILE ": order %u of the operator expels this node: %s; a start ends "
               "with exit code 4 unless the members have a later order that admits it (hearsay "
               "admit %s, in the folder of a member)",
               doctor->config.node.state_dir, (unsigned)last->number, last->reason, id);
}

/* Reports a proof against this node's identity, without checking its signatures. */
static void look_at_proofs(struct doctor *doctor)
{
    const char *folder = doctor->config.node.state_dir;
    struct problem problem;
    size_t count = 0, at = 0;
    uint8_t *bytes = memory_new(NODE_PROOFS_MAX, 1);
    if (order_files_load_proofs(disk_real(), folder, bytes, &count, &problem) != OK)
        count = 0;
    /* the bytes of a proof begin with the id of its author */
    while (at + PROOF_BYTES <= count && memcmp(bytes + at, doctor->identity.id, ID_BYTES) != 0)
        at += PROOF_BYTES;
    if (at + PROOF_BYTES <= count)
        doctor_say(doctor, VERDICT_FAIL, "expulsion",
                   "%s/" PROOFS_FILE ": proves that another node or program used this identity "
                   "key, which is expelled permanently: create a new one (hearsay keygen)",
                   folder);
    free(bytes);
}

/* Reports which key the node would use: the configured one, or one that an order has brought. */
static void look_at_orders(struct doctor *doctor)
{
    const struct config_node *node = &doctor->config.node;
    struct chosen_key chosen = {.count = 0};
    uint8_t kept[NODE_SWARM_KEYS_MAX];
    struct problem problem;
    size_t bytes = 0;
    read_orders(node->state_dir, &chosen);
    const uint32_t configured =
        swarm_key_age(chosen.orders, chosen.count, doctor->swarm_key, chosen.count);
    const enum error error = swarm_key_files_load(node->state_dir, kept, &bytes, &problem);
    if (error == OK)
        choose(doctor, &chosen, kept, bytes);
    if (error != OK) {
        doctor_say(doctor, VERDICT_FAIL, "swarm key", "%s", problem.text);
        doctor->has_swarm_key = false;
    } else if (chosen.age < chosen.latest) {
        say_missing(doctor, &chosen);
    } else if (chosen.is_kept) {
        say_kept(doctor, &chosen, configured);
    } else {
        doctor_say(doctor, VERDICT_OK, "swarm key", "%s: key of swarm \"%s\", secret",
                   node->swarm_key, node->swarm);
    }
    if (doctor->has_identity)
        say_expelling(doctor, &chosen);
    secret_wipe(kept, sizeof kept);
    free(chosen.orders);
}

void doctor_look_at_swarm_key(struct doctor *doctor)
{
    const struct config_node *node = &doctor->config.node;
    struct problem problem;
    if (doctor->has_identity)
        look_at_proofs(doctor);
    doctor->has_swarm_key = swarm_key_load(doctor->swarm_key, node->swarm_key, &problem) == OK;
    if (!doctor->has_swarm_key)
        doctor_say(doctor, VERDICT_FAIL, "swarm key", "%s", problem.text);
    else if (node->operator_id[0])
        look_at_orders(doctor);
    else
        doctor_say(doctor, VERDICT_OK, "swarm key", "%s: key of swarm \"%s\", secret",
                   node->swarm_key, node->swarm);
}
