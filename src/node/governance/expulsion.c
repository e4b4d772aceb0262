#include "node/governance/expulsion.h"

#include <string.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/equivocation.h"
#include "node/broadcast/retract.h"
#include "node/expulsion_api.h"
#include "node/governance/admit.h"
#include "node/governance/byzantine.h"
#include "node/governance/suspension.h"
#include "node/join.h"
#include "node/leave.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/admitted.h"
#include "node/orders/key_rotation.h"
#include "node/orders/orders.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/orders/verdict.h"
#include "node/transfer/transfer.h"

/* Time without a needed base before a note says that no neighbour gives it. */
#define NEEDED_NS (60 * SECOND_NS)

struct expulsion {
    uint64_t needed_ns; /* time since which another base is needed; 0 = not needed */
    /* An order expels this node, which leaves at this time unless a later order admits it; 0 = no
     * wait. */
    uint64_t leaves_ns;
    bool is_noted;  /* a note has said that no neighbour gives the needed base */
    bool is_pruned; /* the node had joined at the last expulsion_consider */
};

size_t expulsion_arena_bytes(void)
{
    return sizeof(struct expulsion) + 64;
}

struct expulsion *expulsion_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct expulsion));
}

static bool is_own(const struct node *node, const uint8_t id[static ID_BYTES])
{
    return memcmp(id, node->options.identity->id, ID_BYTES) == 0;
}

static void leave(struct node *node, const struct order *order)
{
    char id[KEY_HEX_BYTES];
    key_hex(id, order->subject);
    (void)notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_ERROR,
                    "the operator has expelled this node from the swarm (order %u): %s; if it is "
                    "to return: hearsay admit %s, in the folder of a member, and start it again",
                    (unsigned)order->number, order->reason, id);
    leave_on_expelled(node);
}

static void leave_on_proof(struct node *node, const struct proof *proof)
{
    (void)notes_add(
        &node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_ERROR,
        proof->kind == PROOF_EQUIVOCATION
            ? "this node is expelled from the swarm permanently: its identity key signed two "
              "different rumors under one number, so two nodes run with that key; give each "
              "machine its own key (hearsay keygen)"
        : proof->kind == PROOF_EXCESS
            ? "this node is expelled from the swarm permanently: its identity key signed a rumor "
              "beyond the limits of the protocol, so another program has that key; create a new "
              "key (hearsay keygen)"
            : "this node is expelled from the swarm: a majority of the members signed that its "
              "updates are harmful; check its data and program, and read the members' notes; it "
              "returns with a new key (hearsay keygen), listed or admitted");
    leave_on_expelled(node);
}

/* Starts to take rumors of expelled members beyond their limits out of the base. Does nothing while
 * a publication is under way, which needs the space in the log. */
static void retract(struct node *node)
{
    if (publishing_state(node) == PUBLISHING_OUT)
        return;
    const uint64_t rumors = retract_begin(node);
    if (rumors == 0)
        return;
    transfer_on_retracted(node, rumors);
    (void)notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_INFO,
                    "%llu rumors of expelled members were removed from the base",
                    (unsigned long long)rumors);
    anti_entropy_show_all(node); /* the neighbours learn that our version has changed */
}

static void close_conversations(struct node *node, const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        if ((peer->state == PEER_MEETING || peer->state == PEER_OPEN) &&
            memcmp(peer->id, id, ID_BYTES) == 0)
            connection_hang_up(node, peer, BYE_EXPELLED, verdict_reason(node, id));
    }
}

/* Applies an expulsion, or a new limit on an expelled member's rumors, to all folders. */
static void expelled(struct node *node, const uint8_t id[static ID_BYTES])
{
    close_conversations(node, id);
    membership_set_expelled(node, id, true);
    retract_on_expelled(node, id);
    retract(node);
}

static void obey_expulsion(struct node *node, const struct order *order)
{
    if (is_own(node, order->subject))
        return;
    byzantine_on_order(node);
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_WARNING,
                                  "is expelled from the swarm (order %u): %s",
                                  (unsigned)order->number, order->reason);
    identity_text(note->who, order->subject);
    expelled(node, order->subject);
}

/* Returns true if the version of this node has a rumor of this id. */
static bool has_rumors_of(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct versions *versions = broadcast_versions(node);
    for (uint32_t i = 0; i < versions->count; i++)
        if (versions->origins[i].next > 0 && memcmp(versions->origins[i].id, id, ID_BYTES) == 0)
            return true;
    return false;
}

