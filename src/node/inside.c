/* What the parts of a node have in common: they call these, these call none of them. */
#include "node/inside.h"

#include <stdio.h>
#include <string.h>

#define LASTED_NS (60 * SECOND_NS) /* keys younger than that are not worn out */
#define SHOWN_NS  (60 * SECOND_NS) /* what nobody has shown for so long is lost, not late */
#define FULL_NS   (60 * SECOND_NS) /* between two warnings that there is no room for lives */
#define SCARCE    8                /* only one part in so many of the room for lives is left */

struct peer *node_peer_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                             const struct peer *except)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (peer != except && memcmp(peer->id, id, ID_BYTES) == 0)
            return peer;
    return NULL;
}

uint32_t node_neighbours(const struct node *node)
{
    return slots_count(&node->open);
}

struct peer *node_random_neighbour(struct node *node)
{
    const uint32_t open = node_neighbours(node);
    uint32_t chosen = open ? rng_below(&node->rng, open) : 0;
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)) && chosen > 0; i++)
        chosen--;
    return peer;
}

bool node_say(struct node *node, struct peer *peer, const struct message *message)
{
    const size_t before = peer_queued_bytes(peer);
    if (!peer_say(peer, message))
        return false;
    node->said_count[message->kind]++;
    node->said_bytes[message->kind] +=
        peer_queued_bytes(peer) - before - LENGTH_BYTES + RECORD_OVERHEAD;
    slots_put(&node->ready, node_slot(node, peer), true);
    return true;
}

void node_open(struct node *node, struct peer *peer)
{
    struct rapport *rapport = node_rapport(node, peer);
    memset(rapport->news, 0, bit_words(node->options.members_max) * sizeof *rapport->news);
    *rapport = (struct rapport){.news = rapport->news};
    peer_move(peer, PEER_OPEN, node->now_ns);
    slots_put(&node->open, node_slot(node, peer), true);
    node->company_ns = node->now_ns;
}

struct note *node_note(struct node *node, const struct peer *peer, enum note_kind kind,
                       enum note_level level, const char *text)
{
    struct note *note = notes_add(&node->notes, node->now_ns, kind, level, "%s", text);
    if (peer->state >= PEER_MEETING)
        identity_text(note->who, peer->id);
    (void)address_text(&peer->address, note->where);
    return note;
}

enum retry node_retry_after(const struct node *node, const struct peer *peer, uint64_t reason)
{
    if (reason == BYE_IDENTITY_TAKEN)
        return RETRY_LATE;
    const bool lasted = node->now_ns - peer->born_ns > LASTED_NS;
    return reason == BYE_RENEW && lasted ? RETRY_AT_ONCE : RETRY_USUAL;
}

/* Goodbye has been said, by us or by the other. */
void node_close(struct node *node, struct peer *peer, uint64_t reason, const char *why)
{
    (void)snprintf(peer->why, sizeof peer->why, "%s", why);
    peer->retry = node_retry_after(node, peer, reason);
    peer->was_open = peer->state == PEER_OPEN;
    peer->quiet = reason == BYE_SELF || reason == BYE_DUPLICATE || reason == BYE_FULL;
    peer_move(peer, PEER_CLOSING, node->now_ns);
    slots_put(&node->open, node_slot(node, peer), false);
    slots_put(&node->ready, node_slot(node, peer), true);
}

void node_hang_up(struct node *node, struct peer *peer, enum bye_reason reason, const char *why)
{
    if (peer->state == PEER_CLOSING)
        return;
    if (peer_can_say(peer)) {
        const struct message bye = {
            .kind = BYE, .reason = reason, .text = {(const uint8_t *)why, strlen(why)}};
        (void)node_say(node, peer, &bye);
    }
    node_close(node, peer, reason, why);
    peer->quiet |= reason == BYE_LEAVING;
}

/* A life of which nothing was known. NULL: there is no room for it, so that nobody here will hear
 * it; when room gets scarce, that is said in time. */
struct origin *node_meet(struct node *node, const struct peer *from,
                         const uint8_t id[static ID_BYTES], uint64_t incarnation)
{
    struct versions *versions = &node->versions;
    struct origin *origin = versions_add(versions, id, incarnation);
    const bool is_scarce = versions->count > versions->max - versions->max / SCARCE;
    const bool was_said = node->full_ns && node->now_ns - node->full_ns < FULL_NS;
    if ((!origin || is_scarce) && !was_said) {
        char text[160];
        node->full_ns = node->now_ns;
        (void)snprintf(
            text, sizeof text,
            "%s no room for another life: %u are known, and limits.incarnations is %u; raise "
            "it on all nodes",
            origin ? "there will soon be" : "there is", (unsigned)versions->count,
            (unsigned)versions->max);
        (void)node_note(node, from, NOTE_FULL, LEVEL_WARNING, text);
    }
    return origin;
}

uint64_t node_lag_ns(const struct node *node, uint64_t now_ns)
{
    if (node->transfer.is_rolling)
        return now_ns - node->transfer.rolled_ns;
    uint64_t lag_ns = 0;
    for (uint32_t i = 0; i < node->versions.count && node->behind > 0; i++) {
        const struct origin *origin = &node->versions.origins[i];
        if (origin->behind_ns && now_ns - origin->shown_ns < SHOWN_NS &&
            now_ns - origin->behind_ns > lag_ns)
            lag_ns = now_ns - origin->behind_ns;
    }
    return lag_ns;
}

bool node_has_joined(const struct node *node, const struct peer *peer)
{
    const struct member *member = members_find(&node->members, peer->id);
    return member && member->record.trains;
}

/* The most rumors that any neighbour has shown to know, or any that has joined. */
uint64_t node_most_shown(const struct node *node, bool joined_only)
{
    uint64_t most = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (peer->knows > most && (!joined_only || node_has_joined(node, peer)))
            most = peer->knows;
    return most;
}

void node_join(struct node *node, const char *why)
{
    if (node->joined)
        return;
    node->joined = true;
    (void)notes_add(&node->notes, node->now_ns, NOTE_JOINED, LEVEL_INFO, "%s", why);
}
