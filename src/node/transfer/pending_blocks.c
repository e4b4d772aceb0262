/* Received blocks, until they are part of our base.
 *
 *   BLOCK ──► pending ── the learner was given all its rumors ──► + the rumors it lacks ──► WRITE
 *
 * A block is the sum of its version's rumors; our base is the sum of the rumors given to the
 * learner. If a block contains rumors that our base lacks, it waits until neighbours have pushed
 * them to us. Rumors that this node withholds are released if a block contains them: the sender's
 * base has them already. When a block is given to the learner, the rumors that the block lacks are
 * added to it from the log. The WRITE comes between earlier and later updates, so each entry
 * contains every rumor once. If the log no longer has a rumor that the block lacks, the block is
 * requested again. Tests: tests/world/test_fetch.c.
 */
#include <string.h>

#include "node/broadcast/equivocation.h"
#include "node/broadcast/withheld.h"
#include "node/transfer/transfer_private.h"

/* Time for which a block may wait, mostly for rumors that it contains and this node lacks. */
#define WAIT_NS (5 * SECOND_NS)

static struct pending_block *free_place(const struct node *node)
{
    struct pending_blocks *pending = &node->transfer->pending;
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        if (pending->blocks[i].entries == 0)
            return &pending->blocks[i];
    return NULL;
}

/* Drops a block and requests it from another neighbour: the sender's base does not match our
 * version, so its next blocks would not match either. */
static void ask_again(struct node *node, struct pending_block *block)
{
    struct fetch *fetch = &node->transfer->fetch;
    CHECK(block->entries > 0 && fetch->from[block->block] == BLOCK_PENDING);
    const struct peer *peer = connection_at(node, (uint32_t)block->conn);
    if (peer->conn == block->conn)
        transfer_neighbour(node, peer)->refused_ns = node->now_ns;
    fetch->from[block->block] = BLOCK_MISSING;
    fetch->cursor = u32_min(fetch->cursor, block->block);
    block->entries = 0;
}

/* Returns true if a block must agree with our base about this origin's rumors. In a rolling
 * snapshot, only this node's own rumors must agree. */
static bool matters(const struct node *node, uint32_t origin_index)
{
    return base_state(node) != BASE_ROLLING ||
           origin_index == versions_index(broadcast_versions(node), broadcast_own(node));
}

/* Reads how many rumors of each origin the block contains into version[]. Returns MISSING if the
 * block lists an unknown origin, and MISMATCH if its unlisted origins differ from ours. In a
 * rolling snapshot, only the number of own rumors must be certain. */
static enum error read_version(const struct node *node, const struct message *block,
                               uint32_t *version)
{
    const struct versions *versions = broadcast_versions(node);
    const struct origin *own = broadcast_own(node);
    uint64_t *seen = node->transfer->seen;
    const size_t entries = block->entries.count / VERSION_ENTRY_BYTES;
    const bool is_sure = versions_known(versions, block->entries.at, entries, block->hash, seen);
    bool are_known = true, is_sure_of_us = is_sure || own->next == 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        version[origin_index] =
            bit_get(seen, origin_index) ? versions->origins[origin_index].next : 0;
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(block->entries.at, i);
        const struct origin *origin = versions_find(versions, entry.tag);
        if (origin)
            version[versions_index(versions, origin)] = entry.next;
        are_known &= origin != NULL;
        is_sure_of_us |= origin == own;
    }
    if (base_state(node) == BASE_ROLLING)
        return is_sure_of_us ? OK : MISMATCH;
    return !are_known ? MISSING : is_sure ? OK : MISMATCH;
}

/* Returns true if the block contains more rumors of an expelled member than may stay in a base. */
static bool has_excess(const struct node *node, const uint32_t *version)
{
    const struct versions *versions = broadcast_versions(node);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (matters(node, origin_index) &&
            version[origin_index] > versions->origins[origin_index].keep)
            return true;
    return false;
}

/* Releases the rumors that this node withholds and the block contains. */
static void release_withheld(struct node *node, const struct pending_block *block)
{
    const struct versions *versions = broadcast_versions(node);
    CHECK(block->entries > 0);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (matters(node, origin_index) && withheld_has(node, origin_index) &&
            block->version[origin_index] > versions->origins[origin_index].applied)
            withheld_end(node, origin_index);
}

enum error pending_put(struct node *node, const struct peer *from, const struct message *message)
{
    const uint32_t number = (uint32_t)message->block;
    CHECK(number < node->transfer->blocks);
    struct pending_block *block = free_place(node);
    if (message->entries.count % VERSION_ENTRY_BYTES != 0)
        return MALFORMED;
    const enum error known = block ? read_version(node, message, block->version) : MISSING;
    if (known != OK)
        return known;
    if (has_excess(node, block->version))
        return MISMATCH; /* the sender of the block did not know of the expulsion yet */
    const uint32_t entries = transfer_block_entries(node, number);
    if (block_decode(message->bulk.at, message->bulk.count, block->units, entries) != OK)
        return MALFORMED;
    CHECK(entries > 0 && entries <= node->options.block_entries);
    block->block = number;
    block->entries = entries;
    block->came_ns = node->now_ns;
    block->conn = from->conn;
    block->is_donors = blame_is_donor(node, from);
    block->hash = message->hash;
    release_withheld(node, block);
    return OK;
}

void pending_clear(struct node *node)
{
    struct pending_blocks *pending = &node->transfer->pending;
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        pending->blocks[i].entries = 0;
    pending->is_ready = false;
}

/* Returns true if the learner was given every rumor in the block. Then sets block->missing to
 * the number of rumors that our base has and the block lacks. */
