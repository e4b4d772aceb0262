#include "node/broadcast/barred.h"

#include <string.h>

#include "node/broadcast/broadcast_private.h"
#include "node/orders/admitted.h"

void barred_on_stranger(struct node *node, const struct peer *from,
                        const uint8_t id[static ID_BYTES], uint64_t incarnation)
{
    const uint64_t tag = origin_tag(id, incarnation);
    if (!admitted_on_stranger(node, id, incarnation, tag) ||
        !notes_allow(&node->notes, node->now_ns))
        return;
    struct note *note = connection_note(node, from, NOTE_ADMISSION, LEVEL_WARNING,
                                        "is a member for this neighbour but not for this node, "
                                        "which rejects its rumors; compare node.members");
    identity_text(note->who, id);
}

/* Returns how many of the rumors in a neighbour's entry this node refuses, because their origin is
 * not admitted here. */
static uint64_t barred_of(const struct node *node, const struct version_entry *entry)
{
    const struct origin *origin = versions_find(&node->broadcast->versions, entry->tag);
    if (!origin)
        return admitted_is_strangers(node, entry->tag) ? entry->next : 0;
    if (entry->next <= origin->next || admitted_may_be(node, origin->id))
        return 0;
    return entry->next - origin->next;
}

/* A slice shows only some entries, so a slice with entries never lowers the known number of refused
 * rumors. Between nodes with equal members that number is 0. */
struct message barred_take_out(struct node *node, const struct peer *from,
                               const struct message *version)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, from);
    struct message rest = *version;
    uint64_t barred = 0;
    CHECK(from->state == PEER_OPEN && version->kind == VERSION);
    const size_t entries =
        admitted_is_same(node, from) ? 0 : version->bulk.count / VERSION_ENTRY_BYTES;
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        barred += barred_of(node, &entry);
    }
    if (version->whole || entries == 0 || barred > neighbour->barred)
        neighbour->barred = barred;
    rest.rumors -= u64_min(rest.rumors, neighbour->barred);
    return rest;
}

void barred_forget(struct node *node)
{
    struct versions *versions = &node->broadcast->versions;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (!admitted_may_be(node, versions->origins[origin_index].id))
            repair_forget_origin(node, &versions->origins[origin_index]);
}
