/* The wires: connections as TCP offers them, between the parties of a world, under virtual time.
 *
 *   wire_send ─► window ─► up ─► region to region ─► delay, jitter, loss ─► down ─► on_bytes
 *               (held      └─ shared by all of ─┘                          └ shared by all
 *                back)        this sender                                    of this receiver)
 *
 * Bytes arrive in order, each once, or the connection breaks: a lost segment comes one round trip
 * later and what is behind it waits. At most a window of bytes is under way (one delay's worth of
 * the route's rate and 64 KiB, as a TCP that tunes itself); a SEND is done when its last byte is
 * in the window. A cut lets nothing pass and tells nobody; afterwards sending goes on when the
 * sender next tries, with doubled patience, as TCP does; a call is tried again every second.
 *
 * A party is a node or an outsider. Its connections are named by its own ids (their low 32 bits
 * are a slot < WIRE_SLOTS). Held by tests/unit/sim/test_wire.c and test_cut.c.
 */
#ifndef HEARSAY_SIM_NETWORK_WIRE_H
#define HEARSAY_SIM_NETWORK_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "world/event_queue.h"
#include "network/pipe.h"
#include "base/rng.h"

#define WIRE_SLOTS  128
#define WIRE_NOBODY UINT32_MAX
#define WIRE_WINDOW 65536

/* What a party hears; the calls may act on the wires. */
struct wire_owner {
    void *self;
    /* `from` calls: an id for the connection, or 0: no. */
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
    bool listens; /* answers calls */
    uint32_t region;
    struct pipe up, down;
    uint64_t paused_ns;        /* hears nothing until then */
    uint64_t deaf_ns;          /* takes no bytes from its sockets until then */
    uint64_t fragment_ns;      /* gets bytes in pieces until then */
    uint64_t tamper_ns;        /* gets flipped bits until then */
    uint32_t line[WIRE_SLOTS]; /* line + 1; 0: none */
};

/* Bytes towards one end of a line. */
struct half_connection {
    uint8_t *ring;
    size_t ring_bytes;  /* a power of two */
    size_t first;       /* position of the oldest byte */
    size_t held;        /* bytes in it: under way and waiting for the window */
    size_t flying;      /* of them, under way */
    size_t unacked;     /* delivered, but the news of it was cut off */
    uint64_t arrive_ns; /* when what flies is at the down pipe: nothing overtakes */
    uint64_t clear_ns;  /* when it has been applied over */
    uint64_t try_ns;    /* nothing is sent before: patience after a cut */
    bool sending;       /* the sender waits for WIRE_SENT */
    bool fin;           /* the sender has hung up: closes after the last byte */
};

struct line_end {
    uint32_t party;
    uint64_t conn;
    bool up;    /* may send and receive */
    bool gone;  /* will hear nothing more of this line */
    bool ghost; /* gone without a word to the other */
};

struct line {
    uint32_t generation; /* 0: free */
    struct line_end end[2];
    struct half_connection half[2]; /* towards end[i] */
    uint64_t since_ns;              /* when it was accepted */
    const char *why;                /* the reason both ends will hear */
};

/* Bytes from one region to another, so far. */
struct crossing {
    uint64_t bytes;
    uint64_t resent; /* segments */
    double delay_s;  /* sum over bytes */
};

struct wire {
    struct event_queue *event_queue;
    struct wire_owner owner;
    struct rng rng;
    uint32_t kind_base; /* events of the agenda from kind_base + WIRE_SYN on are ours */
    struct party *parties;
    uint32_t parties_count;
    struct path (*paths)[SCENARIO_REGIONS_MAX]; /* from, to */
    uint32_t regions;
    struct pipe *region_pipes; /* [regions][regions] */
    struct crossing *crossings;
    uint8_t *cuts; /* [parties][parties]: how many faults cut this way */
    struct line *lines;
    uint32_t lines_count, lines_max;
    uint32_t free_line; /* + 1; chained through end[0].party */
    uint32_t generation;
    uint64_t flying; /* bytes, all lines */
};

/* Paths are the caller's and may change while it runs. */
void wire_init(struct wire *wire, struct event_queue *event_queue, const struct wire_owner *owner,
               uint32_t kind_base, uint32_t parties, struct path (*paths)[SCENARIO_REGIONS_MAX],
               uint32_t regions, uint64_t seed);
void wire_free(struct wire *wire);

/* `to` WIRE_NOBODY: nobody is there. */
void wire_dial(struct wire *wire, uint32_t party, uint64_t conn, uint32_t to);
void wire_send(struct wire *wire, uint32_t party, uint64_t conn, const uint8_t *bytes,
               size_t count);
void wire_hang_up(struct wire *wire, uint32_t party, uint64_t conn);

void wire_on_event(struct wire *wire, const struct event *event);

/* Faults. */
void wire_die(struct wire *wire, uint32_t party, bool silently); /* all its connections end */
void wire_half_open(struct wire *wire, uint32_t party); /* it loses them, the others keep theirs */
void wire_reset(struct wire *wire, uint32_t a, uint32_t b);
void wire_cut(struct wire *wire, uint32_t from, uint32_t to, bool cut);
bool wire_is_cut(const struct wire *wire, uint32_t from, uint32_t to);

#endif
