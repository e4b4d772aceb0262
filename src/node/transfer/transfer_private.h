/* The state of the room; nobody outside this folder includes this. */
#ifndef HEARSAY_NODE_TRANSFER_TRANSFER_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_TRANSFER_PRIVATE_H

#include "base/bits.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/history.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/transfer/base_digest_private.h"
#include "node/transfer/blame_private.h"
#include "node/transfer/opinions_private.h"
#include "node/transfer/pending_blocks_private.h"
#include "node/transfer/transfer.h"
#include "wire/block.h"

#define SERVING_NS  (10 * SECOND_NS) /* a node that has served within this may be asked for more */
#define READ_BLOCKS 8                /* blocks asked for, or read, at once */

/* Blocks in a row. */
struct span {
    uint32_t block; /* the first */
    uint32_t count; /* how many */
};

/* What this room keeps of a neighbour, by slot. */
struct transfer_neighbour {
    bool is_ahead;          /* it knows more than rumors will bring us */
    bool ours_preferred;    /* of its base and ours, ours is the one to be kept */
    bool is_decisive;       /* because one side has clearly learned more */
    bool peer_yields;       /* across a partition: it takes over our base, or else we its */
    uint64_t refused_ns;    /* when it had nothing of use to give; 0: never */
    bool has_given;         /* some block of the base that is being fetched */
    struct opinion opinion; /* what it says of our base */

    uint32_t asked_blocks;             /* of its base, that have not come */
    uint32_t asked_spans[FETCHES_MAX]; /* the same in spans, the oldest first */
    uint32_t asked_spans_count;        /* how many spans those are */
    uint32_t spans_max;                /* so many spans may be asked for at once */
    uint64_t gave_ns;                  /* when a block of it came, or the first was asked for */

    struct span fetches[FETCHES_MAX]; /* blocks of our base that it wants */
    uint32_t fetches_count;           /* how many spans those are */
    uint64_t fetched_ns;              /* when it asked for some last, or for our history */
    uint64_t serve_from; /* it is given blocks that have all that was in our log before that */
};

/* fetch.c's and takeover.c's: a history that was asked for. */
struct history_request {
    bool is_asked;  /* a neighbour was asked, and has not said all of it */
    uint64_t donor; /* that neighbour's conn; later, that of the one whose version we took over */
    uint64_t asked_ns; /* when it was asked, or said a part last */
    uint64_t parts;    /* of it that have come */
    uint8_t *history;  /* [incarnations_max] entries, as far as they have come */
    uint32_t entries;  /* how many those are */
    uint64_t digest;   /* of the base it is the history of */
    uint32_t *next;    /* [incarnations_max] rumors of each origin, by place, that it says */
};

/* fetch.c's. */
struct fetch {
    uint64_t rumors;         /* that the base taken over is the sum of */
    uint32_t bases;          /* taken over, or begun to be */
    bool keep_weights;       /* what was learned apart becomes residual */
    bool is_unannounced;     /* the base is whole, and neighbours do not know yet */
    bool is_false;           /* all blocks came, and it was not what its donor promised */
    uint64_t began_ns;       /* when this base, or this round, began */
    uint64_t noted_ns;       /* when progress was last noted */
    uint64_t moved_ns;       /* when a block was last written, or this began */
    uint64_t came_ns;        /* when the first one since then came; 0: none has */
    uint64_t wrote_ns;       /* as moved_ns, but not when a base that is not whole begins anew */
    uint64_t rest_ns;        /* until then we yield only to a side that clearly learned more */
    uint64_t *from;          /* [blocks] the conn that each was asked of, or BLOCK_... */
    uint32_t cursor;         /* no block before it is missing */
    uint32_t blocks_written; /* blocks that the learner has been given */
    uint64_t bytes;          /* received for it */
};

#define BLOCK_MISSING 0
#define BLOCK_PENDING 1
#define BLOCK_WRITTEN 2 /* conns are greater */

/* rolling_snapshot.c's. */
struct rolling_snapshot {
    bool wants_whole;       /* the line would carry what the swarm publishes: fetch a whole base */
    uint64_t rumors_before; /* rumors known of when this round began */
    uint64_t donor;         /* the conn whose blocks it takes */
};

/* Entries of our base on their way to serve.c. */
struct reading {
    bool is_out;      /* asked for, and not answered */
    uint32_t bases;   /* taken over when it was asked for: of another one it is of no use */
    uint64_t conn;    /* the neighbour it is for */
    struct span span; /* the blocks */
};

/* serve.c's. */
struct serve {
    struct reading reading; /* what the learner was asked for, for a neighbour */
    bool is_save_asked;     /* the owner wants a checkpoint before it is time */
    bool is_saving;         /* the learner was asked for all that it is, and has not answered */
    uint32_t saving_bases;  /* as reading.bases */
    const struct signed_head **heads; /* [incarnations_max] the last of each origin in an answer,
                                         by place, or NULL: scratch */
    uint64_t served_ns; /* when a neighbour was last sent our history or blocks; 0: never */
    uint64_t next_ns;   /* no block is read for others before */
    uint32_t turn;      /* the neighbour after this slot comes first */
    uint64_t save_ns;   /* when to save next */
    uint64_t bytes;     /* of blocks given to others */
};

struct transfer {
    uint32_t blocks;                       /* of a base */
    uint64_t *seen;                        /* bit per origin: scratch */
    struct history_request request;        /* a history that was asked for */
    struct fetch fetch;                    /* a base on its way to us */
    struct rolling_snapshot rolling;       /* blocks instead of rumors, over a thin line */
    struct pending_blocks pending;         /* blocks that came */
    struct base_digest base_digest;        /* whether they are what was promised */
    struct opinions opinions;              /* what others say of our base */
    struct blame blame;                    /* who gives it, and who gave a false one */
    struct serve serve;                    /* our base on its way to others */
    struct transfer_neighbour *neighbours; /* [peers_max], by slot */
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

/* Fetch all blocks, of a base of so many rumors (FETCHING), or anew (ROLLING). */
void fetch_begin(struct node *node, enum base_state state, uint64_t rumors);
bool fetch_may_ask(const struct node *node, const struct peer *peer);

/* Save soon: what there was before is of another base. */
void serve_save_soon(struct node *node);
/* Did we serve lately? A node that serves its base does not give it up. */
bool serve_has_served_lately(const struct node *node);

#endif
