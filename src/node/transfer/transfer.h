/* State transfer: a base on its way to us, or from us to another.
 *
 *   partition         two sides that learned without each other meet: whose base is kept
 *   fetch             a base is taken over, block by block, from all neighbours that have it
 *   takeover          its version becomes ours first
 *   pending_blocks    blocks that came, until they are as new as our base
 *   base_digest       are they, all together, what was promised?   blame: who promised
 *   opinions          what others say of the base that was taken over
 *   rolling_snapshot  a line too thin for rumors: the base is kept fresh by blocks alone
 *   serve             our base, for others and for checkpoints
 *
 *   TAKE ─► HISTORY ─► our version is that of the base to be ─► FETCH ─► BLOCK ─► pending ─► WRITE
 */
#ifndef HEARSAY_NODE_TRANSFER_TRANSFER_H
#define HEARSAY_NODE_TRANSFER_TRANSFER_H

#include "node/connection/connection.h"
#include "node/core.h"

#define FETCHES_MAX 4 /* spans of blocks that one neighbour may wait for; more are refused */

struct transfer *transfer_new(struct arena *arena, const struct node *node);
size_t transfer_arena_bytes(const struct node_options *options);
void transfer_on_end(struct node *node, const struct peer *peer); /* the conversation is over */
void transfer_stats(const struct node *node, struct node_stats *stats);

/* Partition. A neighbour has shown its whole version: are we partitioned, and whose base wins? */
void partition_judge(struct node *node, const struct peer *from, const struct message *version);
/* If we are: it is to take over our base, not we its. */
bool partition_peer_yields(const struct node *node, const struct peer *peer);

/* Fetch. */

/* A few times a second, or when there is reason to: ask for a base, and for its blocks. */
void fetch_consider(struct node *node);
bool fetch_is_asking(const struct node *node); /* some neighbour was asked for its history */
/* A version that this neighbour showed has so many rumors that we lack. True: it is so far ahead
 * that rumors will not close the gap. */
bool fetch_on_missing(struct node *node, const struct peer *from, bool has_base, uint64_t missing);
bool fetch_is_ahead(const struct node *node, const struct peer *peer);
void fetch_set_ahead(struct node *node,
                     const struct peer *peer); /* only its base has what we lack */
void fetch_on_block(struct node *node, const struct peer *from, const struct message *block);
void fetch_on_lost(struct node *node, uint64_t conn); /* the conversation has ended */
bool fetch_next_write(struct node *node, struct action *action);
/* True once after a base has become whole: neighbours are to know. */
bool fetch_take_announcement(struct node *node);
/* When a block was last given to the learner, or we began to wait for one. */
uint64_t fetch_wrote_ns(const struct node *node);
void fetch_wait_anew(struct node *node);

/* A part of a history came. True: our version has become another one. */
bool takeover_on_history(struct node *node, const struct peer *from, const struct message *history);

/* The learner's base moves by this: it was given out, or it is of our own. */
void transfer_on_update(struct node *node, const struct update *update);

/* Opinions. A neighbour's version may tell whether our base is the swarm's. False: it does not. */
bool opinions_on_version(struct node *node, const struct peer *from, const struct message *version);
void opinions_consider(struct node *node); /* once a second */

/* So many rumors of an expelled member have left our version: what is on its way must be without
 * them, too. */
void transfer_on_retracted(struct node *node, uint64_t rumors);

/* A few times a second: begin, go on with, or end a rolling snapshot. */
void rolling_snapshot_consider(struct node *node);

/* Serve. */

void serve_on_take(struct node *node, const struct peer *from);
void serve_on_fetch(struct node *node, const struct peer *from, uint64_t block, uint64_t count);
bool serve_next_read(struct node *node, struct action *action);
bool serve_next_save(struct node *node, struct action *action);
/* A checkpoint is wanted as soon as there can be one, whenever the next is due. */
void serve_save_anyway(struct node *node);

#endif
