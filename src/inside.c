/* What the parts of a node have in common: they call these, these call none of them. */
#include "inside.h"

#include <stdio.h>
#include <string.h>

#define LASTED_NS (60 * SECOND_NS) /* keys younger than that are not worn out */

struct peer *node_peer_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                             const struct peer *except)
{
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        struct peer *peer = &node->peers[i];
        if (peer->state == PEER_OPEN && peer != except && memcmp(peer->id, id, ID_BYTES) == 0)
            return peer;
    }
    return NULL;
}

uint32_t node_neighbours(const struct node *node)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++)
        open += node->peers[i].state == PEER_OPEN;
    return open;
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

void node_hang_up(struct node *node, struct peer *peer, enum bye_reason reason, const char *why)
{
    if (peer->state == PEER_CLOSING)
        return;
    if (peer_can_say(peer)) {
        const struct message bye = {
            .kind = BYE, .reason = reason, .text = {(const uint8_t *)why, strlen(why)}};
        (void)peer_say(peer, &bye);
    }
    (void)snprintf(peer->why, sizeof peer->why, "%s", why);
    peer->retry = node_retry_after(node, peer, reason);
    peer->was_open = peer->state == PEER_OPEN;
    peer->quiet = reason == BYE_SELF || reason == BYE_DUPLICATE || reason == BYE_LEAVING;
    peer_move(peer, PEER_CLOSING, node->now_ns);
}

static struct address own_address(const struct node *node)
{
    if (node->options.listen_port == 0)
        return (struct address){0};
    return node->options.advertise.host[0] ? node->options.advertise : node->observed;
}

void node_refresh_record(struct node *node)
{
    const struct member *own = &node->members.members[0];
    struct record record = {
        .incarnation = node->options.incarnation,
        .stamp = own->record.stamp + 1,
        .samples = node->stats.samples,
        .digest = node->versions.digest,
        .samples_per_second = (float)node->stats.samples_per_second,
        .delivered = 1,
        .told = node->own->next,
        .stage = node->stage,
        .trains = node->options.trains && node->joined,
        .address = own_address(node),
    };
    memcpy(record.id, node->own->id, ID_BYTES);
    members_update_own(&node->members, &record, node->options.identity, node->context,
                       node->now_ns);
}

void node_consider_telling(struct node *node)
{
    if (!node->options.trains || node->tell != TELL_IDLE)
        return;
    if (node->stage == STAGE_LEAVING ||
        (node->stage == STAGE_RUNNING && node->steps_since >= node->options.steps_min &&
         node->now_ns - node->told_ns >= node->options.interval_ns))
        node->tell = TELL_WANTED;
}

void node_join(struct node *node, const char *why)
{
    if (node->joined)
        return;
    node->joined = true;
    (void)notes_add(&node->notes, node->now_ns, NOTE_JOINED, LEVEL_INFO, "%s", why);
}
