/* Read-only views of a node for people, tests and simulations. */
#ifndef HEARSAY_NODE_INSPECT_H
#define HEARSAY_NODE_INSPECT_H

#include "node/node.h"

struct node_stats {
    uint64_t steps;            /* local steps */
    uint64_t samples;          /* samples learned by this node since its start */
    double samples_per_second; /* moving average; 0 = unknown */
    double share;              /* share of the last publication, 0 .. 1 */
    double interval_s;         /* present time between publications (outer_step.h) */
    double gain;               /* present gain (outer_step.h) */
    double beta;               /* present outer momentum, 0 .. 1 */
    /* Part of the unpublished rest that the last publication withheld (replica.h). */
    double withheld;
    uint32_t neighbours;            /* open conversations */
    uint32_t members_live;          /* live members, this node included */
    uint32_t peers_used;            /* conversations in any state */
    uint32_t origins;               /* origins with a known rumor */
    uint64_t digest;                /* digest of the base after all queued updates */
    uint64_t version;               /* number of known rumors over all origins */
    uint64_t version_hash;          /* hash of the whole version */
    uint64_t rumors_published;      /* own rumors */
    uint64_t rumors_received;       /* rumors of other nodes, each once */
    uint64_t duplicates;            /* rumors received again */
    uint64_t rumors_sent_copies;    /* RUMOR messages sent to all neighbours */
    uint64_t wants_sent;            /* WANT messages sent */
    uint64_t rumor_bytes_published; /* bytes of own rumors, each rumor once */
    uint64_t rumor_bytes_received;  /* bytes of other nodes' rumors, each rumor once */
    uint64_t sent_bytes;            /* bytes given to the transport, of all kinds */
    uint64_t received_bytes;        /* bytes from the transport, of all kinds */
    uint64_t control_sent_bytes;    /* encrypted bytes of all messages except rumors */
    uint64_t queued_bytes_most;     /* bytes in the longest send queue now */
    uint64_t log_held_bytes;        /* bytes of rumors in the log */
    uint32_t blocks;                /* number of blocks in a base */
    uint32_t blocks_held;           /* blocks received while fetching */
    uint64_t block_bytes;           /* bytes of the base that is or was fetched */
    uint64_t served_bytes;          /* bytes of blocks sent to others */
    uint64_t waiting;               /* known rumors that are not applied yet */
    uint64_t lag_ns;                /* how long a rumor has been missing; 0 = none is */
    double budget;                  /* publication budget in bytes per second */
    double uplink;  /* bytes per second that all links carry together, a lower bound */
    double ingress; /* bytes per second received, the best of the last seconds */
};
void node_stats(const struct node *node, uint64_t now_ns, struct node_stats *stats);

/* Return two of these numbers, cheaply enough for every event. */
uint64_t node_digest(const struct node *node);
uint64_t node_waiting(const struct node *node);

/* Returns true if at the last node_next a rumor waited because the learner had as much as it
 * accepts. */
bool node_is_learner_full(const struct node *node);

/* Returns the longest time between two publications at present. */
uint64_t node_interval_ns_max(const struct node *node);

/* Returns true while a base is being taken over. An incomplete base matches no version. */
bool node_is_catching_up(const struct node *node);
/* Returns the number of bases taken over so far, including unfinished ones. */
uint32_t node_bases(const struct node *node);
bool node_is_leaving(const struct node *node);
bool node_is_expelled(const struct node *node); /* this node is expelled and ends */
/* Returns why the owner must end this node: another process has its identity. The text is a
 * sentence whose subject is the peer that said so. NULL = no reason to end. */
const char *node_clash(const struct node *node);

/* The version, one origin per entry: i < node_origins. */
struct node_origin {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next;    /* number of the origin's next rumor; 0 = no rumor is known */
    uint64_t samples; /* samples that the origin has learned */
};
uint32_t node_origins(const struct node *node);
void node_origin(const struct node *node, uint32_t i, struct node_origin *out);
/* Returns the first rumor of origin i that the log can still take out of the base. */
uint32_t node_reach(const struct node *node, uint32_t i);
/* Describes this node's present incarnation. */
void node_own(const struct node *node, struct node_origin *out);
uint64_t node_incarnation(const struct node *node);

