/* Tracks whether a node reaches any of its configured peers, and if not, why.
 *
 *   notes (why dialling failed) ─► reach ─► status line, log, hearsay status
 *   neighbours, each second ──►
 *
 * A node with configured peers is alone if it has had no neighbour for REACH_ALONE_NS and dialling
 * has failed: then its training helps no other node. A node without peers is the first of its
 * swarm, so it is not alone; nor is a node whose only peer is itself. A node is shut out if it is
 * alone, has never had a neighbour, and a peer has another swarm, model or protocol. Then it need
 * not continue. Tests: tests/unit/daemon/test_event_log.c.
 */
#ifndef HEARSAY_DAEMON_REACH_H
#define HEARSAY_DAEMON_REACH_H

#include "node/notes.h"

/* time without a neighbour after which a node is alone */
#define REACH_ALONE_NS 10000000000ull

enum reach_certainty {
    REACH_GUESSED, /* no peer has answered, or a connection ended without a reason */
    REACH_TOLD,    /* a peer has given the reason */
    REACH_LASTING  /* the reason lasts until a person changes a configuration or a key */
};

struct reach {
    uint32_t peers; /* number of configured peers */
    /* time at which the node last had a neighbour, or of its start */
    uint64_t since_ns;
    bool had_one;
    /* `why` is that a peer has another swarm, model or protocol */
    bool differs;
    /* Certainty of `why`; a less certain reason does not replace it. */
    enum reach_certainty certainty;
    /* Why dialling failed, as text; "" = it has not failed. */
    char why[ADDRESS_TEXT_BYTES + sizeof((struct note *)NULL)->text];
};

void reach_start(struct reach *reach, uint32_t peers, uint64_t now_ns);

/* If the note tells why dialling failed, keeps that reason, unless a more certain one is known. A
 * note of a new neighbour counts as reach_on_neighbours. */
void reach_on_note(struct reach *reach, const struct note *note);

void reach_on_neighbours(struct reach *reach, uint64_t now_ns, uint32_t neighbours);

bool reach_is_alone(const struct reach *reach, uint64_t now_ns);
/* Returns true if the node stays alone until a person changes a configuration. */
bool reach_is_shut_out(const struct reach *reach, uint64_t now_ns);

/* Returns true if the node has had a neighbour within REACH_ALONE_NS, so that its base equals
 * the base of the swarm. */
bool reach_is_shared(const struct reach *reach, uint64_t now_ns);

/* Returns the seconds since the node last had a neighbour, or since its start. */
double reach_alone_s(const struct reach *reach, uint64_t now_ns);

#endif
