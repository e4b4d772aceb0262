/* Broadcast: rumors from their origin to every learner.
 *
 *   own update ─► publish ─┐
 *   RUMOR ─► rumors ───────┴► log, version ─► apply ─► learner
 *              │                        └───► push to neighbours, along the origin's tree
 *              │                                └ queue full ─► push_backlog ─► from the log, later
 *   VERSION ─► anti_entropy ─► repair ─► WANT ─► the tree grows around a slow branch
 *
 *   broadcast_tree   neighbours to push an origin's rumors to: a tree per origin (Plumtree: Leitão,
 *                    Pereira, Rodrigues 2007; there, one tree serves all origins)
 *   anti_entropy     neighbours exchange versions (Demers and others 1987)
 *   repair           requests missing rumors
 *   push_backlog     rumors that a full queue delayed
 *   replace_version  replaces our version by the version of a taken-over base
 *   equivocation     finds members that sign two different streams
 *   retract          takes out an expelled member's rumors
 *
 * Every folder may read the version; only this folder changes it.
 */
#ifndef HEARSAY_NODE_BROADCAST_BROADCAST_H
#define HEARSAY_NODE_BROADCAST_BROADCAST_H

#include "node/broadcast/rumor_log.h"
#include "node/broadcast/version.h"
#include "node/connection/connection.h"
#include "node/core.h"
#include "wire/record.h"

struct broadcast *broadcast_new(struct arena *arena, struct node *node);
size_t broadcast_arena_bytes(const struct node_options *options);
void broadcast_on_end(struct node *node, const struct peer *peer);
void broadcast_stats(const struct node *node, struct node_stats *stats);

const struct versions *broadcast_versions(const struct node *node);
/* Returns the origin of this node's present incarnation. */
const struct origin *broadcast_own(const struct node *node);
const struct rumor_log *broadcast_log(const struct node *node);
/* Returns how many origins may still be publishing, at most: those with known rumors, up to
 * broadcast_latest_origins (broadcast_private.h). */
uint32_t broadcast_active_origins(const struct node *node);
/* Returns the origin of this record's incarnation. Adds it if it is unknown; returns NULL if the
 * table of origins must not take it. */
const struct origin *broadcast_origin_of(struct node *node, const struct peer *from,
                                         const struct record *record);
/* Records an origin's report of its samples per second; the largest report counts. */
void broadcast_on_rate(struct node *node, const struct origin *origin, float samples_per_second);
/* Returns the time of the version's last change. */
uint64_t broadcast_advanced_ns(const struct node *node);

/* Records that this node has adopted a model hash and fetches no base of that model yet.
 * replace_version ends this state. */
void broadcast_set_lacks_first(struct node *node);
bool broadcast_lacks_first(const struct node *node);

/* Returns for how long the longest-missing rumor has been missing; 0 = none is missing. Ignores
 * rumors that no neighbour has shown for a minute. In BASE_ROLLING, returns the age of the base. */
uint64_t broadcast_lag_ns(const struct node *node, uint64_t now_ns);
/* Returns true in BASE_ROLLING, and if the origins with missing rumors are at least half as many as
 * the live members. */
bool broadcast_lags(const struct node *node);
/* Returns the time of the last request for rumors of an unknown origin, or of repair_review's last
 * request while broadcast_lags; 0 = never. */
uint64_t broadcast_asked_ns(const struct node *node);

/* Returns the number of rumors, over all origins, that the neighbour's last version states; 0 while
 * its base is incomplete. */
uint64_t broadcast_knows(const struct node *node, const struct peer *peer);
void broadcast_set_knows(struct node *node, const struct peer *peer, uint64_t rumors);
/* Returns true if the neighbour is known to have all rumors of this node's present incarnation. */
bool broadcast_has_ours(const struct node *node, const struct peer *peer);
/* Returns the maximum of broadcast_knows over all neighbours, or only over joined ones. */
uint64_t broadcast_most_shown(const struct node *node, bool joined_only);
/* Returns true if the neighbour has shown a version since the conversation began and, unless it is
 * the donor, since this node last took over a base. This node neither pushes nor takes rumors
 * before that. */
bool broadcast_is_compared(const struct node *node, const struct peer *peer);
/* Returns true if a partition separated this node and the neighbour, and both sides learned much
 * meanwhile. Then the two nodes exchange no rumors. */
bool broadcast_is_partitioned(const struct node *node, const struct peer *peer);
void broadcast_set_partitioned(struct node *node, const struct peer *peer, bool is_partitioned);
/* Returns true if this node and the neighbour exchange rumors: it is compared, not partitioned. */
bool broadcast_is_together(const struct node *node, const struct peer *peer);
/* Returns true if the versions that these two neighbours last showed are equal. */
bool broadcast_show_same(const struct node *node, const struct peer *one, const struct peer *other);
/* Returns the slots of the neighbours for which broadcast_is_together is true. */
struct slots broadcast_together(const struct node *node);
/* Returns the slots of the neighbours that are eager for this node's own rumors. */
struct slots broadcast_eager(const struct node *node);

struct rumor_step;
/* Publishes an own update as rumors. Returns the bytes of these rumors, and sets *sum to the sum of
 * their lengths and samples. */
uint64_t broadcast_publish(struct node *node, const struct update *update, struct rumor_step *sum);
bool broadcast_has_published(const struct node *node);
/* Sets the time up to which the base is current, for a node that refreshes it block by block
 * (BASE_ROLLING). Such a node takes no rumors of other nodes. */
void broadcast_set_fresh(struct node *node, uint64_t fresh_ns);

/* The following functions pass rumors, blocks and trials to the learner. An unanswered one was
 * given to the learner, which has not answered yet. */

