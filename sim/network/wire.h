/* The simulated network: TCP-like connections between the hosts of a world, in virtual time.
 *
 *   wire_send ─► window ─► up pipe ─► region pipe ─► delay, jitter, loss ─► down pipe ─► on_bytes
 *                          one per    one per ordered                       one per
 *                          sender     pair of regions                       receiver
 *
 * Bytes are delivered once and in order, or the connection breaks. A lost segment is sent again one
 * round trip later; each further loss doubles that time. Later segments wait for the lost one
 * (head-of-line blocking). The window is WIRE_WINDOW plus the lowest pipe rate times the one-way
 * delay, at most 4 MiB, and 4 MiB if no pipe has a rate. A send completes when its last byte is in
 * flight. During a cut no segment is sent; those in flight still arrive. After the cut, a sender
 * with waiting bytes resumes at its next retransmission timeout, which doubles each time. A dropped
 * SYN is sent again every second.
 *
 * A party is a host: a node or an outsider. It names its connections by its own ids, whose low 32
 * bits are a slot below WIRE_SLOTS. Tests: tests/unit/sim/test_wire.c and test_cut.c.
 */
#ifndef HEARSAY_SIM_NETWORK_WIRE_H
#define HEARSAY_SIM_NETWORK_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"
#include "events/event_queue.h"
#include "network/pipe.h"

#define WIRE_SLOTS  128
#define WIRE_NOBODY UINT32_MAX
#define WIRE_WINDOW 65536

/* Callbacks to the hosts (struct party). A callback may call functions of the network. */
struct wire_owner {
    void *self;
    /* Returns the party's id for a connection that party `from` has dialled; 0 = refuse it. */
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
    bool listens;
    uint32_t region;
    struct pipe up;       /* uplink, shared by all connections of the party */
    struct pipe down;     /* downlink, shared by all connections of the party */
    uint64_t paused_ns;   /* virtual time until which the process is paused */
    uint64_t deaf_ns;     /* virtual time until which the process reads nothing from its sockets */
    uint64_t fragment_ns; /* virtual time until which bytes arrive in small pieces */
    uint64_t tamper_ns;   /* virtual time until which some received bits are flipped */
    uint32_t connection[WIRE_SLOTS]; /* index + 1 of the connection in each slot; 0 = none */
};

/* One direction of a connection: the bytes towards one of the two ends. */
struct half_connection {
    uint8_t *ring;      /* send buffer; freed with the wire */
    size_t ring_bytes;  /* a power of two */
    size_t first;       /* position of the oldest buffered byte, modulo ring_bytes */
    size_t held;        /* buffered bytes, in flight or waiting for the window */
    size_t flying;      /* bytes in flight */
    size_t unacked;     /* delivered bytes whose acknowledgement a cut has dropped */
    uint64_t arrive_ns; /* time at which the last byte in flight reaches the receiver's down pipe */
    uint64_t clear_ns;  /* time at which the last byte in the receiver's down pipe leaves it */
    uint64_t try_ns;  /* after a cut: time before which no byte is sent; in a cut: its beginning */
    uint64_t held_ns; /* time until which the receiver reads nothing from this connection */
    bool sending;     /* the sender's last send has not completed yet: WIRE_SENT follows */
    bool fin;         /* the sender has hung up: the connection closes after the last byte */
};

struct connection_end {
    uint32_t party; /* index of the host at this end; WIRE_NOBODY = no host has this address */
    uint64_t conn;  /* id by which the party names the connection; 0 = not accepted yet */
    bool up;        /* this end may send and receive */
    bool gone;      /* the party has forgotten this connection, or will never accept it */
    bool ghost;     /* the party disappeared without sending FIN or a reset */
};

struct connection {
    uint32_t generation;            /* unique among all connections so far; 0 = free */
    struct connection_end end[2];   /* end[0]: the party that dialled */
    struct half_connection half[2]; /* half[i]: bytes towards end[i] */
    uint64_t since_ns;              /* time at which the connection was accepted */
    const char *why;                /* reason of the close; NULL or "" = an orderly close */
};

/* Traffic counters of an ordered pair of regions. */
struct crossing {
    uint64_t bytes;
    uint64_t resent; /* number of segments that were lost and sent again */
    double delay_s;  /* sum of the delays of all bytes, including queueing */
};

struct wire {
    struct event_queue *event_queue;
    struct wire_owner owner;
    struct rng rng;         /* generator of jitter, lost segments, fragments and flipped bits */
    uint32_t kind_base;     /* event kind of WIRE_SYN; those of enum wire_event follow in order */
    struct party *parties;  /* [parties_count] hosts */
    uint32_t parties_count; /* number of nodes and outsiders */
    struct path (*paths)[SCENARIO_REGIONS_MAX]; /* [from][to] paths between regions */
    uint32_t regions;
    struct pipe *region_pipes;      /* [from][to] pipes between regions */
    struct crossing *crossings;     /* [from][to] traffic between regions */
    uint8_t *cuts;                  /* [from party][to party] number of active cuts */
    struct connection *connections; /* [connections_count], including freed ones */
    uint32_t connections_count;
    uint32_t connections_max;
    /* Index + 1 of the first freed connection; 0 = none. Each freed connection has the next such
     * number in end[0].party. */
    uint32_t free_connection;
    uint32_t generation; /* generation of the newest connection */
    uint64_t flying;     /* bytes in flight on all connections */
};

/* The caller owns the paths and may change them during the run. */
void wire_init(struct wire *wire, struct event_queue *event_queue, const struct wire_owner *owner,
               uint32_t kind_base, uint32_t parties, struct path (*paths)[SCENARIO_REGIONS_MAX],
               uint32_t regions, uint64_t seed);
void wire_free(struct wire *wire);

/* Actions of a party on its connections. A dial to WIRE_NOBODY is refused after one round trip. */
void wire_dial(struct wire *wire, uint32_t party, uint64_t conn, uint32_t to);
void wire_send(struct wire *wire, uint32_t party, uint64_t conn, const uint8_t *bytes,
               size_t count);
void wire_hang_up(struct wire *wire, uint32_t party, uint64_t conn);
/* The party reads nothing from the connection until this time. */
void wire_hold(struct wire *wire, uint32_t party, uint64_t conn, uint64_t until_ns);
void wire_on_event(struct wire *wire, const struct event *event);

/* Faults. wire_die: the host dies; its peers get resets, except if `silently` or during a cut from
 * the host to the peer. wire_half_open: the host loses its ends of all established connections,
 * unnoticed by its peers. wire_reset: all connections between a and b break. wire_cut: adds a cut
 * from `from` to `to`, or removes one if `cut` is false. */
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
