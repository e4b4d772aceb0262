/* The state of this folder; only its own files include it. */
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
#include "node/transfer/pending_blocks_private.h"
#include "node/transfer/transfer.h"
#include "wire/block.h"

#define SERVING_NS  (10 * SECOND_NS) /* time after serving for which a node keeps its base */
#define READ_BLOCKS 8                /* most blocks requested or read at once */

/* A range of blocks. */
struct span {
    uint32_t block; /* first block */
    uint32_t count; /* number of blocks */
};

/* State per neighbour, by slot. */
struct transfer_neighbour {
    bool has_base;       /* its last VERSION says that it has a whole base */
    bool lacks_first;    /* it lacks the first weights of the swarm */
    bool is_ahead;       /* its rumors are far ahead of ours: only its base closes the gap */
    bool ours_preferred; /* our base wins against its base */
    bool is_decisive;    /* one side has clearly learned more */
    /* Across a partition: true = the neighbour takes over our base, false = we take over its
     * base. */
    bool peer_yields;
    uint64_t refused_ns;            /* time when it last had no useful base or block; 0 = never */
    bool has_given;                 /* the neighbour gave a block of the base being fetched */
    struct digest_vote digest_vote; /* vote of the neighbour on our base */

    uint32_t asked_blocks;             /* number of blocks requested from it and not received */
    uint32_t asked_spans[FETCHES_MAX]; /* number of unreceived blocks of each requested span, oldest
                                          span first */
    uint32_t asked_spans_count;        /* number of entries in asked_spans */
    uint32_t spans_max;                /* most spans that may be requested from it at once */
    /* Time when its last block arrived; before its first block, time of the first request. */
    uint64_t gave_ns;

    struct span fetches[FETCHES_MAX]; /* spans of our base that the neighbour has requested */
    uint32_t fetches_count;           /* number of entries in fetches */
    uint64_t fetched_ns;              /* time of its last request for blocks or a history */
    uint64_t serve_from; /* its blocks must contain all rumors before this log position */
};

/* State of fetch.c and takeover.c: a requested history. */
struct history_request {
    bool is_asked; /* a neighbour was asked for a history and has not sent all of it */
    /* conn of the neighbour asked; after the takeover, of the donor of our version */
    uint64_t donor;
    uint64_t asked_ns; /* time of the request or of the last part */
    uint64_t parts;    /* parts of the history received so far */
    uint8_t *history;  /* [incarnations_max] entries received */
    uint32_t entries;  /* number of entries received */
    uint64_t digest;   /* digest of the base that the history describes */
    uint32_t *next;    /* [incarnations_max] number of rumors in the history, by origin index */
};

/* State of fetch.c. */
struct fetch {
    uint64_t rumors;     /* rumors in the base being taken over */
    uint32_t bases;      /* number of fetches begun, each round of a rolling snapshot included */
    uint8_t standing;    /* standing of the node whose model hash was adopted (first_weights.h) */
    bool keep_weights;   /* the learner keeps its weights: their difference to the new base becomes
                            residual */
    bool is_unannounced; /* the base is complete, and the neighbours were not told yet */
    bool is_false;       /* all blocks arrived, and the base does not have the promised digest */
    uint64_t began_ns;   /* time when this fetch or this round of a rolling snapshot started */
    uint64_t noted_ns;   /* time of the last note of progress */
    uint64_t moved_ns;   /* time when a block was last written, or of the start */
    uint64_t came_ns;    /* time when the first block after moved_ns arrived; 0 = none */
    uint64_t wrote_ns;   /* time when a block was last written, or when waiting started; a restarted
                            fetch does not reset it */
    uint64_t rest_ns;    /* until this time, only the base of a partition that clearly learned more
                            replaces this one */
    uint64_t *from;  /* [blocks] conn of the neighbour asked for the block, or a BLOCK_ constant */
    uint32_t cursor; /* all blocks before this one were requested or have arrived */
    uint32_t blocks_written; /* blocks given to the learner */
    uint64_t bytes;          /* bytes received for this base */
};

#define BLOCK_MISSING 0
#define BLOCK_PENDING 1
#define BLOCK_WRITTEN 2 /* smaller than the conn of any neighbour */

/* State of rolling_snapshot.c. */
struct rolling_snapshot {
    /* This node's line could carry the swarm's rumors, so a complete base is to be fetched. */
    bool wants_whole;
    uint64_t rumors_before; /* known rumors at the start of this round */
    uint64_t donor;         /* conn of the donor */
};

/* A READ that the learner answers with blocks for a neighbour. */
struct reading {
    bool is_out; /* the READ was requested and not answered */
    /* value of fetch.bases at the request; the answer is useless if it has changed */
    uint32_t bases;
    uint64_t conn;    /* conn of the neighbour that wants the blocks */
    struct span span; /* blocks to read */
};

/* State of serve.c. */
struct serve {
    struct reading reading; /* the READ under way */
    bool is_save_asked;     /* the owner wants a checkpoint early */
    bool is_saving;         /* a SAVE is under way */
    /* Value of fetch.bases when the SAVE was requested; the answer is useless if it has changed. */
    uint32_t saving_bases;
    const struct signed_head **heads; /* [incarnations_max] scratch buffer, by origin index: head of
                                         the origin's last rumor in an answer, or NULL */
    /* time when this node was last asked for blocks or sent a history; 0 = never */
    uint64_t served_ns;
    uint64_t next_ns; /* earliest start of the next READ for a peer */
    uint32_t turn;    /* slot of the neighbour that was served last */
    uint64_t save_ns; /* time of the next checkpoint */
    uint64_t bytes;   /* bytes of blocks sent */
};

struct transfer {
    uint32_t blocks;                /* number of blocks of a base */
    uint64_t *seen;                 /* scratch buffer: a bit per origin */
    struct history_request request; /* a requested history */
    struct fetch fetch;             /* a base being fetched */
    /* rolling snapshot: blocks instead of rumors, over a thin line */
    struct rolling_snapshot rolling;
    struct pending_blocks pending;         /* received blocks */
    struct base_digest base_digest;        /* check of the complete base */
    struct digest_votes digest_votes;      /* digest votes on our base */
    struct blame blame;                    /* donors, and members that gave a false base */
    struct serve serve;                    /* serving of our base to others */
    struct transfer_neighbour *neighbours; /* [peers_max] by slot */
};

static inline struct transfer_neighbour *transfer_neighbour(const struct node *node,
                                                            const struct peer *peer)
{
    return &node->transfer->neighbours[connection_slot(node, peer)];
}

static inline uint32_t transfer_block_entries(const struct node *node, uint32_t block)
{
    return block_entries(node->options.parameters, node->options.block_entries, block);
}

/* Starts fetching all blocks: of a base with this many rumors (BASE_FETCHING), or for a round of a
 * rolling snapshot (BASE_ROLLING). */
void fetch_begin(struct node *node, enum base_state state, uint64_t rumors);
bool fetch_may_ask(const struct node *node, const struct peer *peer);

/* Makes the periodic checkpoint due now, because the last one contains another base. */
void serve_save_soon(struct node *node);
/* Returns true if this node served its base within SERVING_NS. Such a node does not give up its
 * base. */
bool serve_has_served_lately(const struct node *node);

#endif