static bool is_covered(const struct node *node, struct pending_block *block)
{
    const struct versions *versions = broadcast_versions(node);
    block->missing = 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const uint32_t applied = versions->origins[origin_index].applied;
        if (!matters(node, origin_index))
            continue;
        if (block->version[origin_index] > applied)
            return false;
        block->missing += applied - block->version[origin_index];
    }
    return true;
}

static void add(struct pending_block *block, uint64_t first, const struct update *update)
{
    for (uint32_t i = 0; i < update->count; i++) {
        const uint64_t at = update->index[i] - first;
        if (update->index[i] < first || at >= block->entries)
            continue;
        uint32_t units;
        memcpy(&units, &block->units[at], sizeof units);
        const int level = update->level[i];
        units += update->amount * (uint32_t)level;
        memcpy(&block->units[at], &units, sizeof units);
    }
}

static bool lacks(const struct node *node, const struct pending_block *block,
                  const struct rumor_log_entry *entry)
{
    return block->is_covered && matters(node, entry->origin_index) &&
           entry->seq >= block->version[entry->origin_index] &&
           entry->seq < broadcast_versions(node)->origins[entry->origin_index].applied;
}

/* Adds one rumor of the log to each block that make_ready has chosen (is_covered) and that lacks
 * the rumor. */
static void replay(struct node *node, const struct rumor_log_entry *entry)
{
    const struct update *update = NULL;
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *block = &node->transfer->pending.blocks[i];
        if (block->entries == 0 || !lacks(node, block, entry))
            continue;
        if (!update)
            update =
                broadcast_logged(node, rumor_log_bytes(broadcast_log(node), entry), entry->bytes);
        add(block, (uint64_t)block->block * node->options.block_entries, update);
        CHECK(block->missing > 0);
        block->missing--;
    }
}

/* Returns how many entries the learner may be given now: at least those of one block if the learner
 * is idle. */
static uint32_t room_of(const struct node *node)
{
    const uint32_t window = node->options.limits.apply_window, applying = broadcast_applying(node);
    const uint32_t least = applying ? 0 : node->options.block_entries;
    const uint32_t room = applying < window ? window - applying : 0;
    return u32_max(room, least);
}

/* Chooses as many blocks as the learner may be given now, and adds the rumors that they lack, so
 * that they match our base. */
static void make_ready(struct node *node)
{
    struct pending_blocks *pending = &node->transfer->pending;
    const struct rumor_log *log = broadcast_log(node);
    uint32_t covered = 0, room = room_of(node);
    CHECK(publishing_state(node) != PUBLISHING_OUT);
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *block = &pending->blocks[i];
        block->is_covered = block->entries > 0 && block->entries <= room && is_covered(node, block);
        covered += block->is_covered;
        room -= block->is_covered ? block->entries : 0;
    }
    for (uint64_t at = log->oldest; covered > 0 && at < log->newest; at++)
        replay(node, rumor_log_at(log, at));
    pending->is_ready = covered > 0;
    pending->ready_at = 0;
}

void pending_drop_old(struct node *node)
{
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *block = &node->transfer->pending.blocks[i];
        if (block->entries > 0 && node->now_ns - block->came_ns > WAIT_NS)
            ask_again(node, block);
    }
}

void pending_drop_excess(struct node *node)
{
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_block *block = &node->transfer->pending.blocks[i];
        if (block->entries > 0 && has_excess(node, block->version))
            ask_again(node, block);
    }
}

static struct action write_of(struct node *node, struct pending_block *block)
{
    const struct action action = {.kind = ACTION_WRITE,
                                  .first = (uint64_t)block->block * node->options.block_entries,
                                  .entries = block->entries,
                                  .units = block->units,
                                  .keep_weights = node->transfer->fetch.keep_weights};
    CHECK(block->missing == 0 && node->transfer->fetch.from[block->block] == BLOCK_PENDING);
    CHECK(action.first + action.entries <= node->options.parameters);
    node->transfer->fetch.from[block->block] = BLOCK_WRITTEN;
    node->transfer->blame.is_of_many |= !block->is_donors;
    block->entries = 0;
    return action;
}

/* Returns false if the hash of the block's version shows other rumors than ours: an origin has
 * signed different rumors under one number (equivocation). */
static bool is_of_our_streams(const struct node *node, const struct pending_block *block)
{
    const struct versions *versions = broadcast_versions(node);
    uint8_t before[HEAD_HASH_BYTES];
    uint64_t hash = 0;
    if (base_state(node) == BASE_ROLLING)
        return true;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const uint32_t next = block->version[origin_index];
        if (!equivocation_hash_before(node, origin_index, next, before))
            return false;
        hash += version_entry_hash(versions->origins[origin_index].tag, next, before);
    }
    return hash == block->hash;
}

/* During a publication, chooses no new blocks (make_ready): the learner will add to the base an
 * update that these blocks would lack. */
bool pending_next_write(struct node *node, struct action *action)
{
    struct pending_blocks *pending = &node->transfer->pending;
    CHECK(!base_is_whole(node));
    if (!pending->is_ready && publishing_state(node) != PUBLISHING_OUT &&
        broadcast_may_give_blocks(node, PENDING_MAX))
        make_ready(node);
    while (pending->is_ready && pending->ready_at < PENDING_MAX) {
        struct pending_block *block = &pending->blocks[pending->ready_at++];
        if (block->entries == 0 || !block->is_covered)
            continue;
        if (block->missing > 0 || !is_of_our_streams(node, block)) {
            ask_again(node, block);
            continue;
        }
        *action = write_of(node, block);
        return true;
    }
    pending->is_ready = false;
    return false;
}
