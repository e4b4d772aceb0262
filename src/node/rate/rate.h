/* Rates: how fast bytes are sent, how much is published, and when.
 *
 *   congestion        congestion control of a conversation by delay, like LEDBAT
 *   pacer             when bytes are sent to a neighbour; acknowledgements
 *   budget            bytes per second that this node may publish
 *   outer_step        how often to publish, with which gain and outer momentum
 *   publish_schedule  when the next publication is due, and its size
 *   work              how much work a member's messages may cause
 *
 *   steps ─► publish_schedule ─► PUBLISH ─► rumors ─► queues ─► pacer ─► SEND
 *                 ▲ interval, gain, bytes                          ▲ how many bytes now?
 *             outer_step ◄── budget ◄────── rates ──────── congestion ◄── ACK
 */
#ifndef HEARSAY_NODE_RATE_RATE_H
#define HEARSAY_NODE_RATE_RATE_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/rate/congestion.h"

struct rate *rate_new(struct arena *arena, struct node *node);
size_t rate_arena_bytes(const struct node_options *options);

/* Call it when a conversation with this peer starts. */
void rate_on_start(struct node *node, const struct peer *peer);
void rate_on_received(struct node *node, const struct peer *peer, size_t bytes);
/* Call it when a conversation has ended. Its byte counts stay in rate_stats. */
void rate_on_end(struct node *node, const struct peer *peer);

const struct congestion *rate_link(const struct node *node, const struct peer *peer);
/* Sets the members of *stats about training, publications and rates, and no others. */
void rate_stats(const struct node *node, struct node_stats *stats);

/* The following functions send bytes to peers and pace them (pacer.c). */

/* Sets *action to the next SEND or HANGUP; returns false if there is none. Serves peers in turn. */
bool pacer_next_action(struct node *node, struct action *action);
/* Marks all peers that the pacer delays as ready, if pacer_wake_ns has passed. */
void pacer_on_time(struct node *node);
uint64_t pacer_wake_ns(const struct node *node);

void pacer_say_ack(struct node *node, const struct peer *peer);
/* Sends the peer an acknowledgement if one is due. */
void pacer_consider_ack(struct node *node, const struct peer *peer);
void pacer_on_ack(struct node *node, const struct peer *peer, const struct message *ack);

/* Returns true if sending the messages queued for the peer takes more than half a second
 * (takes_longer in pacer.c). Then no further rumor is queued. */
bool pacer_is_full(const struct node *node, const struct peer *peer);
/* Returns true if the peer's link is overloaded: sending the queued messages takes more than 0.3 s,
 * and they exceed the part of the last publication that may still be queued (publish_left). */
bool pacer_is_crowded(const struct node *node, const struct peer *peer);
/* Returns true if sending the messages and blocks queued for the peer takes more than 0.2 s. Then
 * no further blocks are queued. */
bool pacer_is_busy(const struct node *node, const struct peer *peer);

/* The following functions limit the work that a member's messages cause: signatures to check,
 * queries to answer (work.c). */

/* Counts the work of this message. Returns false if the member has caused too much work and the
 * message is a query, which its sender will repeat: then drop it. */
bool work_admits(struct node *node, const struct peer *peer, const struct message *message);
/* Returns the time until which nothing should be read from this peer; 0 = read on. Adds a note if
 * the member has long caused too much work. */
uint64_t work_resume_ns(struct node *node, const struct peer *peer);

/* The following functions determine the budget (budget.c). */

/* Updates the budget; call it once a second. eager: slots of the neighbours that are eager for own
 * rumors. together: slots of all neighbours with which this node exchanges rumors. lag_ns: time for
 * which a rumor has been missing on this node. */
void budget_review(struct node *node, struct slots eager, struct slots together, uint64_t lag_ns);
/* Doubles the budget, up to the links' headroom (slow start). Does so only if a publication used
 * half of the budget and reached the eager neighbours, over links that have seen no backlog, and no
 * rumor has been missing here for long. */
void budget_probe(struct node *node, struct slots eager, struct slots together, uint64_t lag_ns);
/* Call it when `bytes` of an own rumor were queued for this neighbour. */
void budget_on_own(struct node *node, const struct peer *peer, size_t bytes);
/* Returns the part of the first 64 live training members that lags; 0 if no member trains. with_us:
 * include this node. */
double budget_lagging(const struct node *node, bool with_us);

/* Returns the bytes per second that the links carry, summed over all links; at most uplink_max. */
double budget_uplink(const struct node *node);
/* Returns the bytes per second that this node can receive: the highest recent rate, fading by 3 %
 * per second. */
double budget_ingress(const struct node *node);
/* Returns the bytes per second that the slowest link in good standing (budget.c) carries. */
double budget_slowest(const struct node *node);

/* The following functions decide when to publish and how much (publish_schedule.c). */

/* Counts the learner's steps. Returns true once after each publication, when half of
 * OUTER_STEP_MANY steps have passed: then call budget_probe and publish_schedule_renew at once. */
bool publish_schedule_on_step(struct node *node, uint32_t steps, uint64_t samples);
/* Updates publish_schedule_samples_per_s. Call it once a second. */
void publish_schedule_measure(struct node *node);
/* Computes interval, gain and outer momentum from present measurements. Call it once a second. */
void publish_schedule_renew(struct node *node);
/* Changes the publishing state to WANTED if a publication is due. */
void publish_schedule_consider(struct node *node);
/* Makes a publication due now, unless one is under way or training has ended. Does so only if the
 * learner has made a step since the last publication or running statistics are held back. More
 * publications follow while a statistic has to move further, or, if the node is alone in the swarm,
 * while much progress is unpublished. */
void publish_schedule_hurry(struct node *node);

/* Holds all later publications, or ends that: they are empty, and the learner drops its progress.
 */
void publish_schedule_hold(struct node *node, bool is_held);

/* Values of a publication that other folders determine. */
struct publish_facts {
    uint64_t swarm_samples; /* samples that the swarm has learned */
    bool is_first;          /* the first publication of this incarnation, which is kept small */
    double beta;            /* outer momentum */
    double part;            /* part of its share that this node may use; in (0, 1] */
};
/* Changes the publishing state from WANTED to OUT, and sets *action to a PUBLISH. */
void publish_schedule_begin(struct node *node, const struct publish_facts *facts,
                            struct action *action);
/* Changes the publishing state from OUT to IDLE. `update` was published as `bytes` bytes of
 * rumors; cutting it took took_ns of the learner's processor time (0 = unknown). Returns true if
 * training had ended when the publication began. */
bool publish_schedule_end(struct node *node, uint64_t bytes, const struct update *update,
                          uint64_t took_ns);

/* Returns the present outer momentum. */
double publish_schedule_beta(const struct node *node);
/* Returns the number of samples that this node has learned since its start. */
uint64_t publish_schedule_samples(const struct node *node);
/* Returns true if the last publication held running statistics back. */
bool publish_schedule_holds_statistics(const struct node *node);
/* Records that the learner makes no more steps. */
void publish_schedule_end_training(struct node *node);
/* Returns true if training has ended and its progress was published after that. */
bool publish_schedule_end_is_published(const struct node *node);
/* Returns true if the learner may make more steps, and publications are not held. */
bool publish_schedule_goes_on(const struct node *node);
/* Returns the samples per second that this node learns, a moving average; 0 = unknown. */
double publish_schedule_samples_per_s(const struct node *node);

#endif
