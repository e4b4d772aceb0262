#include "node/broadcast/replace_version.h"

#include <string.h>

#include "base/digest.h"
#include "base/min_max.h"
#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/history.h"
#include "node/broadcast/progress.h"
#include "node/broadcast/retract.h"
#include "node/orders/verdict.h"

static struct history_entry entry_at(const uint8_t *history, uint32_t i)
{
    return history_entry_at(history + i * (size_t)HISTORY_ENTRY_BYTES);
}

static struct origin *find(const struct node *node, const struct history_entry *entry)
{
    return versions_find(&node->broadcast->versions, origin_tag(entry->id, entry->incarnation));
}

/* Returns true if the entry claims rumors or an incarnation of this node that do not exist yet: its
 * history is false. */
static bool is_ours_to_come(const struct node *node, const struct history_entry *entry)
{
    const struct origin *own = node->broadcast->own;
    if (memcmp(entry->id, own->id, ID_BYTES) != 0)
        return false;
    return entry->incarnation == own->incarnation ? entry->next > own->next
                                                  : entry->incarnation > own->incarnation;
}

/* Adds the entry's origin if it is new, and sets next[origin_index] to entry->next. Returns false
 * if the table must not take the origin, the entry is impossible, or the origin is listed twice. */
static bool read_entry(struct node *node, const struct history_entry *entry, uint32_t *next)
{
    struct versions *versions = &node->broadcast->versions;
    if (entry->next == 0 || entry->next > HISTORY_NEXT_MAX || is_ours_to_come(node, entry))
        return false;
    const struct origin *origin = find(node, entry);
    if (!origin && broadcast_believes(node, entry->id))
        origin = broadcast_add(node, versions, entry->id, entry->incarnation);
    if (!origin || next[versions_index(versions, origin)] > 0)
        return false;
    next[versions_index(versions, origin)] = entry->next;
    return true;
}

bool replace_version_read(struct node *node, const uint8_t *history, uint32_t entries,
                          uint32_t *next)
{
    struct versions *versions = &node->broadcast->versions;
    const uint32_t known = versions->count;
    CHECK(entries <= versions->max);
    memset(next, 0, versions->max * sizeof *next);
    for (uint32_t i = 0; i < entries; i++) {
        const struct history_entry entry = entry_at(history, i);
        if (!read_entry(node, &entry, next)) {
            versions_forget_beyond(versions, known);
            return false;
        }
    }
    return true;
}

bool replace_version_is_allowed(const struct node *node, const uint8_t *history, uint32_t entries)
{
    for (uint32_t i = 0; i < entries; i++) {
        const struct history_entry entry = entry_at(history, i);
        if (entry.next > verdict_keep(node, entry.id, entry.incarnation))
            return false;
    }
    return true;
}

/* Returns true if this node has more rumors of the origin than may stay. Then replace_version keeps
 * no rumor of the origin beyond those in the new base. */
static bool is_excess(const struct origin *origin)
{
    return origin->next > origin->keep;
}

bool replace_version_can_keep(const struct node *node, const uint32_t *next)
{
    const struct versions *versions = &node->broadcast->versions;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        uint32_t bytes;
        if (is_excess(&versions->origins[origin_index]))
            continue;
        for (uint32_t seq = next[origin_index]; seq < versions->origins[origin_index].next; seq++)
            if (!rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes))
                return false;
    }
    return true;
}

/* Continues as this later incarnation of the node. Returns false if the table of origins is full.
 */
static bool begin(struct node *node, uint64_t incarnation)
{
    struct broadcast *broadcast = node->broadcast;
    CHECK(incarnation > broadcast->own->incarnation);
    struct origin *own = versions_add(&broadcast->versions, broadcast->own->id, incarnation);
    if (!own)
        return false;
    broadcast->own = own;
    broadcast->remembers = true;
    return true;
}

bool replace_version_begin_incarnation(struct node *node)
{
    const uint64_t incarnation = node->broadcast->own->incarnation + 1;
    CHECK(incarnation > node->options.incarnation);
    return incarnation < node->options.incarnation + NODE_INCARNATIONS && begin(node, incarnation);
}

bool replace_version_raise_incarnation(struct node *node, uint64_t incarnation)
{
    if (!begin(node, incarnation))
        return false;
    node->options.incarnation = incarnation;
    return true;
}

