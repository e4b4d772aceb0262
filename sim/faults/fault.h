/* A fault: what goes wrong, where and when. A scenario lists faults, a storm draws them from its
 * seed; fault_injector.h applies them to a world.
 *
 *   fault = crash desk/1, at 40 s, back at 60 s          fault = pause any, at 30 s, for 5 s
 *   fault = partition west | east, from 60 s to 90 s     fault = churn, every 10 s, away 15 s
 *
 * A fault lasts from from_ns to to_ns. Where to_ns is not later than from_ns it is an instant,
 * stays for good, or, if it takes time, lasts FAULT_SHORT_NS. X, A and B in a line are sets of
 * nodes: a group, a node (desk/1), a region, `all`, `any`, or `any` of a group or region (any
 * desk). `any` draws one of those that run when the fault begins; an empty b is everything but a.
 */
#ifndef HEARSAY_SIM_FAULTS_FAULT_H
#define HEARSAY_SIM_FAULTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_NODES_MAX 1024
#define FAULT_SHORT_NS  5000000000u

enum fault_kind {
    FAULT_CRASH,       /* crash X, at T [, back at T] [, disk lost] [, silently]: the process dies
                          and restarts at to_ns from its disk (to_ns == from_ns: never). silently
                          (value not 0): without closing its connections, as in a power cut */
    FAULT_PAUSE,       /* pause X, at T, for D: the process stands still (SIGSTOP, a suspended
                          laptop). pause X, every D, for D to D, from T to T: in each period every
                          node of a (any: one of them) pauses once, at a moment and for a time that
                          are drawn anew (an overloaded machine) */
    FAULT_PARTITION,   /* partition A | B, from T to T [, every D]: nothing passes between a and b.
                          A > B (one_way): nothing passes from a to b. every: it comes and goes */
    FAULT_CLOG,        /* clog X, from T to T: uplink and downlink of a carry next to nothing */
    FAULT_RESET,       /* reset A B, at T: every connection between a and b breaks */
    FAULT_HALF_OPEN,   /* half open X, at T: a loses its ends of all connections; its peers are not
                          told */
    FAULT_SLOW_READER, /* slow reader X, from T to T: a reads nothing from its sockets */
    FAULT_FRAGMENT,    /* fragment X, from T to T: bytes reach a in pieces of 1 B to 64 KiB */
    FAULT_TAMPER,      /* tamper X, at T: bits of what a receives are flipped on the way */
    FAULT_CLOCK,       /* clock X, at T, by -30 s: a's wall clock jumps by value seconds. Its next
                          incarnation is numbered by that clock: an earlier number is ignored by
                          the others, an equal one mistaken for the last. So a clock may go back
                          only where nothing restarts */
    FAULT_DUPLICATE,   /* duplicate X, at T [, until T]: a second process with a's identity starts
                          (to_ns == from_ns: and stays), as a node of the world kept for it. When
                          it ends, it is killed, and a, if it still runs, restarted */
    FAULT_WRONG_KEY,   /* wrong key X, at T: a stranger with another swarm key calls a */
    FAULT_HOSTILE,     /* hostile X, from T to T: a member that breaks the protocol calls a
                          (hostile.h) */
    FAULT_MUTE,        /* mute X, from T to T: a has a neighbour that claims more rumors than there
                          are and answers no WANT */
    FAULT_CHURN,       /* churn [X], every D, away D [, from T to T] [, disk lost]: every every_ns a
                          node of a crashes, and restarts after away_ns */
    FAULT_POISON, /* poison X, with KIND N [, from T to T]: a publishes something else than what
                     it learned (enum poison), validly signed; without times, always */
    FAULT_RUIN,   /* ruin X, with KIND N, at T: training of a comes apart (enum ruin), until it is
                     started again */
    FAULT_KINDS
};

/* What a process finds on its disk when it restarts. */
enum fault_disk {
    FAULT_DISK_KEPT, /* disk kept (the default): its newest complete checkpoint */
    FAULT_DISK_ROTS, /* disk rots: the newest checkpoint is corrupt, the one before is read */
    FAULT_DISK_LOST  /* disk lost: nothing */
};

/* What a node of a POISON does instead of learning and telling honestly. N is the fault's value.
 * Lengths are Euclidean norms; "learned": since its last publication. */
enum poison {
    POISON_LABELS, /* flipped labels: its data have class k for classes - 1 - k, from its start */
    POISON_SIGN,   /* sign flip N (1): minus N times what it learned */
    POISON_SCALE,  /* scaled N (10): N times what it learned */
    POISON_NOISE,  /* noise N (1): random numbers, N times as long as what it learned */
    POISON_LITTLE, /* a little N (1.5): the mean of what others published since, less N standard
                      deviations */
    POISON_MEAN,   /* mean shift N (1): minus that mean, made N times as long as what it learned */
    POISON_DRIFT,  /* drift N (0.3): what it learned, and a constant direction N times as long */
    POISON_COLLUSION, /* collusion N (1): the same, in one direction for all nodes of the fault */
    POISON_RIDE,      /* free ride: what another published since, as its own */
    POISON_CLAIMS,    /* claims N (100): learns and publishes honestly, and says that it learns N
                         times as many samples */
    POISONS
};

/* How a RUIN ruins training. N is the fault's value. */
enum ruin {
    RUIN_RATE,   /* rate N (50): the learning rate becomes N times what it is */
    RUIN_LABELS, /* shuffled labels: those of its training samples are permuted */
    RUIN_LAYER,  /* dead layer: all units of the first layer with biases are silenced */
    RUINS
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
    uint64_t from_ns;  /* when it begins */
    uint64_t to_ns;    /* when it is over */
    struct node_set a; /* the nodes that it strikes */
    struct node_set b; /* PARTITION, RESET: the other side; empty: all but a */
    bool any;          /* strikes one node of a, drawn when it begins */
    bool one_way;      /* PARTITION: only from a to b */
    uint64_t every_ns; /* period of a CHURN, a recurring PAUSE, a flapping PARTITION */
    uint64_t away_ns;  /* CHURN: time from crash to restart */
    uint64_t least_ns; /* PAUSE: shortest pause */
    uint64_t most_ns;  /* PAUSE: longest pause */
    uint32_t actions;  /* CRASH: dies in the midst of this action, counted from then; 0: at once */
    enum fault_disk disk; /* CRASH, CHURN: what the restart finds */
    enum poison poison;   /* POISON: how */
    enum ruin ruin;       /* RUIN: how */
    double value;         /* CLOCK: seconds; CRASH: not 0 if silently; POISON, RUIN: N */
    uint64_t seed;        /* seeds what the fault draws while it lasts */
};

/* The word for it in a fault line. */
const char *fault_name(enum fault_kind kind);
const char *poison_name(enum poison poison);
const char *ruin_name(enum ruin ruin);
/* N where the line has none; 0: it takes none. */
double poison_value(enum poison poison);
double ruin_value(enum ruin ruin);
/* Does it change what is published, rather than data or claims? */
bool poison_is_published(enum poison poison);

#endif
