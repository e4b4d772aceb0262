/* Whether a node reaches any of its configured peers, and if not, why.
 *
 *   notes (why dialling failed) ─► reach ─► status line, log, hearsay status
 *   neighbours, each second ──►
 *
 * A node with configured peers is alone if it has had no neighbour for REACH_ALONE_NS while
 * dialling failed: no other node gets what it trains. A node without peers is the first of its
 * swarm and not alone; nor is a node whose only peer is itself. A node is shut out if it never had
 * a neighbour because a peer has another swarm, model or protocol: it has no reason to continue.
 * Held by tests/unit/daemon/test_event_log.c.
 */
#ifndef HEARSAY_DAEMON_REACH_H
#define HEARSAY_DAEMON_REACH_H

#include "node/notes.h"

#define REACH_ALONE_NS 10000000000ull /* as long as a joining node waits for an answer */

enum reach_certainty {
    REACH_GUESSED, /* no peer answers, or the connection just ends */
    REACH_TOLD,    /* the peer has given the reason */
    REACH_LASTING  /* the reason lasts until a person changes a configuration or a key */
};

struct reach {
    uint32_t peers;    /* number of configured peers */
    uint64_t since_ns; /* last time with a neighbour, or the start */
    bool had_one;      /* the node has had a neighbour */
    bool differs;      /* by the last failure, a peer has another swarm, model or protocol */
    enum reach_certainty certainty; /* certainty of `why`, which no less certain reason replaces */
    /* Reason of the last failure to dial. */
    char why[ADDRESS_TEXT_BYTES + sizeof((struct note *)NULL)->text];
};

void reach_start(struct reach *reach, uint32_t peers, uint64_t now_ns);

/* Handles any note of the node; keeps the reason of a failed dial, unless a more certain one is
 * known. */
void reach_on_note(struct reach *reach, const struct note *note);

/* Sets the present number of neighbours. */
void reach_on_neighbours(struct reach *reach, uint64_t now_ns, uint32_t neighbours);

bool reach_is_alone(const struct reach *reach, uint64_t now_ns);
/* Returns true if the node is alone and stays so until a person changes a configuration. */
bool reach_is_shut_out(const struct reach *reach, uint64_t now_ns);

/* Returns true if the node has shared its progress until now, so that its base is the swarm's. */
bool reach_is_shared(const struct reach *reach, uint64_t now_ns);

/* Returns the seconds without a neighbour. */
double reach_alone_s(const struct reach *reach, uint64_t now_ns);

#endif
