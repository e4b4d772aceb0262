/* Calling on the others, to see whether they let us in.
 *
 *   visits (all at once), each: one number after the other until one connects ──► gate, handshake
 *   ──► goodbye, before any hello ──► again, for the round trip
 *
 * It is the conversation of a node (peer.h) over a node's transport, ended as soon as the other has
 * proved who it is: so we never become a member, and nothing is noted there.
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_VISIT_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_VISIT_H

#include "commands/doctor/doctor.h"
#include "node/connection/peer.h"
#include "socket/transport.h"

#define NUMBERS_MAX 8 /* of one name */
#define ROUNDS      3
#define MS_NS       1000000ull
#define TRIED_BYTES 512

struct visit {
    struct address address; /* as configured */
    struct address number[NUMBERS_MAX];
    int numbers;
    int trying; /* which of them */
    bool is_self;

    struct peer peer;
    uint64_t dialled_ns;
    uint64_t deadline_ns; /* of what is under way */
    bool is_connected;
    bool late;               /* the deadline has passed */
    char tried[TRIED_BYTES]; /* "192.0.2.1: connection refused; …" */

    uint64_t trip_ns[ROUNDS];
    int rounds;      /* connections made */
    bool is_through; /* the handshake is done, in the first round */
    uint8_t id[ID_BYTES];
    char why[sizeof((struct problem *)NULL)->text]; /* not */
    bool is_over;
};

/* All visits. The caller gives doctor, club, can_greet, and visits with address and numbers. */
struct round {
    struct doctor *doctor;
    struct transport *transport;
    struct credentials credentials;
    struct entropy entropy;
    bool can_greet; /* keys and model are there */
    struct visit *visits;
    uint32_t count;
    uint64_t end_ns;
    uint64_t dials; /* so far: numbers the connections */
    bool interrupted;
};

/* Visit each that has numbers and is not this node. Returns in time, whatever the others do. */
void visit_all(struct round *round);

#endif
