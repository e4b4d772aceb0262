/* Broadcast: rumors from their origin to every learner.
 *
 *   own update ─► publish ─┐
 *   RUMOR ─► rumors ───────┴► log, version ─► apply ─► learner
 *              │                        └───► push to neighbours, along the origin's tree
 *              │                                └ queue full ─► push_backlog ─► from the log, later
 *   VERSION ─► anti_entropy ─► repair ─► WANT ─► the tree grows around a slow branch
 *
 *   broadcast_tree   neighbours to push an origin's rumors to: a tree per origin (Plumtree: Leitão,
 *                    Pereira, Rodrigues 2007, who have one for all)
 *   anti_entropy     neighbours exchange versions (Demers and others 1987)
 *   repair           requests missing rumors
 *   push_backlog     rumors that a full queue delayed
 *   replace_version  replaces our version by that of a taken-over base
 *   equivocation     finds members that sign two different streams
 *   retract          takes out an expelled member's rumors
 *
 * Every folder may read a version; only this one writes it.
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
void broadcast_on_end(struct node *node, const struct peer *peer); /* the conversation has ended */
void broadcast_stats(const struct node *node, struct node_stats *stats);

/* The version. */

const struct versions *broadcast_versions(const struct node *node);
const struct origin *broadcast_own(const struct node *node); /* this node's present incarnation */
const struct rumor_log *broadcast_log(const struct node *node);
/* Returns the number of latest origins that may still be publishing. */
uint32_t broadcast_active_origins(const struct node *node);
/* Returns the origin of this record, added if it is new; NULL if the table is full. */
const struct origin *broadcast_origin_of(struct node *node, const struct peer *from,
                                         const struct record *record);
/* Takes the samples per second that an origin reports. */
void broadcast_on_rate(struct node *node, const struct origin *origin, float samples_per_second);
uint64_t broadcast_advanced_ns(const struct node *node); /* last growth of the version */

/* The node has taken over a model hash and has no base of it yet; replace_version ends that. */
void broadcast_set_lacks_first(struct node *node);
bool broadcast_lacks_first(const struct node *node);

/* Returns for how long a rumor has been missing; and whether rumors of most members are. */
uint64_t broadcast_lag_ns(const struct node *node, uint64_t now_ns);
bool broadcast_lags(const struct node *node);
/* Returns the time of the last request for a missing rumor; 0 = never. */
uint64_t broadcast_asked_ns(const struct node *node);

/* Knowledge of neighbours. */

uint64_t broadcast_knows(const struct node *node, const struct peer *peer); /* rumors, total */
void broadcast_set_knows(struct node *node, const struct peer *peer, uint64_t rumors);
/* Returns true if it has all own rumors. */
bool broadcast_has_ours(const struct node *node, const struct peer *peer);
/* Returns the most rumors that any neighbour, or any joined neighbour, knows. */
uint64_t broadcast_most_shown(const struct node *node, bool joined_only);
/* Returns true if it has shown its whole version. No rumor passes before that. */
bool broadcast_is_compared(const struct node *node, const struct peer *peer);
/* Returns true if both sides of a partition learned much on their own, so no rumor passes. */
bool broadcast_is_partitioned(const struct node *node, const struct peer *peer);
void broadcast_set_partitioned(struct node *node, const struct peer *peer, bool is_partitioned);
bool broadcast_is_together(const struct node *node, const struct peer *peer); /* rumors pass */
struct slots broadcast_together(const struct node *node); /* neighbours that rumors pass to */
struct slots
broadcast_eager(const struct node *node); /* neighbours that own rumors are pushed to */

/* Rumors. */

/* Publishes an own update as rumors; returns their bytes. */
uint64_t broadcast_publish(struct node *node, const struct update *update);
bool broadcast_has_published(const struct node *node);
/* Sets the time of a ROLLING base's content. Rumors of others are not taken meanwhile. */
void broadcast_set_fresh(struct node *node, uint64_t fresh_ns);

/* The learner. */

bool broadcast_next_apply(struct node *node, struct action *action);
/* A block was given to the learner. Below: whether that many entries may be; whether any are
 * unanswered. */
