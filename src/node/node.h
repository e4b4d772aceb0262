/* The node: a state machine that receives events and returns actions.
 *
 *                 node_on_…(now, …)                       node_next(&action) until false
 *   transport ──► accept connected bytes sent closed ─►┐ ┌─► DIAL SEND HANGUP ──► transport
 *   learner   ──► step published applied read saved ──► NODE ─► APPLY TRIAL TRAIN PUBLISH
 *                                                       │       READ WRITE SAVE PREDICT ─► learner
 *   clock     ──► time ──────────────────────────────►┘ └─► NOTE RESTART FINISHED ──► owner
 *
 * Single-threaded and deterministic. It reads no clock (`now` is monotonic nanoseconds), draws all
 * random numbers from its seed, calls nothing outside, and allocates memory only in node_new. The
 * daemon drives it with sockets and a thread, a simulation with a queue of events.
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
#include "wire/address.h"
#include "wire/rumor.h"

#define NODE_SEEDS_MAX       64
#define NODE_INCARNATIONS    1024           /* incarnations that the owner reserves at once */
#define NODE_PATIENCE_MAX_NS 10000000000ull /* maximum of member.patience_ns (members.h) */
#define NODE_READ_MAX        65536          /* maximum entries of one READ */
#define NODE_PEERS_MAX       128
#define NODE_SERVE_AUTO      UINT64_MAX     /* the node chooses serve_bytes_per_s (serve.c) */
#define NODE_JOIN_WAIT_NS    10000000000ull /* age at which a node that met no swarm joins alone */
#define NODE_LOST_WAIT_NS    60000000000ull /* wait for lost neighbours before a join or restart */

struct node_limits {
    uint32_t peers_max;   /* maximum conversations at once */
    uint32_t members_max; /* maximum members in the member table */
    /* maximum origins (incarnations of members, whose rumors stay in the base) */
    uint32_t incarnations_max;
    /* Maximum origins listed in each BLOCK; 0 = LISTED_MAX of transfer/serve.c. For tests. */
    uint32_t listed_max;
    uint32_t half_open_max; /* maximum accepted peers in the handshake */
    uint32_t half_open_per_net_max; /* maximum of these from one network (address_network) */
    bool low_ports;   /* other members' addresses with a port below 1024 may be dialled */
    bool quarantines; /* a majority of votes expels a harmful member (quarantine.h) */
    /* a claimed throughput counts up to this many times the median claim; 0 = unlimited */
    double weight_max;
    uint64_t handshake_ns; /* time limit of a handshake on an established connection */
    /* time limit of lookup and connection; 0 = included in handshake_ns, as in simulations */
    uint64_t dial_ns;
    uint64_t silence_ns;     /* silence after which a conversation with a neighbour ends */
    size_t send_queue_bytes; /* maximum bytes queued for one peer, besides urgent messages */
    double notes_per_s;      /* maximum notes per second that other nodes can cause */
    uint32_t apply_window;   /* maximum unanswered entries at the learner, or one larger rumor */
    struct inference_form answers; /* inference requests that the node serves */
    uint16_t protocol_max; /* newest protocol version to speak; 0 = PROTOCOL_NEWEST. For tests. */
};

struct node_keys {
    /* arena of node_keys_bytes bytes for secrets; outlives the node; NULL = the node's arena */
    struct arena *memory;
    /* [SEED_BYTES] seed of the keys that the node makes; only node_new reads it. */
    const uint8_t *entropy;
};

/* The targets of all pointers must outlive the node, except those that only node_new reads. */
struct node_options {
    const struct identity *identity;
    const uint8_t *swarm_key; /* [KEY_BYTES] swarm key; only node_new reads it */
    struct node_keys keys;
    const char *swarm_id;
    const char *model; /* model description, "FORM; START" (crypto/gate.h) */
    /* [16] model hash of the swarm whose first weights the base has; only node_new reads it.
     * NULL = the hash of `model` */
    const uint8_t *model_hash;
    const char *parts; /* parts of the model, one per line (model_parts.h); NULL = unknown */
    /* Settings that must agree between nodes (connection/settings.h); NULL = none. */
    const char *settings;
    uint64_t parameters;
    uint64_t digest; /* digest of the base when the node starts */
    /* Entries per block, equal on all nodes: BLOCK_ENTRIES, or less in a small test. */
    uint32_t block_entries;
    uint64_t incarnation; /* present incarnation, higher than all earlier ones of this node */
    /* base's history at the start, from node_on_saved or node_history; only node_new reads it */
    const uint8_t *history;
    size_t history_bytes; /* size of `history`; 0 = the base has the first weights */
    bool has_operator;    /* the swarm has an operator, who expels and admits members */
    uint8_t operator_id[ID_BYTES];
    struct node_kept kept; /* orders, proofs, votes and keys of an earlier start */
    uint64_t wall_ms;      /* wall clock time when the node starts, in ms since 1970; 0 = unknown */
    uint64_t seed;         /* seed of random choices; 0 = draw it from keys.entropy */

