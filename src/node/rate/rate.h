/* How fast, how much, and when.
 *
 *   link              what a conversation carries: delay-based congestion control, as LEDBAT does
 *   pacer             when a neighbour is handed bytes; acknowledgements
 *   budget            bytes per second that this node may publish: what its links and members take
 *   outer_step        how often to publish, with which gain and outer momentum
 *   publish_schedule  when the next publication is due, and what it may take
 *
 *   steps ─► publish_schedule ─► PUBLISH ─► rumors ─► queues ─► pacer ─► SEND
 *                 ▲ interval, gain, bytes                          ▲ may so much go now?
 *             outer_step ◄── budget ◄────── rates ────────────── link ◄── ACK
 */
#ifndef HEARSAY_NODE_RATE_RATE_H
#define HEARSAY_NODE_RATE_RATE_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/rate/link.h"

struct rate *rate_new(struct arena *arena, struct node *node);
size_t rate_arena_bytes(const struct node_options *options);

/* A conversation begins in this slot; has brought bytes; is over. */
void rate_on_start(struct node *node, const struct peer *peer);
void rate_on_received(struct node *node, const struct peer *peer, size_t bytes);
void rate_on_end(struct node *node, const struct peer *peer);

/* What is measured of its link. */
const struct link *rate_link(const struct node *node, const struct peer *peer);
/* Adds this room's part of the statistics. */
void rate_stats(const struct node *node, struct node_stats *stats);

/* Pacer. */

/* SEND or HANGUP, one peer after the other, so that none takes all of what may be sent. */
bool pacer_next_action(struct node *node, struct action *action);
/* Neighbours whose moment has come may be sent more. */
void pacer_on_time(struct node *node);
uint64_t pacer_wake_ns(const struct node *node);

void pacer_say_ack(struct node *node, const struct peer *peer);
void pacer_consider_ack(struct node *node, const struct peer *peer); /* says one if it is due */
void pacer_on_ack(struct node *node, const struct peer *peer, const struct message *ack);

/* More rumors wait for this neighbour than it can be sent in half a second: add none. */
bool pacer_is_full(const struct node *node, const struct peer *peer);
/* More wait than should usually: in a third of a second. */
bool pacer_is_crowded(const struct node *node, const struct peer *peer);
/* So much waits, in a fifth of a second, that no blocks are to be added. */
bool pacer_is_busy(const struct node *node, const struct peer *peer);

/* Budget. */

/* Once a second. eager: slots of neighbours that our own rumors are pushed to; together: of those
 * that rumors pass to at all; lag_ns: for how long some rumor has been missing here. */
void budget_review(struct node *node, struct slots eager, struct slots together, uint64_t lag_ns);
/* Doubles the budget if the last publication made use of it and has arrived everywhere, and no link
 * has seen a backlog yet (slow start). */
void budget_probe(struct node *node, struct slots eager, struct slots together, uint64_t lag_ns);
/* So many bytes of a rumor of our own were queued for this neighbour. */
void budget_on_own(struct node *node, const struct peer *peer, size_t bytes);
/* What part of the members that train lags; 0 when none trains. */
double budget_lagging(const struct node *node, bool with_us);

double budget_uplink(const struct node *node);  /* bytes per second that all links carry */
double budget_ingress(const struct node *node); /* the same of what came in, lately */
double budget_slowest(const struct node *node); /* of the slowest link in good standing */

/* Publish schedule. */

/* Counts the learner's steps. Returns true once after each publication, when OUTER_STEP_MANY steps
 * have nearly passed: then the lines are probed and the schedule is renewed at once, and not within
 * a second. */
bool publish_schedule_on_step(struct node *node, uint32_t steps, uint64_t samples);
/* Once a second: measure how fast this node learns; and choose interval, gain and momentum anew. */
void publish_schedule_measure(struct node *node);
void publish_schedule_renew(struct node *node);
/* WANTED, if a publication is due. */
void publish_schedule_consider(struct node *node);
/* Not later, if anything was learned since the last publication. */
void publish_schedule_hurry(struct node *node);

/* What a publication depends on beside its schedule. */
struct publish_facts {
    double share;           /* of this node among all that train, in (0, 1] */
    uint64_t swarm_samples; /* that all have learned */
    bool is_first;          /* of this incarnation: kept small, since it goes everywhere */
    double beta;            /* outer momentum */
};
/* WANTED becomes OUT: fills in the PUBLISH. */
void publish_schedule_begin(struct node *node, const struct publish_facts *facts,
                            struct action *action);
/* OUT becomes IDLE: this was published; its rumors took so many bytes, and cutting it so much of
 * the learner's processor time. True: it was the last one. */
bool publish_schedule_end(struct node *node, uint64_t bytes, const struct update *update,
                          uint64_t took_ns);

/* The outer momentum, as things are now. */
double publish_schedule_beta(const struct node *node);
uint64_t publish_schedule_samples(const struct node *node); /* learned here */
double publish_schedule_samples_per_s(const struct node *node);

#endif
