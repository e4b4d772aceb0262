/* The publish schedule: when a node publishes, how many bytes, and with which gain and outer
 * momentum. Configured values win; outer_step.h chooses the rest.
 */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "node/membership/shares.h"
#include "node/rate/rate_private.h"

#define BYTES_LEAST 256 /* bytes that a publication may always have, however small the budget */
/* Shortest wait between two publications, as a multiple of the interval. */
#define WAIT_LEAST 0.5
#define WAIT_MOST  1.5 /* longest wait between two publications, as a multiple of the interval */
/* Local steps until other nodes have published their reaction to a publication. */
#define ANSWER_STEPS (2 * OUTER_STEP_STEPS)
/* Bench: bench_language_exchange.py (tests/decisions/005-publish-every-four-steps.md). Half: a
 * language model has a loss of 1.663 nats (4: 1.640). Double: its loss is 1.660 nats. */
#define FULL_STEPS 4 /* least steps before a publication that the budget does not cut */
/* Least local steps before a publication that the budget cuts: other nodes react meanwhile. */
#define WAITED_STEPS ANSWER_STEPS
/* A publication counts as cut if it used at least this part of its allowed bytes. */
#define CUT 0.8
/* Assumed least size of an uncut publication, relative to a cut one. */
#define FULL_GROWS      1.25
#define FINISH_PAUSE_NS (SECOND_NS / 5) /* time between two publications of a finishing node */
/* Maximum publications without a wait between them. */
#define HURRIES_MOST 256
/* Until STATISTICS_HELD_NS after its first step, a node publishes no running statistics. Until
 * STATISTICS_EQUAL_NS it publishes them with equal shares, and waits for newcomers. */
#define STATISTICS_HELD_NS  (3 * SECOND_NS)
#define STATISTICS_EQUAL_NS (60 * SECOND_NS)
/* A node pulls its statistics once it has made steps, and has known most members, for this time:
 * the movement that each of them held back at first has arrived by then. */
#define STATISTICS_PULLED_NS (10 * SECOND_NS)
/* Time constant with which an error of the shared statistics decays: this time, or this many
 * publications if that is longer. It must be longer than an update takes to reach all nodes,
 * otherwise the nodes correct one error several times. A member without a rumor for this time takes
 * no part in the statistics. With unlike data each publication carries the pull, and a pull twice
 * as strong raises its threshold so far that it has half the entries. */
#define STATISTICS_PULL_NS    (2 * SECOND_NS)
#define STATISTICS_PULL_TIMES 8
/* Publications without a wait end when their threshold falls to this part of hurried_tau. */
#define HURRIED_PART (1.0F / 50)
/* Reported samples per second of a node that has stopped learning; 0 would mean unknown. */
#define RATE_MIN 1e-6

/* Returns half of the neighbours' median round-trip time; 0 = unknown. With the median, one distant
 * neighbour lengthens no interval. */
