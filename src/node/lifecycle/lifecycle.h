/* The state machines of a node. Each has an enum, a drawing, a table of allowed moves
 * (lifecycle.c), and one function that moves it. Any other move is a defect and ends the process.
 * Every folder may read a state; only the files named at its drawing move it. */
#ifndef HEARSAY_NODE_LIFECYCLE_LIFECYCLE_H
#define HEARSAY_NODE_LIFECYCLE_LIFECYCLE_H

#include "node/core.h"
#include "wire/record.h"

/* Joining. A node with seeds does not train before it holds the swarm's base or finds itself alone.
 *
 *   CALLING ── a member answers ──► HEARING ── the base is the swarm's, ──► JOINED
 *      │                                       or no neighbour is left      ▲ │
 *      └── no answer for NODE_JOIN_WAIT_NS, or no seeds ────────────────────┘ └─ TRAIN given out
 *                                                                                 ▼
 *                                                                              TRAINING
 * Moved by join.c, by transfer after a complete base or a round of a rolling one, and by node.c
 * (TRAINING). */
enum joining { JOINING_CALLING, JOINING_HEARING, JOINING_JOINED, JOINING_TRAINING, JOINING_STATES };

/* Leaving: enum stage, which each member's record contains (wire/record.h). Moved by leave.c.
 *
 *   RUNNING ── node_leave ──► LEAVING ── last publication out ──► SETTLED ── all agree ──► LEFT
 *                               └──────────────────────────────┴── grace over, or expelled ─► │
 *
 * A node that finishes (below) also goes through LEAVING to SETTLED, and stays until asked to
 * leave. */

/* Finishing. Moved by finish.c.
 *
 *   NOT ── node_finish ──► WAITS ── all members have finished and hold one base ──► DONE
 *
 * DONE is final: the node takes no more rumors, so its base stays. */
enum finishing { FINISHING_NOT, FINISHING_WAITS, FINISHING_DONE, FINISHING_STATES };

/* Publishing. Moved by rate/publish_schedule.c and leave.c.
 *
 *   IDLE ── one is due ──► WANTED ── PUBLISH given out ──► OUT ── published ──► IDLE
 *     └──────────── after the last one, or if the node never trains ────────────► OVER */
enum publishing {
    PUBLISHING_IDLE,
    PUBLISHING_WANTED,
    PUBLISHING_OUT,
    PUBLISHING_OVER,
    PUBLISHING_STATES
};

/* The base. Moved by transfer.
 *
 *            take over another base                 this node's link is too slow
 *   WHOLE ──────────────────────────► FETCHING ──────────────────────────────► ROLLING
 *     ▲ └─────────────────────────────────────────────────────────────────────►   │
 *     └──────── every block arrived ────┘ ▲────── the link is fast enough ────────┘
 *
 * A restarted fetch moves from FETCHING to FETCHING; each new round of blocks moves from ROLLING to
 * ROLLING. In both states this node's base matches no version, so it is neither shown nor served.
 */
enum base_state { BASE_WHOLE, BASE_FETCHING, BASE_ROLLING, BASE_STATES };

struct lifecycle *lifecycle_new(struct arena *arena, const struct node_options *options);
size_t lifecycle_arena_bytes(void);

enum joining joining_state(const struct node *node);
void joining_move(struct node *node, enum joining to);
/* Returns true in the states JOINED and TRAINING. */
bool joining_has_joined(const struct node *node);
/* Moves to JOINED and adds a note with the reason `why`, unless the node has joined before. */
void joining_join(struct node *node, const char *why);

enum stage leaving_stage(const struct node *node);
void leaving_move(struct node *node, enum stage to);
/* Records that the node must leave: its owner asked, or it is expelled or not admitted. */
void leaving_ask(struct node *node);
bool leaving_is_asked(const struct node *node);
/* Returns true while the node stays in the swarm: it runs, or it finishes and was not asked to
 * leave. */
bool leaving_stays(const struct node *node);

enum finishing finishing_state(const struct node *node);
void finishing_move(struct node *node, enum finishing to);

enum publishing publishing_state(const struct node *node);
void publishing_move(struct node *node, enum publishing to);

enum base_state base_state(const struct node *node);
void base_move(struct node *node, enum base_state to);
bool base_is_whole(const struct node *node);

#endif