    uint16_t listen_port;     /* port on which the node listens; 0 = it only dials */
    struct address advertise; /* address at which others dial this node; host "" = as they see it */
    struct address seeds[NODE_SEEDS_MAX]; /* addresses from the user */
    uint32_t seeds_count;

    bool trains;        /* false = the node only relays */
    bool has_tests;     /* the learner can make trials (learner_trial) */
    bool checks_labels; /* publications are held while labels contradict the base (own_labels.h) */
    uint64_t bytes_per_s;   /* to publish, each rumor counted once; 0 = auto (rate/budget.c) */
    uint64_t uplink_max;    /* maximum bytes per second sent, over all peers; 0 = as links allow */
    uint64_t downlink_max;  /* maximum bytes per second received, over all peers; 0 = unlimited */
    uint64_t neighbour_max; /* maximum bytes per second to one neighbour; 0 = as its link allows */
    uint64_t interval_ns;   /* mean time between publications; 0 = auto (outer_step.h) */
    uint32_t steps_min; /* least local steps between publications; 0 = auto (publish_schedule.c) */
    float tau;          /* threshold tau of published entries; 0 = as the budget allows */
    double gain;        /* factor on the swarm's average progress; 0 = auto (outer_step.h) */
    double beta;        /* outer momentum; < 0 = auto (outer_step.h) */
    double withheld;    /* part of the unpublished progress withheld from the weights; < 0 = auto */
    double momentum;    /* momentum of the optimizer if it lengthens steps, else 0; in [0, 1) */
    /* two sides that trained apart for more than these seconds are a partition (partition.c) */
    double partition_s;
    bool weigh_throughput; /* shares depend on samples per second; false = shares are equal */
    size_t log_bytes;      /* size of the rumor log */
    /* bytes of blocks per second sent while training; 0 = unlimited; or NODE_SERVE_AUTO */
    uint64_t serve_bytes_per_s;
    uint64_t save_ns;  /* time between checkpoints; 0 = no periodic checkpoints */
    uint64_t grace_ns; /* longest time that leaving may take */
    struct node_limits limits;
};

enum action_kind {
    ACTION_DIAL,   /* connect to `address`; then call node_on_connected or node_on_closed */
    ACTION_SEND,   /* send `bytes` to `conn`; then call node_on_sent */
    ACTION_HANGUP, /* close `conn`; then call node_on_closed */
    ACTION_APPLY,  /* apply `update`, valid until the next node_next; then call node_on_applied */
    ACTION_TRIAL,  /* score the base twice (learner_trial); call node_on_trial, then _applied */
    ACTION_TRAIN,  /* start training from the swarm's base; once, if options.trains */
    ACTION_PUBLISH,  /* cut an update according to `terms`; then call node_on_published */
    ACTION_READ,     /* read `entries` of the base, perhaps during a step; then call node_on_read */
    ACTION_WRITE,    /* write `units` into the base; then call node_on_applied */
    ACTION_SAVE,     /* save the learner; then call node_on_saved */
    ACTION_PREDICT,  /* predict for `entries` samples; then call node_on_predicted */
    ACTION_NOTE,     /* show `note` to a person */
    ACTION_RESTART,  /* start again from the checkpoint: the base cannot be completed */
    ACTION_FINISHED, /* stop: the node has left the swarm */
    ACTION_INCARNATION /* reserve incarnations from `first` on; then call node_on_incarnation */
};

