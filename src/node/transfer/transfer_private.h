#ifndef HEARSAY_NODE_TRANSFER_TRANSFER_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_TRANSFER_PRIVATE_H

#include "base/bits.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/history.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/transfer/base_digest_private.h"
#include "node/transfer/blame_private.h"
#include "node/transfer/digest_votes_private.h"
#include "node/transfer/lost_rumors_private.h"
#include "node/transfer/pending_blocks_private.h"
#include "node/transfer/supporters_private.h"
#include "node/transfer/transfer.h"
#include "wire/block.h"

/* Time after serving its base for which a node takes over no other base, unless its own must be
 * replaced. */
#define SERVING_NS (10 * SECOND_NS)
/* A member that claims at least this many rumors that most others lack is named in a warning: it
 * would have published for minutes without a neighbour. */
#define CLAIMS_MANY 1000
/* A node that is far behind lacks about this many rumors of each active origin, or more. */
#define FAR_EACH    8
#define READ_BLOCKS 8 /* maximum blocks that one FETCH or READ may ask for */

/* Consecutive blocks. */
struct span {
    uint32_t block; /* number of the first block */
    uint32_t count;
};

/* State per neighbour, by slot. */
struct transfer_neighbour {
    bool has_base;         /* the neighbour's last VERSION says that it has a complete base */
    bool lacks_first;      /* the neighbour lacks the first weights of the swarm */
    bool is_ahead;         /* so far ahead that this node should take over the neighbour's base */
    bool are_claims_noted; /* a note has named the neighbour for its claims (fetch_on_claims) */
    /* Time since which the neighbour claims rumors that most neighbours lack; 0 = it does not. */
    uint64_t claims_ns;
    bool ours_preferred; /* our base wins against the neighbour's base after a partition */
    bool is_decisive;    /* partition_is_decisive: the sides clearly differ in members or samples */
    bool peer_yields;    /* partition_peer_yields */
    /* Time when a request for a base or block last failed at the neighbour; 0 = never. */
    uint64_t refused_ns;
    bool has_given;                 /* a block of the base being fetched came from the neighbour */
    struct digest_vote digest_vote; /* the neighbour's vote on our base */
    struct lost_rumor lost;         /* a rumor of our base that the neighbour lacks */

    uint32_t asked_blocks; /* blocks requested from the neighbour and not received */
    /* For each requested span: number of its blocks that have not arrived, oldest span first. */
    uint32_t asked_spans[FETCHES_MAX];
    uint32_t asked_spans_count;
    uint32_t spans_max; /* maximum spans requested from the neighbour at once */
    /* Time when the neighbour's last block arrived; before that, time of the first request. */
    uint64_t gave_ns;

    /* Spans of our base that the neighbour has requested and that wait to be read, oldest first. */
    struct span fetches[FETCHES_MAX];
    uint32_t fetches_count;
    uint64_t fetched_ns; /* time when the neighbour last requested blocks or a history */
    /* Blocks for the neighbour must contain all rumors before this position in our log. */
    uint64_t serve_from;
};

struct history_request {
    bool is_asked;       /* a neighbour was asked for a history and has not sent all of it */
    uint64_t donor;      /* conn of the neighbour that was asked last */
    uint64_t asked_ns;   /* time of the request, or when the history's last part arrived */
    uint64_t parts;      /* parts of the history received so far */
    uint8_t *history;    /* [incarnations_max] history entries received so far */
    uint32_t entries;    /* number of history entries received so far */
    uint64_t digest;     /* digest of the base that the history describes */
    uint32_t *next;      /* [incarnations_max] number of rumors in the history, by origin index */
    uint32_t *earlier;   /* `next` of an earlier history of which this node did not take the base */
    uint64_t earlier_ns; /* time when that history arrived; 0 = none */
};

struct fetch {
    uint64_t rumors;  /* number of rumors in the base being fetched */
    uint32_t bases;   /* number of fetches begun, each round of a rolling snapshot included */
    uint8_t standing; /* standing of the node whose model hash was adopted (first_weights.h) */
    /* The learner keeps its weights; their difference to the fetched base becomes residual. */
    bool keep_weights;
    bool is_unannounced; /* the base is complete, and the neighbours were not told yet */
    bool is_false;       /* the complete base does not have the promised digest */
    uint64_t began_ns;   /* time when this fetch or this round of a rolling snapshot started */
    uint64_t noted_ns;   /* time of the last note about the progress of the fetch */
    uint64_t moved_ns;   /* time when the learner was last given a block, or began_ns */
    uint64_t came_ns;    /* time when the first block after moved_ns arrived; 0 = no block yet */
    uint64_t wrote_ns;   /* fetch_wrote_ns; unlike moved_ns, unchanged when a fetch restarts */
    uint64_t rest_ns;    /* time until which our base yields only after a decisive comparison */
    /* [blocks] conn of the neighbour from which each block was requested, or a BLOCK_ value. */
    uint64_t *from;
    uint32_t cursor;         /* all blocks with smaller numbers were requested or have arrived */
    uint32_t blocks_written; /* blocks given to the learner */
    uint64_t bytes;          /* bytes of blocks received for this base */
};

