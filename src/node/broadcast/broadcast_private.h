/* The state of the room; nobody outside this folder includes this. */
#ifndef HEARSAY_NODE_BROADCAST_BROADCAST_PRIVATE_H
#define HEARSAY_NODE_BROADCAST_BROADCAST_PRIVATE_H

#include "base/bits.h"
#include "node/broadcast/apply_private.h"
#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "wire/proof.h"

/* What this room keeps of a neighbour, by slot. Bits and counts are by an origin's place. */
struct broadcast_neighbour {
    uint64_t *lazy;         /* it asked us not to push this origin's rumors, or its queue is full */
    uint64_t *pruned;       /* we asked it not to push this origin's rumors */
    uint64_t *backlog;      /* its queue had no room for what it is to have of this origin */
    uint32_t *backlog_from; /* the first rumor that it is to have then */
    uint32_t backlog_count; /* origins in the backlog */
    uint32_t backlog_cursor; /* the origin that was served last from it */
    size_t blocks_left;      /* bytes of blocks that waited when a rumor of it went last */
    uint64_t hash;           /* of the version that it showed last */
    uint64_t asked_ns;       /* when it was asked to show all of it; 0: never */
    bool is_compared;        /* it has shown its whole version */
    bool is_partitioned;     /* it and we have learned much without each other */
    uint64_t heads_ns;       /* when it was last said heads of a stream; 0: never */
    uint32_t own_next;       /* how many of our own rumors it has, as it said last */
    uint64_t barred;         /* rumors that it has, of who may not be in the swarm, and we not */
    uint64_t knows;          /* how many rumors it has in all, as it said last */
};

#define ASKED_MAX 256

/* An origin that is not known yet, asked for lately. */
struct asked {
    uint64_t tag;   /* the origin */
    uint64_t at_ns; /* when somebody was asked for it; 0: never */
};

/* repair.c's. */
struct repair {
    uint32_t missing;              /* origins with a gap that is looked after */
    uint32_t behind;               /* origins of which more was shown than we hold */
    uint32_t turn;                 /* the origin that is looked at first; another each time */
    uint64_t asked_ns;             /* when something missing was last asked for; 0: never */
    struct asked asked[ASKED_MAX]; /* a ring */
    uint32_t asked_next;           /* where the next goes */
};

/* fork.c's. */
struct fork {
    bool is_found;              /* and the proof was not taken yet */
    uint8_t proof[PROOF_BYTES]; /* that proof */
};

/* What rumors.c has counted. */
struct rumor_counts {
    uint64_t published;       /* rumors of our own */
    uint64_t published_bytes; /* their bytes, once each */
    uint64_t received;        /* rumors of others that were new */
    uint64_t received_bytes;  /* their bytes */
    uint64_t duplicates;      /* rumors that came again */
};

struct broadcast {
    struct versions versions;   /* what is known, of whom */
    struct origin *own;         /* this incarnation of this node, among them */
    uint64_t *seen;             /* bit per origin: scratch */
    uint64_t advanced_ns;       /* when the version last did */
    uint64_t full_ns;           /* when it was last said that there is no room; 0: never */
    uint64_t fresh_ns;          /* while ROLLING: the base is as of this moment */
    uint32_t latest_shown;      /* origins that published last and have been in slices */
    bool remembers;             /* the weights have seen earlier incarnations publish */
    struct rumor_log log;       /* the last rumors, as they came */
    struct repair repair;       /* what did not come */
    struct apply apply;         /* what goes to the learner */
    struct retract retract;     /* what is taken out again */
    struct fork fork;           /* a stream that was found to be two */
    struct progress *progress;  /* how far all have learned */
    struct rumor_counts counts; /* for the statistics */
    struct broadcast_neighbour *neighbours; /* [peers_max], by slot */
};

static inline struct broadcast_neighbour *broadcast_neighbour(const struct node *node,
                                                              const struct peer *peer)
{
    return &node->broadcast->neighbours[connection_slot(node, peer)];
}

static inline uint32_t broadcast_place(const struct node *node, const struct origin *origin)
{
    return versions_place(&node->broadcast->versions, origin);
}

static inline bool peer_is_origin(const struct peer *peer, const struct origin *origin)
{
    return memcmp(peer->id, origin->id, ID_BYTES) == 0;
}

/* A new incarnation is known from now on; NULL: there is no room for it, so that nobody here will
 * take its rumors. When room gets scarce, that is said in time. */
struct origin *broadcast_meet(struct node *node, const struct peer *from,
                              const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* As versions_add; and what the orders keep of it. */
struct origin *broadcast_add(const struct node *node, struct versions *versions,
                             const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* May a history say another incarnation of this node? In what order it was met does not matter: of
 * one node no more are believed than could ever have been met, and a node that has joined keeps
 * places for those whom it knows. */
bool broadcast_believes(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Is the origin a member's that has been expelled? What it learned counts for nothing. */
static inline bool origin_is_expelled(const struct origin *origin)
{
    return origin->keep != KEEP_ALL;
}

/* The live members are among so many of the latest origins. */
uint32_t broadcast_latest_origins(const struct node *node);

/* push_backlog.c: a rumor to a neighbour, now; false: its queue has no room. */
bool push_backlog_say(struct node *node, const struct peer *peer, const struct origin *origin,
                      const uint8_t *rumor, size_t bytes);
/* It is to have this origin's rumors from there on. */
void push_backlog_add(struct broadcast_neighbour *neighbour, uint32_t place, uint32_t from);
void push_backlog_forget(struct broadcast_neighbour *neighbour, uint32_t place);

/* broadcast_tree.c: ask this neighbour not to push this origin's rumors. */
void tree_prune(struct node *node, const struct peer *peer, const struct origin *origin);

/* fork.c: these two heads of one stream, ours and another, may contradict each other. */
void fork_found(struct node *node, const struct signed_head *ours,
                const struct signed_head *theirs);
/* A rumor that nobody takes: its head may show to all that its origin lies. */
void fork_on_refused(struct node *node, const uint8_t *rumor, size_t bytes);
/* The head of the rumor with this number, if it is here; what has been taken out may be. */
bool fork_head(const struct node *node, uint32_t place, uint32_t seq, struct signed_head *out);
/* An entry of a neighbour's version: if it is of another stream than ours, it is said what we have
 * of that. */
void fork_on_entry(struct node *node, const struct peer *from, const struct origin *origin,
                   const struct version_entry *entry);

/* repair.c: rumors of this origin before `to` exist, and this neighbour has them. */
void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from);
void repair_on_known(struct node *node, struct origin *origin);      /* its next has come */
void repair_forget(struct node *node);                               /* no gap is known any more */
void repair_forget_origin(struct node *node, struct origin *origin); /* none of this origin */

#endif