/* Returns true if this id is this node's, is a member, or has rumors in the version. With the swarm
 * key alone, an id is a member while its record is live. */
static bool concerns_swarm(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const enum admission admission = node_admission(node, id);
    if (is_own(node, id) || admission == ADMISSION_LIST || admission == ADMISSION_ORDER)
        return true;
    const struct member *member = membership_find(node, id);
    const bool is_live = member && member_is_live(membership_members(node), member, node->now_ns);
    return (admission == ADMISSION_KEY && is_live) || has_rumors_of(node, id);
}

/* Forgets proofs that do not concern the swarm; decisions by votes stay. */
static void forget_outsiders(struct node *node)
{
    uint32_t forgotten = 0;
    for (uint32_t i = 0; i < proofs_count(node); i++) {
        const uint8_t *id = proofs_author(node, i);
        if (!proofs_is_proven(node, i) || concerns_swarm(node, id))
            continue;
        proofs_forget(node, i);
        membership_set_expelled(node, id, verdict_reason(node, id) != NULL);
        retract_on_expelled(node, id);
        forgotten++;
    }
    if (forgotten > 0)
        (void)notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_INFO,
                        "%u proofs against ids that are not members were forgotten",
                        (unsigned)forgotten);
}

static void obey(struct node *node, const struct order *order)
{
    switch (order->kind) {
    case ORDER_EXPEL:
        obey_expulsion(node, order);
        break;
    case ORDER_ADMIT:
        admit_obey(node, order);
        break;
    /* After all orders are obeyed, obey_all requests the new key (key_rotation_on_orders). */
    case ORDER_REKEY:
        forget_outsiders(node);
        break;
    }
}

/* Leaves if an order expels this node. Adds a note if orders admit members but not this node. */
static void obey_own(struct node *node)
{
    node->expulsion->leaves_ns = 0;
    if (orders_expelling_self(node))
        leave(node, orders_expelling_self(node));
    else if (orders_admit(node) &&
             node_admission(node, node->options.identity->id) == ADMISSION_NONE)
        (void)notes_add(&node->notes, node->now_ns, NOTE_ADMISSION, LEVEL_ERROR,
                        "the operator has admitted members but not this node, which trains alone "
                        "and keeps dialling; have its id admitted (hearsay admit)");
}

/* Obeys the orders after number `before`. First sends them to the neighbours, so that expelled
 * members among them also learn of the orders. This node itself leaves only when it has all
 * `there_are` orders, because a later one may readmit it. */
static void obey_all(struct node *node, const struct peer *from, uint32_t before,
                     uint64_t there_are)
{
    const struct peer *peer;
    const uint32_t count = orders_count(node);
    CHECK(before <= count);
    for (uint32_t i = 0; before < count && (peer = connection_neighbour(node, &i)); i++)
        if (peer != from)
            orders_say(node, peer, before);
    for (uint32_t number = before + 1; number <= count; number++)
        obey(node, orders_at(node, number));
    if (count == before)
        return;
    retract(node);
    admitted_on_orders(node);
    key_rotation_on_orders(node, from, before);
    if (count >= there_are)
        obey_own(node);
    if (orders_admit(node))
        admit_review(node);
}

/* Postpones the end of a node that starts with an order against it: members may have a later order.
 */
static void wait_for_admission(struct node *node, const struct order *order)
{
    CHECK(order->kind == ORDER_EXPEL);
    node->expulsion->leaves_ns = node->now_ns + NODE_JOIN_WAIT_NS;
    (void)notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_WARNING,
                    "the operator has expelled this node from the swarm (order %u): %s; it does "
                    "not train, and asks the members for a later order that admits it",
                    (unsigned)order->number, order->reason);
}

void expulsion_begin(struct node *node)
{
    const struct order *order = orders_expelling_self(node);
    if (order)
        wait_for_admission(node, order);
    else if (orders_count(node) > 0)
        obey_own(node);
    const struct proof *against = proofs_against(node, node->options.identity->id);
    if (against)
        leave_on_proof(node, against);
    retract(node);
}

static void note_proof(struct node *node, const struct proof *proof)
{
    struct note *note = notes_add(
        &node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_WARNING,
        proof->kind == PROOF_EQUIVOCATION
            ? "is expelled: it signed two different rumors under one number (two nodes with one "
              "identity key, or an attack); its rumors from number %u on are removed"
        : proof->kind == PROOF_EXCESS
            ? "is expelled: it signed a rumor that moves the base or reports samples beyond the "
              "limits (a broken program, or an attack); its rumors from number %u on are removed"
            : "is expelled: a majority of the members signed that its updates are harmful; its "
              "rumors from number %u on are removed",
        (unsigned)proof->keep);
    identity_text(note->who, proof->author);
}

