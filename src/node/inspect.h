/* Read-only views of a node for people, tests and simulations. */
#ifndef HEARSAY_NODE_INSPECT_H
#define HEARSAY_NODE_INSPECT_H

#include "node/node.h"

/* Phase of a node as it is shown to people; derived from the node's state machines
 * (lifecycle/lifecycle.h). */
enum node_phase {
    NODE_JOINING,     /* the node has not joined and has no neighbour */
    NODE_CATCHING_UP, /* the node fetches the base, or has neighbours and has not joined */
    NODE_EXPELLED,    /* an order has expelled the node, which asks members for a later one */
    NODE_RUNNING,
    NODE_FINISHING, /* the node has ended training and waits for other members */
    NODE_FINISHED,  /* all members have finished, with one base */
    NODE_LEAVING
};
enum node_phase node_phase(const struct node *node);

struct node_stats {
    enum node_phase phase;
    bool trains; /* false = the node only relays, has ended training, or its labels are wrong */
    uint64_t steps;
    uint64_t samples;          /* samples that this node learned since its start */
    double samples_per_second; /* samples learned per second, moving average; 0 = unknown */
    /* this node's share of the training at its last publication, 0 .. 1; 0 = it does not train */
    double share;
    double own_part; /* part of its share that this node used for it (byzantine_own_part) */
    /* Present mean time between publications, in seconds (outer_step.h). */
    double interval_s;
    double gain; /* present gain of publications (outer_step.h) */
    double beta; /* present outer momentum, 0 .. 1 */
    /* Part of the unpublished progress that the last publication withheld (replica.h). */
    double withheld;
    uint32_t neighbours;
    uint32_t members_live; /* number of live members, this node included */
    uint32_t peers_used;   /* conversations in any state */
    uint32_t origins;      /* origins with a known rumor */
    /* Digest that the base will have after all updates that wait for the learner. */
    uint64_t digest;
    uint64_t version;      /* known rumors over all origins */
    uint64_t version_hash; /* hash of the node's whole version */
    uint64_t rumors_published;
    uint64_t rumors_received; /* other nodes' rumors received, each counted once */
    uint64_t duplicates;      /* RUMOR messages received with a rumor that this node had already */
    uint64_t rumors_sent_copies;    /* RUMOR messages queued so far, summed over all neighbours */
    uint64_t wants_sent;            /* WANT messages queued so far, summed over all neighbours */
    uint64_t rumor_bytes_published; /* bytes of own rumors, each counted once */
    uint64_t rumor_bytes_received;  /* bytes of other nodes' rumors received, each counted once */
    uint64_t sent_bytes;            /* bytes passed to the transport */
    uint64_t received_bytes;        /* bytes received from the transport */
    /* Encrypted bytes of all messages queued so far, over all neighbours, except RUMOR. */
    uint64_t control_sent_bytes;
    uint64_t queued_bytes_most; /* most bytes queued for one peer at present */
    uint64_t log_held_bytes;    /* bytes of the ring that the rumor log uses */
    uint32_t blocks;            /* blocks in a base */
    uint32_t blocks_held; /* blocks of the base that is or was last fetched, given to the learner */
    uint64_t block_bytes; /* bytes received for the base that is or was last fetched */
    uint64_t served_bytes; /* bytes of blocks sent to other nodes */
    uint64_t waiting;      /* known rumors that the learner has not applied */
    uint64_t lag_ns; /* time for which a rumor has been missing (broadcast_lag_ns); 0 = none is */
    double budget;   /* bytes per second that this node may publish */
    double uplink;   /* bytes per second that the links carry, summed over all; a lower bound */
    double ingress;  /* highest recent bytes per second received, summed over all neighbours */
};
void node_stats(const struct node *node, uint64_t now_ns, struct node_stats *stats);

/* Returns node_stats.digest; fast enough to be called after every event. */
uint64_t node_digest(const struct node *node);
/* Returns true if the learner's base will have this digest once it has all known rumors except
 * withheld ones. Also returns true if that digest is unknown, because the log lacks a withheld
 * rumor. */
bool node_is_base(struct node *node, uint64_t digest);
/* Returns node_stats.waiting; fast enough to be called after every event. */
uint64_t node_waiting(const struct node *node);

/* Returns true if a rumor waits because the learner has as many unanswered entries or requests as
 * it accepts. The result is from the last node_next that looked for a rumor to apply. */
bool node_is_learner_full(const struct node *node);

/* Returns the longest wait between two publications at the present interval, in ns. */
uint64_t node_interval_ns_max(const struct node *node);

/* Returns true if this node has a complete base, or has joined with a rolling one (BASE_ROLLING,
 * lifecycle/lifecycle.h). */