/* Returns a known order of the operator: 1 <= number <= node_orders_count. */
const struct order *node_order(const struct node *node, uint32_t number);
/* Returns the latest order about this member; NULL if there is none. */
const struct order *node_order_about(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns the bytes that bind signatures to this swarm and model. */
const uint8_t *node_context(const struct node *node);
/* Returns the model hash [16] that this node shows: that of its own description, or of the swarm
 * whose first weights it has taken over. */
const uint8_t *node_model_hash(const struct node *node);
/* the model hash is that of another node's description */
bool node_has_taken_first(const struct node *node);
/* another model hash is taken over, but no base of its swarm has arrived yet */
bool node_lacks_first(const struct node *node);

/* The conversations under way: i < node_links. */
struct node_link {
    uint8_t id[ID_BYTES];   /* id of the peer; zeros while unknown */
    struct address address; /* dialled address, or the caller's */
    bool dialled;           /* this node dialled */
    bool open;              /* it is a neighbour */
    uint32_t protocol;      /* protocol version; 0 = unknown */
    uint64_t rtt_ns;        /* round trip; 0 = unknown */
    double rate;           /* bytes per second that it carries, a lower bound (rate/congestion.h) */
    bool is_measured;      /* the rate is also an upper bound: a backlog was seen */
    uint64_t tried_ns;     /* last time that traffic tested the rate */
    uint64_t backlog_ns;   /* queueing delay of what this node sends */
    uint64_t queued_bytes; /* bytes queued here */
    uint64_t sent_bytes;   /* bytes sent in total */
    uint64_t received_bytes; /* bytes received in total */
    uint64_t conn;           /* number of the conversation */
    uint64_t since_ns;       /* start of the present state (connection/peer.h) */
    bool listens;            /* its record has an address; false = it only dials, or is unknown */
};
uint32_t node_links(const struct node *node);
void node_link(const struct node *node, uint32_t i, struct node_link *out);

/* The known members: i < node_members; the first is this node. */
struct node_member {
    uint8_t id[ID_BYTES];
    struct address address;    /* port 0 = it only dials */
    bool live;                 /* neither silent for too long nor gone */
    bool is_lost;              /* silent since its conversation with this node broke */
    bool expelled;             /* expelled by the operator, a proof or votes */
    bool left;                 /* it said goodbye */
    bool trains;               /* false = it only relays, or has not joined yet */
    uint64_t samples;          /* samples learned there */
    uint64_t digest;           /* digest of its base at the time of its record */
    double samples_per_second; /* samples per second, as the member reports */
    double uplink;             /* bytes per second that it can send, a lower bound */
    double ingress;            /* bytes per second that it has received, a lower bound */
    uint64_t lag_ns;           /* how long it has missed a rumor, as the member reports */
    uint64_t heard_ns;         /* time when the member's last record or rumor arrived */
    uint64_t met_ns;           /* time when the member's first record arrived */
};
uint32_t node_members(const struct node *node);
/* The contribution of each member to the base, over all its incarnations. The caller passes
 * out[node_members]. */
struct node_contribution {
    uint64_t rumors;      /* rumors in the base */
    uint64_t samples;     /* samples that those rumors report */
    uint64_t rumor_bytes; /* bytes of its rumors since this node started */
    double share;         /* part of all members' samples, 0 .. 1 */
};
void node_contributions(const struct node *node, struct node_contribution *out);
void node_member(const struct node *node, uint64_t now_ns, uint32_t i, struct node_member *out);

/* Summary of the state machines (lifecycle/lifecycle.h) for people. */
enum node_phase {
    NODE_JOINING,     /* waits for an answer of any member */
    NODE_CATCHING_UP, /* is taking over the swarm's base */
    NODE_RUNNING,     /* trains, or relays */
    NODE_FINISHING,   /* has ended training; waits for other members */
    NODE_FINISHED,    /* all members have finished, with one base */
    NODE_LEAVING
};
enum node_phase node_phase(const struct node *node);

/* Returns the samples that the swarm has learned, as schedules count them (broadcast/progress.h).
 */
uint64_t node_swarm_samples(const struct node *node);

#endif
