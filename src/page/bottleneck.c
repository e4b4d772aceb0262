#include "page/bottleneck.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* link use above which the links are the bottleneck; equals UTILISATION in node/rate/budget.c */
#define FULL_USE      0.7
#define LATE_S        10
#define MUCH_EXCHANGE 0.15
#define MUCH_COMPUTED 0.8

/* Returns false, and writes nothing, if the node runs and has a neighbour, or needs none. */
static bool say_beginning(const struct bottleneck *found, char *out)
{
    if (strcmp(found->stage, "joining") == 0)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "The node looks for the swarm; no peer has answered yet.");
    else if (strcmp(found->stage, "catching up") == 0 && found->fetched < 1)
        (void)snprintf(out, BOTTLENECK_BYTES, "The node fetches the model and has %.0f %% of it.",
                       100 * found->fetched);
    else if (strcmp(found->stage, "catching up") == 0)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "The node applies the progress that other nodes have published since.");
    else if (strcmp(found->stage, "expelled") == 0)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "The operator has expelled the node, which asks members for a later order.");
    else if (strcmp(found->stage, "leaving") == 0)
        (void)snprintf(out, BOTTLENECK_BYTES, "The node leaves and sends its last rumors.");
    else if (strcmp(found->stage, "finishing") == 0)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "The node has ended training and waits for the other members to finish.");
    else if (strcmp(found->stage, "finished") == 0)
        (void)snprintf(out, BOTTLENECK_BYTES, "All members have finished, with one model.");
    else if (found->alone_s > 0)
        (void)snprintf(
            out, BOTTLENECK_BYTES,
            "The node has had no neighbour for %.0f s; its progress reaches no other node.",
            found->alone_s);
    else
        return false;
    return true;
}

static void say_room(const struct bottleneck *found, char *out)
{
    const char *whose = found->is_whole ? "The busiest link is" : "Its links are";
    const char *bound = found->is_bound ? "at most " : "";
    if (found->computing < MUCH_COMPUTED)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "%s %s%.0f %% used, and the machine%s %.0f %% of the time: neither limits "
                       "training; check train.steps_per_s and other programs on this machine.",
                       whose, bound, 100 * found->link_use,
                       found->is_whole ? "s compute" : " computes", 100 * found->computing);
    else
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "%s %s%.0f %% used: more machines or a larger model, not faster lines.",
                       whose, bound, 100 * found->link_use);
}

void bottleneck_sentence(const struct bottleneck *found, char out[static BOTTLENECK_BYTES])
{
    out[0] = '\0';
    if (say_beginning(found, out))
        return;
    if (found->lag_s > LATE_S)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "The node has missed a rumor for %.0f s: its line or machine is slower than "
                       "the swarm publishes.",
                       found->lag_s);
    else if (found->link_use > FULL_USE)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "%s %.0f %% used: faster lines let more of what is learned through, and "
                       "more machines would not help.",
                       found->is_whole ? "The busiest link is" : "Its links are",
                       100 * found->link_use);
    else if (found->exchange > MUCH_EXCHANGE)
        (void)snprintf(out, BOTTLENECK_BYTES,
                       "The exchange takes %.0f %% of the learner's time: longer steps (a larger "
                       "batch), or a longer exchange.interval_s.",
                       100 * found->exchange);
    else if (!found->trains)
        (void)snprintf(out, BOTTLENECK_BYTES, "The node relays rumors and does not train.");
    else if (isfinite(found->link_use))
        say_room(found, out);
}
