#include "node/broadcast/broadcast.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/history.h"
#include "node/broadcast/progress.h"
#include "node/orders/proofs.h"
#include "node/orders/verdict.h"

/* A missing rumor that no neighbour has shown for this long counts as lost, and causes no lag. */
#define SHOWN_NS (60 * SECOND_NS)
/* Least time between two warnings that the table of origins is full, or nearly. */
#define FULL_NS    (60 * SECOND_NS)
#define SCARCE     8   /* the table of origins is nearly full if less than 1/8 of it is free */
#define ACTIVE_MIN 256 /* least number of latest origins that count as active */
/* Number of incarnations that each known node may have while the table of origins has free entries.
 */
#define FEW        8
#define PART       8 /* one node may have more incarnations, up to 1/8 of the free entries */
#define KNOWN_PART 4 /* 1/4 of the table of origins is reserved for incarnations of known nodes */

size_t broadcast_arena_bytes(const struct node_options *options)
{
    const size_t origins = options->limits.incarnations_max;
    const size_t slots = 4 * sizeof(uint32_t); /* maximum bytes of hash slots per origin */
    const size_t per_peer = sizeof(struct broadcast_neighbour) + 3 * bit_words(origins) * 8 +
                            origins * sizeof(uint32_t) + 5 * 64;
    return sizeof(struct broadcast) + options->limits.peers_max * per_peer +
           origins * (sizeof(struct origin) + slots) + bit_words(origins) * 8 +
           rumor_log_arena_bytes(options->log_bytes) + apply_arena_bytes(options) +
           progress_arena_bytes(options) + 17 * 64;
}

struct origin *broadcast_add(const struct node *node, struct versions *versions,
                             const uint8_t id[static ID_BYTES], uint64_t incarnation)
{
    struct origin *origin = versions_add(versions, id, incarnation);
    if (origin) {
        origin->keep = verdict_keep(node, id, incarnation);
        origin->is_accused = proofs_against(node, id) != NULL;
    }
    return origin;
}

static void restore(struct node *node, struct broadcast *broadcast)
{
    const struct node_options *options = &node->options;
    for (size_t at = 0; at + HISTORY_ENTRY_BYTES <= options->history_bytes;
         at += HISTORY_ENTRY_BYTES) {
        const struct history_entry entry = history_entry_at(options->history + at);
        struct signed_head last;
        struct origin *origin =
            broadcast_add(node, &broadcast->versions, entry.id, entry.incarnation);
        CHECK(origin);
        signed_head_read(&last, options->history + at, node->context);
        versions_set(&broadcast->versions, origin, &last);
        origin->samples = origin_is_expelled(origin) ? 0 : entry.samples;
        broadcast->retract.is_due |= entry.next > origin->keep;
    }
    broadcast->remembers = options->history_bytes > 0;
    node->options.history = NULL;
}

bool node_can_restore(const struct node_options *options)
{
    return options->history_bytes / HISTORY_ENTRY_BYTES < options->limits.incarnations_max;
}

static void init_neighbours(struct broadcast *broadcast, struct arena *arena,
                            const struct node_options *options)
{
    const size_t words = bit_words(options->limits.incarnations_max);
    broadcast->neighbours =
        arena_alloc(arena, options->limits.peers_max, sizeof *broadcast->neighbours);
    for (uint32_t i = 0; i < options->limits.peers_max; i++)
        broadcast->neighbours[i] = (struct broadcast_neighbour){
            .lazy = arena_alloc(arena, words, sizeof(uint64_t)),
            .pruned = arena_alloc(arena, words, sizeof(uint64_t)),
            .backlog = arena_alloc(arena, words, sizeof(uint64_t)),
            .backlog_from = arena_alloc(arena, options->limits.incarnations_max, sizeof(uint32_t)),
        };
}

struct broadcast *broadcast_new(struct arena *arena, struct node *node)
{
    const struct node_options *options = &node->options;
    CHECK(options->limits.incarnations_max > 0);
    struct broadcast *broadcast = arena_alloc(arena, 1, sizeof *broadcast);
    versions_init(&broadcast->versions, arena, options->limits.incarnations_max, options->digest);
    restore(node, broadcast);
    broadcast->own =
        versions_add(&broadcast->versions, options->identity->id, options->incarnation);
    CHECK(broadcast->own);
    const size_t words = bit_words(options->limits.incarnations_max);
    broadcast->seen = arena_alloc(arena, words, sizeof(uint64_t));
    broadcast->progress = progress_new(arena, node, &broadcast->versions);
    rumor_log_init(&broadcast->log, arena, options->log_bytes, node->now_ns);
    apply_init(&broadcast->apply, arena, options);
    init_neighbours(broadcast, arena, options);
    return broadcast;
}

