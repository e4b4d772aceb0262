#include "node/rate/rate.h"

#include <math.h>

#include "frame/bytes.h"
#include "node/lifecycle/lifecycle.h"
#include "node/rate/rate_private.h"

size_t rate_arena_bytes(const struct node_options *options)
{
    return sizeof(struct rate) + options->limits.peers_max * sizeof(struct rate_neighbour) +
           options->limits.members_max * sizeof(struct work) + 192;
}

/* The seed contains the node's id, so nodes draw different waits. */
static struct rng waits_of(const struct node *node)
{
    return rng_new(node->seed, ~bytes_get(node->options.identity->id, 8));
}

struct rate *rate_new(struct arena *arena, struct node *node)
{
    const struct node_options *options = &node->options;
    struct rate *rate = arena_alloc(arena, 1, sizeof *rate);
    rate->neighbours = arena_alloc(arena, options->limits.peers_max, sizeof *rate->neighbours);
    rate->works = arena_alloc(arena, options->limits.members_max, sizeof *rate->works);
    for (uint32_t i = 0; i < options->limits.members_max; i++)
        work_init(node, &rate->works[i]);
    rate->pacer = (struct pacer){.wake_ns = UINT64_MAX, .uplink = {.at_ns = node->now_ns}};
    const double first = fmax(BUDGET_LEAST, BUDGET_FIRST * (double)options->parameters);
    rate->budget = (struct budget){
        .reviewed_ns = node->now_ns,
        .grew_ns = node->now_ns,
        .rate_estimate = first,
        .backoff = 1,
        .bytes_per_s = options->bytes_per_s ? (double)options->bytes_per_s : first,
        .slowest = LINK_RATE_FIRST,
    };
    rate->schedule = (struct publish_schedule){.published_ns = node->now_ns,
                                               .measured_ns = node->now_ns,
                                               .novelty = 1,
                                               .waits = waits_of(node)};
    publish_schedule_draw_wait(&rate->schedule, 0, 1);
    return rate;
}

void rate_on_start(struct node *node, const struct peer *peer)
{
    const struct congestion *last = rate_link(node, peer);
    CHECK(last->sent == 0 && last->received == 0);
    congestion_init(&rate_neighbour(node, peer)->link, node->now_ns);
    work_init(node, &rate_neighbour(node, peer)->work);
}

void rate_on_received(struct node *node, const struct peer *peer, size_t bytes)
{
    congestion_on_received(&rate_neighbour(node, peer)->link, node->now_ns, bytes);
}

void rate_on_end(struct node *node, const struct peer *peer)
{
    const struct congestion *link = rate_link(node, peer);
    struct pacer *pacer = &node->rate->pacer;
    CHECK(link->arrived <= link->sent && link->acked <= link->received);
    pacer->ended_sent += link->sent;
    pacer->ended_received += link->received;
    slots_put(&pacer->held_up, connection_slot(node, peer), false);
    *rate_neighbour(node, peer) = (struct rate_neighbour){.allowed = 0};
}

const struct congestion *rate_link(const struct node *node, const struct peer *peer)
{
    return &rate_neighbour(node, peer)->link;
}

static void add_links(const struct node *node, struct node_stats *stats)
{
    stats->sent_bytes = node->rate->pacer.ended_sent;
    stats->received_bytes = node->rate->pacer.ended_received;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        stats->sent_bytes += node->rate->neighbours[i].link.sent;
        stats->received_bytes += node->rate->neighbours[i].link.received;
    }
}

void rate_stats(const struct node *node, struct node_stats *stats)
{
    const struct budget *budget = &node->rate->budget;
    const struct publish_schedule *schedule = &node->rate->schedule;
    stats->trains = node->options.trains && publish_schedule_goes_on(node) &&
                    publishing_state(node) != PUBLISHING_OVER;
    stats->steps = schedule->steps;
    stats->samples = schedule->samples;
    stats->samples_per_second = schedule->training_is_over ? 0 : schedule->samples_per_s;
    stats->share = stats->trains ? schedule->share : 0;
    stats->own_part = schedule->own_part;
    stats->interval_s = schedule->outer_step.interval_s;
    stats->gain = publish_gain(schedule);
    stats->beta = publish_schedule_beta(node);
    stats->withheld = schedule->withheld;
    stats->budget = budget->bytes_per_s;
    stats->uplink = budget->uplink;
    stats->ingress = budget->ingress;
    add_links(node, stats);
}
