/* State that all folders of a node share: options, the present time, random numbers and notes; and
 * pointers to the state of each folder. The struct of a folder is defined in its private header or
 * a source file, so other folders cannot touch its members.
 *
 *   node.c ──► dispatch, timers ──► join, leave, expulsion ──► transfer, discovery ──► broadcast
 *     ──► rate, orders ──► membership, connection ──► lifecycle ──► notes
 *
 * Calls go only in this direction.
 *
 * Most events cost time in proportion to the neighbours and their own size. Most work over every
 * member or origin happens once or a few times a second.
 *
 * tests/house checks that folders call each other only in this direction, that no files include
 * each other in a circle, and that private headers stay in their folder.
 */
#ifndef HEARSAY_NODE_CORE_H
#define HEARSAY_NODE_CORE_H

#include "base/min_max.h"
#include "base/rng.h"
#include "base/time_units.h"
#include "crypto/secret.h"
#include "frame/frame.h"
#include "node/inspect.h"
#include "node/notes.h"

#define MESH_MAX 10 /* a swarm of up to this many live members is a full mesh */
/* Least number of neighbours that a node seeks in a swarm with more live members than MESH_MAX. */
#define DEGREE 8

struct node {
    struct node_options options; /* given to node_new; `incarnation` and `history` may change */
    uint64_t born_ns;            /* time when node_new was called */
    uint64_t now_ns;             /* time of the event being handled */
    struct arena *keys;          /* arena for secrets; only node_new allocates from it */
    struct entropy *entropy;     /* source of random bytes for keys */
    uint64_t seed;               /* seed of all random choices */
    struct rng rng;
    uint8_t context[CONTEXT_BYTES]; /* bytes that bind all signatures to this swarm and model */
    uint8_t *scratch;   /* [FRAME_MAX] scratch buffer for one message; not kept between calls */
    struct notes notes; /* notes that the owner has not fetched yet */

    struct lifecycle *lifecycle;
    struct connections *connections;
    struct membership *membership;
    struct orders *orders;
    struct proofs *proofs; /* proofs against members, and decisions by votes */
    struct votes *votes;
    struct admitted *admitted;
    struct key_rotation *key_rotation;
    struct rate *rate;           /* rates of links, schedule of publications */
    struct broadcast *broadcast; /* rumors between neighbours and the learner */
    struct discovery *discovery;
    struct transfer *transfer; /* transfers of a base to or from this node */
    struct join *join; /* decides when the node joins, is refused, or restarts without a base */
    struct leave *leave;
    struct finish *finish;                 /* detects that all members have finished */
    struct identity_clash *identity_clash; /* detects another process with this node's identity */
    struct expulsion *expulsion;
    struct inference *inference;
    struct suspension *suspension; /* detects proofs that most neighbours disobey */
    struct quarantine *quarantine; /* votes against harmful members; withholds their rumors */
    struct byzantine *byzantine;   /* detects members whose rumors harm */
    struct own_labels *own_labels; /* detects that this node's labels contradict the base */
    struct timers *timers;
};

#endif
