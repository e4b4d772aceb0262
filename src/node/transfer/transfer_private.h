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

#define SERVING_NS  (10 * SECOND_NS) /* a node that served within this time may serve again */
#define READ_BLOCKS 8                /* most blocks requested or read at once */

/* A range of blocks. */
struct span {
    uint32_t block; /* first block */
    uint32_t count; /* number of blocks */
};

/* State per neighbour, by slot. */
struct transfer_neighbour {
    bool has_base;       /* its last version is that of a whole base */
    bool lacks_first;    /* it lacks the first weights of the swarm */
    bool is_ahead;       /* rumors will not close the gap to it */
    bool ours_preferred; /* of its base and ours, ours wins */
    bool is_decisive;    /* one side has clearly learned more */
    /* Across a partition: true = the neighbour takes over our base, false = we take over its
     * base. */
    bool peer_yields;
    uint64_t refused_ns;            /* last time that it had nothing useful; 0 = never */
    bool has_given;                 /* the neighbour gave a block of the base being fetched */
    struct digest_vote digest_vote; /* vote of the neighbour on our base */

    uint32_t asked_blocks;             /* blocks requested and not received */
    uint32_t asked_spans[FETCHES_MAX]; /* those requested blocks as spans, oldest first */
    uint32_t asked_spans_count;        /* number of those spans */
    uint32_t spans_max;                /* spans that may be requested at once */
    /* Arrival of its last block; before that, time of the first request. */
    uint64_t gave_ns;

    struct span fetches[FETCHES_MAX]; /* blocks of our base that the neighbour wants */
    uint32_t fetches_count;           /* number of those spans */
    uint64_t fetched_ns;              /* its last request for blocks or history */
    uint64_t serve_from;              /* log position that its blocks must include */
};

/* State of fetch.c and takeover.c: a requested history. */
struct history_request {
    bool is_asked;     /* a neighbour was asked for a history and has not sent all of it */
    uint64_t donor;    /* conn of that neighbour; later, of the donor of our version */
    uint64_t asked_ns; /* time of the request or of the last part */
    uint64_t parts;    /* parts of the history received so far */
    uint8_t *history;  /* [incarnations_max] entries received */
    uint32_t entries;  /* number of those entries */
    uint64_t digest;   /* digest of the base with that history */
    uint32_t *next;    /* [incarnations_max] number of rumors by origin index */
};

/* State of fetch.c. */
struct fetch {
    uint64_t rumors;         /* rumors in the base being taken over */
    uint32_t bases;          /* bases taken over, or begun */
    uint8_t standing;        /* of the node whose model hash was taken over (first_weights.h) */
    bool keep_weights;       /* what was learned apart becomes residual */
    bool is_unannounced;     /* the base is complete, and neighbours do not know yet */
    bool is_false;           /* all blocks came, and the base was false */
    uint64_t began_ns;       /* start of this base, or of this round */
    uint64_t noted_ns;       /* last note of progress */
    uint64_t moved_ns;       /* time of the last written block, or of the start */
    uint64_t came_ns;        /* arrival of the first block after moved_ns; 0 = none */
    uint64_t wrote_ns;       /* same as moved_ns, but unchanged when an incomplete base restarts */
    uint64_t rest_ns;        /* until then we yield only to a side that clearly learned more */
    uint64_t *from;          /* [blocks] conn that each block was requested from, or BLOCK_... */
    uint32_t cursor;         /* all blocks before it are present */
    uint32_t blocks_written; /* blocks given to the learner */
    uint64_t bytes;          /* bytes received for this base */
};

#define BLOCK_MISSING 0
#define BLOCK_PENDING 1
#define BLOCK_WRITTEN 2 /* smaller than any conn */

/* State of rolling_snapshot.c. */
struct rolling_snapshot {
    /* The line could carry the swarm's rumors: a complete base is to be fetched. */
    bool wants_whole;
    uint64_t rumors_before; /* known rumors at the start of this round */
    uint64_t donor;         /* conn of the donor */
};

/* A READ for serve.c. */
struct reading {
    bool is_out;      /* the READ was requested and not answered */
    uint32_t bases;   /* bases taken over at the request: a later base makes the answer useless */
    uint64_t conn;    /* conn of the neighbour that wants the blocks */
    struct span span; /* blocks to read */
};

/* State of serve.c. */
struct serve {
    struct reading reading; /* the READ under way */
    bool is_save_asked;     /* the owner wants a checkpoint early */
    bool is_saving;         /* a SAVE is under way */
    /* Bases taken over when the SAVE was requested; a later base makes it useless. */
    uint32_t saving_bases;
    const struct signed_head *
        *heads;         /* [incarnations_max] scratch: head of each origin in an answer, or NULL */
    uint64_t served_ns; /* last history or blocks sent; 0 = never */
    uint64_t next_ns;   /* earliest start of the next READ for a peer */
    uint32_t turn;      /* slot before the one that is served next */
    uint64_t save_ns;   /* time of the next checkpoint */
    uint64_t bytes;     /* bytes of blocks sent */
};

struct transfer {
    uint32_t blocks;                       /* blocks of a base */
    uint64_t *seen;                        /* scratch buffer: a bit per origin */
    struct history_request request;        /* a requested history */
    struct fetch fetch;                    /* a base being fetched */
    struct rolling_snapshot rolling;       /* blocks instead of rumors, over a thin line */
    struct pending_blocks pending;         /* received blocks */
    struct base_digest base_digest;        /* check of the complete base */
    struct digest_votes digest_votes;      /* digest votes on our base */
    struct blame blame;                    /* donors, and members that gave a false base */
    struct serve serve;                    /* our base for others */
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

/* Fetches all blocks of a base of this many rumors (FETCHING), or starts another round of blocks
 * (ROLLING). */
void fetch_begin(struct node *node, enum base_state state, uint64_t rumors);
bool fetch_may_ask(const struct node *node, const struct peer *peer);

/* Requests a checkpoint, because the last one is of another base. */
void serve_save_soon(struct node *node);
/* Returns true if this node served its base lately. Such a node does not give up its base. */
bool serve_has_served_lately(const struct node *node);

#endif
