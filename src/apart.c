/* When halves meet: have two neighbours learned for so long without each other that simply adding
 * it up would be wrong? Within each half the shares summed to one; both halves' progress together
 * would be counted twice. So where both have learned alone for longer than `apart_s` no rumor
 * passes between the two, until one of them has taken over the other's base (catchup.c).
 *
 * For how long a side has learned alone its members say: the samples of each that the other side
 * has not heard of, over its samples per second, and of these times the longest. How many members
 * either side has or had does not matter: neither one machine's hour nor a thousand machines' can
 * be added to the other.
 * Both find the same, from the same two versions.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

#define CLEARLY 1.25 /* times as much learned alone wins by itself */

/* What one side has learned and the other has not heard of. */
struct side {
    double samples;
    double seconds;
};

struct apart {
    struct side ours, theirs;
    uint64_t first_tag; /* the smallest of the origins of which one side has heard more ... */
    bool first_is_ours; /* ... and which side */
};

static void count_samples(struct side *side, uint64_t samples, float rate)
{
    side->samples += (double)samples;
    if (rate > 0 && isfinite(rate))
        side->seconds = fmax(side->seconds, (double)samples / (double)rate);
}

/* How fast it learns is what the side says that has heard more of it: the other may not know, or
 * know better, and both must find the same. */
static void count_origin(struct apart *apart, uint64_t tag, const struct origin *ours,
                         const struct learned *theirs)
{
    const uint64_t here = ours ? ours->samples : 0, there = theirs ? theirs->samples : 0;
    if (here > there)
        count_samples(&apart->ours, here - there, ours->rate);
    else if (there > here)
        count_samples(&apart->theirs, there - here, theirs->rate);
    if (here != there && tag < apart->first_tag) {
        apart->first_tag = tag;
        apart->first_is_ours = here > there;
    }
}

static struct apart count_apart(struct node *node, const struct message *version)
{
    struct apart apart = {.first_tag = UINT64_MAX};
    const struct versions *versions = &node->versions;
    memset(node->seen, 0, (versions->max + 63) / 64 * sizeof *node->seen);
    for (size_t i = 0; i < version->bulk.count / VERSION_ENTRY_BYTES; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        const struct learned learned = learned_at(version->text.at, i);
        const struct origin *origin = versions_find(versions, entry.tag);
        if (origin)
            bit_set(node->seen, versions_place(versions, origin), true);
        count_origin(&apart, entry.tag, origin, &learned);
    }
    for (uint32_t place = 0; place < versions->count; place++) {
        const struct origin *origin = &versions->origins[place];
        if (!bit_get(node->seen, place) && origin->next > 0)
            count_origin(&apart, origin->tag, origin, NULL);
    }
    return apart;
}

/* Whose base is kept must be the same for all who meet, whoever they are and however long it takes:
 * so if neither has clearly learned more, it is that of the smallest origin. */
void apart_judge(struct node *node, struct peer *from, const struct message *version)
{
    struct rapport *rapport = node_rapport(node, from);
    const struct apart apart = count_apart(node, version);
    const double ours = apart.ours.samples, theirs = apart.theirs.samples;
    rapport->apart = fmin(apart.ours.seconds, apart.theirs.seconds) > node->options.apart_s;
    rapport->yields =
        fmax(ours, theirs) > CLEARLY * fmin(ours, theirs) ? ours > theirs : apart.first_is_ours;
    rapport->yields |= !version->base; /* there is nothing to take over yet */
    rapport->lesser =
        ours > theirs || (ours == theirs && ours > 0 && node->versions.digest > version->digest);
}
