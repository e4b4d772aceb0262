/* A fault: what goes wrong, where and when. Scenarios list faults, storms draw them from a seed;
 * fault_injector.h applies them to a world.
 *
 *   fault = crash desk/1, at 40 s, back at 60 s          fault = pause any, at 30 s, for 5 s
 *   fault = partition west | east, from 60 s to 90 s     fault = churn, every 10 s, away 15 s
 *
 * A fault lasts from from_ns to to_ns. If to_ns is not later than from_ns, it is an instant, or
 * lasts permanently, or lasts FAULT_SHORT_NS, depending on its kind. X, A and B in a line are sets
 * of nodes: a group, a node (desk/1), a region, `all`, `any`, or `any` of a group or region (any
 * desk). `any` draws one of the nodes that run when the fault begins. An empty b means all nodes
 * that the fault does not strike.
 */
#ifndef HEARSAY_SIM_SCENARIO_FAULT_H
#define HEARSAY_SIM_SCENARIO_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_NODES_MAX 1024
#define FAULT_SHORT_NS  5000000000u

enum fault_kind {
    /* "crash X, at T [, back at T] [, disk lost] [, silently]": the process of X dies. It restarts
     * from its disk at to_ns, or never if to_ns == from_ns. "silently" (value not 0): connections
     * are not closed, as in a power cut. */
    FAULT_CRASH,
    /* "pause X, at T, for D": the process of X stops (SIGSTOP, a suspended laptop). "pause X, every
     * D, for D to D, from T to T": in each period every node of X pauses once, at a random time for
     * a random duration (an overloaded machine). `any` draws a node in each period. */
    FAULT_PAUSE,
    /* "partition A | B, from T to T [, every D]": nothing passes between A and B. "A > B"
     * (one_way): nothing passes from A to B. "every D": the partition lasts for the first half of
     * each period D. */
    FAULT_PARTITION,
    FAULT_CLOG,  /* "clog X, from T to T": uplink and downlink of X carry almost nothing. */
    FAULT_RESET, /* "reset A B, at T": every connection between A and B breaks. */
    /* "half open X, at T": X loses its ends of all connections; its peers notice nothing. */
    FAULT_HALF_OPEN,
    FAULT_SLOW_READER, /* "slow reader X, from T to T": X reads nothing from its sockets. */
    FAULT_FRAGMENT, /* "fragment X, from T to T": bytes arrive at X in pieces of 1 B to 64 KiB. */
    FAULT_TAMPER,   /* "tamper X, at T": some bits that X receives are flipped. */
    /* "clock X, at T, by -30 s": the wall clock of X jumps by `value` seconds. A new incarnation
     * is numbered by the clock, but never below the number that X's disk keeps. If X also loses its
     * disk, choose a backward jump shorter than the time between two starts of X. Otherwise X's new
     * number is lower than its old one, and other nodes ignore X. */
    FAULT_CLOCK,
    /* "duplicate X, at T [, until T]": a second process with the identity of X starts, as an extra
     * node of the world. At to_ns (never if to_ns == from_ns) the second process is killed, and X
     * is restarted if it still runs. */
    FAULT_DUPLICATE,
    FAULT_WRONG_KEY, /* "wrong key X, at T": a stranger with another swarm key dials X. */
    /* "hostile X, from T to T": a member that violates the protocol dials X (hostile.h). */
    FAULT_HOSTILE,
    /* "mute X, from T to T": X gets a neighbour that claims nonexistent rumors and never answers
     * WANT. */
    FAULT_MUTE,
    /* "churn [X], every D, away D [, from T to T] [, disk lost]": once in every_ns a node of X
     * crashes. It restarts after away_ns. */
    FAULT_CHURN,
    /* "poison X, with KIND N [, from T to T]": X publishes other updates than it learned (enum
     * poison), validly signed; without times, during the whole run. */
    FAULT_POISON,
    /* "ruin X, with KIND N, at T": breaks the training of X (enum ruin). A restart of X restores
     * its rate and labels. */
    FAULT_RUIN,
    FAULT_KINDS
};

