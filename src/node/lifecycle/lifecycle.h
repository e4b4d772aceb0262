/* The states a node is in. Each is an enum, a drawing, a table of allowed moves (lifecycle.c) and
 * one function that moves; any other move is our mistake and ends the process. All rooms may ask;
 * only the room named here moves.
 */
#ifndef HEARSAY_NODE_LIFECYCLE_LIFECYCLE_H
#define HEARSAY_NODE_LIFECYCLE_LIFECYCLE_H

#include "node/core.h"
#include "wire/record.h"

/* Joining. A node that was given seeds does not train before it holds what the swarm knows.
 *
 *   CALLING ── somebody answers ──► HEARING ── it holds what the swarm knows, ──► JOINED
 *      │                                       or no neighbour is left             ▲ │
 *      └── nobody answers for NODE_JOIN_WAIT_NS, or there are no seeds ────────────┘ └─ TRAIN given
 *                                                                                        ▼
 *                                                                                     TRAINING
 * Moved by join.c, by transfer when a base is whole or a round of a rolling one is over, and by
 * node.c (TRAINING). */
enum joining { JOINING_CALLING, JOINING_HEARING, JOINING_JOINED, JOINING_TRAINING, JOINING_STATES };

/* Leaving: enum stage, which stands in the record of each member (wire/record.h). Moved by leave.c.
 *
 *   RUNNING ── node_leave ──► LEAVING ── last publication out ──► SETTLED ── all agree ──► LEFT
 *                               └──────────────────────────────┴── grace time over ─────────► │ */

/* Publishing. Moved by rate/publish_schedule.c and leave.c.
 *
 *   IDLE ── it is time ──► WANTED ── PUBLISH given out ──► OUT ── published ──► IDLE
 *     └──────────────── the last one is out, or there will be none ───────────► OVER */
enum publishing {
    PUBLISHING_IDLE,
    PUBLISHING_WANTED,
    PUBLISHING_OUT,
    PUBLISHING_OVER,
    PUBLISHING_STATES
};

/* The base. Moved by transfer.
 *
 *            take over another base                 too slow for what the swarm publishes
 *   WHOLE ──────────────────────────► FETCHING ──────────────────────────────► ROLLING
 *     ▲ └─────────────────────────────────────────────────────────────────────►   │
 *     └──────── every block is here ────┘ ▲────── the line carries enough ────────┘
 *
 * A base that is FETCHING may begin anew, and each round of a ROLLING one does: moves to itself. A
 * base that is FETCHING or ROLLING is the sum of no version: it is shown and served to nobody. */
enum base_state { BASE_WHOLE, BASE_FETCHING, BASE_ROLLING, BASE_STATES };

struct lifecycle *lifecycle_new(struct arena *arena, const struct node_options *options);
size_t lifecycle_arena_bytes(void);

enum joining joining_state(const struct node *node);
void joining_move(struct node *node, enum joining to);
bool joining_has_joined(const struct node *node); /* JOINED or TRAINING */
/* JOINED, unless it is already; the note says why. */
void joining_join(struct node *node, const char *why);

enum stage leaving_stage(const struct node *node);
void leaving_move(struct node *node, enum stage to);

enum publishing publishing_state(const struct node *node);
void publishing_move(struct node *node, enum publishing to);

enum base_state base_state(const struct node *node);
void base_move(struct node *node, enum base_state to);
bool base_is_whole(const struct node *node);

#endif
