/* The inside of a node, shared by node.c (doors and actions), node_view.c (what others may look
 * at), clock.c (what time brings), leave.c, talk.c (one function per message), news.c (members:
 * renewed, passed on, listed), compare.c (versions), apart.c (halves that meet), adopt.c
 * (another's version becomes ours), patch.c (a base that never becomes whole), catchup.c (one that
 * does is taken over), held.c (the blocks, until they are ours), give.c (ours is given), dial.c
 * (whom to call), spread.c (rumors: push, prune), owed.c (what a full queue put off), want.c (what
 * did not come is asked for), tempo.c (when to tell, and how boldly), budget.c (how much) and
 * flow.c (when a neighbour is applied bytes).
 *
 *   node.c ──► clock ──► leave ──► talk ──► news, compare ──► apart, adopt ──► patch ──► catchup
 *     ──► give, held ──► dial, spread, owed, want, tempo ──► flow ──► budget ──► inside.c
 *                                                                            (calls go one way)
 *
 * No event costs more than the neighbours and what it brings: what looks at every member or every
 * origin is done once a second, or a few times.
 *
 * Nobody else includes this. */
#ifndef HEARSAY_NODE_INSIDE_H
#define HEARSAY_NODE_INSIDE_H

#include <string.h>

#include "base/bits.h"
#include "wire/block.h"
#include "node/rate/outer_step.h"
#include "node/broadcast/decoded.h"
#include "node/broadcast/rumor_log.h"
#include "node/membership/members.h"
#include "node/node.h"
#include "node/connection/peer.h"
#include "base/rng.h"
#include "node/connection/slots.h"
#include "node/broadcast/version.h"

#define SECOND_NS ((uint64_t)1000000000)
#define MESH_MAX  10 /* up to so many live members everyone talks to everyone; then ... */
#define DEGREE    8  /* ... a node looks for so many neighbours */

/* An address worth dialling. */
struct candidate {
    struct address address;
    uint8_t id[ID_BYTES]; /* who answered there last */
    bool has_id;
    bool is_seed;
    bool is_self;
    uint32_t failures;
    uint64_t next_ns;
    uint64_t conn; /* under way or open, 0: none */
};

struct span {
    uint32_t block;
    uint32_t count; /* blocks */
};

#define READ_BLOCKS 8 /* at once */
#define FETCHES_MAX 4 /* of one neighbour, waiting */

/* What a node keeps of a conversation beside the conversation itself (peer.h). */
struct rapport {
    uint64_t hash;      /* of the version that the neighbour showed last */
    uint64_t asked_ns;  /* when it was asked to show all of it; 0: never */
    uint32_t list_next; /* it wants to know the members: those from here ... */
    uint32_t list_end;  /* ... up to here are still to be listed */
    uint64_t *news;     /* bit per member: its record is to be sent */
    bool has_news;

    bool compared;       /* it has shown its whole version, and no rumor passes before */
    bool ahead;          /* it knows more than rumors will bring us ... */
    bool ours_preferred; /* ... but if one base is to be kept, it is ours */
    bool decisive;       /* ... or it is its, because one of us has clearly learned more */
    bool partitioned; /* it and we have learned much without each other: no rumor passes, one of us
                         ... */
    bool peer_yields; /* ... takes over the other's base: it, or else we */
    struct span fetches[FETCHES_MAX]; /* it wants these blocks of our base */
    uint32_t fetches_count;
    uint32_t asked_blocks;       /* of its base, that we want and that have not come */
    uint32_t asked[FETCHES_MAX]; /* ... in spans, the oldest first */
    uint32_t asked_spans;
    uint32_t spans_max;  /* so many spans may be asked for at once */
    uint64_t served_ns;  /* when one came, or they were asked for */
    uint64_t refused_ns; /* when it had nothing to give; 0: never */

    double most;                    /* bytes per second that it wants from us, at most; 0: any */
    uint64_t rumor_bytes_published; /* of rumors of ours, said since the last review (budget.c) */
    uint64_t sent_seen, received_seen; /* of its link, by then */
    double other;                      /* bytes per second sent beside those, lately ... */
    double incoming;                   /* ... and received */
};

