#include "node/broadcast/equivocation.h"

#include <string.h>

#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/history.h"

#define HEADS_MAX 64              /* maximum heads per HEADS message */
#define HEADS_NS  (2 * SECOND_NS) /* minimum time between two HEADS messages to one neighbour */

bool equivocation_head(const struct node *node, uint32_t origin_index, uint32_t seq,
                       struct signed_head *out)
{
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    uint32_t bytes;
    if (seq + 1 == origin->next) {
        *out = origin->last;
        return true;
    }
    const uint8_t *rumor = rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes);
    if (rumor)
        rumor_signed_head(rumor, bytes, node->context, out);
    return rumor != NULL;
}

bool equivocation_hash_before(const struct node *node, uint32_t origin_index, uint32_t next,
                              uint8_t *hash)
{
    const struct origin *origin = &node->broadcast->versions.origins[origin_index];
    struct signed_head head;
    if (next > origin->next)
        return false;
    if (next == 0)
        memset(hash, 0, HEAD_HASH_BYTES);
    else if (next == origin->applied)
        memcpy(hash, origin->applied_last.hash, HEAD_HASH_BYTES);
    else if (equivocation_head(node, origin_index, next - 1, &head))
        memcpy(hash, head.hash, HEAD_HASH_BYTES);
    else if (next < origin->next && equivocation_head(node, origin_index, next, &head))
        memcpy(hash, head.bytes + HEAD_PREV_AT, HEAD_HASH_BYTES);
    else
        return false;
    return true;
}

void equivocation_found(struct node *node, const struct signed_head *ours,
                        const struct signed_head *theirs)
{
    struct equivocation *equivocation = &node->broadcast->equivocation;
    if (equivocation->is_found ||
        proof_create(ours, theirs, node->options.parameters, equivocation->proof) != OK)
        return;
    equivocation->is_found = proof_verify(equivocation->proof, node->context) == OK;
}

/* Keeps the head as a proof if its origin signed it and its values exceed the limits of a valid
 * rumor. */
static void look_at(struct node *node, const struct signed_head *head)
{
    equivocation_found(node, head, head);
}

void equivocation_on_refused(struct node *node, const uint8_t *rumor, size_t bytes)
{
    struct signed_head head;
    rumor_signed_head(rumor, bytes, node->context, &head);
    look_at(node, &head);
}

bool equivocation_take_proof(struct node *node, uint8_t *out)
{
    struct equivocation *equivocation = &node->broadcast->equivocation;
    if (!equivocation->is_found)
        return false;
    memcpy(out, equivocation->proof, PROOF_BYTES);
    equivocation->is_found = false;
    return true;
}

/* Returns true if this node has rumors of the origin from number `keep` on, which must be taken out
 * of the base. */
static bool is_excess(const struct origin *origin)
{
    return origin->next > origin->keep;
}

/* Sends the neighbour our heads of the origin's HEADS_MAX rumors up to number `last`, as far as
 * this node has them. */
static void say_heads(struct node *node, const struct peer *to, const struct origin *origin,
                      uint32_t last)
{
    const uint32_t origin_index = broadcast_index(node, origin);
    size_t bytes = 0;
    for (uint32_t seq = last < HEADS_MAX ? 0 : last - HEADS_MAX + 1; seq <= last; seq++) {
        struct signed_head head;
        if (!equivocation_head(node, origin_index, seq, &head))
            continue;
        memcpy(node->scratch + bytes, head.bytes, SIGNED_HEAD_BYTES);
        bytes += SIGNED_HEAD_BYTES;
    }
    if (connection_say(
            node, to,
            &(struct message){.kind = HEADS, .tag = origin->tag, .bulk = {node->scratch, bytes}}))
        broadcast_neighbour(node, to)->heads_ns = node->now_ns;
}

void equivocation_on_entry(struct node *node, const struct peer *from, const struct origin *origin,
                           const struct version_entry *entry)
{
    const struct broadcast_neighbour *neighbour = broadcast_neighbour(node, from);
    uint8_t hash[HEAD_HASH_BYTES];
    if (entry->next == 0 || is_excess(origin) ||
        !equivocation_hash_before(node, broadcast_index(node, origin), entry->next, hash) ||
        version_entry_shows(entry, hash))
        return;
    if (neighbour->heads_ns == 0 || node->now_ns - neighbour->heads_ns >= HEADS_NS)
        say_heads(node, from, origin, entry->next);
}

