/* The node: who it talks to, when, and how much it tells. Events in, actions out.
 *
 *                 node_on_…(now, …)                       node_next(&action) until false
 *   transport ──► accept connected bytes sent closed ──►┐ ┌──► DIAL SEND HANGUP ──► transport
 *   learner   ──► step told applied read saved ───────► NODE ──► APPLY TRAIN TELL
 *                                                        │        READ WRITE SAVE ─► learner
 *   clock     ──► time ──────────────────────────────► ┘ └──► NOTE, FINISHED ──► shell
 *
 * Single-threaded and deterministic: it reads no clock (now is monotonic nanoseconds), draws all
 * randomness from its seed, calls nobody, and allocates nothing after birth. The daemon gives it
 * sockets and a thread, a simulation gives it a queue of events: same code.
 *
 * Bytes passed in are borrowed for the call. Bytes in SEND stay the node's until sent or closed;
 * at most one SEND per connection is outstanding. After every event ask for actions until there
 * are none, and call node_on_time at node_wake_ns at the latest.
 */
#ifndef HEARSAY_NODE_NODE_H
#define HEARSAY_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "socket/address.h"
#include "base/arena.h"
#include "crypto/identity.h"
#include "node/notes.h"
#include "wire/rumor.h"
#include "base/update.h"

#define NODE_SEEDS_MAX       64
#define NODE_INCARNATIONS    1024
#define NODE_PATIENCE_MAX_NS 10000000000ull /* no neighbour may be silent for longer */
#define NODE_READ_MAX        65536          /* entries of one READ */
#define NODE_PEERS_MAX       128
#define NODE_SERVE_AUTO      UINT64_MAX

struct node_options {
    const struct identity *identity;
    uint8_t swarm_key[KEY_BYTES];
    const char *swarm_id;
    const char *model;           /* its description: equal texts, equal models */
    uint64_t parameters;         /* P */
    uint64_t digest;             /* of b0 */
    uint32_t block_entries;      /* the same everywhere: BLOCK_ENTRIES, or less in a small world */
    uint64_t incarnation;        /* higher than in any earlier life; this life may go on counting,
                                    NODE_INCARNATIONS in all */
    const uint8_t *history;      /* digest is that of a base saved earlier: of these rumors ... */
    size_t history_bytes;        /* ... as node_on_saved said; 0: it is b0 */
    uint8_t entropy[SEED_BYTES]; /* for keys */
    uint64_t seed;               /* for choices; 0: drawn from entropy */

    uint16_t listen_port;     /* 0: only dials */
    struct address advertise; /* host "": what others see */
    struct address seeds[NODE_SEEDS_MAX];
    uint32_t seeds_count;

    bool trains;
    uint64_t bytes_per_s; /* of rumors, before copies; 0: what budget.c finds */
    uint64_t uplink_max;  /* bytes per second sent to all together; 0: as links allow */
    uint64_t downlink_max;
    uint64_t neighbour_max; /* ... and to any one */
    uint64_t interval_ns;   /* between two publications, in the mean; 0: as boldness.h says */
    uint32_t steps_min;     /* local steps between two publications */
    float tau;              /* threshold of what is told; 0: what fits */
    double gain;            /* 0: as boldness.h says */
    double beta;            /* < 0: as boldness.h says */
    double momentum;        /* that the learner has itself, in [0, 1) */
    double partition_s;     /* sides that both learned alone for longer than this merge (apart.c) */
    bool weigh_throughput;
    size_t log_bytes;
    uint64_t serve_bytes_per_s; /* of blocks, to who catches up, while we train; 0: no bound;
                                  NODE_SERVE_AUTO: a quarter of what the links carry */
    uint64_t save_ns;           /* between two checkpoints; 0: none */
    uint32_t apply_window;      /* entries given to the learner and not yet applied, at most */

    uint32_t peers_max;
    uint32_t members_max;
    uint32_t incarnations_max; /* origins: whoever has told something stays in the sum for ever */
    uint32_t listed_max; /* of them, beside a block; 0: as many as may matter (for storms and tests:
                            so few that others are left out) */
    uint32_t half_open_max;
    uint32_t half_open_per_net_max;
    uint64_t handshake_ns;
    uint64_t silence_ns;
    uint64_t grace_ns;
    size_t send_queue_bytes;
    double notes_per_s;
};