/* Sets *action to the next APPLY. Returns false if there is none. */
bool broadcast_next_apply(struct node *node, struct action *action);
/* Counts a block of `entries` entries as given to the learner. */
void broadcast_on_block_given(struct node *node, uint32_t entries);
/* Returns true if the learner may be given `blocks` blocks in addition to its unanswered ones. */
bool broadcast_may_give_blocks(const struct node *node, uint32_t blocks);
bool broadcast_has_blocks_given(const struct node *node);
/* Call it when the learner has answered the oldest unanswered rumor, block or trial. entries: its
 * number of entries. */
void broadcast_on_applied(struct node *node, uint32_t entries);
/* Sets heads[origin_index] to the head of the origin's last rumor in the learner's base, or to NULL
 * if the base has none. The heads are valid until the next event. */
void broadcast_done(const struct node *node, const struct signed_head **heads);
/* Returns true if the learner has applied every rumor before log position `newest`, except withheld
 * rumors. */
bool broadcast_has_done(const struct node *node, uint64_t newest);
/* Returns the number of entries in unanswered rumors, blocks and trials. */
uint32_t broadcast_applying(const struct node *node);
/* Returns the number of unanswered rumors, blocks and trials. */
uint64_t broadcast_applying_rumors(const struct node *node);
bool broadcast_is_all_applied(const struct node *node);
/* Decodes a rumor of the log. The result is valid until the next decoding. */
const struct update *broadcast_logged(struct node *node, const uint8_t *rumor, uint32_t bytes);

/* Returns true if rumors of this origin are not pushed to the neighbour. */
bool broadcast_is_lazy(const struct node *node, const struct peer *peer, uint32_t origin_index);
bool broadcast_is_pruned(const struct node *node, const struct peer *peer, uint32_t origin_index);
void broadcast_on_prune(struct node *node, const struct peer *from, uint64_t tag);
void broadcast_on_first(struct node *node, const struct peer *from, uint32_t origin_index);
void broadcast_on_twice(struct node *node, const struct peer *from, uint32_t origin_index);
/* Stops the exchange of live members' rumors with this neighbour in both directions. Each side's
 * own rumors still pass, but in BASE_ROLLING this node takes none. A request for rumors makes the
 * link eager again. */
void broadcast_hold_back(struct node *node, const struct peer *peer);
/* Makes `donor` the parent in every origin's tree, and holds back all other neighbours. */
void broadcast_lean_on(struct node *node, const struct peer *donor);
/* Returns how many origins have rumors that wait for space in this neighbour's queue. */
uint32_t broadcast_backlog(const struct node *node, const struct peer *peer);
void broadcast_forget_backlog(struct node *node, const struct peer *peer);
/* Sends waiting rumors to this neighbour. Call it when the neighbour's queue may have space. */
void broadcast_on_sent(struct node *node, const struct peer *peer);

#define VERSION_HASH_NONE UINT64_MAX /* hash that a node sends while broadcast_lacks_first */
void anti_entropy_show(struct node *node, const struct peer *peer, bool whole);
void anti_entropy_show_all(struct node *node);
/* Shows our version to one random neighbour, or, once training has ended, to all neighbours. Sends
 * the whole version if it is short and differs from the neighbour's. Before the end of training,
 * also sends the whole version to a neighbour on the other side of a partition. Otherwise sends a
 * slice. Call it every round of gossip. */
void anti_entropy_round(struct node *node);
/* Requests this neighbour's whole version, unless our base is incomplete. In a swarm of more than
 * 256 origins, does so at most every 10 s, because the version may fill a whole message. */
void anti_entropy_ask_for_all(struct node *node, const struct peer *peer);
/* Call it when our version was replaced: requests the versions of all neighbours except `but`. */
void anti_entropy_ask_again(struct node *node, const struct peer *but);
/* Records the hash and the number of rumors of a neighbour's version or slice. If it is malformed,
 * closes the conversation and returns false. */
bool anti_entropy_on_version(struct node *node, const struct peer *from,
                             const struct message *version);
/* Returns how many rumors in the neighbour's version or slice this node lacks and would take. If an
 * entry shows another stream than ours, sends the neighbour our heads of that stream
 * (equivocation.h). */
uint64_t anti_entropy_missing(struct node *node, const struct peer *from,
                              const struct message *version);
/* Call it when the neighbour's version equals ours: the neighbour has all rumors that this node
 * published. */
void anti_entropy_on_same(struct node *node, const struct peer *from,
                          const struct message *version);
/* Adds a note if the neighbour's version equals ours but the digest of its base differs. */
void anti_entropy_check_digest(struct node *node, const struct peer *from,
                               const struct message *version);
/* Starts the exchange of rumors with this neighbour, unless a partition separates us. */
void anti_entropy_on_compared(struct node *node, const struct peer *from);

/* Records the rumors in the neighbour's version or slice that this node lacks, for repair_review.
 * Forgets those that it showed earlier and no longer has. Requests rumors of unknown origins (64 at
 * most) at once. */
void repair_slice(struct node *node, const struct peer *from, const struct message *version);
/* Requests the origin's next rumors from this neighbour. Returns false if no request was sent. */
bool repair_ask(struct node *node, const struct peer *peer, uint32_t origin_index);
void push_backlog_on_want(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq);
/* Handles GONE: the neighbour's log lacks this rumor. Returns true if probably no log has the
 * rumor, so that this node needs a base that contains it. */
bool repair_on_gone(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq);
/* Call it when the neighbour of conversation `conn` is lost: requests from random neighbours the
 * rumors that the lost one used to push to us. */
void repair_on_lost(struct node *node, uint64_t conn);
/* Requests missing rumors that have not arrived in time. Call it a few times a second. */
void repair_review(struct node *node);

#endif