/* Finds a head of ours that contradicts `theirs`; returns false if there is none. First tries our
 * head of the rumor before `theirs`, which gives the stricter proof. */
static bool find_contrary(const struct node *node, uint32_t origin_index,
                          const struct signed_head *theirs, struct signed_head *ours)
{
    const uint32_t seq = signed_head_seq(theirs);
    uint8_t proof[PROOF_BYTES];
    if (seq >= HISTORY_NEXT_MAX)
        return false;
    for (uint32_t at = seq - (seq > 0); at <= seq + 1; at++)
        if (equivocation_head(node, origin_index, at, ours) &&
            proof_create(ours, theirs, node->options.parameters, proof) == OK)
            return true;
    return false;
}

void equivocation_on_heads(struct node *node, const struct peer *from, uint64_t tag,
                           const uint8_t *heads, size_t bytes)
{
    const struct versions *versions = &node->broadcast->versions;
    const struct origin *origin = versions_find(versions, tag);
    if (bytes % SIGNED_HEAD_BYTES != 0 || bytes > HEADS_MAX * SIGNED_HEAD_BYTES) {
        connection_hang_up(node, from, BYE_BROKEN, "sent heads of invalid size");
        return;
    }
    for (size_t at = 0; at < bytes && origin && !is_excess(origin); at += SIGNED_HEAD_BYTES) {
        struct signed_head theirs, ours;
        signed_head_read(&theirs, heads + at, node->context);
        const bool is_within = head_is_within(theirs.bytes, node->options.parameters);
        if (is_within && !find_contrary(node, versions_index(versions, origin), &theirs, &ours))
            continue;
        if (signed_head_verify(&theirs) == OK)
            equivocation_found(node, is_within ? &ours : &theirs, &theirs);
        else
            connection_hang_up(node, from, BYE_BROKEN, "sent an invalid head");
        return;
    }
}

bool equivocation_is_honest_history(struct node *node, const uint8_t *history, uint32_t entries)
{
    const struct versions *versions = &node->broadcast->versions;
    for (uint32_t i = 0; i < entries; i++) {
        struct signed_head head;
        uint8_t hash[HEAD_HASH_BYTES];
        signed_head_read(&head, history + i * (size_t)SIGNED_HEAD_BYTES, node->context);
        const struct origin *origin =
            versions_find(versions, origin_tag(head.bytes, signed_head_incarnation(&head)));
        const bool is_known = origin &&
                              equivocation_hash_before(node, versions_index(versions, origin),
                                                       signed_head_seq(&head) + 1, hash) &&
                              memcmp(hash, head.hash, HEAD_HASH_BYTES) == 0;
        if (is_known)
            continue;
        look_at(node, &head);
        if (!head_is_within(head.bytes, node->options.parameters) ||
            signed_head_verify(&head) != OK)
            return false;
    }
    return true;
}

bool equivocation_in_history(struct node *node, const uint8_t *history, uint32_t entries)
{
    const struct versions *versions = &node->broadcast->versions;
    for (uint32_t i = 0; i < entries; i++) {
        struct signed_head theirs, ours;
        uint8_t hash[HEAD_HASH_BYTES];
        signed_head_read(&theirs, history + i * (size_t)SIGNED_HEAD_BYTES, node->context);
        const struct origin *origin =
            versions_find(versions, origin_tag(theirs.bytes, signed_head_incarnation(&theirs)));
        if (!origin || is_excess(origin))
            continue;
        const uint32_t origin_index = versions_index(versions, origin);
        if (!equivocation_hash_before(node, origin_index, signed_head_seq(&theirs) + 1, hash) ||
            memcmp(hash, theirs.hash, HEAD_HASH_BYTES) == 0)
            continue;
        if (find_contrary(node, origin_index, &theirs, &ours))
            equivocation_found(node, &ours, &theirs);
        return true;
    }
    return false;
}
