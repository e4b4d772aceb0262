/* The simulated network: TCP-like connections between the hosts of a world, in virtual time.
 *
 *   wire_send ─► window ─► up pipe ─► region pipe ─► delay, jitter, loss ─► down pipe ─► on_bytes
 *                          one per    one per ordered                       one per
 *                          sender     pair of regions                       receiver
 *
 * Bytes are delivered in order, each once, or the connection breaks. A lost segment is sent again
 * one round trip later, and what is behind it waits (head-of-line blocking). The window is the
 * bandwidth-delay product of the route plus 64 KiB, as with an autotuning TCP; a send completes
 * when its last byte is in the window. A cut drops everything and signals nothing; after it heals,
 * sending resumes at the sender's next retransmission timeout, which doubles each time. A dropped
 * SYN is sent again every second.
 *
 * A party is a host: a node or an outsider. It names its connections by its own ids, whose low 32
 * bits are a slot below WIRE_SLOTS. Held by tests/unit/sim/test_wire.c and test_cut.c.
 */
#ifndef HEARSAY_SIM_NETWORK_WIRE_H
#define HEARSAY_SIM_NETWORK_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"
#include "network/pipe.h"
#include "world/event_queue.h"

#define WIRE_SLOTS  128
#define WIRE_NOBODY UINT32_MAX
#define WIRE_WINDOW 65536

/* Callbacks to the hosts; they may call back into the network. */
struct wire_owner {
    void *self; /* passed back */
    /* An incoming call: the id that the party gives the connection, 0: refused. */
    uint64_t (*on_accept)(void *self, uint32_t party, uint32_t from);
    void (*on_connected)(void *self, uint32_t party, uint64_t conn);
    void (*on_bytes)(void *self, uint32_t party, uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(void *self, uint32_t party, uint64_t conn);
    void (*on_closed)(void *self, uint32_t party, uint64_t conn, const char *why);
};

enum wire_event {
    WIRE_SYN,
    WIRE_ACCEPTED,
    WIRE_CROSS,
    WIRE_ARRIVE,
    WIRE_DELIVER,
    WIRE_SENT,
    WIRE_CLOSED,
    WIRE_EVENTS
};

struct party {
    bool listens;                    /* accepts calls */
    uint32_t region;                 /* index of its region */
    struct pipe up;                  /* its uplink, shared by all its connections */
    struct pipe down;                /* its downlink, shared by all its connections */
    uint64_t paused_ns;              /* the process stands still until then */
    uint64_t deaf_ns;                /* the process reads nothing from its sockets until then */
    uint64_t fragment_ns;            /* bytes are delivered in small pieces until then */
    uint64_t tamper_ns;              /* bits of what it receives are flipped until then */
    uint32_t connection[WIRE_SLOTS]; /* index + 1 of the connection in each slot; 0: none */
};

/* The bytes of a connection towards one of its ends. */
struct half_connection {
    uint8_t *ring;      /* send buffer; freed with the wire */
    size_t ring_bytes;  /* size of the buffer, a power of two */
    size_t first;       /* position of the oldest byte */
    size_t held;        /* bytes in the buffer: in flight, or waiting for the window */
    size_t flying;      /* bytes in flight */
    size_t unacked;     /* bytes delivered whose acknowledgement a cut has dropped */
    uint64_t arrive_ns; /* when the last byte in flight reaches the down pipe: nothing overtakes */
    uint64_t clear_ns;  /* when the last byte in flight is delivered */
    uint64_t try_ns;    /* retransmission timeout after a cut: nothing is sent before */
    bool sending;       /* the sender waits for WIRE_SENT */
    bool fin;           /* the sender has hung up: closed after the last byte */
};

struct connection_end {
    uint32_t party; /* WIRE_NOBODY: no host has this address */
    uint64_t conn;  /* the party's id of the connection; 0: not accepted yet */
    bool up;        /* open: may send and receive */
    bool gone;      /* the party has forgotten the connection */
    bool ghost;     /* the party has gone without a FIN or a reset */
};

struct connection {
    uint32_t generation;            /* tells events of an earlier connection apart; 0: free */
    struct connection_end end[2];   /* caller, callee */
    struct half_connection half[2]; /* the bytes towards end[i] */
    uint64_t since_ns;              /* when it was accepted */
    const char *why;                /* the reason that both ends are told at its close */
};

/* Counters of the traffic from one region to another. */
struct crossing {
    uint64_t bytes;  /* bytes sent */
    uint64_t resent; /* segments sent again */
    double delay_s;  /* delay of each byte, queueing included, summed over all bytes */
};

struct wire {
    struct event_queue *event_queue;            /* the world's */
    struct wire_owner owner;                    /* callbacks */
    struct rng rng;                             /* draws jitter, loss and tampering */
    uint32_t kind_base;                         /* number of WIRE_SYN among the world's events */
    struct party *parties;                      /* [parties_count] */
    uint32_t parties_count;                     /* nodes and outsiders */
    struct path (*paths)[SCENARIO_REGIONS_MAX]; /* [from][to] */
    uint32_t regions;                           /* number of regions */
    struct pipe *region_pipes;                  /* [from][to] */
    struct crossing *crossings;                 /* [from][to] */
    uint8_t *cuts;                              /* [from][to] party: faults that cut this way */
    struct connection *connections;             /* [connections_count] */
    uint32_t connections_count;                 /* connections used so far */
    uint32_t connections_max;                   /* room in the table */
    uint32_t free_connection;                   /* index + 1; chained through end[0].party */
    uint32_t generation;                        /* of the newest connection */
    uint64_t flying;                            /* bytes in flight on all connections */
};

/* The paths stay the caller's, and may change while the world runs. */
void wire_init(struct wire *wire, struct event_queue *event_queue, const struct wire_owner *owner,
               uint32_t kind_base, uint32_t parties, struct path (*paths)[SCENARIO_REGIONS_MAX],
               uint32_t regions, uint64_t seed);
void wire_free(struct wire *wire);

/* Calls of a party. A call to WIRE_NOBODY is refused after a round trip. */
void wire_dial(struct wire *wire, uint32_t party, uint64_t conn, uint32_t to);
void wire_send(struct wire *wire, uint32_t party, uint64_t conn, const uint8_t *bytes,
               size_t count);
void wire_hang_up(struct wire *wire, uint32_t party, uint64_t conn);
void wire_on_event(struct wire *wire, const struct event *event);

/* die: the host dies; its peers get resets, or, silently, nothing. half_open: it loses its ends of
 * all connections, unknown to its peers. reset: every connection between the two breaks. cut:
 * nothing passes from one to the other until as many cuts have been taken back. */
void wire_die(struct wire *wire, uint32_t party, bool silently);
void wire_half_open(struct wire *wire, uint32_t party);
void wire_reset(struct wire *wire, uint32_t a, uint32_t b);
void wire_cut(struct wire *wire, uint32_t from, uint32_t to, bool cut);

static inline bool wire_is_cut(const struct wire *wire, uint32_t from, uint32_t to)
{
    return from != WIRE_NOBODY && to != WIRE_NOBODY &&
           wire->cuts[(size_t)from * wire->parties_count + to] > 0;
}

#endif
