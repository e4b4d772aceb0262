#include <string.h>

#include "node/transfer/transfer_private.h"

static bool is_blamed(const struct blame *blame, const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < blame->count && i < BLAMED_MAX; i++)
        if (memcmp(blame->ids[i], id, ID_BYTES) == 0)
            return true;
    return false;
}

bool blame_is_donor(const struct node *node, const struct peer *peer)
{
    return memcmp(peer->id, node->transfer->blame.donor_id, ID_BYTES) == 0;
}

bool blame_is_on(const struct node *node, const struct peer *peer)
{
    return is_blamed(&node->transfer->blame, peer->id);
}

void blame_put(struct node *node, const uint8_t id[static ID_BYTES])
{
    struct blame *blame = &node->transfer->blame;
    CHECK(memcmp(id, node->options.identity->id, ID_BYTES) != 0);
    if (!is_blamed(blame, id))
        memcpy(blame->ids[blame->count++ % BLAMED_MAX], id, ID_BYTES);
    const struct peer *peer = connection_by_id(node, id, NULL);
    if (peer)
        connection_hang_up(node, peer, BYE_BROKEN, "sent a base that contradicts its history");
}

/* Adds a note that the fetched base is false. */
static void note_false(struct node *node)
{
    const struct blame *blame = &node->transfer->blame;
    char donor[ID_TEXT_BYTES];
    CHECK(node->transfer->fetch.is_false);
    identity_text(donor, blame->donor_id);
    if (blame->is_of_many) {
        (void)notes_add(&node->notes, node->now_ns, NOTE_FALSE_BASE, LEVEL_WARNING,
                        "the base from %s and other members contradicts its history and is "
                        "discarded; the next transfer from one member shows which one is at fault",
                        donor);
        return;
    }
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_FALSE_BASE, LEVEL_WARNING,
                                  "sent a base that contradicts its history; this node discards "
                                  "the base and accepts no other from this member");
    memcpy(note->who, donor, sizeof donor);
}

/* Requests no base or blocks for REFUSED_NS from the nodes that gave the false base: another node
 * may have the swarm's base. */
static void rest_suspects(struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (node->transfer->neighbours[i].has_given || blame_is_donor(node, peer))
            node->transfer->neighbours[i].refused_ns = node->now_ns;
}

void blame_givers(struct node *node)
{
    struct blame *blame = &node->transfer->blame;
    blame->from_donor = true;
    note_false(node);
    if (blame->is_of_many)
        rest_suspects(node);
    else
        blame_put(node, blame->donor_id);
}
