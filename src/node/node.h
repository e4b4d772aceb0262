/* The node: its neighbours, its rumors, and how much it publishes. Events in, actions out.
 *
 *                 node_on_…(now, …)                       node_next(&action) until false
 *   transport ──► accept connected bytes sent closed ─►┐ ┌─► DIAL SEND HANGUP ──► transport
 *   learner   ──► step published applied read saved ──► NODE ─► APPLY TRAIN PUBLISH
 *                                                       │       READ WRITE SAVE PREDICT ─► learner
 *   clock     ──► time ──────────────────────────────►┘ └─► NOTE RESTART FINISHED ──► owner
 *
 * Single-threaded and deterministic: it reads no clock (now is monotonic nanoseconds), draws all
 * randomness from its seed, calls nobody, and allocates nothing after birth. The daemon gives it
 * sockets and a thread, a simulation gives it a queue of events: same code.
 *
 * Bytes passed in are borrowed for the call. Bytes in SEND stay the node's until sent or closed; at
 * most one SEND per connection is outstanding. After every event ask for actions until there are
 * none, and call node_on_time at node_wake_ns at the latest. What is inside is in core.h.
 */
#ifndef HEARSAY_NODE_NODE_H
#define HEARSAY_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/update.h"
#include "crypto/identity.h"
#include "node/kept.h"
#include "node/notes.h"
#include "node/question.h"
#include "socket/address.h"
#include "wire/rumor.h"

#define NODE_SEEDS_MAX       64
#define NODE_INCARNATIONS    1024           /* one process may go through so many */
#define NODE_PATIENCE_MAX_NS 10000000000ull /* no neighbour may be silent for longer */
#define NODE_READ_MAX        65536          /* entries of one READ */
#define NODE_PEERS_MAX       128
#define NODE_SERVE_AUTO      UINT64_MAX     /* as transfer/serve.c finds */
#define NODE_JOIN_WAIT_NS    10000000000ull /* for an answer, before a node goes on alone */
#define NODE_LOST_WAIT_NS    60000000000ull /* the same, once somebody has answered */

struct node_limits {
    uint32_t peers_max;        /* conversations at once */
    uint32_t members_max;      /* members remembered */
    uint32_t incarnations_max; /* origins: what each has published stays in the sum for ever */
    uint32_t listed_max;       /* of them, beside a block; 0: as many as may matter. For tests */
    uint32_t half_open_max;    /* callers that have not proved the swarm key */
    uint32_t half_open_per_net_max; /* the same, from one network (address_network) */
    bool low_ports;                 /* members are called at ports below 1024, too */
    bool quarantines;        /* who harms is put out by votes of most members (quarantine.h) */
    double weight_max;       /* times what is usual that a member counts; 0: no bound (shares.h) */
    uint64_t handshake_ns;   /* time to prove it, from the connection on */
    uint64_t dial_ns;        /* for a lookup and a connection; 0: handshake_ns is for both, and a
                                connection has no packets (simulated) */
    uint64_t silence_ns;     /* a neighbour silent for so long is gone */
    size_t send_queue_bytes; /* waiting for one neighbour */
    double notes_per_s;      /* notes that others can cause */
    uint32_t apply_window;   /* entries given to the learner and not yet applied */
    struct question_form answers; /* questions that it answers at most */
    uint16_t protocol_max;        /* the newest version it speaks; 0: PROTOCOL_NEWEST. For tests */
};

struct node_keys {
    struct arena *memory;   /* node_keys_bytes, which outlive the node; NULL: that of all else */
    const uint8_t *entropy; /* [SEED_BYTES] all keys that it makes follow from it; read at birth */
};

