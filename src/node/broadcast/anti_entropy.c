/* Anti-entropy (Demers and others 1987): neighbours exchange their versions. A node that sees a gap
 * requests the missing rumors (repair.c).
 *
 * When two nodes meet, each sends its whole version, or as much of it as fits a message, the latest
 * entries first. After that a random neighbour gets a slice every second, or the whole version
 * while it is short and the hashes differ. The first entry of the slice tells the neighbour how
 * many of its own rumors we have. Slices rotate, so in a large swarm a gap is found later, at a
 * constant cost. A neighbour with an equal version hash still gets one other entry per slice: the
 * hash has 64 bits, and an attacker can search for two streams that collide, while an entry shows
 * 128 bits. If no rumor arrives any more although a neighbour has more, and the neighbour's slices
 * do not show which, we request its whole version. Tests: tests/world/test_broadcast_tree.c.
 */
#include <string.h>

#include "node/broadcast/barred.h"
#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/retract.h"

#define SLICE 32 /* entries in a slice, besides the neighbour's own entry */
/* As SLICE, in a slice for a neighbour whose version hash equals ours. */
#define EQUAL 1
/* least time between two requests for a neighbour's long version */
#define LONG_NS (10 * SECOND_NS)
/* A version counts as long if it has rumors of more than this number of origins. */
#define LONG      256
#define WHOLE_MAX ((MESSAGE_MAX - MESSAGE_ADDS) / (VERSION_ENTRY_BYTES + LEARNED_BYTES))

/* Returns the number of rumors in the swarm, as far as this node knows: the rumors that it has.
 * Before it has joined, returns the number that a joined neighbour has, if that is larger. */
static uint64_t rumors_there_are(const struct node *node)
{
    const uint64_t shown = joining_has_joined(node) ? 0 : broadcast_most_shown(node, true);
    const uint64_t known = node->broadcast->versions.rumors;
    return u64_max(shown, known);
}

/* Writes the whole version, or its latest WHOLE_MAX entries, into scratch, and then, at *learned,
 * the learned samples of their origins. Returns the number of entries. */
static size_t put_whole(const struct node *node, uint8_t **learned)
{
    const struct versions *versions = &node->broadcast->versions;
    const uint32_t most =
        versions->publishers < WHOLE_MAX ? versions->publishers : (uint32_t)WHOLE_MAX;
    *learned = node->scratch + most * (size_t)VERSION_ENTRY_BYTES;
    return versions_latest(versions, NULL, 0, most, node->scratch, *learned);
}

/* Writes up to half a slice to `out` and returns its number of entries. Successive calls rotate
 * over the origins that published most recently, at least twice as many as there are live members.
 */
static size_t put_latest(struct node *node, uint8_t *out)
{
    struct broadcast *broadcast = node->broadcast;
    if (broadcast->latest_shown >= 2 * membership_live(node))
        broadcast->latest_shown = 0;
    const size_t entries =
        versions_latest(&broadcast->versions, NULL, broadcast->latest_shown, SLICE / 2, out, NULL);
    broadcast->latest_shown += (uint32_t)entries;
    return entries;
}

/* Writes the next slice of our version for this peer into scratch. Returns the number of entries.
 */
static size_t put_slice(struct node *node, const struct peer *peer)
{
    struct versions *versions = &node->broadcast->versions;
    const struct origin *theirs = versions_find(versions, origin_tag(peer->id, peer->incarnation));
    if (broadcast_neighbour(node, peer)->hash == versions->hash)
        return versions_slice(versions, theirs, EQUAL, node->scratch);
    if (versions->publishers <= 2 * membership_live(node))
        return versions_slice(versions, theirs, SLICE, node->scratch);
    const size_t entries = versions_slice(versions, theirs, SLICE / 2, node->scratch);
    return entries + put_latest(node, node->scratch + entries * VERSION_ENTRY_BYTES);
}

