/* Dial the configured peers, to see whether they let this node in.
 *
 *   visits (all at once), each: a dial of the name, as a node dials (socket/connector.h) ──► gate,
 *   handshake ──► a large goodbye, before any hello ──► again, for the round trip
 *
 * A visit is the conversation of a node (peer.h) over a node's transport. It ends as soon as the
 * peer has proved its identity, so this node never becomes a member and the peer notes nothing.
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_VISIT_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_VISIT_H

#include "commands/doctor/doctor.h"
#include "node/connection/peer.h"
#include "socket/transport.h"

#define NUMBERS_MAX 8 /* of one name */
#define ROUNDS      3
#define MS_NS       1000000ull
#define TRIED_BYTES TRANSPORT_WHY_BYTES

/* One configured peer being visited. */
struct visit {
    struct address address;             /* as configured */
    struct address number[NUMBERS_MAX]; /* that the address resolves to */
    int numbers;                        /* how many */
    bool is_self;                       /* it is the address of this node: not to be dialled */

    struct peer peer;        /* the conversation */
    uint64_t deadline_ns;    /* of what is under way */
    bool is_connected;       /* the present dial has connected */
    bool late;               /* the deadline has passed */
    struct address reached;  /* the number that connected, if rounds > 0 */
    char tried[TRIED_BYTES]; /* numbers that failed: "192.0.2.1: connection refused; ..." */

    uint64_t trip_ns[ROUNDS]; /* of each connection made */
    int rounds;               /* connections made */
    bool takes_first; /* it has other first weights, and was dialled again with its model hash */
    bool is_dialled_again;    /* that call is still to be made */
    bool is_through;          /* the handshake was completed, in the first round */
    uint8_t id[ID_BYTES];     /* of the other, if is_through */
    uint16_t protocol;        /* time until it spoke our protocol */
    uint32_t swallowed_bytes; /* size of packets that do not arrive there; 0: all do */
    char why[sizeof((struct problem *)NULL)->text]; /* the reason why it is not through */
    bool is_over;                                   /* nothing more is to be tried */
};

/* All visits. The caller gives doctor, credentials, can_greet, and visits with address and number.
 */
struct round {
    struct doctor *doctor;          /* whose lines these become */
    struct transport *transport;    /* of this round */
    struct credentials credentials; /* if can_greet */
    struct entropy entropy;         /* for the handshakes */
    bool can_greet;                 /* keys and model are there */
    struct visit *visits;           /* [count] */
    uint32_t count;                 /* of the peers configured */
    uint64_t end_ns;                /* of the whole round */
    uint64_t dials;                 /* so far: numbers the connections */
};

/* Visit each that has numbers and is not this node. Returns in time, whatever the others do. */
void visit_all(struct round *round);

#endif
