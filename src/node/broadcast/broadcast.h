/* Rumors on their way, from their origin to every learner.
 *
 *   own update ─► publish ─┐
 *   RUMOR ─► rumors ───────┴► log, version ─► apply ─► learner
 *              │                        └───► push to neighbours, along the origin's tree
 *              │                                └ queue full ─► push_backlog ─► from the log, later
 *   VERSION ─► anti_entropy ─► repair ─► WANT ─► the tree grows around a thin branch
 *
 *   broadcast_tree   whom to push an origin's rumors: a tree for each origin (Plumtree: Leitão,
 *                    Pereira, Rodrigues 2007, who have one for all)
 *   anti_entropy     neighbours show each other what they know (Demers and others 1987)
 *   repair           what did not come is asked for
 *   push_backlog     what a full queue put off
 *   replace_version  another version becomes ours: the base that is taken over
 *   retract          what an expelled member published is taken out again; fork  who lies
 *
 * A version is read by everybody and written here only.
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
void broadcast_on_end(struct node *node, const struct peer *peer); /* the conversation is over */
void broadcast_stats(const struct node *node, struct node_stats *stats);

/* What is known. */

const struct versions *broadcast_versions(const struct node *node);
const struct origin *broadcast_own(const struct node *node); /* this incarnation of this node */
const struct rumor_log *broadcast_log(const struct node *node);
/* Of the origins that published last, so many may still be publishing. */
uint32_t broadcast_active_origins(const struct node *node);
/* The origin that this record is of; met now if it is new, NULL if there is no room for it. */
const struct origin *broadcast_origin_of(struct node *node, const struct peer *from,
                                         const struct record *record);
/* It says that it learns so many samples per second. */
void broadcast_on_rate(struct node *node, const struct origin *origin, float samples_per_second);
uint64_t broadcast_advanced_ns(const struct node *node); /* when the version last did */

/* For how long something has been missing; and do we lack what most of the members publish? */
uint64_t broadcast_lag_ns(const struct node *node, uint64_t now_ns);
bool broadcast_lags(const struct node *node);
uint64_t broadcast_asked_ns(const struct node *node); /* when it last asked for it; 0: never */

/* What a neighbour has shown. */

uint64_t broadcast_knows(const struct node *node, const struct peer *peer); /* rumors, in all */
void broadcast_set_knows(struct node *node, const struct peer *peer, uint64_t rumors);
bool broadcast_has_ours(const struct node *node, const struct peer *peer); /* all of our own */
/* The most that any neighbour knows, or any that has joined. */
uint64_t broadcast_most_shown(const struct node *node, bool joined_only);
/* Has it shown its whole version? Before, no rumor passes between us. */
bool broadcast_is_compared(const struct node *node, const struct peer *peer);
/* A partition: it and we have learned much without each other, so no rumor passes. */
bool broadcast_is_partitioned(const struct node *node, const struct peer *peer);
void broadcast_set_partitioned(struct node *node, const struct peer *peer, bool is_partitioned);
bool broadcast_is_together(const struct node *node, const struct peer *peer); /* rumors pass */
struct slots broadcast_together(const struct node *node); /* of the neighbours, those */
struct slots broadcast_eager(const struct node *node);    /* those we push our own rumors to */

/* Rumors. */

/* An update of our own, as rumors; returns their bytes. */
uint64_t broadcast_publish(struct node *node, const struct update *update);
bool broadcast_has_published(const struct node *node);
/* While the base is ROLLING no rumor of others is taken: it is as of this moment. */
void broadcast_set_fresh(struct node *node, uint64_t fresh_ns);

/* The learner. */

bool broadcast_next_apply(struct node *node, struct action *action);
/* A block was given to it. May so many be? Are some given and not done? */
void broadcast_on_block_given(struct node *node, uint32_t entries);
bool broadcast_may_give_blocks(const struct node *node, uint32_t blocks);
bool broadcast_has_blocks_given(const struct node *node);
/* The oldest rumor or block that it was given, of so many entries, is done. */
void broadcast_on_applied(struct node *node, uint32_t entries);
/* What it has done: by place, the head of the last rumor of each origin, or NULL; for now. */
void broadcast_done(const struct node *node, const struct signed_head **heads);
/* Has it done all that was known when the log's newest position was this one, and was not held? */
bool broadcast_has_done(const struct node *node, uint64_t newest);
uint32_t broadcast_applying(const struct node *node);        /* entries given and not done */
uint64_t broadcast_applying_rumors(const struct node *node); /* rumors and blocks, likewise */
bool broadcast_is_all_applied(const struct node *node);
/* A rumor of the log, decoded: valid until another is. */
const struct update *broadcast_logged(struct node *node, const uint8_t *rumor, uint32_t bytes);

/* The tree of each origin. place: of the origin among the versions. */

bool broadcast_is_lazy(const struct node *node, const struct peer *peer, uint32_t place);
bool broadcast_is_pruned(const struct node *node, const struct peer *peer, uint32_t place);
void broadcast_on_prune(struct node *node, const struct peer *from, uint64_t tag);
void broadcast_on_first(struct node *node, const struct peer *from, uint32_t place);
void broadcast_on_twice(struct node *node, const struct peer *from, uint32_t place);
/* Take nothing from this neighbour, and push nothing to it, until it asks: its link is needed. */
void broadcast_hold_back(struct node *node, const struct peer *peer);
/* Take what comes from this neighbour alone. */
void broadcast_lean_on(struct node *node, const struct peer *donor);
uint32_t broadcast_backlog(const struct node *node, const struct peer *peer); /* origins put off */
void broadcast_forget_backlog(struct node *node, const struct peer *peer);
void broadcast_on_sent(struct node *node, const struct peer *peer); /* its queue may have room */

/* Anti-entropy. */

void anti_entropy_show(struct node *node, const struct peer *peer, bool whole);
void anti_entropy_show_all(struct node *node);
/* Once a second: one random neighbour. While leaving: everyone, more often. */
void anti_entropy_round(struct node *node);
/* Ask this neighbour to show its whole version; not often where that is a full message. */
void anti_entropy_ask_for_all(struct node *node, const struct peer *peer);
/* All but this neighbour are to show theirs again: ours has become another. */
void anti_entropy_ask_anew(struct node *node, const struct peer *but);
/* Its version, or a slice, is noted. False: it is malformed, the conversation has been closed. */
bool anti_entropy_on_version(struct node *node, const struct peer *from,
                             const struct message *version);
/* How many rumors of the slice we lack. What of it is another stream than ours is looked into. */
uint64_t anti_entropy_missing(struct node *node, const struct peer *from,
                              const struct message *version);
/* It shows the version that we have: so it has all of ours. */
void anti_entropy_on_same(struct node *node, const struct peer *from,
                          const struct message *version);
/* Notes it when equal versions have different digests. */
void anti_entropy_check_digest(struct node *node, const struct peer *from,
                               const struct message *version);
/* From now on rumors pass between this neighbour and us, unless we are partitioned. */
void anti_entropy_on_compared(struct node *node, const struct peer *from);

/* Repair. */

/* Ask for what the slice has and we lack. */
void repair_slice(struct node *node, const struct peer *from, const struct message *version);
/* Ask this neighbour for all that comes next of the origin, now and later. */
bool repair_ask(struct node *node, const struct peer *peer, uint32_t place);
void push_backlog_on_want(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq);
/* A neighbour no longer has this rumor. True: only a base has it. */
bool repair_on_gone(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq);
void repair_on_lost(struct node *node, uint64_t conn); /* the neighbour that fed us is gone */
void repair_review(struct node *node);                 /* a few times a second */

#endif