#define BLOCK_MISSING 0
#define BLOCK_PENDING 1
#define BLOCK_WRITTEN 2 /* conns of neighbours are larger than these BLOCK_ values */

struct rolling_snapshot {
    bool wants_whole;       /* the link could carry all rumors, so fetch a complete base */
    uint64_t rumors_before; /* most rumors that a neighbour had shown when this round started */
    uint64_t donor;         /* conn of the neighbour that gives the blocks */
};

/* A READ whose answer is sent to a neighbour as blocks. */
struct reading {
    bool is_out;      /* the learner has not answered the READ yet */
    uint32_t bases;   /* fetch.bases when the READ began; if changed, the answer is useless */
    uint64_t conn;    /* conn of the neighbour that wants the blocks */
    struct span span; /* blocks to read */
};

struct serve {
    struct reading reading;
    bool is_save_asked;    /* the owner has asked for an immediate checkpoint */
    bool is_saving;        /* a SAVE is under way */
    uint32_t saving_bases; /* fetch.bases when the SAVE began; if changed, the answer is useless */
    /* [incarnations_max] scratch buffer: head of each origin's last rumor in an answer, or NULL. */
    const struct signed_head **heads;
    uint64_t served_ns; /* time of the last blocks request or sent history; 0 = never */
    uint64_t next_ns;   /* earliest time of the next READ for a neighbour */
    uint32_t turn;      /* slot of the neighbour that was served last */
    uint64_t save_ns;   /* time when the next checkpoint is due */
    uint64_t bytes;     /* bytes of blocks sent so far */
};

struct transfer {
    uint32_t blocks; /* number of blocks of a base */
    uint64_t *seen;  /* scratch buffer: one bit per origin */
    uint64_t *tags;  /* [members_max] scratch buffer: tag of each member's current incarnation */
    struct supporters sides[2]; /* scratch buffers: members of each side of a comparison */
    struct history_request request;
    struct fetch fetch;
    struct rolling_snapshot rolling;
    struct pending_blocks pending; /* received blocks that are not in our base yet */
    struct base_digest base_digest;
    struct digest_votes digest_votes;
    struct blame blame;
    bool are_lost_refuted; /* most neighbours lack lost rumors of our base (lost_rumors.c) */
    struct serve serve;
    struct transfer_neighbour *neighbours; /* [peers_max] by slot */
};

static inline struct transfer_neighbour *transfer_neighbour(const struct node *node,
                                                            const struct peer *peer)
{
    return &node->transfer->neighbours[connection_slot(node, peer)];
}

/* Returns true if the neighbour counts in a majority: it has a complete base, exchanges rumors with
 * this node, and is not blamed. */
static inline bool transfer_counts(const struct node *node, const struct peer *peer)
{
    return transfer_neighbour(node, peer)->has_base && broadcast_is_together(node, peer) &&
           !blame_is_on(node, peer);
}

static inline uint32_t transfer_block_entries(const struct node *node, uint32_t block)
{
    return block_entries(node->options.parameters, node->options.block_entries, block);
}

/* Starts fetching all blocks: of a base with `rumors` rumors (BASE_FETCHING), or for a round of
 * a rolling snapshot (BASE_ROLLING). */
void fetch_begin(struct node *node, enum base_state state, uint64_t rumors);
/* Returns true if more than half of the neighbours that count are far ahead of this node. In a
 * swarm of more than two members, at least two neighbours must be far ahead. */
bool fetch_most_are_ahead(const struct node *node);
/* Returns true if this node may take over a base: it trains, has no complete base, or must give its
 * base up. */
bool fetch_may_begin(const struct node *node);
/* Call it when this neighbour claims `rumors` rumors of one member that most neighbours lack. Adds
 * a note, once per conversation, if `rumors` is at least CLAIMS_MANY and the neighbour has made
 * such claims for CLAIMS_NS. */
void fetch_on_claims(struct node *node, const struct peer *peer, uint64_t rumors);
/* Returns true if this node may request blocks of the base being fetched from the neighbour. */
bool fetch_may_ask(const struct node *node, const struct peer *peer);

/* Makes the periodic checkpoint due now, because our base was replaced or lost rumors. */
void serve_save_soon(struct node *node);
/* Returns true if this node has served its base within SERVING_NS. */
bool serve_has_served_lately(const struct node *node);

#endif
