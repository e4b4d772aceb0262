/* What neighbours compare: versions. Whoever sees that it lacks something asks for it (want.c).
 *
 * Two that meet show each other everything they know, or as much of it as a message has room for,
 * the latest first; from then on, once a second, a random neighbour is shown a slice, and first of
 * all how much of its own rumors we have. Slices go round, so that in a large swarm a gap is found
 * late but at a price that does not grow. A neighbour that has shown our very version is only told
 * that it is still the same. Where nothing new comes any more, and yet a neighbour knows more than
 * we and its slice does not show what, we ask for all.
 */
#include "node/inside.h"

#define SLICE             32 /* entries */
#define MEET_NS           (2 * SECOND_NS)
#define QUIET_NS          (2 * SECOND_NS)
#define LONG_NS           (10 * SECOND_NS)
#define STRANGERS_AT_ONCE 64
#define FAR_RUMORS        64 /* who lacks so many, and more than there are blocks, takes those */
#define FAR_EACH          8  /* ... once it has joined, so many more of each origin */
#define WHOLE_MAX         ((MESSAGE_MAX - MESSAGE_ADDS) / (VERSION_ENTRY_BYTES + LEARNED_BYTES))

/* How many rumors there are. Who has not joined speaks for those it hears them from. */
static uint64_t rumors_there_are(const struct node *node)
{
    const uint64_t shown = node->joined ? 0 : node_most_shown(node, true);
    return shown > node->versions.rumors ? shown : node->versions.rumors;
}

/* Entries of all that we know, into scratch, and what they have learned into `learned`. */
static size_t put_whole(const struct node *node, uint8_t **learned)
{
    const uint32_t telling = node->versions.telling;
    const uint32_t most = telling < WHOLE_MAX ? telling : WHOLE_MAX;
    *learned = node->scratch + most * (size_t)VERSION_ENTRY_BYTES;
    return versions_latest(&node->versions, NULL, 0, most, node->scratch, *learned);
}

/* Of a long version half of what is shown are those that told last, as many as there are members
 * and as many again, in turn. */
static size_t put_awake(struct node *node, uint8_t *out)
{
    if (node->awake_shown >= 2 * node->live)
        node->awake_shown = 0;
    const size_t entries =
        versions_latest(&node->versions, NULL, node->awake_shown, SLICE / 2, out, NULL);
    node->awake_shown += (uint32_t)entries;
    return entries;
}

/* A slice, if there is anything to show. */
static size_t put_slice(struct node *node, const struct peer *peer)
{
    struct versions *versions = &node->versions;
    const struct origin *theirs = versions_find(versions, origin_tag(peer->id, peer->incarnation));
    if (node_rapport(node, peer)->hash == versions->hash)
        return versions_slice(versions, theirs, 0, node->scratch);
    if (versions->telling <= 2 * node->live)
        return versions_slice(versions, theirs, SLICE, node->scratch);
    const size_t entries = versions_slice(versions, theirs, SLICE / 2, node->scratch);
    return entries + put_awake(node, node->scratch + entries * VERSION_ENTRY_BYTES);
}

void anti_entropy_show(struct node *node, struct peer *peer, bool whole)
{
    struct versions *versions = &node->versions;
    uint8_t *learned = NULL;
    whole |= versions->telling <= SLICE && node_rapport(node, peer)->hash != versions->hash;
    const size_t entries = whole ? put_whole(node, &learned) : put_slice(node, peer);
    (void)node_say(node, peer,
                   &(struct message){.kind = VERSION,
                                     .digest = versions->digest,
                                     .hash = versions->hash,
                                     .rumors = rumors_there_are(node),
                                     .members = node->live,
                                     .base = !node_is_catching_up(node),
                                     .whole = whole,
                                     .text = {learned, whole ? entries * LEARNED_BYTES : 0},
                                     .bulk = {node->scratch, entries * VERSION_ENTRY_BYTES}});
    /* a full queue: next round */
}

/* All that is shown of a long version is a full message: not often, and not while what it would
 * show is coming. */
static void ask_for_all(struct node *node, struct peer *peer)
{
    struct rapport *rapport = node_rapport(node, peer);
    const bool is_long = node->versions.telling > AWAKE_MIN;
    if (node_is_catching_up(node) || node->transfer.is_asked ||
        (is_long && rapport->asked_ns && node->now_ns - rapport->asked_ns < LONG_NS))
        return;
    if (node_say(node, peer, &(struct message){.kind = WANT, .tag = TAG_ALL}))
        rapport->asked_ns = node->now_ns;
}

/* Who has heard all that was shown to it may join, if one that has joined confirms it. */
static void ask_to_confirm(struct node *node)
{
    struct peer *chosen = NULL, *peer;
    uint32_t joined = 0;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (node_has_joined(node, peer) && rng_below(&node->rng, ++joined) == 0)
            chosen = peer;
    if (chosen && node->versions.rumors + node_awake(node) >= node_most_shown(node, false))
        ask_for_all(node, chosen);
}

