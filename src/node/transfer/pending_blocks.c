/* Blocks that came, until they are part of our base.
 *
 *   BLOCK ──► held ── our learner was given all it knows ──► + the rumors it lacks ──► WRITE
 *
 * A block is the sum of the rumors of its version, our base of those applied to the learner. Where
 * the block knows more, it waits until they come: neighbours push them anyway. What it lacks is
 * added here, from the log, at the moment when it is given out; so WRITE comes between what the
 * learner has heard before and what it will hear after, and each entry has every rumor once. A
 * block that lacks what is no longer in the log is asked for again.
 */
#include <string.h>

#include "node/inside.h"

#define HELD_NS (5 * SECOND_NS)

static struct pending_block *free_place(struct transfer *transfer)
{
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        if (transfer->pending[i].entries == 0)
            return &transfer->pending[i];
    return NULL;
}

/* Somebody else: this neighbour's base is not of our version, and its next block would not be. */
static void ask_again(struct node *node, struct pending_block *pending)
{
    struct transfer *transfer = &node->transfer;
    const uint32_t slot = (uint32_t)pending->conn;
    if (node->peers[slot].conn == pending->conn)
        node->rapports[slot].refused_ns = node->now_ns;
    transfer->from[pending->block] = BLOCK_MISSING;
    if (pending->block < transfer->cursor)
        transfer->cursor = pending->block;
    pending->entries = 0;
}

/* Must the block be as new as our base in what this origin told? One of many patches needs only
 * what we have told ourselves. */
static bool matters(const struct node *node, uint32_t place)
{
    return !node->transfer.is_rolling || place == versions_place(&node->versions, node->own);
}

/* Of what rumors is it the sum? MISSING: of some of an origin that we do not know yet. MISMATCH: of
 * what is not listed its giver has other than we. Where only our own matter, that says little. */
static enum error read_version(const struct node *node, const struct message *block,
                               uint32_t *version)
{
    const struct versions *versions = &node->versions;
    const size_t entries = block->text.count / VERSION_ENTRY_BYTES;
    const bool is_sure = versions_known(versions, block->text.at, entries, block->hash, node->seen);
    bool are_known = true, is_sure_of_us = is_sure || node->own->next == 0;
    for (uint32_t place = 0; place < versions->count; place++)
        version[place] = bit_get(node->seen, place) ? versions->origins[place].next : 0;
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(block->text.at, i);
        const struct origin *origin = versions_find(versions, entry.tag);
        if (origin)
            version[versions_place(versions, origin)] = entry.next;
        are_known &= origin != NULL;
        is_sure_of_us |= origin == node->own;
    }
    if (node->transfer.is_rolling)
        return is_sure_of_us ? OK : MISMATCH;
    return !are_known ? MISSING : is_sure ? OK : MISMATCH;
}

/* MISSING: there is no room, or we do not know all its origins: ask again. MISMATCH: ask somebody
 * else, or later. MALFORMED: no block. */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message)
{
    const uint32_t block = (uint32_t)message->block;
    struct pending_block *pending = free_place(&node->transfer);
    if (message->text.count % VERSION_ENTRY_BYTES != 0)
        return MALFORMED;
    const enum error known = pending ? read_version(node, message, pending->version) : MISSING;
    if (known != OK)
        return known;
    const uint32_t entries = node_block_entries(node, block);
    if (block_decode(message->bulk.at, message->bulk.count, pending->units, entries) != OK)
        return MALFORMED;
    pending->block = block;
    pending->entries = entries;
    pending->received_ns = node->now_ns;
    pending->conn = from->conn;
    return OK;
}

void pending_clear(struct node *node)
{
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        node->transfer.pending[i].entries = 0;
    node->transfer.is_ready = false;
}

/* Has the learner been given all that the block is the sum of? Then how much does the block lack?
 */