struct node_options {
    const struct identity *identity; /* its keys and id; the owner's */
    const uint8_t *swarm_key;        /* [KEY_BYTES] lets a node enter; read at birth */
    struct node_keys keys;           /* what it makes keys of, and where all lie */
    const char *swarm_id;            /* the name of the swarm */
    const char *model;               /* its description: equal texts, equal models */
    const char *settings;            /* what all must share (connection/settings.h), or NULL */
    uint64_t parameters;             /* of the model */
    uint64_t digest;                 /* of the base at birth */
    uint32_t block_entries; /* the same everywhere: BLOCK_ENTRIES, or less in a small world */
    uint64_t incarnation;   /* higher than any earlier one of this node */
    const uint8_t *history; /* the rumors behind that base (node_on_saved); read at birth */
    size_t history_bytes;   /* 0: the base is the initial one, b0 */
    bool has_operator;      /* somebody may put members out of the swarm: */
    uint8_t operator_id[ID_BYTES]; /* whoever has the secret half of this key */
    struct node_kept kept;         /* what is known already of such orders, and the like */
    uint64_t wall_ms; /* what the wall clock shows at birth, since 1970; 0: not known */
    uint64_t seed;    /* for choices; 0: drawn from entropy */

    uint16_t listen_port;                 /* 0: it only dials */
    struct address advertise;             /* what others are to dial; host "": what they see */
    struct address seeds[NODE_SEEDS_MAX]; /* whom to dial first */
    uint32_t seeds_count;                 /* how many of them */

    bool trains;            /* no: it only keeps and passes on */
    uint64_t bytes_per_s;   /* of rumors, before copies; 0: as rate/budget.c finds */
    uint64_t uplink_max;    /* bytes per second sent to all together; 0: as links allow */
    uint64_t downlink_max;  /* bytes per second received from all together; 0: any */
    uint64_t neighbour_max; /* bytes per second sent to any one; 0: as its link allows */
    uint64_t interval_ns;   /* between two publications, in the mean; 0: as outer_step.h says */
    uint32_t steps_min;    /* local steps between two publications; 0: by rate/publish_schedule.c */
    float tau;             /* threshold of what is published; 0: what fits */
    double gain;           /* 0: as outer_step.h says */
    double beta;           /* outer momentum; < 0: as outer_step.h says */
    double held;           /* part of what stays unpublished that leaves the weights; < 0: auto */
    double momentum;       /* that lengthens local steps, in [0, 1) */
    double partition_s;    /* sides that both learned alone for longer merge (partition.c) */
    bool weigh_throughput; /* shares by samples per second; no: equal ones */
    size_t log_bytes;      /* of the rumor log */
    uint64_t serve_bytes_per_s; /* of blocks to others, while training; 0: no bound; or AUTO */
    uint64_t save_ns;           /* between two checkpoints; 0: none */
    uint64_t grace_ns;          /* leaving takes no longer */
    struct node_limits limits;  /* what it keeps and waits for at most */
};

enum action_kind {
    ACTION_DIAL, /* conn, address, segment_bytes: connect, then node_on_connected or node_on_closed
                  */
    ACTION_SEND, /* conn, bytes, count: then node_on_sent */
    ACTION_HANGUP,  /* conn: close, then node_on_closed */
    ACTION_APPLY,   /* update: apply it, then node_on_applied; valid until the next node_next */
    ACTION_TRAIN,   /* swarm_samples: the base is the swarm's: train (once; if options.trains) */
    ACTION_PUBLISH, /* terms: cut an update, then node_on_published */
    ACTION_READ,    /* first, entries: read it, perhaps during a step, then node_on_read */
    ACTION_WRITE,   /* first, entries, units, keep_weights: put it there, then node_on_applied */
    ACTION_SAVE,    /* save all that the learner is; then node_on_saved */
    ACTION_PREDICT, /* bytes, count; entries: samples; then node_on_predicted */
    ACTION_NOTE,    /* note */
    ACTION_RESTART, /* nobody has the base being taken over any more: begin again from disk */
    ACTION_FINISHED /* the node has left: stop */
};

