#include "world/lifetime.h"

#include <math.h>

void lifetime_init(struct lifetime *lifetime)
{
    *lifetime = (struct lifetime){.joining_s = NAN};
}

void lifetime_add(struct node_stats *sum, const struct node_stats *more)
{
    sum->steps += more->steps;
    sum->samples += more->samples;
    sum->rumors_published += more->rumors_published;
    sum->rumors_received += more->rumors_received;
    sum->duplicates += more->duplicates;
    sum->rumor_bytes_published += more->rumor_bytes_published;
    sum->rumor_bytes_received += more->rumor_bytes_received;
    sum->sent_bytes += more->sent_bytes;
    sum->received_bytes += more->received_bytes;
    sum->control_sent_bytes += more->control_sent_bytes;
}

static void note_joining(struct lifetime *lifetime, const struct world_node *at)
{
    lifetime->block_bytes = u64_max(lifetime->block_bytes, lifetime->last.block_bytes);
    if (at->incarnation == 1 && at->training)
        lifetime->joining_s = (double)(at->began_ns - at->born_ns) * 1e-9;
}

struct node_stats lifetime_stats(struct lifetime *lifetime, const struct world *world, uint32_t i)
{
    const struct world_node *at = &world->nodes[i];
    if (at->incarnation != lifetime->incarnation) {
        lifetime_add(&lifetime->ended, &lifetime->last);
        lifetime->incarnation = at->incarnation;
        lifetime->last = (struct node_stats){0};
    }
    if (at->node)
        node_stats(at->node, world_now_ns(world), &lifetime->last);
    note_joining(lifetime, at);
    struct node_stats stats = lifetime->last;
    lifetime_add(&stats, &lifetime->ended);
    return stats;
}