/* Entries of our base, or all that the learner is, on their way to us. */
struct reading {
    bool is_out;
    bool is_save;
    uint32_t bases; /* taken over when it was asked for: of another one it is of no use */
    uint64_t conn;  /* for whom */
    struct span span;
    uint32_t
        *next; /* [incarnations_max]: of which rumors it is; our own are counted when it comes */
    uint64_t *samples; /* [incarnations_max]: and as of then */
    uint32_t origins;
};

/* A block that came and is not yet in our base. */
struct pending_block {
    uint32_t block;
    uint32_t entries; /* 0: the place is free */
    uint64_t received_ns;
    uint64_t conn;     /* from there */
    bool is_covered;   /* our learner has been given all that it is the sum of */
    uint64_t missing;  /* rumors that are to be added before it is as new as our base */
    int32_t *units;    /* [BLOCK_ENTRIES] */
    uint32_t *version; /* [incarnations_max]: the rumors it is the sum of; 0 for those met later */
};

#define PENDING_MAX 128

struct transfer {
    bool is_fetching;  /* blocks; our version is already that of the base to be */
    bool is_rolling;   /* ... without becoming whole (patch.c) ... */
    bool wants_whole;  /* ... as it now could */
    bool is_asked;     /* a neighbour, for its history */
    bool keep_weights; /* what we learned apart becomes residual */
    uint64_t donor;    /* asked for its history: a conn ... */
    uint64_t asked_ns; /* ... at that time */
    uint8_t *history;  /* [incarnations_max entries] as far as it has come */
    uint32_t history_entries;
    uint32_t *next;  /* [incarnations_max]: the version it says */
    uint64_t parts;  /* of it that have come */
    uint64_t digest; /* of the base it is the history of */
    uint64_t rumors; /* that the base taken over is the sum of */
    uint32_t bases;  /* taken over */
    uint64_t began_ns, noted_ns;
    uint64_t rolled_ns;     /* patching: when the round before this one began */
    uint64_t rumors_before; /* ... and how many were known of when this one did */
    uint64_t from_conn;     /* ... whose blocks it takes */
    uint64_t moved_ns;      /* when a block was written last, or this began ... */
    uint64_t received_ns;   /* when the first one since then came; 0: none has */
    uint64_t wrote_ns;      /* ... for the first time, if it had to begin anew */
    uint64_t rest_ns;       /* until then only who has clearly learned more is yielded to */
    bool is_news;           /* neighbours shall know that our base is whole */

    uint64_t *from;  /* [blocks]: the conn it is asked from, or BLOCK_... */
    uint32_t cursor; /* no block before it is missing */
    uint32_t blocks_written;
    uint64_t bytes;
    struct pending_block pending[PENDING_MAX];
    uint32_t ready_at; /* those before have been given out in this round ... */
    bool is_ready;     /* ... of blocks as new as our base is now */
};

#define BLOCK_MISSING 0
#define BLOCK_PENDING 1
#define BLOCK_WRITTEN 2 /* conns are greater */

#define ASKED_MAX       256
#define RECORDS_AT_ONCE 16
#define AWAKE_MIN       256 /* origins, if there are so many */

struct asked {
    uint64_t tag;
    uint64_t at_ns;
};

enum publish_state { PUBLISH_IDLE, PUBLISH_WANTED, PUBLISH_OUT, PUBLISH_OVER };

struct node {
    struct node_options options;
    struct credentials credentials;
    uint8_t context[CONTEXT_BYTES]; /* binds rumors and records to this swarm and model */
    struct entropy entropy;
    struct rng rng;
    struct message_reader *reader;
    uint64_t now_ns;

    struct peer *peers;       /* [peers_max] */
    struct rapport *rapports; /* [peers_max] */
    struct slots open;        /* peers that are neighbours */
    struct slots ready;       /* peers that may have something to send, or to end */
    struct slots held_up;     /* ... or will have when pacer_wake_ns has come */
    uint64_t pacer_wake_ns;
    uint32_t turn;        /* who is served first */
    struct bucket uplink; /* of what uplink_max allows */
    uint64_t reviewed_ns; /* the budget, last */
    double found, ease;   /* of which it is the product */
    uint64_t grew_ns;     /* when it was last let grow ... */
    double due_bytes;     /* ... so many might be told this time ... */
    bool is_tried;        /* ... and most of what might was told, since then */
    double slowest;       /* bytes per second of the slowest link in good standing */
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

