/* The state of this folder; only its own files include it. */
#ifndef HEARSAY_NODE_BROADCAST_BROADCAST_PRIVATE_H
#define HEARSAY_NODE_BROADCAST_BROADCAST_PRIVATE_H

#include "base/bits.h"
#include "node/broadcast/apply_private.h"
#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "wire/equivocation_proof.h"

/* State per neighbour, by slot. Bits and counts are by origin index. */
struct broadcast_neighbour {
    /* origins whose rumors are not pushed to it: it sent PRUNE, or its queue is full */
    uint64_t *lazy;
    uint64_t *pruned;        /* origins whose rumors we asked it not to push */
    uint64_t *backlog;       /* origins whose rumors wait for space in the neighbour's queue */
    uint32_t *backlog_from;  /* by origin index: number of the origin's first rumor that waits */
    uint32_t backlog_count;  /* number of origins in the backlog */
    uint32_t backlog_cursor; /* index of the origin whose backlog was served last */
    /* bytes of blocks in its queue when the last rumor of its backlog was sent */
    size_t blocks_left;
    uint64_t hash;       /* hash of the neighbour's version */
    uint64_t asked_ns;   /* time of the last request for its whole version; 0 = never */
    bool is_compared;    /* the neighbour has shown its whole version */
    bool is_partitioned; /* this node and the neighbour learned much on two sides of a partition */
    uint64_t heads_ns;   /* time when it was last sent heads of a stream; 0 = never */
    uint32_t own_next;   /* number of own rumors that the neighbour has */
    uint64_t barred;     /* number of the neighbour's rumors of ids that are not admitted here */
    uint64_t knows;      /* rumors that the neighbour knows, over all origins */
};

#define ASKED_MAX 256

/* A recent request for an unknown origin. */
struct asked {
    uint64_t tag;   /* tag of the origin */
    uint64_t at_ns; /* time of the request; 0 = never */
};

/* State of repair.c. */
struct repair {
    uint32_t missing; /* number of origins with a gap under repair */
    uint32_t behind;  /* number of origins of which some neighbour has more rumors than this node */
    uint32_t turn;    /* index of the origin to check first; rotates */
    uint64_t asked_ns;             /* time of the last request for a missing rumor; 0 = never */
    struct asked asked[ASKED_MAX]; /* ring of recent requests for unknown origins */
    uint32_t asked_next;           /* index of the next entry to overwrite */
};

/* State of equivocation.c. */
struct equivocation {
    bool is_found;              /* `proof` holds a proof that was not fetched yet */
    uint8_t proof[PROOF_BYTES]; /* the proof, valid if is_found */
};

/* Counters of rumors.c. */
struct rumor_counts {
    uint64_t published;       /* number of own rumors published */
    uint64_t published_bytes; /* bytes of own rumors, each rumor once */
    uint64_t received;        /* number of new rumors of other nodes received */
    uint64_t received_bytes;  /* bytes of new rumors of other nodes */
    uint64_t duplicates;      /* number of rumors received again */
};

struct broadcast {
    struct versions versions; /* known rumors of each origin */
    struct origin *own;       /* origin of this node's present incarnation, in `versions` */
    uint64_t *seen;           /* scratch: a bit per origin */
    uint64_t advanced_ns;     /* time of the version's last change */
    uint64_t full_ns;         /* time of the last warning that the table is full; 0 = never */
    uint64_t fresh_ns;        /* while BASE_ROLLING: time up to which the base is current */
    uint32_t latest_shown;    /* number of latest origins that slices have shown in this rotation */
    bool lacks_first; /* this node has no base of its model hash yet, so its digest is unknown */
    bool remembers;   /* the weights contain publications of earlier incarnations */
    struct rumor_log log;                   /* the latest rumors, in order of arrival */
    struct repair repair;                   /* requests for missing rumors */
    struct apply apply;                     /* rumors on their way to the learner */
    struct retract retract;                 /* rumors being taken out */
    struct equivocation equivocation;       /* detected equivocation */
    struct progress *progress;              /* count of the samples that the swarm has learned */
    struct rumor_counts counts;             /* counters for the statistics */
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

/* Adds the origin of a new incarnation. Returns NULL if the table has no entry for it; then this
 * node takes none of its rumors. Adds a note when the table is nearly full. */
struct origin *broadcast_meet(struct node *node, const struct peer *from,
                              const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Adds an origin (versions_add) and sets its rumor limit from the orders. Returns NULL if the table
 * is full. */
struct origin *broadcast_add(const struct node *node, struct versions *versions,
                             const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Returns true if a history may list one more incarnation of the node `id`. The limit per node is
 * the largest that broadcast_meet ever grants, since origins arrive in another order at each node.
 * A joined node reserves entries for known nodes. */
bool broadcast_believes(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns true if the origin's member is expelled, so that its samples do not count. */
static inline bool origin_is_expelled(const struct origin *origin)
{
    return origin->keep != KEEP_ALL;
}

/* Returns how many of the latest origins to visit so that all live members are among them. */
uint32_t broadcast_latest_origins(const struct node *node);

/* push_backlog.c: sends a rumor to a neighbour now. Returns false if its queue is full. */
bool push_backlog_say(struct node *node, const struct peer *peer, const struct origin *origin,
                      const uint8_t *rumor, size_t bytes);
/* Queues this origin's rumors from number `from` on. */
void push_backlog_add(struct broadcast_neighbour *neighbour, uint32_t origin_index, uint32_t from);
void push_backlog_forget(struct broadcast_neighbour *neighbour, uint32_t origin_index);

/* broadcast_tree.c: asks this neighbour not to push this origin's rumors. */
void tree_prune(struct node *node, const struct peer *peer, const struct origin *origin);

/* equivocation.c: keeps a proof if two heads of one stream, ours and another, prove equivocation.
 */
void equivocation_found(struct node *node, const struct signed_head *ours,
                        const struct signed_head *theirs);
/* Checks the head of a refused rumor: it may prove equivocation by its origin. */
void equivocation_on_refused(struct node *node, const uint8_t *rumor, size_t bytes);
/* Finds the head of a rumor, even if the rumor has been taken out. Returns false if the log lacks
 * it. */
bool equivocation_head(const struct node *node, uint32_t origin_index, uint32_t seq,
                       struct signed_head *out);
/* If an entry of a neighbour's version shows another stream than ours, sends the neighbour our
 * heads of it. */
void equivocation_on_entry(struct node *node, const struct peer *from, const struct origin *origin,
                           const struct version_entry *entry);

/* repair.c: records that this neighbour has rumors of the origin before number `to`. */
void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from);
void repair_on_known(struct node *node, struct origin *origin);      /* call it for a new rumor */
void repair_forget(struct node *node);                               /* forgets every gap */
void repair_forget_origin(struct node *node, struct origin *origin); /* forgets this origin's gap */

#endif