void broadcast_on_block_given(struct node *node, uint32_t entries);
bool broadcast_may_give_blocks(const struct node *node, uint32_t blocks);
bool broadcast_has_blocks_given(const struct node *node);
/* The oldest rumor or block given is done, of this many entries. */
void broadcast_on_applied(struct node *node, uint32_t entries);
/* Returns the learner's state: by origin index, the head of the last rumor in its base, or NULL;
 * valid until the next event. */
void broadcast_done(const struct node *node, const struct signed_head **heads);
/* Returns true if the learner has every rumor that was known at this newest log position and not
 * withheld. */
bool broadcast_has_done(const struct node *node, uint64_t newest);
uint32_t broadcast_applying(const struct node *node); /* entries given and not answered */
/* Returns the rumors and blocks given and not answered. */
uint64_t broadcast_applying_rumors(const struct node *node);
bool broadcast_is_all_applied(const struct node *node);
/* Decodes a rumor of the log; valid until the next decoding. */
const struct update *broadcast_logged(struct node *node, const uint8_t *rumor, uint32_t bytes);

/* The broadcast tree of each origin. place: index of the origin. */

bool broadcast_is_lazy(const struct node *node, const struct peer *peer, uint32_t place);
bool broadcast_is_pruned(const struct node *node, const struct peer *peer, uint32_t place);
void broadcast_on_prune(struct node *node, const struct peer *from, uint64_t tag);
void broadcast_on_first(struct node *node, const struct peer *from, uint32_t place);
void broadcast_on_twice(struct node *node, const struct peer *from, uint32_t place);
/* Neither takes rumors from this neighbour nor pushes any until it asks: its link is needed
 * otherwise. */
void broadcast_hold_back(struct node *node, const struct peer *peer);
/* Takes rumors from this neighbour only. */
void broadcast_lean_on(struct node *node, const struct peer *donor);
/* Returns the number of origins in its backlog. */
uint32_t broadcast_backlog(const struct node *node, const struct peer *peer);
void broadcast_forget_backlog(struct node *node, const struct peer *peer);
void broadcast_on_sent(struct node *node, const struct peer *peer); /* its queue may have space */

/* Anti-entropy. */

#define VERSION_HASH_NONE UINT64_MAX /* shown without first weights; no version has this hash */
void anti_entropy_show(struct node *node, const struct peer *peer, bool whole);
void anti_entropy_show_all(struct node *node);
/* Once a second: sends a slice to one random neighbour; while leaving, to all, and more often. */
void anti_entropy_round(struct node *node);
/* Requests this neighbour's whole version, rarely if that is a full message. */
void anti_entropy_ask_for_all(struct node *node, const struct peer *peer);
/* Requests the versions of all neighbours except this one, because ours was replaced. */
void anti_entropy_ask_anew(struct node *node, const struct peer *but);
/* Takes its version or slice. Returns false if it is malformed; the conversation is closed by then.
 */
bool anti_entropy_on_version(struct node *node, const struct peer *from,
                             const struct message *version);
/* Returns how many rumors of the slice we lack. Starts a check of entries that show another stream.
 */
uint64_t anti_entropy_missing(struct node *node, const struct peer *from,
                              const struct message *version);
/* The neighbour has our version, and so all own rumors. */
void anti_entropy_on_same(struct node *node, const struct peer *from,
                          const struct message *version);
/* Notes equal versions with different digests. */
void anti_entropy_check_digest(struct node *node, const struct peer *from,
                               const struct message *version);
/* From now on rumors pass between this neighbour and us, unless we are partitioned. */
void anti_entropy_on_compared(struct node *node, const struct peer *from);

/* Repair. */

/* Requests the rumors of the slice that we lack. */
void repair_slice(struct node *node, const struct peer *from, const struct message *version);
/* Requests all further rumors of this origin from this neighbour. */
bool repair_ask(struct node *node, const struct peer *peer, uint32_t place);
void push_backlog_on_want(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq);
/* A neighbour's log no longer has this rumor. Returns true if only a base has it. */
bool repair_on_gone(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq);
void repair_on_lost(struct node *node, uint64_t conn); /* the neighbour that fed us has gone */
void repair_review(struct node *node);                 /* a few times a second */

#endif