    struct candidate *candidates;
    uint32_t *candidate_hashes; /* of their addresses, to be looked through quickly */
    uint32_t candidates_count;
    uint32_t candidates_max;
    uint64_t dial_ns;        /* nobody is to be called before ... */
    uint64_t reach_ns;       /* ... and nobody who is lost, while there are neighbours enough */
    uint64_t shuffle_ns;     /* when a neighbour is to be left for another; 0: never thought of */
    struct address observed; /* how others reach us */

    struct versions versions;
    uint64_t *seen;       /* bit per origin, scratch */
    uint32_t awake_shown; /* of those that may be telling, so many have been in slices */
    uint64_t full_ns;     /* when it was last said that there is no room for lives; 0: never */
    uint64_t advanced_ns; /* when the version last did */
    struct origin *own;
    uint64_t first_incarnation; /* that we had since the process began */
    bool remembers;             /* our weights have seen earlier lives' rumors being told */
    uint32_t blocks;            /* of a base */
    struct transfer transfer;
    struct reading reading;
    uint64_t served_ns; /* when somebody was last told what our base is, or took of it; 0: never */
    uint64_t serve_next_ns; /* no block is to be read for others before ... */
    uint32_t serve_turn;    /* ... and the neighbour after this one comes first */
    uint64_t save_ns;       /* when to save next */
    uint32_t missing;       /* origins that are to be asked for soon ... */
    uint32_t repair_turn;   /* ... of which another comes first each time */
    uint32_t behind;        /* origins of which more was shown than we hold */
    struct rumor_log log;
    struct decoded decoded; /* those of it that wait for the learner */
    uint8_t *scratch;       /* one message */
    uint32_t applying;      /* entries with the learner */
    uint64_t applying_rumors;

    bool joined;         /* holds what the swarm knows */
    bool training_asked; /* TRAIN was given out */
    uint64_t born_ns;
    uint64_t asked_ns;             /* when something missing was last asked for; 0: never */
    struct asked asked[ASKED_MAX]; /* origins not known yet, asked for lately: a ring */
    uint32_t asked_next;
    uint64_t company_ns; /* when we last had a neighbour; 0: never */

    enum publish_state publish;
    bool publishing_last;
    uint32_t published_alone;     /* publications since the node began to leave that nobody else was
                                     there for */
    struct outer_step outer_step; /* with which we tell, as things are now */
    uint64_t published_ns;        /* when we last told */
    double wait;                  /* nothing is told for so many intervals after that ... */
    struct rng waits;             /* ... which is drawn here */
    uint64_t stepped_ns;          /* when the last step ended; 0: none has */
    double step_s;                /* so long takes one, lately; 0: not known */
    uint32_t steps_since;         /* steps since then */
    uint32_t publications;
    uint64_t rate_ns; /* when the throughput was last measured */
    uint64_t rate_samples;