enum action_kind {
    ACTION_DIAL,    /* conn, address: connect, then node_on_connected or node_on_closed */
    ACTION_SEND,    /* conn, bytes, count: then node_on_sent */
    ACTION_HANGUP,  /* conn: close, then node_on_closed */
    ACTION_APPLY,   /* update: hear it, then node_on_applied; valid until the next node_next */
    ACTION_TRAIN,   /* swarm_samples: the base is the swarm's: begin to train (once; only if
                       options.trains) */
    ACTION_PUBLISH, /* tell: cut, then node_on_published */
    ACTION_READ,    /* first, entries: read that part of the base, then node_on_read */
    ACTION_WRITE,   /* first, entries, units, keep_weights: that part of the base is this from now
                       on (learner_write_block), then node_on_applied; valid like update */
    ACTION_SAVE,    /* take a copy of all that the learner is, then node_on_saved */
    ACTION_NOTE,    /* note */
    ACTION_RESTART, /* nobody is left who has the base that was being taken over: end, and begin
                       again with what is on disk */
    ACTION_FINISHED /* the node has left: stop */
};

struct action {
    enum action_kind kind;
    uint64_t conn;
    struct address address;
    const uint8_t *bytes;
    size_t count;
    const struct update *update;
    uint64_t tag; /* APPLY: which rumor */
    uint32_t seq;
    bool own; /* APPLY: told by an earlier life, whose weights this one has (learner_apply_own) */
    uint64_t swarm_samples; /* TRAIN: learned by all so far */
    struct publish_terms terms;
    bool last; /* TELL: end training first; there will be no other */
    uint64_t first;
    uint32_t entries;
    const int32_t *units;
    bool keep_weights;
    struct note note;
};

struct node;

size_t node_arena_bytes(const struct node_options *options);
/* Is there room for all the origins of its history? */
bool node_can_restore(const struct node_options *options);
struct node *node_new(struct arena *arena, const struct node_options *options, uint64_t now_ns);
void node_free(struct node *node);

/* Somebody connected from this address: the id of the new conversation, or 0: close at once. */
uint64_t node_on_accept(struct node *node, uint64_t now_ns, const struct address *from);
void node_on_connected(struct node *node, uint64_t now_ns, uint64_t conn);
void node_on_bytes(struct node *node, uint64_t now_ns, uint64_t conn, const uint8_t *bytes,
                   size_t count);
void node_on_sent(struct node *node, uint64_t now_ns, uint64_t conn);
/* why: from the transport, for the note; "" for an ordinary end. */
void node_on_closed(struct node *node, uint64_t now_ns, uint64_t conn, const char *why);

/* The learner made steps. */
void node_on_step(struct node *node, uint64_t now_ns, uint32_t steps, uint64_t samples);
/* The answer to TELL; count 0 when there was nothing to tell. */
void node_on_published(struct node *node, uint64_t now_ns, const struct update *update);
/* As many entries of the oldest APPLY or WRITE have been heard or written. */
void node_on_applied(struct node *node, uint64_t now_ns, uint32_t entries);
/* The answer to READ. What is asked of the learner is done in the order in which it was asked, and
 * answered in that order: so the node knows of which rumors these entries are the sum. */
void node_on_read(struct node *node, uint64_t now_ns, const int32_t *units);
/* The answer to SAVE: the history of the base that was copied, into out[node_history_max]; returns
 * its bytes; 0: the copy is of no use, because another base is being taken over. */
size_t node_on_saved(struct node *node, uint64_t now_ns, uint8_t *out);
size_t node_history_max(const struct node_options *options);
/* So many lives can be told of to who takes over a base, while other things wait to be sent, too.
 */
uint32_t node_incarnations_max(size_t send_queue_bytes);
/* The same of what the learner has now, when nothing it was given waits any more. */
size_t node_history(const struct node *node, uint8_t *out);

void node_on_time(struct node *node, uint64_t now_ns);
uint64_t node_wake_ns(const struct node *node);

/* A node that was given seeds does not train before it holds what the swarm knows: until it
 * lacks little of the most that a neighbour has shown to know, or nobody has answered for
 * JOIN_WAIT_NS. Otherwise it would tell the others what they learned long ago. */
#define NODE_JOIN_WAIT_NS 10000000000ull
#define NODE_LOST_WAIT_NS 60000000000ull /* ... or those who had answered are gone for so long */

/* Who is far behind, or was apart from the others for long, takes over somebody's base, block by
 * block, from several at once. Until all are there its own base is neither the old nor the new. */
bool node_is_catching_up(const struct node *node);
uint32_t node_bases(const struct node *node); /* so many were taken over, or begun to be */

/* Leave: end training, tell the rest, pass on what comes until the neighbours have it and those
 * who leave too agree, or until the grace time is over; then FINISHED. */