/* While running: one random neighbour a second. While leaving: everyone, more often. */
void anti_entropy_round(struct node *node)
{
    struct peer *peer;
    if (!node->joined && !node_is_catching_up(node))
        ask_to_confirm(node);
    if (node->stage == STAGE_RUNNING) {
        peer = node_random_neighbour(node);
        if (peer)
            anti_entropy_show(node, peer, node_rapport(node, peer)->partitioned);
        return;
    }
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        anti_entropy_show(node, peer, false);
}

void anti_entropy_show_all(struct node *node)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        anti_entropy_show(node, peer, true);
}

/* A neighbour has shown what it knows. One that joins as we do may know less than we: so what
 * counts is the most that any of them has shown (but for a few rumors that are on their way, one
 * of each origin), and, while there has been little time to meet others, only the word of those
 * who have joined. Who knows nothing, as we do, is no swarm. */
static void consider_knowledge(struct node *node, const struct peer *from, uint64_t missing)
{
    const uint64_t few = node_awake(node);
    if (node_is_catching_up(node))
        return; /* it will join when it holds the base */
    const uint64_t alone_ns = from->knows > 0 ? MEET_NS : NODE_JOIN_WAIT_NS;
    if ((node_has_joined(node, from) || node->now_ns - node->born_ns >= alone_ns) &&
        missing <= few && node->versions.rumors + few >= node_most_shown(node, false))
        node_join(node, "holds what the swarm knows");
}

/* How many rumors the slice has that we have not. */
static uint64_t compare_slice(struct node *node, struct peer *from, const uint8_t *slice,
                              size_t entries)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(slice, i);
        const struct origin *origin = versions_find(&node->versions, entry.tag);
        const uint32_t have = origin ? origin->next : 0;
        if (origin == node->own)
            from->own_next = entry.next;
        else if (entry.next > have)
            missing += entry.next - have;
    }
    return missing;
}

/* Asks for those. */
static void want_slice(struct node *node, struct peer *from, const uint8_t *slice, size_t entries)
{
    uint32_t strangers = 0;
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(slice, i);
        struct origin *origin = versions_find(&node->versions, entry.tag);
        if (origin && origin != node->own && entry.next > origin->next)
            repair_note_missing(node, origin, entry.next, from);
        else if (!origin && strangers++ < STRANGERS_AT_ONCE)
            repair_ask_first(node, from, entry.tag);
    }
}

/* Does it know so much more than we that blocks are fewer than rumors? */
static bool is_far(const struct node *node, uint64_t missing)
{
    const uint64_t each = node->joined ? FAR_EACH * (uint64_t)node_awake(node) : 0;
    return missing > FAR_RUMORS + node->blocks + each;
}

void anti_entropy_on_version(struct node *node, struct peer *from, const struct message *version)
{
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    if (version->bulk.count % VERSION_ENTRY_BYTES != 0 ||
        (version->whole && version->text.count != entries * LEARNED_BYTES)) {
        node_hang_up(node, from, BYE_BROKEN, "sent a version of impossible size");
        return;
    }
    const struct versions *ours = &node->versions;
    struct rapport *rapport = node_rapport(node, from);
    rapport->hash = version->hash;
    from->knows = version->base ? version->rumors : 0; /* or else it only knows of them */
    const bool was_partitioned = rapport->partitioned;
    if (version->whole)
        partition_judge(node, from, version);
    if (was_partitioned && !rapport->partitioned)
        anti_entropy_show(node, from, true); /* what was said meanwhile it has not heard */
    rapport->compared = true;
    member_gossip_compare(node, from, version->members);
    if (rapport->partitioned && rapport->peer_yields)
        from->knows = 0; /* nothing that counts */
    if (rapport->partitioned) {
        if (!node->joined && rapport->peer_yields)
            consider_knowledge(node, from, 0);
        return;
    }
    const uint64_t missing = compare_slice(node, from, version->bulk.at, entries);
    if (rapport->ahead && !version->whole)
        ask_for_all(node, from);
    rapport->ahead = version->base && (is_far(node, missing) || (rapport->ahead && missing > 0));
    if (rapport->ahead && !node->joined)
        fetch_consider(node);                     /* now: there is nothing else to do */
    if (node->joined || !node->transfer.is_asked) /* what is in the base that comes is not wanted */
        want_slice(node, from, version->bulk.at, entries);
    const bool same = version->hash == ours->hash;
    if (same)
        from->own_next = node->own->next;
    else if (missing == 0 && version->rumors > ours->rumors &&
             node->now_ns - node->advanced_ns >= QUIET_NS)
        ask_for_all(node, from);
    if (!node->joined)
        consider_knowledge(node, from, version->base ? missing : 0);
    if (same && version->digest != ours->digest && notes_allow(&node->notes, node->now_ns))
        (void)node_note(node, from, NOTE_DIGEST, LEVEL_ERROR,
                        "the same version, but another digest: a defect or broken memory, here or "
                        "there");
}
