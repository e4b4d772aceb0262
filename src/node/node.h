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
 * none, and call node_on_time at node_wake_ns at the latest. core.h describes the inside of a node.
 */
#ifndef HEARSAY_NODE_NODE_H
#define HEARSAY_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/update.h"
#include "crypto/identity.h"
#include "node/inference_form.h"
#include "node/kept.h"
#include "node/notes.h"
#include "socket/address.h"
#include "wire/rumor.h"

#define NODE_SEEDS_MAX       64
#define NODE_INCARNATIONS    1024           /* most incarnations of one process */
#define NODE_PATIENCE_MAX_NS 10000000000ull /* upper limit of the neighbour timeout */
#define NODE_READ_MAX        65536          /* most entries of one READ */
#define NODE_PEERS_MAX       128
#define NODE_SERVE_AUTO      UINT64_MAX     /* the node chooses the limit (transfer/serve.c) */
#define NODE_JOIN_WAIT_NS    10000000000ull /* wait for an answer before a node trains alone */
#define NODE_LOST_WAIT_NS    60000000000ull /* wait without neighbours before it trains alone */

struct node_limits {
    uint32_t peers_max;   /* most conversations at once */
    uint32_t members_max; /* size of the member table */
    /* most origins (incarnations of members); their rumors stay in the base permanently */
    uint32_t incarnations_max;
    /* Most origins in the version of a block; 0 = LISTED_MAX of transfer/serve.c. For tests. */
    uint32_t listed_max;
    uint32_t half_open_max;         /* most callers that have not shown the swarm key */
    uint32_t half_open_per_net_max; /* most such callers from one network (address_network) */
    bool low_ports;                 /* allows dialling members at ports below 1024 */
    bool quarantines;               /* members expel harmful ones by majority vote (quarantine.h) */
    /* greatest weight of a member as a multiple of the median; 0 = unlimited (shares.h) */
    double weight_max;
    uint64_t handshake_ns; /* time limit of the handshake, from the connection on */
    uint64_t dial_ns;      /* time limit of lookup and connection; 0 = handshake_ns covers both and
                              packets have no size (simulated) */
    uint64_t silence_ns;   /* silence after which a neighbour is gone */
    size_t send_queue_bytes;       /* most bytes queued for one neighbour */
    double notes_per_s;            /* most notes per second that others can cause */
    uint32_t apply_window;         /* most entries given to the learner and not yet applied */
    struct inference_form answers; /* largest inference request that the node serves */
    uint16_t protocol_max; /* newest protocol version it speaks; 0 = PROTOCOL_NEWEST. For tests */
};

struct node_keys {
    /* arena with node_keys_bytes bytes for keys, outlives the node; NULL = the node's arena */
    struct arena *memory;
    const uint8_t *entropy; /* [SEED_BYTES] seed of all keys that the node makes; read at birth */
};

struct node_options {
    const struct identity *identity; /* keys and id; belongs to the owner */
    const uint8_t *swarm_key;        /* [KEY_BYTES] read at birth */
    struct node_keys keys;           /* memory and seed of keys */
    const char *swarm_id;            /* name of the swarm */
    const char *model;               /* model description, "FORM; START" (crypto/gate.h) */
    /* [16] model hash of the swarm whose first weights the base has; read at birth. NULL = that of
     * `model` */
    const uint8_t *model_hash;
    const char *parts;      /* the parts of the model, one a line (model_parts.h), or NULL */
    const char *settings;   /* settings that all nodes share (connection/settings.h), or NULL */
    uint64_t parameters;    /* number of parameters */
    uint64_t digest;        /* digest of the base at birth */
    uint32_t block_entries; /* equal on all nodes: BLOCK_ENTRIES, or less in a small test */
    uint64_t incarnation;   /* higher than any earlier incarnation of this node */
    /* rumors in the base at birth, as node_on_saved wrote them; read at birth */
    const uint8_t *history;
    size_t history_bytes;          /* 0 = the base is the initial one, b0 */
    bool has_operator;             /* an operator may expel and admit members */
    uint8_t operator_id[ID_BYTES]; /* public key of that operator */
    struct node_kept kept;         /* orders, proofs and votes of an earlier start */
    uint64_t wall_ms;              /* wall clock at birth, milliseconds since 1970; 0 = unknown */
    uint64_t seed;                 /* seed of random choices; 0 = drawn from entropy */

