/* State transfer: a base on its way to us, or from us to another node.
 *
 *   partition         decides which base is kept when two sides of a partition meet
 *   fetch             takes over a base, block by block, from all neighbours that have it
 *   takeover          replaces our version before the blocks arrive
 *   pending_blocks    keeps received blocks until they match our base
 *   base_digest       checks that the complete base has the promised digest
 *   blame             donor of the base, and members that gave a false base
 *   lost_rumors       gives up a base with rumors that most members can never get
 *   digest_votes      asks whether other members have the taken-over base
 *   rolling_snapshot  keeps the base recent by blocks only, over a link too thin for rumors
 *   serve             gives our base to others and to checkpoints
 *
 *   TAKE ─► HISTORY ─► our version is replaced ─► FETCH ─► BLOCK ─► pending ─► WRITE
 */
#ifndef HEARSAY_NODE_TRANSFER_TRANSFER_H
#define HEARSAY_NODE_TRANSFER_TRANSFER_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Maximum spans of blocks that a neighbour may have requested and not received; others are refused.
 */
#define FETCHES_MAX 4

struct transfer *transfer_new(struct arena *arena, const struct node *node);
size_t transfer_arena_bytes(const struct node_options *options);
void transfer_on_end(struct node *node, const struct peer *peer);
void transfer_stats(const struct node *node, struct node_stats *stats);

/* Call it when a neighbour has sent its whole version. Decides whether a partition has separated
 * this node from the neighbour, and which of their two bases wins. */
void partition_judge(struct node *node, const struct peer *from, const struct message *version);
/* Returns true if the neighbour is to take over our base after a partition; false = we take over
 * the neighbour's base. */
bool partition_peer_yields(const struct node *node, const struct peer *peer);

/* The following functions fetch a base from other nodes (fetch.c). */

/* Requests a base, or blocks of the base being fetched. Call it a few times a second, or on
 * demand. */
void fetch_consider(struct node *node);
/* Lets neighbours be asked again at once, even if a request to them has failed lately. */
void fetch_forgive(struct node *node);
/* Returns true while a requested history has not arrived. */
bool fetch_is_asking(const struct node *node);
/* Call it when this node has adopted the model hash of a node with this standing
 * (first_weights.h). Forgets all rumors, and fetches the base of any neighbour. */
void fetch_begin_first(struct node *node, uint8_t standing);
uint8_t fetch_standing(const struct node *node);
/* Records that this node lacks `missing` rumors of the neighbour's version. Returns true if this
 * node should take over the neighbour's base instead of requesting the rumors. */
bool fetch_on_missing(struct node *node, const struct peer *from, const struct message *version,
                      uint64_t missing);
bool fetch_is_ahead(const struct node *node, const struct peer *peer);
/* Marks the neighbour as far ahead: only its base still contains the rumors that we lack. */
void fetch_set_ahead(struct node *node, const struct peer *peer);
void fetch_on_block(struct node *node, const struct peer *from, const struct message *block);
/* Call it when conversation `conn` has ended: blocks requested in it come from other neighbours. */
void fetch_on_lost(struct node *node, uint64_t conn);
bool fetch_next_write(struct node *node, struct action *action);
/* Returns true once after a fetched base is complete: then send the neighbours our version. */
bool fetch_take_announcement(struct node *node);
/* Returns the time when the learner was last given a block, or when the wait for one began. */
uint64_t fetch_wrote_ns(const struct node *node);
void fetch_restart_wait(struct node *node);

/* Handles a part of a donor's history. Returns true if the history is complete and has replaced our
 * version. */
bool takeover_on_history(struct node *node, const struct peer *from, const struct message *history);

/* Records an update that the learner adds to its base: an own publication, or a rumor, which may be
 * negated to retract it. */
void transfer_on_update(struct node *node, const struct update *update);

/* Records a neighbour's vote on our base, from its version and digest. Returns false if no vote is
 * open, this neighbour may not vote, or its version cannot be compared with ours. */
bool digest_votes_on_version(struct node *node, const struct peer *from,
                             const struct message *version);
/* Compares a neighbour's version with ours, and looks for rumors of ours that are in no log. */
void lost_rumors_on_version(struct node *node, const struct peer *from,
                            const struct message *version);
/* Decides whether our base must be given up for the base of most neighbours. Call it once a second.
 */
void lost_rumors_consider(struct node *node);
/* Decides by the digest votes whether our base is confirmed or refuted. Call it once a second. */
void digest_votes_consider(struct node *node);

/* Call it when `rumors` rumors of expelled members have left our version. Drops pending blocks that
 * contain them, and makes a checkpoint due. */
void transfer_on_retracted(struct node *node, uint64_t rumors);

/* Starts or continues a rolling snapshot. Call it a few times a second. */
void rolling_snapshot_consider(struct node *node);

/* The following functions give our base to other nodes (serve.c). */

void serve_on_take(struct node *node, const struct peer *from);
void serve_on_fetch(struct node *node, const struct peer *from, uint64_t block, uint64_t count);
bool serve_next_read(struct node *node, struct action *action);
bool serve_next_save(struct node *node, struct action *action);
/* Requests a checkpoint as soon as possible, even if periodic checkpoints are off. */
void serve_save_anyway(struct node *node);

#endif
