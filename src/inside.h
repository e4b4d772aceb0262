/* The inside of a node, shared by node.c (doors and actions), clock.c (what time brings), dial.c
 * (whom to call), talk.c (one function per message), spread.c (rumors: push, prune, want) and
 * leave.c.
 *
 *   node.c ──► clock ──► leave ──► talk ──► dial, spread ──► inside.c   (calls go one way)
 *
 * Nobody else includes this. */
#ifndef HEARSAY_INSIDE_H
#define HEARSAY_INSIDE_H

#include "log.h"
#include "members.h"
#include "node.h"
#include "peer.h"
#include "rng.h"
#include "version.h"

#define SECOND_NS 1000000000ull

/* An address worth dialling. */
struct target {
    struct address address;
    uint8_t id[ID_BYTES]; /* who answered there last */
    bool has_id;
    bool is_seed;
    bool is_self;
    uint32_t failures;
    uint64_t next_ns;
    uint64_t conn; /* under way or open, 0: none */
};

#define ASKED_MAX 64

struct asked {
    uint64_t tag;
    uint64_t at_ns;
};

enum tell_state { TELL_IDLE, TELL_WANTED, TELL_OUT, TELL_OVER };

struct node {
    struct node_options options;
    struct club club;
    uint8_t context[CONTEXT_BYTES]; /* binds rumors and records to this swarm and model */
    struct entropy entropy;
    struct rng rng;
    struct message_reader *reader;
    uint64_t now_ns;

    struct peer *peers; /* [peers_max] */
    uint32_t generation;
    struct members members;
    struct target *targets;
    uint32_t targets_count;
    uint32_t targets_max;
    struct address observed; /* how others reach us */

    struct versions versions;
    struct origin *own;
    struct log log;
    struct update decoded; /* scratch: the rumor decoded last ... */
    uint64_t decoded_at;   /* ... and its position in the log + 1; 0: none */
    uint8_t *scratch;      /* one message */
    uint32_t applying;     /* entries with the learner */
    uint64_t applying_rumors;

    bool joined;         /* holds what the swarm knows */
    bool training_asked; /* TRAIN was given out */
    uint64_t born_ns;
    uint64_t asked_ns;             /* when something missing was last asked for; 0: never */
    struct asked asked[ASKED_MAX]; /* origins not known yet, asked for lately: a ring */
    uint32_t asked_next;
    uint64_t company_ns; /* when we last had a neighbour; 0: never */

    enum tell_state tell;
    bool telling_last;
    uint64_t told_ns;     /* when we last told */
    uint32_t steps_since; /* steps since then */
    uint64_t rate_ns;     /* when the throughput was last measured */
    uint64_t rate_samples;

    enum stage stage;
    uint64_t leave_ns; /* when leaving began */
    bool ours_known;   /* all we told is with others, and we tell no more */
    bool finished;
    bool finished_said;
    uint64_t gossip_ns; /* next round of VERSION and MEMBERS */
    uint64_t check_ns;  /* next look at timeouts, dials and wants */

    struct notes notes;
    struct node_stats stats;
    uint64_t gone_sent_bytes; /* of conversations that ended */
    uint64_t gone_received_bytes;
};

/* inside.c */
void node_join(struct node *node, const char *why);
enum retry node_retry_after(const struct node *node, const struct peer *peer, uint64_t reason);
void node_hang_up(struct node *node, struct peer *peer, enum bye_reason reason, const char *why);
struct peer *node_peer_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                             const struct peer *except);
uint32_t node_neighbours(const struct node *node);
struct note *node_note(struct node *node, const struct peer *peer, enum note_kind kind,
                       enum note_level level, const char *text);
void node_refresh_record(struct node *node);
void node_consider_telling(struct node *node);

/* leave.c */
void leave_settle(struct node *node);
void leave_consider(struct node *node);

/* dial.c */
void dial_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
bool dial_next(struct node *node, struct action *action);
struct target *dial_target(const struct node *node, const struct peer *peer); /* or NULL */
void dial_on_open(struct node *node, struct peer *peer);
void dial_on_self(struct node *node, const struct peer *peer);
void dial_on_closed(struct node *node, const struct peer *peer);

/* talk.c */
void talk_hello(struct node *node, struct peer *peer);
void talk_members(struct node *node, struct peer *peer);
void talk_version(struct node *node, struct peer *peer);
void talk_hear(struct node *node, struct peer *peer, const uint8_t *bytes, size_t count);

/* spread.c */
void spread_on_rumor(struct node *node, struct peer *from, const uint8_t *rumor, size_t bytes);
void spread_on_prune(struct node *node, struct peer *from, uint64_t tag);
void spread_on_version(struct node *node, struct peer *from, uint64_t digest, const uint8_t *vector,
                       size_t bytes);
void spread_on_want(struct node *node, struct peer *from, uint64_t tag, uint64_t seq);
void spread_on_sent(struct node *node, struct peer *peer);
void spread_on_gone(struct node *node, struct peer *from, uint64_t tag, uint64_t seq);
void spread_told(struct node *node, const struct update *update);
void spread_ask(struct node *node);
bool spread_next_apply(struct node *node, struct action *action);

#endif