static double delay_s(const struct node *node)
{
    const struct peer *peer;
    uint64_t trips_ns[NODE_PEERS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (peer->rtt_ns > 0)
            trips_ns[count++] = peer->rtt_ns;
    return count > 0 ? (double)u64_median_high(trips_ns, count) / 2 * 1e-9 : 0;
}

static void measure_step(struct publish_schedule *schedule, uint64_t now_ns, uint32_t steps)
{
    CHECK(now_ns >= schedule->stepped_ns);
    const double span_s = (double)(now_ns - schedule->stepped_ns) * 1e-9;
    if (schedule->stepped_ns > 0 && steps > 0) {
        const double each_s = span_s / steps;
        double *smooth = &schedule->step_s;
        *smooth = *smooth > 0 ? fmin(0.9 * *smooth + 0.1 * each_s, 2 * *smooth) : each_s;
    }
    schedule->stepped_ns = now_ns;
}

bool publish_schedule_on_step(struct node *node, uint32_t steps, uint64_t samples)
{
    struct publish_schedule *schedule = &node->rate->schedule;
    if (schedule->steps == 0)
        schedule->first_step_ns = node->now_ns;
    schedule->steps += steps;
    schedule->samples += samples;
    const double many = WAIT_LEAST * OUTER_STEP_MANY;
    const bool were_many = schedule->steps_since >= many;
    schedule->steps_since += steps;
    measure_step(schedule, node->now_ns, steps);
    return !were_many && schedule->steps_since >= many;
}

void publish_schedule_measure(struct node *node)
{
    struct publish_schedule *schedule = &node->rate->schedule;
    const uint64_t span_ns = node->now_ns - schedule->measured_ns;
    if (span_ns < SECOND_NS)
        return;
    CHECK(schedule->samples >= schedule->measured_samples);
    const double rate =
        (double)(schedule->samples - schedule->measured_samples) / ((double)span_ns * 1e-9);
    double *smooth = &schedule->samples_per_s;
    *smooth = *smooth > 0 ? fmax(0.7 * *smooth + 0.3 * rate, RATE_MIN) : rate;
    schedule->measured_ns = node->now_ns;
    schedule->measured_samples = schedule->samples;
}

void publish_schedule_renew(struct node *node)
{
    struct publish_schedule *schedule = &node->rate->schedule;
    const struct node_options *options = &node->options;
    const struct outer_step_measured measured = {
        .learners =
            shares_learners(membership_members(node), options->weigh_throughput, node->now_ns),
        .delay_s = delay_s(node),
        .hops = outer_step_hops(membership_live(node), MESH_MAX, DEGREE),
        .step_s = schedule->step_s,
        .bytes_per_s = node->rate->budget.bytes_per_s,
        .publish_s = schedule->publish_s,
        .part = schedule->part,
        .momentum = options->momentum,
        .interval_s = (double)options->interval_ns * 1e-9,
        .gain = options->gain,
        .publications = schedule->publications,
        .is_cut = schedule->is_cut,
    };
    schedule->learners = measured.learners;
    schedule->outer_step = outer_step_of(&measured);
    if (options->beta >= 0)
        schedule->outer_step.beta = options->beta;
    CHECK(schedule->outer_step.gain > 0 && schedule->outer_step.beta >= 0);
}

/* Draws the wait before the next publication, from `least` to `most` intervals. Without chance,
 * nodes that started together would publish at the same time. No node could then react to the
 * updates of the others. */
void publish_schedule_draw_wait(struct publish_schedule *schedule, double least, double most)
{
    CHECK(least <= most);
    const double drawn = (double)rng_below(&schedule->waits, 1u << 20) * 0x1p-20;
    schedule->wait = least + (most - least) * drawn;
}

/* The wait depends on the present interval, so it ends early when the interval becomes shorter. */
uint64_t publish_schedule_wait_ns(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    CHECK(schedule->outer_step.interval_s > 0 && schedule->wait >= 0);
    return (uint64_t)(1e9 * schedule->outer_step.interval_s * schedule->wait);
}

/* Returns the bytes that have accumulated for a publication: the budget times the time since the
 * last publication. This time counts at most up to PUBLISH_SPAN_NS or the present wait, whichever
 * is longer. */
static double due_bytes(const struct node *node)
{
    CHECK(node->now_ns >= node->rate->schedule.published_ns);
    const uint64_t span_ns = node->now_ns - node->rate->schedule.published_ns;
    const uint64_t wait_ns = publish_schedule_wait_ns(node);
    const uint64_t most_ns = u64_max(wait_ns, PUBLISH_SPAN_NS);
    const double seconds = (double)u64_min(span_ns, most_ns) * 1e-9;
    return node->rate->budget.bytes_per_s * seconds;
}

/* Returns the steps after which a publication pays: fewer if the budget need not cut it. */
static double steps_least(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    if (node->options.steps_min > 0)
        return node->options.steps_min;
    const bool is_full = schedule->full_bytes > 0 && due_bytes(node) >= schedule->full_bytes;
    return is_full ? FULL_STEPS : WAITED_STEPS;
}

/* Returns true if the node has made enough steps for a publication. For its first publications,
 * fewer slow steps that took OUTER_STEP_FIRST_S are enough. */
static bool has_learned(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    return schedule->steps_since >= steps_least(node) ||
           (schedule->publications < OUTER_STEP_BEGINNING &&
            schedule->steps_since * schedule->step_s >= OUTER_STEP_FIRST_S);
}

uint64_t node_interval_ns_max(const struct node *node)
{
    return (uint64_t)(1e9 * node->rate->schedule.outer_step.interval_s * WAIT_MOST);
}

/* Returns true while a finishing node lets the budget accumulate for its next publication. A node
 * alone in the swarm need not, because the budget does not limit it. */
static bool is_to_pause(const struct node *node)
{
    return finishing_state(node) != FINISHING_NOT && membership_live(node) > 1 &&
           node->now_ns - node->rate->schedule.published_ns < FINISH_PAUSE_NS;
}

void publish_schedule_consider(struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    const enum stage stage = leaving_stage(node);
    if (!node->options.trains || publishing_state(node) != PUBLISHING_IDLE)
        return;
    if ((stage == STAGE_LEAVING && !is_to_pause(node)) ||
        (stage == STAGE_RUNNING && has_learned(node) &&
         node->now_ns - schedule->published_ns >= publish_schedule_wait_ns(node)))
        publishing_move(node, PUBLISHING_WANTED);
}

void publish_schedule_hurry(struct node *node)
{
    struct publish_schedule *schedule = &node->rate->schedule;
    schedule->hold_is_over = schedule->hold_is_over || schedule->steps > 0;
    const bool may = publishing_state(node) == PUBLISHING_IDLE &&
                     leaving_stage(node) == STAGE_RUNNING &&
                     (schedule->steps_since > 0 || schedule->holds_statistics);
    CHECK(node->options.trains || !may);
    if (!may)
        return;
    node->rate->schedule.hurries = HURRIES_MOST;
    node->rate->schedule.hurried_tau = 0;
    publishing_move(node, PUBLISHING_WANTED);
}

/* Returns true if the node must publish again immediately, in a series that publish_schedule_hurry
 * began: a running statistic has to move further, or the node is alone in the swarm and much
 * progress is unpublished. */
static bool hurries_on(struct node *node, const struct update *update)
{
    struct publish_schedule *schedule = &node->rate->schedule;
    if (schedule->hurries == 0)
        return false;
    if (schedule->hurried_tau == 0)
        schedule->hurried_tau = update->tau;
    const bool has_more = update->count > 0 && update->tau > HURRIED_PART * schedule->hurried_tau;
    const bool goes_on = update->needs_more || (has_more && membership_live(node) == 1);
    schedule->hurries = goes_on ? schedule->hurries - 1 : 0;
    return schedule->hurries > 0 && leaving_stage(node) == STAGE_RUNNING;
}

/* Returns the largest size of a publication in bytes: an eighth of the rumor log. */
static double bytes_most(const struct node *node)
{
    return fmin((double)node->options.log_bytes / 8, UINT32_MAX);
}

/* Returns the bytes that the next publication may take. A node's first publication is small, unless
 * training has ended: it reaches every node along every link, and its duplicates shape the
 * broadcast trees. A node alone in the swarm shares no link, so the budget does not limit it. */
static uint32_t budget_bytes(const struct node *node, bool is_first)
{
    const struct rate *rate = node->rate;
    const bool is_small = is_first && !rate->schedule.is_last;
    const bool is_alone = membership_live(node) == 1;
    const double most = bytes_most(node);
    const double bytes = is_small ? 0 : is_alone ? most : rate->budget.due_bytes;
    return (uint32_t)fmin(fmax(bytes, BYTES_LEAST), most);
}

/* Returns the gain of a publication. A gain above 1 overshoots, and later steps of the nodes must
 * correct the overshoot. After its last publications this node makes no more steps, and other nodes
 * may be ending also. So the last publications have gain 1, unless the gain is configured. */
static double gain(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    return schedule->is_last && node->options.gain == 0 ? 1 : schedule->outer_step.gain;
}

/* Returns this node's share of the swarm's training. At its end, the members count whose training
 * ended after this node's last publication: their last progress is of the same time. */
static double own_share(const struct node *node)
{
    const struct members *members = membership_members(node);
    const bool by_throughput = node->options.weigh_throughput;
    return leaving_stage(node) == STAGE_RUNNING
               ? shares_own(members, by_throughput, node->now_ns)
               : shares_with_finished(members, by_throughput, node->rate->schedule.running_ns,
                                      UINT64_MAX, node->now_ns);
}

/* Returns the part of the unpublished progress to withhold from the node's own weights. Unless it
 * is configured, the weights then contain the part `counts` (gain · share), as the base will. The
 * last publications after training withhold nothing, since no later publication would release the
 * withheld part. */
static double withheld(const struct node *node, double counts)
{
    if (node->rate->schedule.is_last)
        return 0;
    return node->options.withheld >= 0 ? node->options.withheld : fmax(1 - counts, 0);
}

/* Returns a number for the novelty weight (overlap.h): how many publications this node makes in
 * ANSWER_STEPS steps at its present pace, at least 1. Returns 0, for no novelty weight, if nothing
 * is withheld or the gain is configured. */
static double at_once(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    if (schedule->withheld == 0 || node->options.gain != 0)
        return 0;
    return fmax(ANSWER_STEPS / fmax(schedule->steps_since, 1), 1);
}

/* Returns true if the next publication must hold running statistics back: in the first seconds of
 * training, and in the first minute while a newcomer has not made a step. A node that leaves cannot
 * wait, and a publication that publish_schedule_hurry has started does not. */
static bool must_hold_statistics(const struct node *node, uint64_t trained_ns)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    const bool is_running = leaving_stage(node) == STAGE_RUNNING;
    if (schedule->hurries > 0 || trained_ns >= STATISTICS_EQUAL_NS)
        return false;
    if (is_running && !schedule->hold_is_over && trained_ns < STATISTICS_HELD_NS)
        return true;
    return (is_running || leaving_stays(node)) &&
           shares_await_newcomer(membership_members(node), node->now_ns);
}