/* Sends a new proof to all neighbours except `from`, even to the accused member, and then obeys
 * it. */
static void obey_proof(struct node *node, const struct peer *from, const uint8_t *bytes)
{
    const struct peer *peer;
    /* The bytes of a proof begin with the id of the accused member. */
    const struct proof *proof = proofs_against(node, bytes);
    CHECK(proof);
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        if (peer != from)
            proofs_say_one(node, peer, proof->author);
        /* A neighbour's version shows whether it obeys the proof (suspension.h). */
        anti_entropy_ask_for_all(node, peer);
    }
    if (is_own(node, proof->author)) {
        leave_on_proof(node, proof);
        return;
    }
    suspension_on_proof(node, proof->author);
    /* While the verdict on the accused is suspended, a note would be wrong. */
    if (proofs_in_force(node, proof->author))
        note_proof(node, proof);
    expelled(node, proof->author);
}

/* Revokes an expulsion by votes: the members or their votes have changed, and no majority is left.
 */
static void take_back(struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct peer *peer;
    CHECK(!proofs_is_decided(node, id));
    struct note *note =
        notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_WARNING,
                  "is no longer expelled by votes: the list of members has changed, or a "
                  "voter has voted again");
    identity_text(note->who, id);
    membership_set_expelled(node, id, verdict_reason(node, id) != NULL);
    retract_on_expelled(node, id); /* a limit that an order or a proof sets stays in force */
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        /* The answer shows the rumors that were taken out, which are then requested. */
        anti_entropy_ask_for_all(node, peer);
}

void expulsion_on_votes(struct node *node, const uint8_t id[static ID_BYTES])
{
    struct proof decision;
    const bool is_out = votes_decide(node, id, &decision);
    const struct peer *peer;
    if (!proofs_decide(node, id, is_out ? &decision : NULL))
        return;
    if (!is_out) {
        take_back(node, id);
        return;
    }
    if (is_own(node, id)) {
        leave_on_proof(node, &decision);
        return;
    }
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        anti_entropy_ask_for_all(node, peer);
    suspension_on_proof(node, id);
    if (proofs_in_force(node, id))
        note_proof(node, proofs_against(node, id));
    expelled(node, id);
}

void expulsion_on_equivocation(struct node *node)
{
    uint8_t proof[PROOF_BYTES];
    bool is_new;
    if (!equivocation_take_proof(node, proof))
        return;
    CHECK(proofs_take(node, proof, &is_new) == OK);
    if (is_new)
        obey_proof(node, NULL, proof);
}

/* Returns true if this node stores a proof against this id. Anyone can create keys and let them
 * contradict themselves, and the proofs would fill the table. A node that has not joined knows few
 * members, so it stores all proofs. A refused proof may be accepted later: neighbours send it again
 * while their proofs differ. */
static bool is_acceptable(const struct node *node, const uint8_t id[static ID_BYTES])
{
    return !joining_has_joined(node) || proofs_against(node, id) || concerns_swarm(node, id);
}

static void on_proofs(struct node *node, const struct peer *from, const struct message *message)
{
    enum error error = message->bulk.count % PROOF_BYTES == 0 ? OK : MALFORMED;
    for (size_t at = 0; at < message->bulk.count && error == OK && from->state == PEER_OPEN;
         at += PROOF_BYTES) {
        const uint8_t *proof = message->bulk.at + at;
        bool is_new = false;
        if (!is_acceptable(node, proof)) /* the bytes of a proof begin with the accused id */
            continue;
        error = proofs_take(node, proof, &is_new);
        if (is_new)
            obey_proof(node, from, proof);
    }
    if (error != OK)
        connection_hang_up(node, from, BYE_BROKEN, "sent an invalid proof");
    else if (from->state == PEER_OPEN && message->bulk.count == 0)
        proofs_on_shown(node, from, message->hash);
}

static void note_two(struct node *node, const struct peer *from)
{
    char id[ID_TEXT_BYTES];
    identity_text(id, from->id);
    if (notes_allow_once(&node->notes, node->now_ns, NOTE_EXPELLED, id, "two orders"))
        (void)connection_note(node, from, NOTE_EXPELLED, LEVEL_ERROR,
                              "has another order of the operator under a known number: two nodes "
                              "received orders at once; give the order again, on one node");
}