bool node_has_base(const struct node *node);
/* Returns true while this node fetches a base, or single blocks (BASE_ROLLING). */
bool node_is_catching_up(const struct node *node);
/* Returns how many times this node has begun to fetch a base; each round of BASE_ROLLING counts. */
uint32_t node_bases(const struct node *node);
/* Returns true if the node leaves, has left, or has ended its training (node_finish). */
bool node_is_leaving(const struct node *node);
bool node_is_expelled(const struct node *node);
/* Returns why the owner must end this node: another process has its identity. NULL = no reason. The
 * text begins with the address of the peer that reported the other process. */
const char *node_clash(const struct node *node);

/* An origin of this node's version; i < node_origins. */
struct node_origin {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next;    /* number of the origin's next rumor; 0 = no rumor is known */
    uint64_t samples; /* samples that the origin's rumors report */
};
uint32_t node_origins(const struct node *node);
void node_origin(const struct node *node, uint32_t i, struct node_origin *out);
/* Returns the number of the first rumor of origin i that can still be taken out of the base. The
 * log has that rumor, all later ones and the one before, and will keep them for a while. */
uint32_t node_reach(const struct node *node, uint32_t i);
/* Sets *out to the origin of this node's present incarnation. */
void node_own(const struct node *node, struct node_origin *out);
uint64_t node_incarnation(const struct node *node);
/* Answers INCARNATION: NODE_INCARNATIONS numbers from `incarnation` on are durably reserved. */
void node_on_incarnation(struct node *node, uint64_t now_ns, uint64_t incarnation);

/* Returns the operator's order with this number, in [1, node_orders_count]. */
const struct order *node_order(const struct node *node, uint32_t number);
/* Returns the last order about this member; NULL if there is none. */
const struct order *node_order_about(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns the bytes that bind all signatures to this swarm and model. */
const uint8_t *node_context(const struct node *node);
/* Returns the model hash [16] in this node's introduction: of its own model description, or of the
 * swarm whose first weights it has taken over. */
const uint8_t *node_model_hash(const struct node *node);
/* Returns true if the node has taken over the first weights of another swarm. */
bool node_has_taken_first(const struct node *node);
/* Returns true if the node has adopted the model hash of another swarm's first weights and has not
 * begun to fetch a base of that swarm. */
bool node_lacks_first(const struct node *node);

/* A conversation in any state; i < node_links. */
struct node_link {
    uint8_t id[ID_BYTES];   /* all 0 = unknown */
    struct address address; /* address dialled, or from which the peer dialled */
    bool dialled;           /* this node has dialled the peer; false = the peer has dialled */
    bool open;              /* the peer is a neighbour */
    uint32_t protocol;      /* protocol version of the conversation; 0 = unknown */
    uint64_t rtt_ns;        /* last measured round-trip time; 0 = unknown */
    double rate;         /* estimated bytes per second that the link carries (rate/congestion.h) */
    bool is_measured;    /* the link has had a backlog; false = `rate` is only a lower bound */
    uint64_t tried_ns;   /* time when traffic last tested `rate` */
    uint64_t backlog_ns; /* queueing delay on the path to the peer (rate/congestion.h) */
    uint64_t queued_bytes;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint64_t conn;
    uint64_t since_ns; /* time when the present state began (connection/peer.h) */
    bool listens;      /* the peer's record has an address; false = it only dials, or is unknown */
};
uint32_t node_links(const struct node *node);
void node_link(const struct node *node, uint32_t i, struct node_link *out);

/* A known member, as its last record describes it; i < node_members. Member 0 is this node. */
struct node_member {
    uint8_t id[ID_BYTES];
    /* Address at which to dial the member; port 0 = the member only dials. */
    struct address address;
    /* Not silent for too long; has not left, and is neither expelled nor barred by admission. */
    bool live;
    bool is_lost;  /* the member's conversation with this node broke, with no sign of life since */
    bool expelled; /* expelled by the operator, a proof or votes */
    bool left;
    bool trains; /* false = the member only relays, has not joined yet, or has ended training */
    uint64_t samples;
    uint64_t digest;           /* digest of the member's base */
    double samples_per_second; /* 0 = unknown, or the member does not train */
    double uplink;             /* bytes per second that the member's links carry, a lower bound */
    double ingress;            /* highest recent bytes per second that the member received */
    uint64_t lag_ns;           /* time for which the member has missed a rumor */
    uint64_t heard_ns;         /* time when the member's last record or rumor arrived */
    uint64_t met_ns;           /* time when the member's first record arrived */
};
uint32_t node_members(const struct node *node);
/* A member's contribution to the base, over all its incarnations. node_contributions fills
 * out[node_members]. */
struct node_contribution {
    uint64_t rumors;
    uint64_t samples; /* samples that these rumors report */
    /* Bytes of the member's rumors that this node received or published since its start. */
    uint64_t rumor_bytes;
    double share; /* the member's part of all claimed samples, 0 .. 1 */
};
void node_contributions(const struct node *node, struct node_contribution *out);
void node_member(const struct node *node, uint64_t now_ns, uint32_t i, struct node_member *out);

/* Returns the samples that the swarm has learned, as training schedules count them
 * (broadcast/progress.h). */
uint64_t node_swarm_samples(const struct node *node);

#endif