    enum stage stage;
    uint64_t leave_ns; /* when leaving began */
    bool ours_known;   /* all we told is with others, and we tell no more */
    bool finished;
    bool finished_said;
    bool must_restart;
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
struct origin *node_meet(struct node *node, const struct peer *from,
                         const uint8_t id[static ID_BYTES], uint64_t incarnation); /* or NULL */
uint64_t node_lag_ns(const struct node *node, uint64_t now_ns);
bool node_has_joined(const struct node *node, const struct peer *peer);
uint64_t node_most_shown(const struct node *node, bool joined_only);

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

/* The neighbour of this conversation, if it is one still; or NULL. */
static inline struct peer *node_open_peer(const struct node *node, uint64_t conn)
{
    struct peer *peer = &node->peers[(uint32_t)conn];
    return peer->conn == conn && peer->state == PEER_OPEN ? peer : NULL;
}

static inline bool peer_is_origin(const struct peer *peer, const struct origin *origin)
{
    return memcmp(peer->id, origin->id, ID_BYTES) == 0;
}

static inline uint32_t node_block_entries(const struct node *node, uint32_t block)
{
    return block_entries(node->options.parameters, node->options.block_entries, block);
}

/* Live members are among so many of the latest origins, those that have told nothing with them. */
static inline uint32_t node_latest(const struct node *node)
{
    return 2 * node->live > AWAKE_MIN ? 2 * node->live : AWAKE_MIN;
}

/* So many of those that told last may be telling still: all others have been silent for longer. */
static inline uint32_t node_awake(const struct node *node)
{
    const uint32_t telling = node->versions.telling;
    return telling < node_latest(node) ? telling : node_latest(node);
}

/* May rumors pass between us? */
static inline bool node_is_together(const struct node *node, const struct peer *peer)
{
    const struct rapport *rapport = node_rapport(node, peer);
    return rapport->compared && !rapport->partitioned;
}

/* flow.c */
bool pacer_next_send(struct node *node, struct peer *peer, const uint8_t **bytes, size_t *count);
void pacer_on_time(struct node *node);
void pacer_say_ack(struct node *node, struct peer *peer);
void pacer_consider_ack(struct node *node, struct peer *peer);
void pacer_on_ack(struct node *node, struct peer *peer, const struct message *receipt);
bool pacer_is_full(const struct node *node, const struct peer *peer);
bool pacer_is_crowded(const struct node *node, const struct peer *peer);
bool pacer_is_busy(const struct node *node, const struct peer *peer);

/* budget.c */
#define BUDGET_FIRST 2048.0 /* bytes per second: many may share a thin line, and begin at once */
void budget_on_published(struct node *node, uint64_t bytes);
double budget_rate_max(const struct node *node, const struct peer *peer);
double budget_link_rate(const struct node *node, const struct peer *peer);
uint64_t budget_downlink_part(const struct node *node, const struct peer *peer);
double budget_lagging(const struct node *node, bool with_us);
void budget_review(struct node *node);

/* Who lacks what one origin says may have lost a neighbour; who lacks what most say cannot hear so
 * much, or was away. */
static inline bool node_lags(const struct node *node)
{
    return node->transfer.is_rolling || 2 * node->behind >= node->live;
}

/* tempo.c */
#define PUBLISH_WAIT_LEAST 0.5 /* of the interval between two publications ... */
#define PUBLISH_WAIT_MOST  1.5 /* ... and at most */
void publish_schedule_renew(struct node *node);
void publish_schedule_on_step(struct node *node, uint32_t steps);
void publish_schedule_wait(struct node *node, double least, double most);
uint64_t publish_schedule_wait_ns(const struct node *node);
void publish_schedule_consider(struct node *node);

/* leave.c */
void leave_settle(struct node *node);
void leave_on_published(struct node *node, uint32_t entries);
void leave_consider(struct node *node);

/* dial.c */
void dialer_add(struct node *node, const struct address *address, const uint8_t *id, bool is_seed);
void dialer_moved(struct node *node, const struct address *from, const struct address *to,
                  const uint8_t id[static ID_BYTES]);
void dialer_shuffle(struct node *node);
bool dialer_next(struct node *node, struct action *action);
struct candidate *dialer_candidate(const struct node *node, const struct peer *peer); /* or NULL */
void dialer_on_met(struct node *node, const struct peer *peer);
void dialer_on_open(struct node *node, const struct peer *peer);
void dialer_on_self(struct node *node, const struct peer *peer);
void dialer_on_closed(struct node *node, const struct peer *peer);

/* talk.c */
void dispatch_meet(struct node *node, struct peer *peer);
void dispatch_message(struct node *node, struct peer *peer, const uint8_t *bytes, size_t count);

/* news.c */
uint64_t member_gossip_period_ns(const struct node *node);
void member_gossip_renew(struct node *node);
void member_gossip_flush(struct node *node);
void member_gossip_review(struct node *node);
bool member_gossip_on_records(struct node *node, struct peer *from, const struct bytes *records,
                              bool pass_on);
void member_gossip_on_query(struct node *node, struct peer *from, uint64_t tag);
void member_gossip_compare(struct node *node, struct peer *from, uint64_t members);

/* compare.c */
void anti_entropy_show(struct node *node, struct peer *peer, bool whole);
void anti_entropy_show_all(struct node *node);
void anti_entropy_round(struct node *node);
void anti_entropy_on_version(struct node *node, struct peer *from, const struct message *version);

/* adopt.c */
bool takeover_on_history(struct node *node, struct peer *from, const struct message *history);

/* catchup.c */
void fetch_init(struct node *node, struct arena *arena);
size_t fetch_arena_bytes(const struct node_options *options);
void fetch_consider(struct node *node);
void fetch_begin(struct node *node, uint64_t rumors);
bool fetch_may_ask(const struct node *node, const struct peer *peer);
void fetch_on_block(struct node *node, struct peer *from, const struct message *block);
void fetch_on_lost(struct node *node, uint64_t conn);
bool fetch_next_write(struct node *node, struct action *action);

/* patch.c */
void rolling_snapshot_consider(struct node *node);

/* held.c */
enum error pending_put(struct node *node, const struct peer *from, const struct message *message);
bool pending_next_write(struct node *node, struct action *action);
void pending_clear(struct node *node);
void pending_drop_old(struct node *node);

/* give.c */
void serve_init(struct node *node, struct arena *arena);
void serve_on_take(struct node *node, struct peer *from);
void serve_on_fetch(struct node *node, struct peer *from, uint64_t block, uint64_t count);
bool serve_next_read(struct node *node, struct action *action);
bool serve_next_save(struct node *node, struct action *action);

/* apart.c: samples learned on either side and not heard of on the other */
struct contest {
    double ours, theirs;
    uint64_t first_tag; /* the smallest of the origins of which one side has heard more ... */
    bool first_is_ours; /* ... and which side */
};
#define CONTEST ((struct contest){.first_tag = UINT64_MAX})
void partition_count(struct contest *contest, uint64_t tag, uint64_t ours, uint64_t theirs);
bool partition_is_decisive(const struct contest *contest);
bool partition_ours_preferred(const struct contest *contest);
void partition_judge(struct node *node, struct peer *from, const struct message *version);

/* owed.c */
void push_backlog_add(struct peer *peer, uint32_t place, uint32_t from);
void push_backlog_forget(struct peer *peer, uint32_t place);
void push_backlog_forget_all(const struct node *node, struct peer *peer);
void push_backlog_on_want(struct node *node, struct peer *from, uint64_t tag, uint64_t seq);
void push_backlog_on_sent(struct node *node, struct peer *peer);

/* spread.c */
bool broadcast_say(struct node *node, struct peer *peer, const struct origin *origin,
                   const uint8_t *rumor, size_t bytes);
const struct update *broadcast_logged(struct node *node, const uint8_t *rumor, uint32_t bytes);
void broadcast_on_rumor(struct node *node, struct peer *from, const uint8_t *rumor, size_t bytes);
void broadcast_hold_back(struct node *node, struct peer *peer);
void broadcast_lean_on(struct node *node, const struct peer *donor);
void broadcast_on_prune(struct node *node, struct peer *from, uint64_t tag);
void broadcast_prune(struct node *node, struct peer *peer, const struct origin *origin);
void broadcast_on_first(struct node *node, const struct peer *from, struct origin *origin);
void broadcast_on_twice(struct node *node, struct peer *from, struct origin *origin);
void broadcast_publish(struct node *node, const struct update *update);
bool broadcast_next_apply(struct node *node, struct action *action);

/* want.c */
void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from);
void repair_on_known(struct node *node, struct origin *origin);
bool repair_ask(struct node *node, struct peer *peer, struct origin *origin);
void repair_ask_first(struct node *node, struct peer *peer, uint64_t tag);
void repair_on_gone(struct node *node, struct peer *from, uint64_t tag, uint64_t seq);
void repair_on_lost(struct node *node, uint64_t conn);
void repair_review(struct node *node);

#endif