struct action {
    enum action_kind kind;
    uint64_t conn;               /* DIAL, SEND, HANGUP: which conversation */
    struct address address;      /* DIAL: where */
    uint32_t segment_bytes;      /* DIAL: of a packet's payload at most; 0: what the system takes */
    const uint8_t *bytes;        /* SEND: what */
    size_t count;                /* SEND: how many bytes */
    const struct update *update; /* APPLY: what */
    uint64_t tag;                /* APPLY: the origin of the rumor */
    uint32_t seq;                /* APPLY: its number */
    bool takes_out;              /* APPLY: levels are negated: the rumor leaves the base */
    bool compares;               /* APPLY: and say how far it agrees (node_on_agreement) */
    bool own;                    /* APPLY: an earlier incarnation's (learner_apply_own) */
    double beta;                 /* APPLY: outer momentum (replica.h) */
    uint64_t swarm_samples;      /* TRAIN: learned by all so far */
    struct publish_terms terms;  /* PUBLISH: how much, with which weight */
    bool last;                   /* PUBLISH: end training first; there will be no other */
    uint64_t first;              /* READ, WRITE: the first entry; SAVE: the owner's (executor.h) */
    uint32_t entries;            /* READ, WRITE: how many */
    const int32_t *units;        /* WRITE: what they become; valid like update */
    bool keep_weights;           /* WRITE: the weights stay, so the residual takes up the rest */
    struct note note;            /* NOTE */
};

struct node;
size_t node_arena_bytes(const struct node_options *options);
size_t node_keys_bytes(uint32_t peers_max);
/* Is there room for all the origins of its history? */
bool node_can_restore(const struct node_options *options);
struct node *node_new(struct arena *arena, const struct node_options *options, uint64_t now_ns);
void node_free(struct node *node);

bool node_next(struct node *node, struct action *action);

/* Somebody connected from this address: the id of the new conversation, or 0: close at once. */
uint64_t node_on_accept(struct node *node, uint64_t now_ns, const struct address *from);
void node_on_connected(struct node *node, uint64_t now_ns, uint64_t conn);
void node_on_bytes(struct node *node, uint64_t now_ns, uint64_t conn, const uint8_t *bytes,
                   size_t count);
void node_on_sent(struct node *node, uint64_t now_ns, uint64_t conn);
/* why: from the transport, for the note; "" for an ordinary end. */
void node_on_closed(struct node *node, uint64_t now_ns, uint64_t conn, const char *why);

/* What is asked of the learner is done in the order in which it was asked, but for READ, which may
 * be before, and answered as it was done: the node knows the sum of which rumors it reads. */
void node_on_step(struct node *node, uint64_t now_ns, uint32_t steps, uint64_t samples);
/* The answer to PUBLISH, which took so long; count 0: there was nothing to publish. */
void node_on_published(struct node *node, uint64_t now_ns, const struct update *update,
                       uint64_t took_ns);
/* Before it: how far the oldest APPLY agreed with the residual, where that was asked for. */
void node_on_agreement(struct node *node, uint64_t now_ns, double agreement);
/* As many entries of the oldest APPLY or WRITE are done. */
void node_on_applied(struct node *node, uint64_t now_ns, uint32_t entries);
void node_on_read(struct node *node, uint64_t now_ns, const int32_t *units);
/* The answer to SAVE: the history of the base of this moment, *bytes of out[node_history_max]; 0:
 * it is b0. False: what was saved is of no use, because another base is being taken over. */
bool node_on_saved(struct node *node, uint64_t now_ns, uint8_t *out, size_t *bytes);
size_t node_history_max(const struct node_options *options);
/* The same of what the learner has now, when nothing it was given waits any more. */
size_t node_history(const struct node *node, uint8_t *out);
/* So many incarnations fit into a history, while other things wait to be sent, too. */
uint32_t node_incarnations_max(size_t send_queue_bytes);

void node_on_time(struct node *node, uint64_t now_ns);
uint64_t node_wake_ns(const struct node *node);

void node_leave(struct node *node, uint64_t now_ns); /* FINISHED comes when it is done */

#endif
