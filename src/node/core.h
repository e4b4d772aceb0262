/* State that all folders of a node share: options, the present time, random numbers and notes; and
 * pointers to the state of each folder. The struct of a folder is defined in its
 * <folder>_private.h, so the compiler keeps other folders from touching its members.
 *
 *   node.c ──► dispatch, timers ──► join, leave, expulsion ──► transfer, discovery ──► broadcast
 *     ──► rate, orders ──► membership, connection ──► lifecycle ──► notes
 *
 * Calls go only in this direction.
 *
 * An event costs time in proportion to the neighbours and its own size. Work over every member or
 * origin happens once or a few times a second.
 *
 * tests/house checks the arrows between folders, circles between files and private headers.
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
#define MESH_MAX  10 /* up to this many live members form a full mesh */
#define DEGREE    8  /* neighbours that a node seeks in a larger swarm */

struct node {
    struct node_options options;    /* as given to node_new; never changed */
    uint64_t born_ns;               /* time of node_new */
    uint64_t now_ns;                /* time of the event being handled */
    struct arena *keys;             /* arena for keys, used only by node_new */
    struct entropy *entropy;        /* source of random bytes for keys */
    uint64_t seed;                  /* seed of all random choices */
    struct rng rng;                 /* random choices, such as neighbours and retry times */
    uint8_t context[CONTEXT_BYTES]; /* binds rumors and records to this swarm and model */
    uint8_t *scratch;               /* [FRAME_MAX] scratch buffer for one message, within a call */
    struct notes notes;             /* notes of what happened, until the owner fetches them */

    struct lifecycle *lifecycle;           /* state machines of joining, publishing and leaving */
    struct connections *connections;       /* conversations with peers */
    struct membership *membership;         /* members of the swarm */
    struct orders *orders;                 /* the operator's orders */
    struct proofs *proofs;                 /* equivocation proofs */
    struct votes *votes;                   /* expulsion votes */
    struct admitted *admitted;             /* admitted ids */
    struct key_rotation *key_rotation;     /* swarm keys */
    struct rate *rate;                     /* rates of sending, and the schedule of publications */
    struct broadcast *broadcast;           /* rumors in transit */
    struct discovery *discovery;           /* member gossip and the dialer */
    struct transfer *transfer;             /* transfers of the base, in or out */
    struct join *join;                     /* detects that the node has joined */
    struct leave *leave;                   /* state of leaving */
    struct finish *finish;                 /* detects that all members have finished */
    struct identity_clash *identity_clash; /* detects a process with this node's identity */
    struct expulsion *expulsion;           /* execution of orders and proofs */
    struct inference *inference;           /* inference requests */
    struct suspension *suspension;         /* proofs that most neighbours obey */
    struct quarantine *quarantine;         /* casts votes and withholds rumors */
    struct byzantine *byzantine;           /* finds members whose rumors harm */
    struct timers *timers;                 /* next times of periodic work */
};

#endif