void broadcast_on_end(struct node *node, const struct peer *peer)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const size_t bytes = bit_words(node->options.limits.incarnations_max) * sizeof(uint64_t);
    CHECK(neighbour->backlog_count <= node->broadcast->versions.count);
    memset(neighbour->lazy, 0, bytes);
    memset(neighbour->pruned, 0, bytes);
    memset(neighbour->backlog, 0, bytes);
    *neighbour = (struct broadcast_neighbour){.lazy = neighbour->lazy,
                                              .pruned = neighbour->pruned,
                                              .backlog = neighbour->backlog,
                                              .backlog_from = neighbour->backlog_from};
}

static uint64_t log_bytes_held(const struct rumor_log *log)
{
    if (log->oldest == log->newest)
        return 0;
    const size_t from = log->entries[log->oldest & (log->entries_max - 1)].offset;
    return log->write_offset > from ? log->write_offset - from
                                    : log->ring_bytes - from + log->write_offset;
}

void broadcast_stats(const struct node *node, struct node_stats *stats)
{
    const struct broadcast *broadcast = node->broadcast;
    const struct rumor_counts *counts = &broadcast->counts;
    stats->origins = broadcast->versions.publishers;
    stats->digest = broadcast->versions.digest;
    stats->version = broadcast->versions.rumors;
    stats->version_hash = broadcast->versions.hash;
    stats->waiting = node_waiting(node);
    stats->rumors_published = counts->published;
    stats->rumor_bytes_published = counts->published_bytes;
    stats->rumors_received = counts->received;
    stats->rumor_bytes_received = counts->received_bytes;
    stats->duplicates = counts->duplicates;
    stats->log_held_bytes = log_bytes_held(&broadcast->log);
}

const struct versions *broadcast_versions(const struct node *node)
{
    return &node->broadcast->versions;
}

const struct origin *broadcast_own(const struct node *node)
{
    return node->broadcast->own;
}

const struct rumor_log *broadcast_log(const struct node *node)
{
    return &node->broadcast->log;
}

/* Unlike broadcast_active_origins, includes origins without rumors: records of their members also
 * spread along these origins' trees. */
uint32_t broadcast_latest_origins(const struct node *node)
{
    const uint32_t live = membership_live(node);
    return u32_max(2 * live, ACTIVE_MIN);
}

uint32_t broadcast_active_origins(const struct node *node)
{
    const uint32_t publishers = node->broadcast->versions.publishers;
    const uint32_t latest = broadcast_latest_origins(node);
    CHECK(publishers <= node->broadcast->versions.count);
    return u32_min(publishers, latest);
}

static uint32_t incarnations_of(const struct versions *versions, const uint8_t *id)
{
    uint32_t incarnations = 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        incarnations += memcmp(versions->origins[origin_index].id, id, ID_BYTES) == 0;
    return incarnations;
}

/* Returns true if the table may take another origin of a node that already has `incarnations`
 * origins. An entry with rumors is never freed, because they stay in the sum. So neither a node
 * that restarts often nor many unknown nodes may fill the table. */
static bool may_have_place(const struct versions *versions, uint32_t incarnations)
{
    CHECK(versions->count <= versions->max);
    const uint32_t free_places = versions->max - versions->count;
    if (incarnations == 0)
        return free_places > versions->max / KNOWN_PART;
    return free_places > 0 && (incarnations < FEW || incarnations < free_places / PART);
}

bool broadcast_believes(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct versions *versions = &node->broadcast->versions;
    const uint32_t incarnations = incarnations_of(versions, id);
    if (incarnations == 0 && joining_has_joined(node))
        return may_have_place(versions, incarnations);
    return versions->count < versions->max &&
           (incarnations < FEW || incarnations < versions->max / PART);
}

static void note_full(struct node *node, const struct peer *from, const uint8_t *id,
                      uint32_t incarnations, bool has_place)
{
    const struct versions *versions = &node->broadcast->versions;
    char text[192];
    node->broadcast->full_ns = node->now_ns;
    (void)snprintf(text, sizeof text,
                   "the table of incarnations %s full%s: it has %u entries, %u of one node, and "
                   "limits.incarnations is %u; raise limits.incarnations on all nodes",
                   has_place ? "will soon be" : "is", incarnations > 0 ? " for this member" : "",
                   (unsigned)versions->count, (unsigned)incarnations, (unsigned)versions->max);
    struct note *note = connection_note(node, from, NOTE_FULL, LEVEL_WARNING, text);
    identity_text(note->who, id);
}