/* State of the disk from which a process restarts. */
enum fault_disk {
    FAULT_DISK_KEPT, /* default: the process restores its newest complete checkpoint */
    FAULT_DISK_ROTS, /* the newest checkpoint is corrupt: the process restores an older one */
    FAULT_DISK_LOST  /* the disk is empty */
};

/* How a node of a POISON fault falsifies its updates. N is the fault's value. Lengths are Euclidean
 * norms. "Learned" means the node's progress since its last publication, and "received" the sum of
 * each other origin's updates since then. */
enum poison {
    /* flipped labels: class k of the node's data becomes class classes - 1 - k, from the node's
     * start on. */
    POISON_LABELS,
    POISON_SIGN,  /* sign flip N (default 1): minus N times the learned update */
    POISON_SCALE, /* scaled N (default 10): N times the learned update */
    POISON_NOISE, /* noise N (default 1): random numbers, N times as long as the learned update */
    /* a little N (default 1.5): the mean of the received updates, minus N standard deviations. */
    POISON_LITTLE,
    /* mean shift N (default 1): minus the mean of the received updates, scaled to N times the
     * length of the learned update. */
    POISON_MEAN,
    /* drift N (default 0.3): the learned update, plus a constant vector that is N times as
     * long. */
    POISON_DRIFT,
    /* collusion N (default 1): drift in one direction, the same for all nodes of the fault. */
    POISON_COLLUSION,
    /* free ride: the received updates of one origin, published as the node's own. */
    POISON_RIDE,
    POISON_CLAIMS, /* claims N (default 100): publishes honestly, but claims N times the samples */
    POISONS
};

/* How a RUIN fault breaks training. N is the fault's value. */
enum ruin {
    RUIN_RATE,   /* rate N (default 50): multiplies the learning rate by N */
    RUIN_LABELS, /* shuffled labels: permutes the labels of the node's training samples */
    RUIN_SHIFT,  /* shifted labels: raises each of these labels by one; the last becomes 0 */
    RUIN_LAYER,  /* dead layer: silences the first layer with biases that is not the output layer */
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
    uint64_t from_ns;
    uint64_t to_ns;
    struct node_set a; /* set X or A of the line: the nodes that the fault strikes */
    /* PARTITION, RESET: the other side; empty = all nodes that the fault does not strike */
    struct node_set b;
    bool any;          /* the fault strikes one running node of a, drawn at random */
    bool one_way;      /* PARTITION: only the direction from a to b is cut */
    uint64_t every_ns; /* period of CHURN, recurring PAUSE or flapping PARTITION */
    uint64_t away_ns;  /* CHURN: time from crash to restart */
    uint64_t least_ns; /* PAUSE: shortest pause */
    uint64_t most_ns;  /* PAUSE: longest pause */
    /* CRASH: the node dies after this number of actions from from_ns on; 0 = it dies at once. */
    uint32_t actions;
    enum fault_disk disk; /* CRASH, CHURN: state of the disk at the restart */
    enum poison poison;   /* only for POISON */
    enum ruin ruin;       /* only for RUIN */
    double value;         /* CLOCK: seconds; CRASH: nonzero = silently; POISON, RUIN: N */
    uint64_t seed;        /* seed of the fault's random draws */
};

/* Return the words for a kind in a fault line of a scenario. */
const char *fault_name(enum fault_kind kind);
const char *poison_name(enum poison poison);
const char *ruin_name(enum ruin ruin);
/* Return the default of the value N for a kind; 0 = the kind has no N. */
double poison_value(enum poison poison);
double ruin_value(enum ruin ruin);
/* Returns false for kinds that change only the training data or the claimed samples. */
bool poison_is_published(enum poison poison);

#endif
