/* Tracks whether a node has neighbours, and if not, why.
 *
 *   notes (lost neighbours, failed dials) ─► reach ─► status line, log, hearsay status
 *   neighbours, each second ───────────────►
 *
 * A node with configured peers is alone if it has had no neighbour for REACH_ALONE_NS and the last
 * one was lost or dialling has failed: then its training helps no other node. A node without peers
 * is the first of its swarm, so it is alone only if former neighbours refuse it for a lasting
 * reason. A node whose only peer is itself is not alone. A node is shut out if it is alone, has
 * never had a neighbour, and a peer has another swarm, model or protocol. Then it need not
 * continue. Tests: tests/unit/daemon/test_event_log.c.
 */
#ifndef HEARSAY_DAEMON_REACH_H
#define HEARSAY_DAEMON_REACH_H

#include "node/notes.h"

/* time without a neighbour after which a node is alone */
#define REACH_ALONE_NS 10000000000ull

struct reach {
    uint32_t peers; /* number of configured peers */
    /* time at which the node last had a neighbour, or of its start */
    uint64_t since_ns;
    bool had_one;
    /* `why` is that a peer has another swarm, model or protocol */
    bool differs;
    /* Certainty of `why`; a less certain reason does not replace it. */
    enum note_certainty certainty;
    /* Why the node has no neighbour, as text; "" = it has one, or no dial has failed yet. */
    char why[ADDRESS_TEXT_BYTES + sizeof((struct note *)NULL)->text];
};

void reach_start(struct reach *reach, uint32_t peers, uint64_t now_ns);

/* If the note tells why a neighbour was lost or dialling failed, keeps that reason, unless a more
 * certain one is known. A note of a new neighbour counts as reach_on_neighbours. */
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
