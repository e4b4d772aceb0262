/* When halves meet: have two neighbours learned so much without each other that simply adding it up
 * would be wrong? Within each half the shares summed to one; both halves' progress together would
 * be counted twice. So beyond `apart_s` of the swarm's training no rumor passes between the two,
 * until one of them has taken over the other's base (catchup.c). Both find the same from the same
 * two versions.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

#define RATE_MAX 1e18
#define CLEARLY  1.25 /* times as much learned alone wins by itself */

static double rate_now(const struct node *node)
{
    double rate = 0;
    for (uint32_t i = 0; i < node->members.count; i++)
        if (node->members.members[i].known_live)
            rate += (double)node->members.members[i].record.samples_per_second;
    return rate;
}

/* The samples per second of all members, as far as we know, the most so far: when training ends
 * they fall to 0. No more than a number on the wire. */
double apart_rate(struct node *node)
{
    node->rate_most = fmin(fmax(node->rate_most, rate_now(node)), RATE_MAX);
    return node->rate_most;
}

/* Samples that one side has learned and the other has not heard of. */
struct apart {
    double ours, theirs;
    uint64_t first_tag; /* the smallest of the origins of which one side has heard more ... */
    bool first_is_ours; /* ... and which side */
};

static void count_origin(struct apart *apart, uint64_t tag, uint64_t ours, uint64_t theirs)
{
    if (ours > theirs)
        apart->ours += (double)(ours - theirs);
    else
        apart->theirs += (double)(theirs - ours);
    if (ours != theirs && tag < apart->first_tag) {
        apart->first_tag = tag;
        apart->first_is_ours = ours > theirs;
    }
}

static struct apart count_apart(struct node *node, const uint8_t *slice, size_t entries)
{
    struct apart apart = {.first_tag = UINT64_MAX};
    const struct versions *versions = &node->versions;
    memset(node->seen, 0, (versions->max + 63) / 64 * sizeof *node->seen);
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(slice, i);
        const struct origin *origin = versions_find(versions, entry.tag);
        if (origin)
            bit_set(node->seen, versions_place(versions, origin), true);
        count_origin(&apart, entry.tag, origin ? origin->samples : 0, entry.samples);
    }
    for (uint32_t place = 0; place < versions->count; place++)
        if (!bit_get(node->seen, place) && versions->origins[place].next > 0)
            count_origin(&apart, versions->origins[place].tag, versions->origins[place].samples, 0);
    return apart;
}

/* Have both learned so much without the other that adding it up would count it twice? Whose base is
 * kept must be the same for all who meet, whoever they are and however long it takes: so if neither
 * has clearly learned more, it is that of the smallest origin. */
void apart_judge(struct node *node, struct peer *from, const struct message *version)
{
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    struct rapport *rapport = node_rapport(node, from);
    const struct apart apart = count_apart(node, version->bulk.at, entries);
    const double less = fmin(apart.ours, apart.theirs), more = fmax(apart.ours, apart.theirs);
    const double rate = fmax(apart_rate(node), (double)version->rate); /* both reckon with it */
    rapport->apart = rate > 0 && less > node->options.apart_s * rate;
    rapport->yields = more > CLEARLY * less ? apart.ours > apart.theirs : apart.first_is_ours;
    rapport->yields |= !version->base; /* there is nothing to take over yet */
    rapport->lesser = apart.ours > apart.theirs || (apart.ours == apart.theirs && apart.ours > 0 &&
                                                    node->versions.digest > version->digest);
}