    uint16_t listen_port;                 /* port on which the node listens; 0 = it only dials */
    struct address advertise;             /* address for others to dial; host "" = as they see it */
    struct address seeds[NODE_SEEDS_MAX]; /* addresses to dial first */
    uint32_t seeds_count;                 /* number of seeds */

    bool trains; /* false = it only relays */
    /* bytes per second to publish, before copies for neighbours; 0 = auto (rate/budget.c) */
    uint64_t bytes_per_s;
    uint64_t uplink_max;    /* bytes per second sent in total; 0 = as links allow */
    uint64_t downlink_max;  /* bytes per second received in total; 0 = unlimited */
    uint64_t neighbour_max; /* bytes per second sent to one neighbour; 0 = as its link allows */
    uint64_t interval_ns;   /* mean time between publications; 0 = auto (outer_step.h) */
    uint32_t steps_min; /* local steps between publications; 0 = auto (rate/publish_schedule.c) */
    float tau;          /* threshold of published entries; 0 = as the budget allows */
    double gain;        /* weight of the swarm's progress; 0 = auto (outer_step.h) */
    double beta;        /* outer momentum; < 0 = auto (outer_step.h) */
    double withheld;    /* part of the unpublished rest withheld from the weights; < 0 = auto */
    double momentum;    /* momentum of the local optimizer, which lengthens its steps; in [0, 1) */
    /* seconds of separate training after which two sides merge as a partition (partition.c) */
    double partition_s;
    bool weigh_throughput; /* shares by samples per second; false = equal shares */
    size_t log_bytes;      /* size of the rumor log */
    /* bytes per second of blocks to others while training; 0 = unlimited; or NODE_SERVE_AUTO */
    uint64_t serve_bytes_per_s;
    uint64_t save_ns;          /* time between checkpoints; 0 = no checkpoints */
    uint64_t grace_ns;         /* longest time that leaving may take */
    struct node_limits limits; /* bounds of memory and time */
};

enum action_kind {
    ACTION_DIAL, /* conn, address, segment_bytes: connect, then node_on_connected or node_on_closed
                  */
    ACTION_SEND, /* conn, bytes, count: then node_on_sent */
    ACTION_HANGUP,  /* conn: close it, then node_on_closed */
    ACTION_APPLY,   /* update: apply it, then node_on_applied; valid until the next node_next */
    ACTION_TRAIN,   /* swarm_samples: the base is the swarm's; start training (once, with
                       options.trains) */
    ACTION_PUBLISH, /* terms: cut an update, then node_on_published */
    ACTION_READ,    /* first, entries: read the base, perhaps during a step, then node_on_read */
    ACTION_WRITE,   /* first, entries, units, keep_weights: write the base, then node_on_applied */
    ACTION_SAVE,    /* save the learner; then node_on_saved */
    ACTION_PREDICT, /* bytes, count; entries: samples; then node_on_predicted */
    ACTION_NOTE,    /* note */
    ACTION_RESTART, /* no node has the base being taken over any more: start again from disk */
    ACTION_FINISHED /* the node has left: stop */
};