static void on_orders(struct node *node, const struct peer *from, const struct message *message)
{
    if (!orders_have_operator(node))
        return;
    const uint32_t before = orders_count(node);
    const enum error error = orders_take(node, message->bulk.at, message->bulk.count);
    if (error == MALFORMED || error == FORGED || message->number > ORDERS_MAX)
        connection_hang_up(node, from, BYE_BROKEN, "sent an invalid order");
    else if (error == MISMATCH)
        note_two(node, from);
    obey_all(node, from, before, message->number);
    if (from->state != PEER_OPEN)
        return;
    if (message->number < before)
        orders_say(node, from, (uint32_t)message->number);
    else if (message->number > orders_count(node))
        orders_show(node, from); /* the neighbour answers with the orders that follow ours */
}

void expulsion_on_message(struct node *node, const struct peer *from, const struct message *message)
{
    CHECK(message->kind == ORDERS || message->kind == PROOF);
    if (message->kind == ORDERS)
        on_orders(node, from, message);
    else
        on_proofs(node, from, message);
}

/* Returns OK if the bytes are valid orders that this node has, or whose numbers follow the known
 * ones. Otherwise sets *problem. */
static enum error check_given(const struct node *node, const uint8_t *bytes, size_t count,
                              struct problem *problem)
{
    struct order order;
    uint32_t next = orders_count(node) + 1;
    if (count == 0)
        return problem_set(problem, MALFORMED, "it is not an order");
    for (size_t at = 0, taken; at < count; at += taken) {
        if (order_parse(bytes + at, count - at, &order, &taken) != OK)
            return problem_set(problem, MALFORMED, "it is not an order");
        if (orders_have(node, order.number, bytes + at, taken))
            continue;
        if (order_verify(bytes + at, taken, node->options.operator_id, node->context) != OK)
            return problem_set(problem, FORGED,
                               "it is signed by another operator than node.operator, or for "
                               "another swarm or model");
        if (order.number != next)
            return problem_set(problem, MISMATCH,
                               "it has number %u instead of %u; give the order again",
                               (unsigned)order.number, (unsigned)next);
        next++;
    }
    return OK;
}

enum error node_on_order(struct node *node, uint64_t now_ns, const uint8_t *bytes, size_t count,
                         struct problem *problem)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    const uint32_t before = orders_count(node);
    if (!orders_have_operator(node))
        return problem_set(problem, MISMATCH, "this node has no operator; set node.operator");
    const enum error error = check_given(node, bytes, count, problem);
    if (error != OK)
        return error;
    CHECK(orders_take(node, bytes, count) == OK);
    obey_all(node, NULL, before, 0);
    return OK;
}

void expulsion_on_published(struct node *node)
{
    CHECK(publishing_state(node) != PUBLISHING_OUT);
    retract(node);
}

static void note_suspension(struct node *node, const struct proof *proof)
{
    const bool is_obeyed = proofs_in_force(node, proof->author);
    struct note *note = notes_add(
        &node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_WARNING,
        is_obeyed
            ? "a majority of the members removed its rumors from number %u on; this node follows"
            : "remains expelled, but its rumors from number %u on stay in the base: they are too "
              "old for the logs of most members",
        (unsigned)proof->keep);
    identity_text(note->who, proof->author);
}

static void consider_suspension(struct node *node)
{
    for (const struct proof *proof; (proof = suspension_next(node));) {
        note_suspension(node, proof);
        expelled(node, proof->author);
    }
}

void expulsion_consider(struct node *node)
{
    struct expulsion *expulsion = node->expulsion;
    if (expulsion->leaves_ns > 0 && node->now_ns >= expulsion->leaves_ns &&
        !join_leave_unheard(node))
        obey_own(node);
    /* Ids without a record cannot be told from absent members if the swarm key alone admits. */
    if (!expulsion->is_pruned && joining_has_joined(node) && admitted_hash(node) != 0)
        forget_outsiders(node);
    expulsion->is_pruned = joining_has_joined(node);
    consider_suspension(node);
    if (!retract_needs_base(node)) {
        expulsion->needed_ns = 0;
        return;
    }
    if (expulsion->needed_ns == 0) {
        expulsion->needed_ns = node->now_ns;
        expulsion->is_noted = false;
    }
    if (expulsion->is_noted || node->now_ns - expulsion->needed_ns < NEEDED_NS)
        return;
    expulsion->is_noted = true;
    (void)notes_add(
        &node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_ERROR,
        "the base contains rumors of an expelled member that are too old for this node's log, and "
        "no neighbour has a base without them; expel that member again without --all, which keeps "
        "those rumors, or return to an older base (hearsay rewind)");
}
