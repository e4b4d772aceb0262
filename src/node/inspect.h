/* What a person, a test or a simulation may look at. */
#ifndef HEARSAY_NODE_INSPECT_H
#define HEARSAY_NODE_INSPECT_H

#include "node/node.h"

struct node_stats {
    uint64_t steps;                 /* local steps */
    uint64_t samples;               /* learned here */
    double samples_per_second;      /* lately; 0: not known yet */
    double share;                   /* of the last publication, among all */
    double interval_s;              /* between two publications, as things are now (outer_step.h) */
    double gain;                    /* of a publication, as things are now */
    double beta;                    /* the outer momentum, as things are now */
    double held;                    /* part of what the last publication left (replica.h) */
    uint32_t neighbours;            /* open conversations */
    uint32_t members_live;          /* with this node */
    uint32_t peers_used;            /* conversations, in whatever state */
    uint32_t origins;               /* that we know rumors of */
    uint64_t digest;                /* of the base, once all is applied */
    uint64_t version;               /* rumors known in all */
    uint64_t version_hash;          /* of the whole version */
    uint64_t rumors_published;      /* our own */
    uint64_t rumors_received;       /* others', once each */
    uint64_t duplicates;            /* rumors that came again */
    uint64_t rumors_sent_copies;    /* RUMOR messages */
    uint64_t wants_sent;            /* WANT messages */
    uint64_t rumor_bytes_published; /* of our own rumors, once each */
    uint64_t rumor_bytes_received;  /* of others' rumors, once each */
    uint64_t sent_bytes;            /* everything, as given to the transport */
    uint64_t received_bytes;        /* everything, as it came */
    uint64_t control_sent_bytes;    /* all messages but rumors, sealed */
    uint64_t queued_bytes_most;     /* in the longest send queue now */
    uint64_t log_held_bytes;        /* of rumors in the log */
    uint32_t blocks;                /* of a base */
    uint32_t blocks_held;           /* while fetching: those that are there */
    uint64_t block_bytes;           /* received for this base, or the last one */
    uint64_t served_bytes;          /* of blocks, to others */
    uint64_t waiting;               /* rumors known and not yet applied */
    uint64_t lag_ns;                /* for how long some rumor has been missing */
    double budget;                  /* bytes per second of rumors that may be published */
    double uplink;                  /* bytes per second that all links carry together, at least */
    double ingress;                 /* bytes per second received, the best of the last seconds */
};
void node_stats(const struct node *node, uint64_t now_ns, struct node_stats *stats);

/* Two of them alone, cheap enough to ask after every event. */
uint64_t node_digest(const struct node *node);
uint64_t node_waiting(const struct node *node);

/* As of the last node_next: another rumor goes to the learner as soon as it is done with one that it
 * has. */
bool node_is_learner_full(const struct node *node);

/* So long it waits at most between two publications, as things are now. */
uint64_t node_interval_ns_max(const struct node *node);

/* A base is being taken over: until all of it is there it is the sum of no version. */
bool node_is_catching_up(const struct node *node);
uint32_t node_bases(const struct node *node); /* taken over, or begun to be */
bool node_is_leaving(const struct node *node);
bool node_is_expelled(const struct node *node); /* this node itself: it ends */

/* The version, one origin at a time: i < node_origins. */
struct node_origin {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next;    /* the next rumor expected; 0: none is known of */
    uint64_t samples; /* it has learned */
};
uint32_t node_origins(const struct node *node);
void node_origin(const struct node *node, uint32_t i, struct node_origin *out);
/* From this one on the log is enough to take its rumors out of the base, and for a while. */
uint32_t node_reach(const struct node *node, uint32_t i);
void node_own(const struct node *node, struct node_origin *out); /* this incarnation of ours */
uint64_t node_incarnation(const struct node *node);

/* The operator's orders that are known: 1 <= number <= node_orders_count. */
const struct order *node_order(const struct node *node, uint32_t number);
/* The latest about this member; NULL: there is none. */
const struct order *node_order_about(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Binds signatures to this swarm and model. */
const uint8_t *node_context(const struct node *node);

/* The conversations under way, one at a time: i < node_links. */
struct node_link {
    uint8_t id[ID_BYTES];    /* zero before it is known */
    struct address address;  /* dialled, or where it came from */
    bool dialled;            /* we called */
    bool open;               /* a neighbour */
    uint32_t protocol;       /* the version that is spoken; 0: not known yet */
    uint64_t rtt_ns;         /* 0: not measured yet */
    double rate;             /* bytes per second that it carries, at least (rate/link.h) */
    bool is_measured;        /* and about no more: something has waited on the way */
    uint64_t tried_ns;       /* when it was last made use of, and so seen to be true */
    uint64_t backlog_ns;     /* what we send waits so long on the way */
    uint64_t queued_bytes;   /* that wait here */
    uint64_t sent_bytes;     /* in all */
    uint64_t received_bytes; /* in all */
    uint64_t conn;           /* its number */
    uint64_t since_ns;       /* when it began to be what it is: open, or on the way to it */
    bool listens;            /* as its record says; false: it only dials, or is not known yet */
};
uint32_t node_links(const struct node *node);
void node_link(const struct node *node, uint32_t i, struct node_link *out);

/* The members known, one at a time: i < node_members; the first is this node itself. */
struct node_member {
    uint8_t id[ID_BYTES];
    struct address address;    /* port 0: it only dials */
    bool live;                 /* not silent for too long, nor gone */
    bool is_lost;              /* nothing was heard of it since our conversation with it broke */
    bool expelled;             /* the operator has put it out */
    bool left;                 /* it said goodbye */
    bool trains;               /* false: it only passes on, or has not joined yet */
    uint64_t samples;          /* learned there */
    uint64_t digest;           /* of its base, when it made its record */
    double samples_per_second; /* as it says */
    double uplink;             /* bytes per second that it sends, at least */
    double ingress;            /* bytes per second that it has received, at least */
    uint64_t lag_ns;           /* as it says */
    uint64_t heard_ns;         /* when its last record or rumor came */
    uint64_t met_ns;           /* when it was first heard of */
};
uint32_t node_members(const struct node *node);
/* What the base has of each of them, in all its incarnations, into out[node_members]. */
struct node_contribution {
    uint64_t rumors;      /* in the base */
    uint64_t samples;     /* behind them */
    uint64_t rumor_bytes; /* of those that came, or went out, since this node began */
    double share;         /* of the samples of all */
};
void node_contributions(const struct node *node, struct node_contribution *out);
void node_member(const struct node *node, uint64_t now_ns, uint32_t i, struct node_member *out);

/* The states of lifecycle/lifecycle.h, as shown to a person. */
enum node_phase {
    NODE_JOINING,     /* nobody has answered yet */
    NODE_CATCHING_UP, /* takes in what the swarm knows */
    NODE_RUNNING,     /* trains, or passes on */
    NODE_LEAVING
};
enum node_phase node_phase(const struct node *node);

/* Samples that all have learned, as schedules count them (broadcast/progress.h). */
uint64_t node_swarm_samples(const struct node *node);

#endif