struct action {
    enum action_kind kind;
    uint64_t conn;               /* DIAL, SEND, HANGUP: number of the conversation */
    struct address address;      /* DIAL: address to dial */
    uint32_t segment_bytes;      /* DIAL: largest payload of a packet; 0 = the system's choice */
    const uint8_t *bytes;        /* SEND: bytes to send; PREDICT: samples */
    size_t count;                /* SEND, PREDICT: number of bytes */
    const struct update *update; /* APPLY: update to apply */
    uint64_t tag;                /* APPLY: tag of the rumor's origin */
    uint32_t seq;                /* APPLY: number of the rumor */
    bool takes_out;              /* APPLY: retraction; levels are negated */
    bool compares;               /* APPLY: also report its agreement (node_on_agreement) */
    bool own;    /* APPLY: a rumor of an earlier incarnation of this node (learner_apply_own) */
    double beta; /* APPLY: outer momentum (replica.h) */
    uint64_t swarm_samples;     /* TRAIN: samples that the swarm has learned */
    struct publish_terms terms; /* PUBLISH: size and weight */
    bool last;                  /* PUBLISH: end training before it; no other will follow */
    uint64_t first;   /* READ, WRITE: first entry; SAVE: free for use by the owner (executor.h) */
    uint32_t entries; /* READ, WRITE: number of entries; PREDICT: number of samples */
    const int32_t *units; /* WRITE: new values; valid as long as update */
    bool keep_weights;    /* WRITE: the weights stay, and the residual takes the difference */
    struct note note;     /* NOTE: what happened */
};

struct node;
size_t node_arena_bytes(const struct node_options *options);
size_t node_keys_bytes(uint32_t peers_max);
/* Returns true if the node has space for all origins of its history. */
bool node_can_restore(const struct node_options *options);
struct node *node_new(struct arena *arena, const struct node_options *options, uint64_t now_ns);
void node_free(struct node *node);

bool node_next(struct node *node, struct action *action);

/* A caller connected from this address. Returns the id of the new conversation; 0 = close at once.
 */
uint64_t node_on_accept(struct node *node, uint64_t now_ns, const struct address *from);
void node_on_connected(struct node *node, uint64_t now_ns, uint64_t conn);
void node_on_bytes(struct node *node, uint64_t now_ns, uint64_t conn, const uint8_t *bytes,
                   size_t count);
void node_on_sent(struct node *node, uint64_t now_ns, uint64_t conn);
/* Ends the conversation. why: the transport's reason, for the note; "" = an ordinary end. */
void node_on_closed(struct node *node, uint64_t now_ns, uint64_t conn, const char *why);

/* Answers of the learner. It performs actions in the order of the requests. READ may be performed
 * earlier, but its answer keeps the order. So the node knows which rumors the block contains. */
void node_on_step(struct node *node, uint64_t now_ns, uint32_t steps, uint64_t samples);
/* Answers PUBLISH. took_ns: the learner's working time; count 0: there was nothing to publish. */
void node_on_published(struct node *node, uint64_t now_ns, const struct update *update,
                       uint64_t took_ns);
/* Reports the agreement of the oldest APPLY with the residual, if it was requested. Call it before
 * node_on_applied. */
void node_on_agreement(struct node *node, uint64_t now_ns, double agreement);
/* Answers the oldest APPLY or WRITE: `entries` of its entries are done. */
void node_on_applied(struct node *node, uint64_t now_ns, uint32_t entries);
void node_on_read(struct node *node, uint64_t now_ns, const int32_t *units);
/* Answers SAVE: writes the history of the present base, *bytes of out[node_history_max]; 0 = it is
 * b0. Returns false if the save is useless because another base is being taken over. */
bool node_on_saved(struct node *node, uint64_t now_ns, uint8_t *out, size_t *bytes);
size_t node_history_max(const struct node_options *options);
/* Writes the history of the learner's present base and returns its size. Call it when no update is
 * queued. */
size_t node_history(const struct node *node, uint8_t *out);
/* Returns how many incarnations fit into a history while other messages are queued. */
uint32_t node_incarnations_max(size_t send_queue_bytes);

void node_on_time(struct node *node, uint64_t now_ns);
uint64_t node_wake_ns(const struct node *node);

void node_leave(struct node *node, uint64_t now_ns); /* leaves; FINISHED follows */

#endif