static bool is_covered(const struct node *node, struct pending_block *pending)
{
    pending->missing = 0;
    for (uint32_t place = 0; place < node->versions.count; place++) {
        const uint32_t applied = node->versions.origins[place].applied;
        if (!matters(node, place))
            continue;
        if (pending->version[place] > applied)
            return false;
        pending->missing += applied - pending->version[place];
    }
    return true;
}

static void add(struct pending_block *pending, uint64_t first, const struct update *update)
{
    for (uint32_t i = 0; i < update->count; i++) {
        const uint64_t at = update->index[i] - first;
        if (update->index[i] < first || at >= pending->entries)
            continue;
        uint32_t units;
        memcpy(&units, &pending->units[at], sizeof units);
        const int level = update->level[i];
        units += update->amount * (uint32_t)level;
        memcpy(&pending->units[at], &units, sizeof units);
    }
}

static bool lacks(const struct node *node, const struct pending_block *pending,
                  const struct rumor_log_entry *entry)
{
    return pending->is_covered && matters(node, entry->place) &&
           entry->seq >= pending->version[entry->place] &&
           entry->seq < node->versions.origins[entry->place].applied;
}

/* One rumor of the log, for all the blocks that lack it. */
static void replay(struct node *node, const struct rumor_log_entry *entry)
{
    const struct update *update = NULL;
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *pending = &node->transfer.pending[i];
        if (pending->entries == 0 || !lacks(node, pending, entry))
            continue;
        if (!update)
            update = broadcast_logged(node, rumor_log_bytes(&node->log, entry), entry->bytes);
        add(pending, (uint64_t)pending->block * node->options.block_entries, update);
        pending->missing--;
    }
}

/* How many entries may the learner be given now? One block when it has nothing else to do. */
static uint32_t room_of(const struct node *node)
{
    const uint32_t window = node->options.apply_window,
                   least = node->applying ? 0 : node->options.block_entries;
    const uint32_t room = node->applying < window ? window - node->applying : 0;
    return room > least ? room : least;
}

/* Make blocks as new as our base is now, as many as the learner may be given at once. */
static void make_ready(struct node *node)
{
    struct transfer *transfer = &node->transfer;
    uint32_t covered = 0, room = room_of(node);
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *pending = &transfer->pending[i];
        pending->is_covered =
            pending->entries > 0 && pending->entries <= room && is_covered(node, pending);
        covered += pending->is_covered;
        room -= pending->is_covered ? pending->entries : 0;
    }
    for (uint64_t at = node->log.oldest; covered > 0 && at < node->log.newest; at++)
        replay(node, rumor_log_at(&node->log, at));
    transfer->is_ready = covered > 0;
    transfer->ready_at = 0;
}

/* It is the sum of rumors that do not come: perhaps nobody has them any more. */
void pending_drop_old(struct node *node)
{
    struct transfer *transfer = &node->transfer;
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *pending = &transfer->pending[i];
        if (pending->entries > 0 && node->now_ns - pending->received_ns > HELD_NS)
            ask_again(node, pending);
    }
}

/* No telling must be under way: what it takes out of the residual would not be in the block. */
bool pending_next_write(struct node *node, struct action *action)
{
    struct transfer *transfer = &node->transfer;
    if (!transfer->is_ready && node->publish != PUBLISH_OUT)
        make_ready(node);
    while (transfer->is_ready && transfer->ready_at < PENDING_MAX) {
        struct pending_block *pending = &transfer->pending[transfer->ready_at++];
        if (pending->entries == 0 || !pending->is_covered)
            continue;
        if (pending->missing > 0) {
            ask_again(node, pending);
            continue;
        }
        const uint32_t entries = pending->entries;
        transfer->from[pending->block] = BLOCK_WRITTEN;
        pending->entries = 0;
        *action = (struct action){.kind = ACTION_WRITE,
                                  .first = (uint64_t)pending->block * node->options.block_entries,
                                  .entries = entries,
                                  .units = pending->units,
                                  .keep_weights = transfer->keep_weights};
        return true;
    }
    transfer->is_ready = false;
    return false;
}