/* Returns the time constant with which an error of the shared statistics decays, in ns; 0 = this
 * publication pulls none (model/exchange/statistics.h). span_ns: time since the last publication.
 * There is no pull at first: as long as the first movement of other nodes is on its way, each node
 * would add a part of it. There is none without steps either: the nodes' last publications would
 * pull forever, each towards its own statistics. */
static uint64_t pull_ns(const struct node *node, uint64_t span_ns)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    const uint64_t interval_ns = (uint64_t)(1e9 * schedule->outer_step.interval_s);
    if (schedule->steps_since == 0 || leaving_stage(node) != STAGE_RUNNING ||
        node->now_ns - schedule->first_step_ns < STATISTICS_PULLED_NS ||
        !shares_have_settled(membership_members(node), STATISTICS_PULLED_NS, node->now_ns))
        return 0;
    return u64_max(STATISTICS_PULL_NS, STATISTICS_PULL_TIMES * u64_max(interval_ns, span_ns));
}

/* Returns the share of running statistics in a publication; 0 = they are held back. They move far
 * in the first steps, when the nodes do not know yet which others train, nor how fast. So at first
 * they are held back, and then all nodes have equal shares. */
static double share_of_statistics(const struct node *node, uint64_t decays_ns)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    const struct members *members = membership_members(node);
    const uint64_t trained_ns = node->now_ns - schedule->first_step_ns;
    if (must_hold_statistics(node, trained_ns))
        return 0;
    /* only a pull corrects the error if a quiet member is alive */
    const uint64_t quiet_ns = decays_ns > 0 ? decays_ns : UINT64_MAX;
    if (trained_ns < STATISTICS_EQUAL_NS)
        return shares_equal(members, schedule->carried_ns, quiet_ns, node->now_ns);
    return shares_with_finished(members, node->options.weigh_throughput, schedule->carried_ns,
                                quiet_ns, node->now_ns);
}

