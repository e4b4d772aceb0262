/* Dials the configured peers, to see whether they let this node in.
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

#define NUMBERS_MAX 8 /* most numeric addresses of one name */
#define ROUNDS      3
#define MS_NS       1000000ull
#define TRIED_BYTES TRANSPORT_WHY_BYTES

/* One configured peer being visited. */
struct visit {
    struct address address;             /* address as configured */
    struct address number[NUMBERS_MAX]; /* numeric addresses to which it resolves */
    int numbers;                        /* number of those addresses */
    bool is_self;                       /* it is this node's own address, which is not dialled */

    struct peer peer;        /* conversation with the peer */
    uint64_t deadline_ns;    /* time limit of the present step */
    bool is_connected;       /* the present dial has connected */
    bool late;               /* the deadline has passed */
    struct address reached;  /* numeric address that connected, if rounds > 0 */
    char tried[TRIED_BYTES]; /* numbers that failed: "192.0.2.1: connection refused; ..." */

    uint64_t trip_ns[ROUNDS]; /* of each connection made */
    int rounds;               /* connections made */
    bool takes_first; /* it has other first weights, and was dialled again with its model hash */
    bool is_dialled_again;    /* that call is still to be made */
    bool is_through;          /* the handshake was completed, in the first round */
    uint8_t id[ID_BYTES];     /* id of the peer, if is_through */
    uint16_t protocol;        /* protocol version of the conversation; 0 = unknown */
    uint32_t swallowed_bytes; /* size of packets that do not arrive at the peer; 0 = all arrive */
    char why[sizeof((struct problem *)NULL)->text]; /* reason for which is_through is false */
    bool is_over;                                   /* the visit has ended */
};

/* All visits. The caller sets doctor, credentials, can_greet, and visits with address and
 * number. */
struct round {
    struct doctor *doctor;          /* receives the lines of the result */
    struct transport *transport;    /* transport of these visits */
    struct credentials credentials; /* credentials, if can_greet */
    struct entropy entropy;         /* source of ephemeral keys for the handshakes */
    bool can_greet;                 /* keys and model are available */
    struct visit *visits;           /* [count] */
    uint32_t count;                 /* number of configured peers */
    uint64_t end_ns;                /* time limit of all visits */
    uint64_t dials;                 /* dials so far; numbers the connections */
};

/* Visits each peer that has numeric addresses and is not this node. Returns in time, whatever the
 * peers do. */
void visit_all(struct round *round);

#endif