void anti_entropy_show(struct node *node, const struct peer *peer, bool whole)
{
    CHECK(peer->state == PEER_OPEN);
    const struct versions *versions = &node->broadcast->versions;
    uint8_t *learned = NULL;
    whole |=
        versions->publishers <= SLICE && broadcast_neighbour(node, peer)->hash != versions->hash;
    const size_t entries = whole ? put_whole(node, &learned) : put_slice(node, peer);
    CHECK(entries * (size_t)VERSION_ENTRY_BYTES <= MESSAGE_MAX);
    (void)connection_say(
        node, peer,
        &(struct message){.kind = VERSION,
                          .digest = versions->digest,
                          .hash = node->broadcast->lacks_first ? VERSION_HASH_NONE : versions->hash,
                          .rumors = rumors_there_are(node),
                          .members = membership_live(node),
                          .base = base_is_whole(node) && !retract_needs_base(node),
                          .whole = whole,
                          .learned = {learned, whole ? entries * LEARNED_BYTES : 0},
                          .bulk = {node->scratch, entries * VERSION_ENTRY_BYTES}});
    /* if the neighbour's queue is full, a later round sends a slice */
}

void anti_entropy_show_all(struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        anti_entropy_show(node, peer, true);
}

void anti_entropy_round(struct node *node)
{
    const struct peer *peer;
    if (leaving_stage(node) == STAGE_RUNNING) {
        peer = connection_random(node);
        if (peer)
            anti_entropy_show(node, peer, broadcast_is_partitioned(node, peer));
        return;
    }
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        anti_entropy_show(node, peer, false);
}

void anti_entropy_ask_for_all(struct node *node, const struct peer *peer)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const bool is_long = node->broadcast->versions.publishers > LONG;
    if (!base_is_whole(node) ||
        (is_long && neighbour->asked_ns && node->now_ns - neighbour->asked_ns < LONG_NS))
        return;
    if (connection_say(node, peer, &(struct message){.kind = WANT, .tag = TAG_ALL}))
        neighbour->asked_ns = node->now_ns;
}

void anti_entropy_ask_again(struct node *node, const struct peer *but)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        struct broadcast_neighbour *neighbour = &node->broadcast->neighbours[i];
        neighbour->is_partitioned = false;
        neighbour->is_compared = peer == but;
        if (peer != but)
            (void)connection_say(node, peer, &(struct message){.kind = WANT, .tag = TAG_ALL});
    }
}

bool anti_entropy_on_version(struct node *node, const struct peer *from,
                             const struct message *version)
{
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    if (version->bulk.count % VERSION_ENTRY_BYTES != 0 ||
        (version->whole && version->learned.count != entries * LEARNED_BYTES)) {
        connection_hang_up(node, from, BYE_BROKEN, "sent a version of invalid size");
        return false;
    }
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, from);
    neighbour->hash = version->hash;
    /* without a complete base, a neighbour cannot serve the rumors in its version */
    neighbour->knows = version->base ? version->rumors : 0;
    return true;
}

uint64_t anti_entropy_missing(struct node *node, const struct peer *from,
                              const struct message *version)
{
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    uint64_t missing = 0;
    CHECK(version->bulk.count % VERSION_ENTRY_BYTES == 0);
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        const struct origin *origin = versions_find(&node->broadcast->versions, entry.tag);
        const uint32_t have = origin ? origin->next : 0;
        if (origin)
            equivocation_on_entry(node, from, origin, &entry);
        if (origin == node->broadcast->own)
            broadcast_neighbour(node, from)->own_next = entry.next;
        else if (origin && barred_shown(node, from, origin, entry.next) > have)
            missing += barred_shown(node, from, origin, entry.next) - have;
        else if (!origin && !barred_is_stranger(node, from, entry.tag))
            missing += entry.next;
    }
    return missing;
}

void anti_entropy_on_same(struct node *node, const struct peer *from, const struct message *version)
{
    CHECK(version->hash == node->broadcast->versions.hash);
    broadcast_neighbour(node, from)->own_next = node->broadcast->own->next;
}

void anti_entropy_check_digest(struct node *node, const struct peer *from,
                               const struct message *version)
{
    const struct versions *ours = &node->broadcast->versions;
    char id[ID_TEXT_BYTES];
    identity_text(id, from->id);
    if (version->hash == ours->hash && version->digest != ours->digest &&
        !node->broadcast->lacks_first &&
        notes_allow_once(&node->notes, node->now_ns, NOTE_DIGEST, id, ""))
        (void)connection_note(node, from, NOTE_DIGEST, LEVEL_ERROR,
                              "has the same version but another digest: a defect or broken memory "
                              "on one of the two nodes");
}

void anti_entropy_on_compared(struct node *node, const struct peer *from)
{
    broadcast_neighbour(node, from)->is_compared = true;
}