void publish_schedule_begin(struct node *node, const struct publish_facts *facts,
                            struct action *action)
{
    CHECK(facts->beta >= 0);
    struct publish_schedule *schedule = &node->rate->schedule;
    schedule->is_last = leaving_stage(node) == STAGE_LEAVING;
    node->rate->budget.due_bytes = due_bytes(node);
    schedule->own_part = facts->part;
    schedule->share = facts->part * own_share(node);
    CHECK(schedule->share > 0 && schedule->share <= 1);
    schedule->asked_gain = gain(node);
    schedule->withheld = withheld(node, schedule->asked_gain * schedule->share);
    schedule->span_ns = node->now_ns - schedule->published_ns;
    const uint64_t decays_ns = pull_ns(node, schedule->span_ns);
    *action = (struct action){
        .kind = ACTION_PUBLISH,
        .terms = {.budget_bytes = budget_bytes(node, facts->is_first),
                  .bytes_max = (uint32_t)bytes_most(node),
                  .last_bytes = schedule->last_bytes,
                  .tau = node->options.tau,
                  .share = schedule->share,
                  .statistics_share = share_of_statistics(node, decays_ns),
                  .statistics_pull =
                      decays_ns > 0 ? 1 - exp(-(double)schedule->span_ns / (double)decays_ns) : 0,
                  .gain = schedule->asked_gain,
                  .at_once = at_once(node),
                  .beta = facts->beta,
                  .withheld = schedule->withheld,
                  .swarm_samples = facts->swarm_samples,
                  .learners = schedule->learners,
                  .is_held = schedule->is_held},
        .last = schedule->is_last,
    };
    CHECK(action->terms.budget_bytes > 0);
    schedule->holds_statistics = action->terms.statistics_share == 0;
    schedule->allowed_bytes = action->terms.budget_bytes;
    publishing_move(node, PUBLISHING_OUT);
    schedule->published_ns = node->now_ns;
    if (!schedule->is_last)
        schedule->running_ns = node->now_ns;
    schedule->steps_since = 0;
}