void node_leave(struct node *node, uint64_t now_ns);
bool node_is_leaving(const struct node *node);

bool node_next(struct node *node, struct action *action);

/* What a person, a test or a simulation may look at. */
struct node_stats {
    uint64_t steps, samples;
    double samples_per_second;
    double share;
    double interval_s, gain, beta; /* with which it tells, as things are now (boldness.h) */
    uint32_t neighbours, members_live;
    uint32_t peers_used; /* conversations, in whatever state */
    uint32_t origins;    /* that we know rumors of */
    uint64_t digest;
    uint64_t version;      /* sum of all rumors known */
    uint64_t version_hash; /* of the whole version */
    uint64_t rumors_published, rumors_received, duplicates;
    uint64_t rumors_sent_copies; /* RUMOR messages */
    uint64_t wants_sent;
    uint64_t rumor_bytes_published,
        rumor_bytes_received;            /* rumors: ours once each, others' once each */
    uint64_t sent_bytes, received_bytes; /* everything, as given to the transport */
    uint64_t control_sent_bytes;         /* all messages but rumors, sealed */
    uint64_t queued_bytes_most;          /* in the longest send queue now */
    uint64_t log_held_bytes;
    uint32_t blocks, blocks_held; /* catching up: of the base, and those that are there */
    uint64_t block_bytes;         /* received for it so far, or for the last time */
    uint64_t served_bytes;        /* blocks sent to others */
    uint64_t waiting;             /* rumors known and not yet applied */
    uint64_t lag_ns; /* for how long some rumor has been known to exist and been lacking */
    double budget;   /* bytes per second of rumors that may be told (budget.c) */
    double uplink;   /* bytes per second that all links carry together, at least */
    double ingress;  /* ... and that have come in, in the best of the last seconds */
};
void node_stats(const struct node *node, uint64_t now_ns, struct node_stats *stats);

/* Two of them alone, cheap enough to ask after every event. */
uint64_t node_digest(const struct node *node);
uint64_t node_waiting(const struct node *node);

/* So long it waits at most between two publications, as things are now. */
uint64_t node_interval_ns_max(const struct node *node);

/* The version, one origin at a time: i < node_origins. */
struct node_origin {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next; /* 0: it has told nothing that we know of */
    uint64_t samples;
};
uint32_t node_origins(const struct node *node);
void node_origin(const struct node *node, uint32_t i, struct node_origin *out);
void node_own(const struct node *node, struct node_origin *out); /* the life that we are */
uint64_t node_incarnation(const struct node *node);

/* The conversations under way, one at a time: i < node_links. */
struct node_link {
    uint8_t id[ID_BYTES]; /* zero before the other is known */
    struct address address;
    bool dialled;        /* we called */
    bool open;           /* a neighbour */
    uint64_t rtt_ns;     /* 0: not measured yet */
    double rate;         /* bytes per second that it carries, at least (link.h) ... */
    bool is_measured;    /* ... and about no more: something has waited on the way */
    uint64_t tried_ns;   /* when it was last made use of, and so seen to be true */
    uint64_t backlog_ns; /* what we send waits so long on the way */
    uint64_t queued_bytes;
    uint64_t sent_bytes, received_bytes;
    uint64_t conn;
    uint64_t since_ns; /* when it began to be what it is: open, or on the way to it */
    bool listens;      /* as its record says; false: it only dials, or is not known yet */
};
uint32_t node_links(const struct node *node);
void node_link(const struct node *node, uint32_t i, struct node_link *out);

/* The members known, one at a time: i < node_members; the first is this node itself. */
struct node_member {
    uint8_t id[ID_BYTES];
    struct address address; /* port 0: it only dials */
    bool live;
    bool left;
    bool trains; /* false: it only passes on, or has not joined yet */
    uint64_t samples;
    double samples_per_second;
    double uplink, ingress; /* bytes per second that it sends and has received, at least */
    uint64_t lag_ns;
    uint64_t heard_ns; /* when its last record or rumor came */
};
uint32_t node_members(const struct node *node);
void node_member(const struct node *node, uint64_t now_ns, uint32_t i, struct node_member *out);

/* Where a node is in its life. */
enum node_phase {
    NODE_JOINING,     /* nobody has answered yet */
    NODE_CATCHING_UP, /* hears what the swarm knows */
    NODE_RUNNING,     /* trains, or passes on */
    NODE_LEAVING
};
enum node_phase node_phase(const struct node *node);

/* Samples behind the base, learned by anybody; what a life that went on under another incarnation
 * has learned is counted once. */
uint64_t node_swarm_samples(const struct node *node);

#endif
