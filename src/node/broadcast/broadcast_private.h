/* The private state of the broadcast folder. */
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
    /* bit per origin: its rumors are not pushed to the neighbour, which sent PRUNE or has a full
     * queue */
    uint64_t *lazy;
    uint64_t *pruned;  /* bit per origin: we asked the neighbour not to push its rumors to us */
    uint64_t *backlog; /* bit per origin: its rumors wait for space in the neighbour's queue */
    uint32_t *backlog_from;  /* by origin index: number of the origin's first waiting rumor */
    uint32_t backlog_count;  /* number of origins in the backlog */
    uint32_t backlog_cursor; /* index of the origin whose waiting rumors were sent last */
    /* bytes of blocks in the neighbour's queue when it was last sent a rumor that had waited */
    size_t blocks_left;
    uint64_t hash;       /* hash of the neighbour's version */
    uint64_t asked_ns;   /* time of the last request for the neighbour's whole version; 0 = never */
    bool is_compared;    /* the neighbour has shown its whole version */
    bool is_partitioned; /* this node and the neighbour learned much on different sides of a
                            partition */
    /* Time when the neighbour was last sent heads of a stream (HEADS); 0 = never. */
    uint64_t heads_ns;
    uint32_t own_next; /* number of this node's own rumors that the neighbour has */
    /* Number of rumors that the neighbour has and this node refuses, because the ids of their
     * origins are not admitted. */
    uint64_t barred;
    uint64_t knows; /* number of rumors that the neighbour knows, over all origins */
};

#define ASKED_MAX 256

/* A recent request for the rumors of an unknown origin. */
struct asked {
    uint64_t tag;   /* tag of the origin */
    uint64_t at_ns; /* time of the request; 0 = never */
};

/* State of repair.c. */
struct repair {
    uint32_t missing; /* number of origins whose missing rumors repair.c has to request */
    /* Number of origins of which a neighbour has rumors that this node lacks. */
    uint32_t behind;
    /* Index of the origin that the next call of repair_review checks first; rotates. */
    uint32_t turn;
    uint64_t asked_ns;             /* time of the last request for a missing rumor; 0 = never */
    struct asked asked[ASKED_MAX]; /* ring of recent requests for unknown origins */
    uint32_t asked_next;           /* index in `asked` of the next entry to overwrite */
};

/* State of equivocation.c. */
struct equivocation {
    bool is_found; /* `proof` holds a proof that equivocation_take_proof has not returned yet */
    uint8_t proof[PROOF_BYTES]; /* the proof, valid if is_found */
};

/* Counters of rumors.c. */
struct rumor_counts {
    uint64_t published;       /* number of own rumors published */
    uint64_t published_bytes; /* bytes of own rumors, each rumor once */
    uint64_t received;        /* number of new rumors of other nodes received */
    uint64_t received_bytes;  /* bytes of new rumors of other nodes received */
    uint64_t duplicates;      /* number of received rumors that were already known */
};

struct broadcast {
    struct versions versions; /* known rumors of each origin */
    struct origin *own;       /* origin of this node's present incarnation, in `versions` */
    uint64_t *seen;           /* scratch memory: one bit per origin */
    uint64_t advanced_ns;     /* time of the version's last change */
    uint64_t full_ns;  /* time of the last warning that the table of origins is full; 0 = never */
    uint64_t fresh_ns; /* time up to which the base is current; only used in BASE_ROLLING */
    /* Number of latest origins that slices have shown in the present rotation. */
    uint32_t latest_shown;
    bool lacks_first;     /* this node has no base of its adopted model yet, so the base's digest is
                             unknown */
    bool remembers;       /* the weights contain publications of earlier incarnations */
    struct rumor_log log; /* the latest rumors, in order of arrival */
    struct repair repair; /* requests for missing rumors */
    struct apply apply;   /* rumors on their way to the learner */
    struct retract retract; /* removal of expelled members' rumors from the learner's base */
    struct equivocation equivocation;       /* last proof of equivocation */
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

/* Adds the origin of a new incarnation and returns it. Returns NULL if the table of origins must
 * not take it; then this node takes no rumors of that origin. Adds a note when the table is nearly
 * full. */
struct origin *broadcast_meet(struct node *node, const struct peer *from,
                              const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Adds an origin (versions_add), sets its rumor limit from the orders, and returns it. Returns NULL
 * if the table is full. */
struct origin *broadcast_add(const struct node *node, struct versions *versions,
                             const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Returns true if a history of another node may list one more incarnation of the node `id`. The
 * limit per node is the largest that broadcast_meet ever grants, since origins arrive in another
 * order at each node. A joined node reserves entries for known nodes. */
bool broadcast_believes(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns true if the origin's member is expelled, so that its samples do not count. */
static inline bool origin_is_expelled(const struct origin *origin)
{
    return origin->keep != KEEP_ALL;
}

/* Returns how many origins, latest publication first, contain the origins of all live members:
 * twice the live members, at least ACTIVE_MIN. */
uint32_t broadcast_latest_origins(const struct node *node);

/* push_backlog.c: puts a rumor into the neighbour's queue now. Returns false if the queue is
 * full. */
bool push_backlog_say(struct node *node, const struct peer *peer, const struct origin *origin,
                      const uint8_t *rumor, size_t bytes);
/* Records that this origin's rumors from number `from` on wait for space in the neighbour's queue.
 */
void push_backlog_add(struct broadcast_neighbour *neighbour, uint32_t origin_index, uint32_t from);
void push_backlog_forget(struct broadcast_neighbour *neighbour, uint32_t origin_index);

/* broadcast_tree.c: asks this neighbour not to push this origin's rumors. */
void tree_prune(struct node *node, const struct peer *peer, const struct origin *origin);

/* equivocation.c: keeps a proof if `ours` and another head of the same stream prove equivocation.
 */
void equivocation_found(struct node *node, const struct signed_head *ours,
                        const struct signed_head *theirs);
/* Checks the head of a rumor that this node refused. Keeps a proof if the head proves
 * equivocation by the origin. */
void equivocation_on_refused(struct node *node, const uint8_t *rumor, size_t bytes);
/* Finds the head of the rumor with number `seq`, even if the rumor was retracted. Returns false if
 * the log lacks the rumor. */
bool equivocation_head(const struct node *node, uint32_t origin_index, uint32_t seq,
                       struct signed_head *out);
/* Sends the neighbour our heads of this origin's stream if an entry of the neighbour's version
 * shows a different stream of the origin. */
void equivocation_on_entry(struct node *node, const struct peer *from, const struct origin *origin,
                           const struct version_entry *entry);

/* repair.c: records that this neighbour has rumors of the origin before number `to`. */
void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from);
void repair_on_known(struct node *node,
                     struct origin *origin); /* Updates the origin's gap. Call it after each new
                                                rumor of the origin. */
void repair_forget(struct node *node);       /* Forgets the gaps of all origins. */
void repair_forget_origin(struct node *node,
                          struct origin *origin); /* Forgets this origin's gap. */

#endif