struct action {
    enum action_kind kind;
    uint64_t conn;               /* DIAL, SEND, HANGUP */
    struct address address;      /* DIAL */
    uint32_t segment_bytes;      /* DIAL: largest payload of a packet; 0 = the system's choice */
    const uint8_t *bytes;        /* SEND: bytes to send; PREDICT: samples */
    size_t count;                /* SEND, PREDICT: number of bytes */
    const struct update *update; /* APPLY, TRIAL */
    uint32_t updates;            /* APPLY: 1; TRIAL: number of updates in the array `update` */
    uint32_t tried;              /* TRIAL: how many of them, the first ones, are tried */
    uint64_t tag;                /* APPLY: tag of the rumor's origin */
    uint32_t seq;                /* APPLY: number of the rumor in its origin */
    bool takes_out;              /* APPLY: take the rumor out of the base; its levels are negated */
    bool compares; /* APPLY: compare the rumor with the residual, and call node_on_agreement */
    bool own; /* APPLY: the rumor is of an earlier incarnation of this node (learner_apply_own) */
    double beta;                /* APPLY: outer momentum (replica.h) */
    uint64_t swarm_samples;     /* APPLY, TRAIN: samples that the swarm has learned */
    struct publish_terms terms; /* PUBLISH: terms of the update, such as its size and weight */
    bool last;                  /* PUBLISH: end training before cutting the update */
    uint64_t first;   /* READ, WRITE: first entry; INCARNATION: first number; SAVE: for the owner */
    uint32_t entries; /* READ, WRITE: number of entries; PREDICT: number of samples */
    const int32_t *units; /* WRITE: new base entries; valid until the next node_next */
    bool keep_weights; /* WRITE: keep the weights; the residual takes the difference to the base */
    struct note note;  /* NOTE */
};

struct node;
size_t node_arena_bytes(const struct node_options *options);
size_t node_keys_bytes(uint32_t peers_max);
/* Returns true if limits.incarnations_max suffices for the history in the options. */
bool node_can_restore(const struct node_options *options);
struct node *node_new(struct arena *arena, const struct node_options *options, uint64_t now_ns);
void node_free(struct node *node);

bool node_next(struct node *node, struct action *action);

/* Call it when a peer has connected. Returns the number of the conversation; 0 = close at once. */
uint64_t node_on_accept(struct node *node, uint64_t now_ns, const struct address *from);
void node_on_connected(struct node *node, uint64_t now_ns, uint64_t conn);
/* Returns the time until which not to read from `conn`, which caused too much work; 0 = read. */
uint64_t node_on_bytes(struct node *node, uint64_t now_ns, uint64_t conn, const uint8_t *bytes,
                       size_t count);
void node_on_sent(struct node *node, uint64_t now_ns, uint64_t conn);
/* Call it when a connection has ended. why: the transport's reason; "" = an ordinary end. */
void node_on_closed(struct node *node, uint64_t now_ns, uint64_t conn, const char *why);

/* Call it after the learner has made `steps` steps on `samples` samples. The learner performs
 * actions in the order of the requests. Only a READ may be performed earlier, but its answer keeps
 * the order. So the node knows which rumors a block contains. */
void node_on_step(struct node *node, uint64_t now_ns, uint32_t steps, uint64_t samples);
/* Answers PUBLISH. update->count = 0: nothing to publish. took_ns: the learner's working time. */
void node_on_published(struct node *node, uint64_t now_ns, const struct update *update,
                       uint64_t took_ns);
/* Reports how well the update of the oldest unanswered APPLY agrees with the residual, if
 * `compares` was set. Call it before node_on_applied. */
void node_on_agreement(struct node *node, uint64_t now_ns, double agreement);
/* Answers TRIAL. Call it before node_on_applied. */
void node_on_trial(struct node *node, uint64_t now_ns, const struct base_trial *trial);
/* Answers the oldest unanswered APPLY, TRIAL or WRITE. entries: its number of entries. */
void node_on_applied(struct node *node, uint64_t now_ns, uint32_t entries);
void node_on_read(struct node *node, uint64_t now_ns, const int32_t *units);
/* Answers SAVE: writes the history of the saved base into out[node_history_max] and sets *bytes;
 * 0 = the base has the first weights. Returns false if the save is useless, because a fetch of
 * another base has begun since SAVE. */
bool node_on_saved(struct node *node, uint64_t now_ns, uint8_t *out, size_t *bytes);
size_t node_history_max(const struct node_options *options);
/* Writes the history of the learner's base to out; returns its size. No update may be queued. */
size_t node_history(const struct node *node, uint8_t *out);
/* Returns how many incarnations a history may list to leave space in a send queue of this size. */
uint32_t node_incarnations_max(size_t send_queue_bytes);

void node_on_time(struct node *node, uint64_t now_ns);
uint64_t node_wake_ns(const struct node *node);

/* Makes the node leave the swarm; FINISHED follows. */
void node_leave(struct node *node, uint64_t now_ns);

#endif
