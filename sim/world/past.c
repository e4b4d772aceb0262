#include "world/past.h"

#include <math.h>

void past_init(struct past *past)
{
    *past = (struct past){.joining_s = NAN};
}

void past_add(struct node_stats *sum, const struct node_stats *more)
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

static void note_joining(struct past *past, const struct world_node *at)
{
    if (past->last.block_bytes > past->block_bytes)
        past->block_bytes = past->last.block_bytes;
    if (at->incarnation == 1 && at->training)
        past->joining_s = (double)(at->began_ns - at->born_ns) * 1e-9;
}

struct node_stats past_stats(struct past *past, const struct world *world, uint32_t i)
{
    const struct world_node *at = &world->nodes[i];
    if (at->incarnation != past->incarnation) {
        past_add(&past->ended, &past->last);
        past->incarnation = at->incarnation;
        past->last = (struct node_stats){0};
    }
    if (at->node)
        node_stats(at->node, world_now_ns(world), &past->last);
    note_joining(past, at);
    struct node_stats stats = past->last;
    past_add(&stats, &past->ended);
    return stats;
}
