#ifndef HEARSAY_NODE_BROADCAST_BROADCAST_PRIVATE_H
#define HEARSAY_NODE_BROADCAST_BROADCAST_PRIVATE_H

#include "base/bits.h"
#include "node/broadcast/apply_private.h"
#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "wire/equivocation_proof.h"

/* State per neighbour, by slot. Arrays of bits and numbers are indexed by origin. */
struct broadcast_neighbour {
    uint64_t *lazy;    /* bit per origin: its rumors are not pushed to the neighbour */
    uint64_t *pruned;  /* bit per origin: we asked the neighbour not to push its rumors to us */
    uint64_t *backlog; /* bit per origin: its rumors wait for space in the neighbour's queue */
    uint32_t *backlog_from;  /* by origin index: number of the origin's first waiting rumor */
    uint32_t backlog_count;  /* number of origins in the backlog */
    uint32_t backlog_cursor; /* index of the origin whose waiting rumors were sent last */
    /* Bytes of blocks in the neighbour's queue when rumors of its backlog were last sent. */
    size_t blocks_left;
    uint64_t hash;       /* hash of the version that the neighbour last showed */
    uint64_t asked_ns;   /* time of the last request for the neighbour's whole version; 0 = never */
    bool is_compared;    /* broadcast_is_compared */
    bool is_partitioned; /* broadcast_is_partitioned */
    uint64_t heads_ns;   /* time when the neighbour was last sent HEADS; 0 = never */
    uint32_t own_next;   /* number of this node's own rumors that the neighbour has */
    uint64_t barred;     /* number of rumors that the neighbour has and this node bars (barred.h) */
    uint64_t knows;      /* broadcast_knows */
};

#define ASKED_MAX 256

/* A recent request for the rumors of an unknown origin. */
struct asked {
    uint64_t tag;   /* tag of the origin */
    uint64_t at_ns; /* time of the request; 0 = never */
};

struct repair {
    uint32_t missing; /* number of origins whose missing rumors repair_review has to request */
    uint32_t behind;  /* number of origins of which a neighbour has rumors that this node lacks */
    uint32_t turn; /* calls of repair_review; modulo versions.count, index where the next starts */
    uint64_t asked_ns;             /* broadcast_asked_ns */
    struct asked asked[ASKED_MAX]; /* ring of recent requests for unknown origins */
    /* requests so far; modulo ASKED_MAX, the next index in `asked` */
    uint32_t asked_next;
};

struct equivocation {
    bool is_found; /* `proof` holds a proof that equivocation_take_proof has not returned yet */
    uint8_t proof[PROOF_BYTES];
};

struct rumor_counts {
    uint64_t published;       /* own rumors published */
    uint64_t published_bytes; /* bytes of own rumors, each rumor once */
    uint64_t received;        /* new rumors of other nodes received */
    uint64_t received_bytes;  /* bytes of new rumors of other nodes received */
    uint64_t duplicates;      /* received rumors that were already known */
};

struct broadcast {
    struct versions versions;
    struct origin *own;    /* origin of this node's present incarnation, in `versions` */
    uint64_t *seen;        /* scratch buffer: one bit per origin */
    uint64_t advanced_ns;  /* time of the version's last change */
    uint64_t full_ns;      /* time of the last note_full; 0 = never */
    uint64_t fresh_ns;     /* time up to which the base is current; only used in BASE_ROLLING */
    uint32_t latest_shown; /* how many of the latest origins slices have shown in this rotation */
    bool lacks_first;      /* broadcast_lacks_first */
    bool remembers;        /* the weights may contain publications of earlier incarnations */
    struct rumor_log log;
    struct repair repair;
    struct apply apply;
    struct retract retract;
    struct equivocation equivocation;
    struct progress *progress;
    struct rumor_counts counts;
    struct broadcast_neighbour *neighbours; /* [peers_max] by slot */
};

static inline struct broadcast_neighbour *broadcast_neighbour(const struct node *node,
                                                              const struct peer *peer)
{
    return &node->broadcast->neighbours[connection_slot(node, peer)];
}

static inline uint32_t broadcast_index(const struct node *node, const struct origin *origin)
{
    return versions_index(&node->broadcast->versions, origin);
}

static inline bool peer_is_origin(const struct peer *peer, const struct origin *origin)
{
    return memcmp(peer->id, origin->id, ID_BYTES) == 0;
}

/* Adds the origin of a new incarnation and returns it. Returns NULL if the table of origins must
 * not take it. Adds a note when the table is nearly full, or does not take the origin. */
struct origin *broadcast_meet(struct node *node, const struct peer *from,
                              const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Like versions_add, and sets the origin's `keep` and `is_accused` by the verdict on its node. */
struct origin *broadcast_add(const struct node *node, struct versions *versions,
                             const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Returns true if another node's history may list one more incarnation of the node `id`. The limit
 * per node is the largest that broadcast_meet ever grants, since origins arrive in another order at
 * each node. A joined node reserves entries for known nodes. */
bool broadcast_believes(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns true if a verdict on the origin's member limits the origin's rumors (origin->keep). Then
 * the origin's samples do not count. */
static inline bool origin_is_expelled(const struct origin *origin)
{
    return origin->keep != KEEP_ALL;
}

/* Returns how many origins, latest publication first, are assumed to contain the origins of all
 * live members: twice the live members, at least ACTIVE_MIN. */
uint32_t broadcast_latest_origins(const struct node *node);

/* Puts a rumor into the neighbour's queue. Returns false if the queue is full (push_backlog.c). */
bool push_backlog_say(struct node *node, const struct peer *peer, const struct origin *origin,
                      const uint8_t *rumor, size_t bytes);
/* Records that rumors of the origin from number `from` on wait for space in the queue, and makes
 * the link lazy for them. */
void push_backlog_add(struct broadcast_neighbour *neighbour, uint32_t origin_index, uint32_t from);
void push_backlog_forget(struct broadcast_neighbour *neighbour, uint32_t origin_index);

/* Asks this neighbour not to push this origin's rumors (broadcast_tree.c). */
void tree_prune(struct node *node, const struct peer *peer, const struct origin *origin);

/* Keeps a proof, unless one is kept, if two signed heads of one stream contradict each other. With
 * ours = theirs, keeps a proof if the signed head exceeds the limits of a valid rumor
 * (equivocation.c). */
void equivocation_found(struct node *node, const struct signed_head *ours,
                        const struct signed_head *theirs);
/* Keeps a proof if the origin signed the head of this refused rumor beyond the limits of a valid
 * rumor. */
void equivocation_on_refused(struct node *node, const uint8_t *rumor, size_t bytes);
/* Finds the head of the origin's rumor number `seq`, even if the rumor was retracted. Returns false
 * if the rumor is not the origin's last one and the log lacks it. */
bool equivocation_head(const struct node *node, uint32_t origin_index, uint32_t seq,
                       struct signed_head *out);
/* Sends the neighbour our heads of this origin's stream if the entry of the neighbour's version
 * shows another stream. */
void equivocation_on_entry(struct node *node, const struct peer *from, const struct origin *origin,
                           const struct version_entry *entry);

/* Records that this neighbour has the origin's rumors before number `to` (repair.c). */
void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from);
/* Call it after each new rumor of the origin: updates the origin's gap. */
void repair_on_known(struct node *node, struct origin *origin);
void repair_forget(struct node *node);
void repair_forget_origin(struct node *node, struct origin *origin);

#endif