/* Returns the novelty weight of this update: the factor that the learner applied in addition to
 * gain · share; >= 1. */
static double novelty(const struct publish_schedule *schedule, const struct update *update)
{
    const double usual = schedule->asked_gain * schedule->share;
    const double counts = (double)QUANTUM * update->amount / (double)update->tau;
    return update->count > 0 && schedule->withheld > 0 ? fmax(counts / usual, 1) : 1;
}

/* The first publication also searches for its threshold, so the average restarts with the second
 * publication. */
static void measure_publication(struct publish_schedule *schedule, uint64_t took_ns)
{
    const double took_s = (double)took_ns * 1e-9;
    if (took_ns == 0) /* unknown */
        return;
    schedule->publish_s =
        schedule->publications > 1 ? 0.8 * schedule->publish_s + 0.2 * took_s : took_s;
}

static void measure_full(struct publish_schedule *schedule, uint64_t bytes)
{
    CHECK(schedule->allowed_bytes > 0);
    const double took = (double)bytes;
    schedule->is_cut = took >= CUT * schedule->allowed_bytes;
    if (bytes == 0) /* no entry was worth publishing, or the learner lost its weights */
        return;
    if (!schedule->is_cut)
        schedule->full_bytes = took;
    else if (schedule->full_bytes > 0)
        schedule->full_bytes = fmax(schedule->full_bytes, FULL_GROWS * took);
}

bool publish_schedule_end(struct node *node, uint64_t bytes, const struct update *update,
                          uint64_t took_ns)
{
    struct publish_schedule *schedule = &node->rate->schedule;
    measure_publication(schedule, took_ns);
    measure_full(schedule, bytes);
    budget_on_published(node, bytes);
    schedule->novelty = novelty(schedule, update);
    schedule->last_bytes = bytes;
    schedule->part = (double)update->count / (double)node->options.parameters;
    publishing_move(node, PUBLISHING_IDLE);
    schedule->publications++;
    if (!schedule->holds_statistics && !update->needs_more)
        schedule->carried_ns = schedule->published_ns;
    publish_schedule_draw_wait(schedule, WAIT_LEAST, WAIT_MOST);
    const bool was_hurried = schedule->hurries > 0;
    if (hurries_on(node, update))
        publishing_move(node, PUBLISHING_WANTED);
    else
        schedule->end_is_published |= schedule->training_is_over && was_hurried;
    return schedule->is_last;
}

/* Returns the outer momentum divided by the last publication's novelty weight. The gain is
 * multiplied by that weight (publish_gain), so gain · beta does not depend on the weight. */
double publish_schedule_beta(const struct node *node)
{
    const struct publish_schedule *schedule = &node->rate->schedule;
    CHECK(schedule->novelty >= 1);
    return schedule->outer_step.beta / schedule->novelty;
}

void publish_schedule_hold(struct node *node, bool is_held)
{
    CHECK(node->options.trains || !is_held);
    node->rate->schedule.is_held = is_held;
}

uint64_t publish_schedule_samples(const struct node *node)
{
    return node->rate->schedule.samples;
}

bool publish_schedule_holds_statistics(const struct node *node)
{
    return node->rate->schedule.holds_statistics;
}

void publish_schedule_end_training(struct node *node)
{
    node->rate->schedule.training_is_over = true;
}

bool publish_schedule_end_is_published(const struct node *node)
{
    return node->rate->schedule.end_is_published;
}

bool publish_schedule_goes_on(const struct node *node)
{
    return !node->rate->schedule.training_is_over && !node->rate->schedule.is_held;
}

double publish_schedule_samples_per_s(const struct node *node)
{
    return node->rate->schedule.samples_per_s;
}
