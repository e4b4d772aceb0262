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
    char name[16];      /* name of the folder and of the key file */
    bool is_open;       /* a slot uses the folder */
    bool is_kept_known; /* kept_bytes and kept describe the caller's data in the folder */
    /* Several threads save data in the folder, or the node may use another folder. So the data are
     * unknown. */
    bool is_shared;
    uint32_t kept_bytes; /* bytes of the caller's data */
    uint8_t kept;        /* value of each byte of the caller's data */
    int kind;            /* kind of the tensors in the folder's checkpoints; -1 = no checkpoint */
    bool has_diverged;   /* weights in the folder's checkpoints may be invalid */
    bool had_company;    /* a node in the folder may have ended before it had anything to save */
};

struct slot {
    struct hearsay *node;
    enum slot_state state;
    enum slot_joined joined;
    struct place *place; /* state folder while the slot is OPEN */
    bool is_alone;       /* the node has no peers, so every wait ends */
    bool diverges;       /* the node's weights sometimes become invalid (given_poison) */
    /* The node may end by itself, because peers refuse it or its weights were invalid. */
    bool may_end;
    uint32_t kind; /* kind of the tensors */
    size_t parameters;
    struct given given; /* the node's tensors; they may be freed after close */
    uint64_t steps;     /* calls of hearsay_step that returned 0 */
    uint64_t samples;   /* samples of all steps */
    char address[64];   /* address on which the node listens; "" = unknown */
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

/* slot_note_where records the seed and the number of the call. slot_say_where prints them to
 * standard error, also from a signal handler. */
void slot_note_where(uint64_t seed, uint64_t number);
void slot_say_where(void);
/* Ends the program with a printf-formatted message. */
_Noreturn void slot_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Checks that a call has returned an allowed result, and that the result has a text. Otherwise ends
 * the program. */
void slot_expect(struct player *player, const struct slot *slot, enum call call, int error,
                 uint32_t allowed);
/* Checks the result of a call with a freed handle. */
void slot_expect_gone(struct player *player, enum call call, int error, uint32_t allowed);

/* Return the allowed results of a call that needs an open node, and of one that needs a joined
 * node. inner: allowed results if the slot has such a node. */
uint32_t slot_allowed_open(const struct player *player, const struct slot *slot, uint32_t inner);
uint32_t slot_allowed_joined(const struct player *player, const struct slot *slot, uint32_t inner);

/* Returns true with probability 1 / one_of. */
bool player_chance(struct player *player, uint32_t one_of);
uint32_t player_below(struct player *player, uint32_t bound);

#endif
