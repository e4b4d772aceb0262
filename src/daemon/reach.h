/* Whether a node reaches any of its configured peers, and if not, why.
 *
 *   notes (why dialling failed) ─► reach ─► status line, log, hearsay status
 *   neighbours, each second ──►
 *
 * A node that was given peers and has had no neighbour for REACH_ALONE_NS, while dialling failed,
 * is alone: it trains on, for nobody. One without peers is the first of its swarm, and is not; nor
 * is one whose only peer is itself, which does not count as failed. One that never had a neighbour,
 * since a peer has another swarm, model or protocol, is shut out: to go on is of no use.
 * Held by tests/unit/daemon/test_event_log.c.
 */
#ifndef HEARSAY_DAEMON_REACH_H
#define HEARSAY_DAEMON_REACH_H

#include "node/notes.h"

#define REACH_ALONE_NS 10000000000ull /* as long as a joining node waits for an answer */

enum reach_certainty {
    REACH_GUESSED, /* nobody answers, or the connection just ends */
    REACH_TOLD,    /* the peer has said why */
    REACH_LASTING  /* it stays so until somebody mends a configuration or a key */
};

struct reach {
    uint32_t peers;    /* configured */
    uint64_t since_ns; /* the last time with a neighbour, or the start */
    bool had_one;      /* a neighbour, ever */
    bool differs;      /* a peer has another swarm, model or protocol; the last failure says so */
    enum reach_certainty certainty; /* of why: nothing that is less certain replaces it */
    char why[ADDRESS_TEXT_BYTES + sizeof((struct note *)NULL)->text]; /* the last failure to dial */
};

void reach_start(struct reach *reach, uint32_t peers, uint64_t now_ns);

/* Any note of the node; a failure to dial is kept, unless a more certain one is known. */
void reach_on_note(struct reach *reach, const struct note *note);

/* How many neighbours there are now. */
void reach_on_neighbours(struct reach *reach, uint64_t now_ns, uint32_t neighbours);

bool reach_is_alone(const struct reach *reach, uint64_t now_ns);
/* It is alone, and stays so until somebody mends a configuration. */
bool reach_is_shut_out(const struct reach *reach, uint64_t now_ns);

/* The node has shared what it knows until now: its base is the swarm's. */
bool reach_is_shared(const struct reach *reach, uint64_t now_ns);

/* Since when there is no neighbour. */
double reach_alone_s(const struct reach *reach, uint64_t now_ns);

#endif
