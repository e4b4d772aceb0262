/* The inside of a node, shared by node.c (doors and actions), node_view.c (what others may look
 * at), clock.c (what time brings), leave.c, talk.c (one function per message), news.c (members:
 * renewed, passed on, listed), compare.c (versions), dial.c (whom to call) and spread.c
 * (rumors: push, prune, want).
 *
 *   node.c ──► clock ──► leave ──► talk ──► news, compare ──► dial, spread ──► inside.c
 *                                           (calls go one way)
 *
 * No event costs more than the neighbours and what it brings: what looks at every member or every
 * origin is done once a second, or a few times.
 *
 * Nobody else includes this. */
#ifndef HEARSAY_INSIDE_H
#define HEARSAY_INSIDE_H

#include "log.h"
#include "members.h"
#include "node.h"
#include "peer.h"
#include "rng.h"
#include "slots.h"
#include "version.h"

#define SECOND_NS ((uint64_t)1000000000)
#define MESH_MAX  10 /* up to so many live members everyone talks to everyone; then ... */
#define DEGREE    8  /* ... a node looks for so many neighbours */

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

/* What a node keeps of a conversation beside the conversation itself (peer.h). */
struct rapport {
    uint64_t hash;      /* of the version that the neighbour showed last */
    uint32_t list_next; /* it wants to know the members: those from here ... */
    uint32_t list_end;  /* ... up to here are still to be listed */
    uint64_t *news;     /* bit per member: its record is to be sent */
    bool has_news;
};

#define ASKED_MAX        256
#define LIVES_PER_MEMBER 2 /* room for origins: lives that were, and are still in the sum */
#define RECORDS_AT_ONCE  16

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

    struct peer *peers;       /* [peers_max] */
    struct rapport *rapports; /* [peers_max] */
    struct slots open;        /* peers that are neighbours */
    struct slots ready;       /* peers that may have something to send, or to end */
    uint32_t generation;
    uint64_t said_count[MESSAGE_KINDS]; /* messages ... */
    uint64_t said_bytes[MESSAGE_KINDS]; /* ... and their bytes, as sealed */

    struct members members;
    uint32_t live;       /* members that are, as last noticed, we among them ... */
    uint32_t reachable;  /* ... and those of them that listen */
    uint64_t renewed_ns; /* our record */
    double
        renew_early; /* part of the period by which it comes early, so that not all come at once */
    uint64_t listed_ns;   /* when members were last listed to us, or asked for; 0: never */
    uint64_t seen_digest; /* our digest at the last round of gossip */

    struct target *targets;
    uint32_t *target_hashes; /* of their addresses, to be looked through quickly */
    uint32_t targets_count;
    uint32_t targets_max;
    uint64_t dial_ns;        /* nobody is to be called before ... */
    uint64_t reach_ns;       /* ... and nobody who is lost, while there are neighbours enough */
    struct address observed; /* how others reach us */

    struct versions versions;
    uint64_t advanced_ns; /* when the version last did */
    struct origin *own;
    uint32_t lacking; /* origins that are to be asked for soon */
    uint32_t behind;  /* origins of which more was shown than we hold */
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
    uint64_t gossip_ns; /* next round of gossip */
    uint64_t check_ns;  /* next look at timeouts, news and wants */

    struct notes notes;
    struct node_stats stats;
    uint64_t gone_sent_bytes; /* of conversations that ended */
    uint64_t gone_received_bytes;
};

/* inside.c */
void node_join(struct node *node, const char *why);
enum retry node_retry_after(const struct node *node, const struct peer *peer, uint64_t reason);
bool node_say(struct node *node, struct peer *peer, const struct message *message);
void node_open(struct node *node, struct peer *peer);
void node_close(struct node *node, struct peer *peer, uint64_t reason, const char *why);
void node_hang_up(struct node *node, struct peer *peer, enum bye_reason reason, const char *why);
struct peer *node_peer_by_id(const struct node *node, const uint8_t id[static ID_BYTES],
                             const struct peer *except);
uint32_t node_neighbours(const struct node *node);
struct peer *node_random_neighbour(struct node *node); /* or NULL */
struct note *node_note(struct node *node, const struct peer *peer, enum note_kind kind,
                       enum note_level level, const char *text);
void node_consider_telling(struct node *node);

static inline uint32_t node_slot(const struct node *node, const struct peer *peer)
{
    return (uint32_t)(peer - node->peers);
}

static inline struct rapport *node_rapport(const struct node *node, const struct peer *peer)
{
    return &node->rapports[node_slot(node, peer)];
}

/* The neighbours one after the other:
 *     for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)  */
static inline struct peer *node_neighbour(const struct node *node, uint32_t *slot)
{
    *slot = *slot < SLOTS_MAX ? slots_next(&node->open, *slot) : SLOTS_MAX;
    return *slot < SLOTS_MAX ? &node->peers[*slot] : NULL;
}

static inline bool bit_get(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *bits, uint32_t i, bool value)
{
    bits[i / 64] = (bits[i / 64] & ~(1ull << (i % 64))) | (uint64_t)value << (i % 64);
}

/* leave.c */
void leave_settle(struct node *node);
void leave_consider(struct node *node);

/* dial.c */
void dial_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
void dial_moved(struct node *node, const struct address *from, const struct address *to,
                const uint8_t id[static ID_BYTES]);
bool dial_next(struct node *node, struct action *action);
struct target *dial_target(const struct node *node, const struct peer *peer); /* or NULL */
void dial_on_met(struct node *node, const struct peer *peer);
void dial_on_open(struct node *node, const struct peer *peer);
void dial_on_self(struct node *node, const struct peer *peer);
void dial_on_closed(struct node *node, const struct peer *peer);

/* talk.c */
void talk_meet(struct node *node, struct peer *peer);
void talk_hear(struct node *node, struct peer *peer, const uint8_t *bytes, size_t count);

/* news.c */
uint64_t news_period_ns(const struct node *node);
void news_renew(struct node *node);
void news_flush(struct node *node);
void news_review(struct node *node);
bool news_hear(struct node *node, struct peer *from, const struct bytes *records, bool pass_on);
void news_on_who(struct node *node, struct peer *from, uint64_t tag);
void news_compare(struct node *node, struct peer *from, uint64_t members);

/* compare.c */
void compare_show(struct node *node, struct peer *peer, bool whole);
void compare_round(struct node *node);
void compare_on_version(struct node *node, struct peer *from, const struct message *version);

/* spread.c */
void spread_on_rumor(struct node *node, struct peer *from, const uint8_t *rumor, size_t bytes);
void spread_on_prune(struct node *node, struct peer *from, uint64_t tag);
void spread_on_want(struct node *node, struct peer *from, uint64_t tag, uint64_t seq);
void spread_on_sent(struct node *node, struct peer *peer);
void spread_on_gone(struct node *node, struct peer *from, uint64_t tag, uint64_t seq);
void spread_on_first(struct node *node, const struct peer *from, struct origin *origin);
void spread_on_twice(struct node *node, struct peer *from, struct origin *origin);
void spread_on_lost(struct node *node, uint64_t conn);
void spread_told(struct node *node, const struct update *update);
void spread_lack(struct node *node, struct origin *origin, uint32_t to, const struct peer *from);
void spread_ask(struct node *node);
bool spread_ask_from(struct node *node, struct peer *peer, struct origin *origin);
void spread_ask_first(struct node *node, struct peer *peer, uint64_t tag);
bool spread_next_apply(struct node *node, struct action *action);

#endif