uint64_t replace_version_own_future(const struct node *node, const uint8_t *history,
                                    uint32_t entries)
{
    const struct origin *own = node->broadcast->own;
    uint64_t latest = 0;
    for (uint32_t i = 0; i < entries; i++) {
        const struct history_entry entry = entry_at(history, i);
        if (memcmp(entry.id, own->id, ID_BYTES) == 0 && entry.incarnation > own->incarnation)
            latest = u64_max(latest, entry.incarnation);
    }
    return latest;
}

static uint64_t digest_of_logged(struct node *node, uint32_t origin_index, uint32_t seq)
{
    uint32_t bytes;
    const uint8_t *rumor = rumor_log_find(&node->broadcast->log, origin_index, seq, &bytes);
    CHECK(rumor);
    return digest_of_update(broadcast_logged(node, rumor, bytes));
}

/* Orders the origins by their last publication: those of the history, then all others as later
 * ones. */
static void set_order(struct node *node, const uint8_t *history, uint32_t entries)
{
    struct versions *versions = &node->broadcast->versions;
    uint64_t *seen = node->broadcast->seen;
    uint32_t others = versions->count;
    memset(seen, 0, bit_words(versions->count) * sizeof *seen);
    for (uint32_t i = 0; i < entries; i++) {
        const struct history_entry entry = entry_at(history, i);
        struct origin *origin = find(node, &entry);
        CHECK(origin);
        others -= !bit_get(seen, versions_index(versions, origin));
        bit_set(seen, versions_index(versions, origin), true);
        versions_touch(versions, origin);
    }
    for (; others > 0; others--)
        versions_touch(versions, versions_newer(versions, NULL));
}

/* Adds the digests of our rumors of an origin from number `next` on to the version's digest.
 * Returns the sum of these digests over the rumors that the learner was given. */
static uint64_t keep(struct node *node, uint32_t origin_index, uint32_t next)
{
    struct versions *versions = &node->broadcast->versions;
    const struct origin *origin = &versions->origins[origin_index];
    uint64_t given = 0;
    CHECK(origin->applied <= origin->next);
    for (uint32_t seq = next; seq < origin->next; seq++) {
        const uint64_t digest = digest_of_logged(node, origin_index, seq);
        versions->digest = digest_add(versions->digest, digest);
        if (seq < origin->applied)
            given = digest_add(given, digest);
    }
    return given;
}

static void take_entry(struct node *node, const uint8_t *at, bool keep_ours)
{
    const struct history_entry entry = history_entry_at(at);
    struct origin *origin = find(node, &entry);
    struct signed_head last;
    CHECK(origin);
    signed_head_read(&last, at, node->context);
    if (!keep_ours || origin->next < entry.next || is_excess(origin))
        versions_set(&node->broadcast->versions, origin, &last);
    else if (origin->applied < entry.next) {
        origin->applied = entry.next;
        origin->applied_last = last;
    }
    if (origin->next == entry.next)
        origin->samples = origin_is_expelled(origin) ? 0 : entry.samples;
}

uint64_t replace_version(struct node *node, const uint8_t *history, uint32_t entries,
                         uint64_t digest, const uint32_t *next, bool keep_ours)
{
    uint64_t given = digest;
    struct versions *versions = &node->broadcast->versions;
    CHECK(!retract_is_under_way(node) && replace_version_is_allowed(node, history, entries));
    if (!keep_ours)
        rumor_log_clear(&node->broadcast->log, node->now_ns);
    versions->digest = digest;
    node->broadcast->lacks_first = false;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        struct origin *origin = &versions->origins[origin_index];
        if (keep_ours && origin->next >= next[origin_index] && !is_excess(origin))
            given = digest_add(given, keep(node, origin_index, next[origin_index]));
        else if (next[origin_index] == 0) {
            versions_set(versions, origin, NULL);
            origin->samples = 0;
        }
    }
    for (uint32_t i = 0; i < entries; i++)
        take_entry(node, history + i * (size_t)HISTORY_ENTRY_BYTES, keep_ours);
    /* the new base contains no rumors beyond the limits, so no retraction is due */
    node->broadcast->retract = (struct retract){0};
    node->broadcast->advanced_ns = node->now_ns;
    set_order(node, history, entries);
    repair_forget(node);
    progress_on_takeover(node);
    return given;
}
