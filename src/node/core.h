/* What the rooms of a node share: the settings, the moment, chance and the notes; and where each
 * room's own state lies. A room's struct is known in its own folder only (<room>_private.h), so
 * that no other room can touch what is in it: the compiler holds that.
 *
 *   node.c ──► dispatch, timers ──► join, leave, expulsion ──► transfer, discovery ──► broadcast
 *     ──► rate, orders ──► membership, connection ──► lifecycle ──► notes   (this way only)
 *
 * No event costs more than the neighbours and what it brings: what looks at every member or every
 * origin is done once a second, or a few times.
 *
 * Held by tests/house: arrows between folders, circles between files, private headers.
 */
#ifndef HEARSAY_NODE_CORE_H
#define HEARSAY_NODE_CORE_H

#include "base/rng.h"
#include "crypto/secret.h"
#include "node/inspect.h"
#include "node/notes.h"
#include "wire/frame.h"

#define SECOND_NS ((uint64_t)1000000000)
#define MS_NS     (SECOND_NS / 1000)
#define MESH_MAX  10 /* up to this many live members, everyone is connected to everyone */
#define DEGREE    8  /* neighbours that a node looks for in a larger swarm */

struct node {
    struct node_options options;    /* as given at birth; never changed */
    uint64_t born_ns;               /* when this node was made */
    uint64_t now_ns;                /* the moment of the event that is being handled */
    struct arena *keys;             /* of it rooms take what holds keys; at birth only */
    struct entropy *entropy;        /* for keys */
    uint64_t seed;                  /* of all choices */
    struct rng rng;                 /* for choices: whom to ask, when to retry */
    uint8_t context[CONTEXT_BYTES]; /* binds rumors and records to this swarm and model */
    uint8_t *scratch;               /* [FRAME_MAX] one message, for the length of a call */
    struct notes notes;             /* what happened, until the owner fetches it */

    struct lifecycle *lifecycle;     /* which state the node is in */
    struct connections *connections; /* conversations with peers */
    struct membership *membership;   /* the members of the swarm */
    struct orders *orders;           /* of the operator */
    struct proofs *proofs;           /* that members lie */
    struct votes *votes;             /* of members, that others harm */
    struct admitted *admitted;       /* who may be in the swarm */
    struct rekey *rekey;             /* the swarm keys */
    struct rate *rate;               /* how much is sent and published, and when */
    struct broadcast *broadcast;     /* rumors on their way */
    struct discovery *discovery;     /* member gossip, and whom to dial */
    struct transfer *transfer;       /* a base on its way, in or out */
    struct join *join;               /* how the node finds out that it has joined */
    struct leave *leave;             /* how it leaves */
    struct expulsion *expulsion;     /* whether the operator's orders are carried out */
    struct questions *questions;     /* of who is no member */
    struct suspension *suspension;   /* which proofs most neighbours obey */
    struct quarantine *quarantine;   /* who votes that somebody is put out */
    struct effect *effect;           /* what each origin's rumors do to this node's own progress */
    struct timers *timers;           /* when it looks again */
};

#endif
