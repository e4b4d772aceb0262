/* Blocks that came, until they are part of our base.
 *
 *   BLOCK ──► held ── our learner was given all it knows ──► + the rumors it lacks ──► WRITE
 *
 * A block is the sum of the rumors of its version, our base of those handed to the learner. Where
 * the block knows more, it waits until they come: neighbours push them anyway. What it lacks is
 * added here, from the log, at the moment when it is given out; so WRITE comes between what the
 * learner has heard before and what it will hear after, and each entry has every rumor once. A
 * block that lacks what is no longer in the log is asked for again.
 */
#include <string.h>

#include "node/inside.h"

#define HELD_NS (5 * SECOND_NS)

static struct held *free_place(struct catchup *catchup)
{
    for (uint32_t i = 0; i < HELD_MAX; i++)
        if (catchup->held[i].entries == 0)
            return &catchup->held[i];
    return NULL;
}

/* Somebody else: this neighbour's base is not of our version, and its next block would not be. */
static void ask_again(struct node *node, struct held *held)
{
    struct catchup *catchup = &node->catchup;
    const uint32_t slot = (uint32_t)held->conn;
    if (node->peers[slot].conn == held->conn)
        node->rapports[slot].refused_ns = node->now_ns;
    catchup->from[held->block] = BLOCK_MISSING;
    if (held->block < catchup->cursor)
        catchup->cursor = held->block;
    held->entries = 0;
}

/* Must the block be as new as our base in what this origin told? One of many patches needs only
 * what we have told ourselves. */
static bool matters(const struct node *node, uint32_t place)
{
    return !node->catchup.is_patching || place == versions_place(&node->versions, node->own);
}

/* Of what rumors is it the sum? MISSING: of some of an origin that we do not know yet. MISMATCH: of
 * what is not listed its giver has other than we. Where only our own matter, that says little. */
static enum status read_version(const struct node *node, const struct message *block,
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
    if (node->catchup.is_patching)
        return is_sure_of_us ? OK : MISMATCH;
    return !are_known ? MISSING : is_sure ? OK : MISMATCH;
}

/* MISSING: there is no room, or we do not know all its origins: ask again. MISMATCH: ask somebody
 * else, or later. MALFORMED: no block. */
enum status held_put(struct node *node, const struct peer *from, const struct message *message)
{
    const uint32_t block = (uint32_t)message->block;
    struct held *held = free_place(&node->catchup);
    if (message->text.count % VERSION_ENTRY_BYTES != 0)
        return MALFORMED;
    const enum status known = held ? read_version(node, message, held->version) : MISSING;
    if (known != OK)
        return known;
    const uint32_t entries = node_block_entries(node, block);
    if (block_decode(message->bulk.at, message->bulk.count, held->units, entries) != OK)
        return MALFORMED;
    held->block = block;
    held->entries = entries;
    held->came_ns = node->now_ns;
    held->conn = from->conn;
    return OK;
}

void held_clear(struct node *node)
{
    for (uint32_t i = 0; i < HELD_MAX; i++)
        node->catchup.held[i].entries = 0;
    node->catchup.is_ready = false;
}

/* Has the learner been given all that the block is the sum of? Then how much does the block lack?
 */
static bool is_covered(const struct node *node, struct held *held)
{
    held->missing = 0;
    for (uint32_t place = 0; place < node->versions.count; place++) {
        const uint32_t handed = node->versions.origins[place].handed;
        if (!matters(node, place))
            continue;
        if (held->version[place] > handed)
            return false;
        held->missing += handed - held->version[place];
    }
    return true;
}

static void add(struct held *held, uint64_t first, const struct update *update)
{
    for (uint32_t i = 0; i < update->count; i++) {
        const uint64_t at = update->index[i] - first;
        if (update->index[i] < first || at >= held->entries)
            continue;
        uint32_t units;
        memcpy(&units, &held->units[at], sizeof units);
        const int level = update->level[i];
        units += update->amount * (uint32_t)level;
        memcpy(&held->units[at], &units, sizeof units);
    }
}

static bool lacks(const struct node *node, const struct held *held, const struct log_entry *entry)
{
    return held->is_covered && matters(node, entry->place) &&
           entry->seq >= held->version[entry->place] &&
           entry->seq < node->versions.origins[entry->place].handed;
}

/* One rumor of the log, for all the blocks that lack it. */
static void replay(struct node *node, const struct log_entry *entry)
{
    const struct update *update = NULL;
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        struct held *held = &node->catchup.held[i];
        if (held->entries == 0 || !lacks(node, held, entry))
            continue;
        if (!update)
            update = spread_logged(node, log_bytes(&node->log, entry), entry->bytes);
        add(held, (uint64_t)held->block * node->options.block_entries, update);
        held->missing--;
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
    struct catchup *catchup = &node->catchup;
    uint32_t covered = 0, room = room_of(node);
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        struct held *held = &catchup->held[i];
        held->is_covered = held->entries > 0 && held->entries <= room && is_covered(node, held);
        covered += held->is_covered;
        room -= held->is_covered ? held->entries : 0;
    }
    for (uint64_t at = node->log.oldest; covered > 0 && at < node->log.newest; at++)
        replay(node, log_at(&node->log, at));
    catchup->is_ready = covered > 0;
    catchup->ready_at = 0;
}

/* It is the sum of rumors that do not come: perhaps nobody has them any more. */
void held_drop_old(struct node *node)
{
    struct catchup *catchup = &node->catchup;
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        struct held *held = &catchup->held[i];
        if (held->entries > 0 && node->now_ns - held->came_ns > HELD_NS)
            ask_again(node, held);
    }
}

/* No telling must be under way: what it takes out of the residual would not be in the block. */
bool held_next_write(struct node *node, struct action *action)
{
    struct catchup *catchup = &node->catchup;
    if (!catchup->is_ready && node->tell != TELL_OUT)
        make_ready(node);
    while (catchup->is_ready && catchup->ready_at < HELD_MAX) {
        struct held *held = &catchup->held[catchup->ready_at++];
        if (held->entries == 0 || !held->is_covered)
            continue;
        if (held->missing > 0) {
            ask_again(node, held);
            continue;
        }
        const uint32_t entries = held->entries;
        catchup->from[held->block] = BLOCK_WRITTEN;
        held->entries = 0;
        *action = (struct action){.kind = ACTION_WRITE,
                                  .first = (uint64_t)held->block * node->options.block_entries,
                                  .entries = entries,
                                  .units = held->units,
                                  .keep_weights = catchup->keep_weights};
        return true;
    }
    catchup->is_ready = false;
    return false;
}
