/* What can go wrong, to whom, when: drawn by a scenario's lines or by a seed, done to a world.
 *
 *   fault = crash desk/1, at 40 s, back at 60 s          fault = pause any, at 30 s, for 5 s
 *   fault = partition west | east, from 60 s to 90 s     fault = churn, every 10 s, away 15 s
 *
 * A fault begins at from_ns and is over at to_ns (the same, or 0: an instant, or for good, or
 * FAULT_SHORT_NS for what takes time). A set names nodes of the world; `any` draws one of those
 * that run when the fault begins; an empty b is all but a. X, A, B in a line: a group, a node
 * (desk/1), a region, `all`, `any`, or `any` of a group or region (any desk).
 */
#ifndef HEARSAY_SIM_FAULTS_FAULT_H
#define HEARSAY_SIM_FAULTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_NODES_MAX 1024
#define FAULT_SHORT_NS  5000000000u

enum fault_kind {
    FAULT_CRASH,       /* crash X, at T [, back at T] [, disk lost] [, silently]: the process dies,
                          and is back at to_ns with what its disk has (to_ns == from_ns: it stays
                          away); value not 0: silently, as when the power fails */
    FAULT_PAUSE,       /* pause X, at T, for D: the process stands still (SIGSTOP, a suspended
                          laptop). pause X, every D, for D to D, from T to T: in every such D each
                          of a (or one of them: any) does so once, at a moment and for a time that
                          are drawn anew (a machine with too much to do) */
    FAULT_PARTITION,   /* partition A | B, from T to T [, every D]: nothing passes between a and b;
                          A > B: nothing from a to b (one_way); every: it comes and goes */
    FAULT_CLOG,        /* clog X, from T to T: up and down of a carry next to nothing */
    FAULT_RESET,       /* reset A B, at T: every connection between a and b breaks */
    FAULT_HALF_OPEN,   /* half open X, at T: a's ends of its connections are gone, and the others
                          are not told */
    FAULT_SLOW_READER, /* slow reader X, from T to T: a reads nothing from the network */
    FAULT_FRAGMENT,    /* fragment X, from T to T: what a receives comes in pieces of 1 B to
                          64 KiB */
    FAULT_TAMPER,      /* tamper X, at T: somebody on the way flips bits of what a receives */
    FAULT_CLOCK,       /* clock X, at T, by -30 s: a's wall clock jumps by value seconds, which its
                          next life shows: one that seems earlier than the last is no news to the
                          others, one that seems the same is taken for it. So go back only where
                          nothing starts again */
    FAULT_DUPLICATE,   /* duplicate X, at T [, until T]: a process with a's identity starts
                          elsewhere (to_ns == from_ns: and stays): another node that the world has
                          with that identity, which does not run. In the end it is gone, and a, if
                          it still runs, has been started again */
    FAULT_WRONG_KEY,   /* wrong key X, at T: a stranger with another swarm key calls a */
    FAULT_HOSTILE,     /* hostile X, from T to T: somebody hostile who has the swarm key calls a
                          (hostile.h) */
    FAULT_MUTE,        /* mute X, from T to T: a has a neighbour that shows more than there is, and
                          answers no WANT */
    FAULT_CHURN,       /* churn [X], every D, away D [, from T to T] [, disk lost]: every every_ns a
                          node of a crashes, and is back after away_ns */
    FAULT_KINDS
};

/* What a process finds when it starts again after a crash. */
enum fault_disk {
    FAULT_DISK_KEPT, /* disk kept (nothing said): its last checkpoint that is whole */
    FAULT_DISK_ROTS, /* disk rots: that one is rotten; the one before */
    FAULT_DISK_LOST  /* disk lost: nothing */
};

struct node_set {
    uint64_t bits[FAULT_NODES_MAX / 64];
};

static inline bool node_set_has(const struct node_set *set, uint32_t i)
{
    return set->bits[i / 64] >> (i % 64) & 1;
}

static inline void node_set_add(struct node_set *set, uint32_t i)
{
    set->bits[i / 64] |= 1ull << (i % 64);
}

struct fault {
    enum fault_kind kind;
    uint64_t from_ns;
    uint64_t to_ns;
    struct node_set a;
    struct node_set b;
    bool any;             /* one of a, drawn when it begins */
    bool one_way;         /* PARTITION: only from a to b */
    uint64_t every_ns;    /* CHURN; PARTITION: it flaps with this period; PAUSE: again and again */
    uint64_t away_ns;     /* CHURN */
    uint64_t least_ns;    /* PAUSE, every: it lasts so long ... */
    uint64_t most_ns;     /* ... to so long */
    uint32_t actions;     /* CRASH: with its so-manieth action from then on; 0: at once */
    enum fault_disk disk; /* CRASH, CHURN */
    double value;
    uint64_t seed; /* of what it draws while it lasts */
};

const char *fault_name(enum fault_kind kind);

#endif
