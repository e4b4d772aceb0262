/* The reference model of the random calls: what a call may return, given the calls before it.
 *
 *   EMPTY ─ open ─┬► OPEN ─ close ─► CLOSED ─┐
 *     ▲           └► REFUSED ────────────────┤
 *     └────────────────── free ◄─────────────┘
 *
 * A slot is a handle with the tensors that its caller gave it. A place is a state folder, which
 * outlives the handle.
 */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_SLOT_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_SLOT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/rng.h"
#include "process/random_calls/given.h"

#define SLOT_COUNT   4
#define ALLOW(error) (1u << (error))
#define ALLOW_END    (ALLOW(HEARSAY_REFUSED) | ALLOW(HEARSAY_ENDED))

enum slot_state { SLOT_EMPTY, SLOT_REFUSED, SLOT_OPEN, SLOT_CLOSED };
enum slot_joined { JOINED_NO, JOINED_MAYBE, JOINED_YES };

struct place {
    char name[16];       /* name of the folder and of the key file */
    bool is_open;        /* a slot uses the folder */
    bool is_kept_known;  /* the caller's data there is known: the next members describe it */
    bool is_shared;      /* several threads save data there, so it is never known */
    uint32_t kept_bytes; /* bytes of the caller's data */
    uint8_t kept;        /* value of each of these bytes */
    int kind;            /* kind of the tensors in its checkpoints; -1 = no checkpoint */
    bool has_diverged;   /* weights in its checkpoints may be NaN */
    bool had_company;    /* a node there may have ended before it had anything to save */
};

struct slot {
    struct hearsay *node;
    enum slot_state state;
    enum slot_joined joined;
    struct place *place; /* state folder, while the slot is OPEN */
    bool is_alone;       /* the node has no peers, so each wait ends */
    bool diverges;       /* its weights sometimes become NaN */
    bool may_end;        /* the node may end by itself: peers refuse it, or its weights were NaN */
    uint32_t kind;       /* kind of its tensors */
    size_t parameters;   /* number of parameters */
    struct given given;  /* its tensors; they may be freed after close */
    uint64_t steps;      /* calls of hearsay_step that returned 0 */
    uint64_t samples;    /* samples of these steps */
    char address[64];    /* address where it listens; "" = unknown */
};

enum call {
    CALL_ABI,
    CALL_OPEN,
    CALL_JOIN,
    CALL_STEP,
    CALL_SETTLE,
    CALL_REVERT,
    CALL_BASE,
    CALL_SAVE,
    CALL_EXTRA,
    CALL_INFO,
    CALL_NOTE,
    CALL_STATUS,
    CALL_CLOSE,
    CALL_FREE,
    CALL_ERROR_TEXT,
    CALL_COUNT
};
extern const char *const CALL_NAMES[CALL_COUNT];

/* A calling thread, with its own random numbers. */
struct player {
    struct rng rng;
    bool is_crowd; /* another thread may use the handle at the same time */
    uint32_t returned[CALL_COUNT][HEARSAY_ENDED + 1];
};

/* Notes the seed and the number of the call. The second function prints them to standard error,
 * also from a signal handler. */
void slot_note_where(uint64_t seed, uint64_t number);
void slot_say_where(void);
/* Ends the program with a message (printf format). */
_Noreturn void slot_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Checks that a call has returned one of the allowed results, with an error text if it failed.
 * Otherwise ends the program. */
void slot_expect(struct player *player, const struct slot *slot, enum call call, int error,
                 uint32_t allowed);
/* Checks the result of a call for a handle that was freed. */
void slot_expect_gone(struct player *player, enum call call, int error, uint32_t allowed);

/* Return the allowed results of a call that needs an open node, and of one that needs a joined
 * node. inner: the results if it has such a node. */
uint32_t slot_allowed_open(const struct player *player, const struct slot *slot, uint32_t inner);
uint32_t slot_allowed_joined(const struct player *player, const struct slot *slot, uint32_t inner);

/* Returns true with probability 1 / one_of. */
bool player_chance(struct player *player, uint32_t one_of);
uint32_t player_below(struct player *player, uint32_t bound);

#endif
