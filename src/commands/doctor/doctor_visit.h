/* Dials the configured peers, to see whether they let this node in.
 *
 *   visits (all at once), each: a dial of the name, as a node dials (socket/connector.h) ──► gate,
 *   handshake ──► a large goodbye, before any hello ──► dials again, for the round-trip time, and
 *   compares settings
 *
 * A visit uses a node's own conversation (peer.h) and transport. No connection goes beyond the
 * proof of identity and the exchange of settings, which a peer refuses to a node that is expelled
 * or not admitted. So this node never becomes a member, and the peer keeps no note of it.
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_VISIT_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_VISIT_H

#include "commands/doctor/doctor.h"
#include "node/connection/peer.h"
#include "node/connection/settings.h"
#include "socket/transport.h"

#define NUMBERS_MAX 8 /* maximum number of numeric addresses of one name */
#define ROUNDS      3
#define TRIED_BYTES TRANSPORT_WHY_BYTES

/* One configured peer being visited. */
struct visit {
    struct address address;             /* address of the peer as configured */
    struct address number[NUMBERS_MAX]; /* numeric addresses to which the name resolves */
    int numbers;
    bool is_self; /* the peer is this node itself, which is not dialled */

    struct peer peer;               /* conversation with the peer */
    struct credentials credentials; /* credentials for this peer; valid if the round can_greet */
    uint64_t deadline_ns;           /* time at which the current step of the visit times out */
    bool is_connected;              /* the current dial has connected */
    bool late;                      /* the current step has timed out */
    struct address reached;         /* numeric address that connected; valid if rounds > 0 */
    /* Numeric addresses that failed: "192.0.2.1: connection refused; ...". */
    char tried[TRIED_BYTES];

    uint64_t trip_ns[ROUNDS]; /* time that each connection took to open, in nanoseconds */
    int rounds;               /* number of connections opened */
    bool takes_first;         /* the peer has other first weights; later dials send its model */
    /* The peer has another model, but this command knows only one of the two, because the other is
     * that of a program; later dials send the peer's model. */
    bool takes_model;
    bool must_dial_again;
    bool is_through;      /* a handshake with the peer was completed */
    uint8_t id[ID_BYTES]; /* valid if is_through */
    uint16_t protocol;    /* protocol version of the conversation; 0 = unknown */
    bool awaits_settings; /* the peer has not answered our settings yet */
    /* Differences of the peer's settings from ours; empty if the peer sent no settings. */
    struct settings_difference difference;
    /* Size of packets that are lost on the way to the peer; 0 = none. */
    uint32_t swallowed_bytes;
    /* Why the peer does not let this node in; "" = it does, or this is not known yet. */
    char why[sizeof((struct problem *)NULL)->text];
    bool is_over;
};

/* All visits of one run. The caller sets doctor, credentials, settings, entropy, can_greet, count,
 * and of each visit address, number, numbers and is_self. */
struct round {
    struct doctor *doctor; /* receives the lines of the result */
    struct transport *transport;
    struct credentials credentials; /* credentials of this node; valid if can_greet */
    const char *settings;           /* settings of this node; valid if can_greet */
    struct message_reader *reader;  /* decoder of the peers' messages */
    struct entropy entropy;         /* source of ephemeral keys for the handshakes */
    bool is_of_program;             /* the state folder is of a program with its own model */
    bool can_greet;                 /* keys and model are available, so handshakes are possible */
    struct visit *visits;           /* [count] one visit for each configured peer */
    uint32_t count;
    uint64_t end_ns; /* time by which all visits must have ended */
    uint64_t dials;  /* dials so far; also numbers the connections */
};

/* Visits each peer that has a numeric address and is not this node. Returns by end_ns, whatever the
 * peers do. */
void visit_all(struct round *round);

#endif