struct origin *broadcast_meet(struct node *node, const struct peer *from,
                              const uint8_t id[static ID_BYTES], uint64_t incarnation)
{
    struct broadcast *broadcast = node->broadcast;
    struct versions *versions = &broadcast->versions;
    const uint32_t incarnations = incarnations_of(versions, id);
    struct origin *origin = NULL;
    if (may_have_place(versions, incarnations))
        origin = broadcast_add(node, versions, id, incarnation);
    const bool is_scarce = versions->count > versions->max - versions->max / SCARCE;
    const bool was_said = broadcast->full_ns && node->now_ns - broadcast->full_ns < FULL_NS;
    if ((!origin || is_scarce) && !was_said)
        note_full(node, from, id, incarnations, origin != NULL);
    return origin;
}

const struct origin *broadcast_origin_of(struct node *node, const struct peer *from,
                                         const struct record *record)
{
    const struct origin *origin =
        versions_find(&node->broadcast->versions, origin_tag(record->id, record->incarnation));
    return origin ? origin : broadcast_meet(node, from, record->id, record->incarnation);
}

void broadcast_on_rate(struct node *node, const struct origin *origin, float samples_per_second)
{
    struct origin *own = &node->broadcast->versions.origins[broadcast_index(node, origin)];
    own->rate = fmaxf(own->rate, samples_per_second);
}

uint64_t broadcast_advanced_ns(const struct node *node)
{
    return node->broadcast->advanced_ns;
}

uint64_t broadcast_lag_ns(const struct node *node, uint64_t now_ns)
{
    const struct broadcast *broadcast = node->broadcast;
    if (base_state(node) == BASE_ROLLING)
        return now_ns - broadcast->fresh_ns;
    uint64_t lag_ns = 0;
    for (uint32_t i = 0; i < broadcast->versions.count && broadcast->repair.behind > 0; i++) {
        const struct gap *gap = &broadcast->versions.origins[i].gap;
        if (gap->behind_ns && now_ns - gap->shown_ns < SHOWN_NS && now_ns - gap->behind_ns > lag_ns)
            lag_ns = now_ns - gap->behind_ns;
    }
    return lag_ns;
}

/* If few origins' rumors are missing, a neighbour was probably lost: that is no lag. */
bool broadcast_lags(const struct node *node)
{
    CHECK(node->broadcast->repair.behind <= node->broadcast->versions.count);
    return base_state(node) == BASE_ROLLING ||
           2 * node->broadcast->repair.behind >= membership_live(node);
}

void broadcast_set_lacks_first(struct node *node)
{
    CHECK(node->broadcast->versions.rumors == 0);
    node->broadcast->lacks_first = true;
}

bool broadcast_lacks_first(const struct node *node)
{
    return node->broadcast->lacks_first;
}

uint64_t broadcast_asked_ns(const struct node *node)
{
    return node->broadcast->repair.asked_ns;
}

void broadcast_set_fresh(struct node *node, uint64_t fresh_ns)
{
    CHECK(fresh_ns <= node->now_ns);
    node->broadcast->fresh_ns = fresh_ns;
}

uint64_t broadcast_knows(const struct node *node, const struct peer *peer)
{
    return broadcast_neighbour(node, peer)->knows;
}

void broadcast_set_knows(struct node *node, const struct peer *peer, uint64_t rumors)
{
    broadcast_neighbour(node, peer)->knows = rumors;
}

bool broadcast_has_ours(const struct node *node, const struct peer *peer)
{
    return broadcast_neighbour(node, peer)->own_next >= node->broadcast->own->next;
}

uint64_t broadcast_most_shown(const struct node *node, bool joined_only)
{
    uint64_t most = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const uint64_t knows = broadcast_knows(node, peer);
        if (knows > most && (!joined_only || membership_has_joined(node, peer->id)))
            most = knows;
    }
    return most;
}

bool broadcast_is_compared(const struct node *node, const struct peer *peer)
{
    return broadcast_neighbour(node, peer)->is_compared;
}

bool broadcast_is_partitioned(const struct node *node, const struct peer *peer)
{
    return broadcast_neighbour(node, peer)->is_partitioned;
}

void broadcast_set_partitioned(struct node *node, const struct peer *peer, bool is_partitioned)
{
    CHECK(peer->state == PEER_OPEN);
    broadcast_neighbour(node, peer)->is_partitioned = is_partitioned;
}

bool broadcast_is_together(const struct node *node, const struct peer *peer)
{
    return broadcast_is_compared(node, peer) && !broadcast_is_partitioned(node, peer);
}

bool broadcast_show_same(const struct node *node, const struct peer *one, const struct peer *other)
{
    return broadcast_neighbour(node, one)->hash == broadcast_neighbour(node, other)->hash;
}

struct slots broadcast_together(const struct node *node)
{
    struct slots together = {0};
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        slots_put(&together, i, broadcast_is_together(node, peer));
    return together;
}

struct slots broadcast_eager(const struct node *node)
{
    const uint32_t own = broadcast_index(node, node->broadcast->own);
    struct slots eager = {0};
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        slots_put(&eager, i, !bit_get(node->broadcast->neighbours[i].lazy, own));
    return eager;
}
