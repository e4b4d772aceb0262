/* The reference model of the random calls: what a call may return, given what was called before.
 *
 *   EMPTY ─ open ─┬► OPEN ─ close ─► CLOSED ─┐
 *     ▲           └► REFUSED ────────────────┤
 *     └────────────────── free ◄─────────────┘
 *
 * A slot is a handle with what its caller gave it; a place is a state folder, which outlives it.
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
    char name[16];       /* of the folder and of the key */
    bool is_open;        /* a slot has it */
    bool is_kept_known;  /* what is kept there is what the next two say */
    bool is_shared;      /* two threads keep something there: it is never known */
    uint32_t kept_bytes; /* of the caller's */
    uint8_t kept;        /* each of them */
    int kind;            /* of the tensors that its checkpoints may be of; -1: there are none */
    bool has_diverged;   /* weights in its checkpoints may be no numbers */
    bool had_company;    /* a node there may have ended before it had anything to save */
};

struct slot {
    struct hearsay *node;
    enum slot_state state;
    enum slot_joined joined;
    struct place *place; /* while OPEN */
    bool is_alone;       /* nobody is called and nobody calls: each wait ends */
    bool diverges;       /* its weights become no numbers now and then */
    bool may_end;        /* by itself: others refuse it, or its weights were no numbers */
    uint32_t kind;       /* of its tensors */
    size_t parameters;   /* of them */
    struct given given;  /* its tensors; after close they may be gone */
    uint64_t steps;      /* that returned 0 */
    uint64_t samples;    /* of them */
    char address[64];    /* where it listens; "": not known */
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

/* A thread that calls, with its own chances. */
struct player {
    struct rng rng;
    bool is_crowd; /* another may be inside */
    uint32_t returned[CALL_COUNT][HEARSAY_ENDED + 1];
};

/* The seed and the number of the call; and both on standard error, also from a signal's handler. */
void slot_note_where(uint64_t seed, uint64_t number);
void slot_say_where(void);
/* Ends the program: what is wrong (printf format). */
_Noreturn void slot_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The call has returned one of the allowed, and if that is an error there is a sentence; else the
 * program ends. */
void slot_expect(struct player *player, const struct slot *slot, enum call call, int error,
                 uint32_t allowed);
/* The same of a handle that is no more. */
void slot_expect_gone(struct player *player, enum call call, int error, uint32_t allowed);

/* Expected result of a call that needs an open node, and of one that needs a joined node; `inner`
 * is the result otherwise. */
uint32_t slot_allowed_open(const struct player *player, const struct slot *slot, uint32_t inner);
uint32_t slot_allowed_joined(const struct player *player, const struct slot *slot, uint32_t inner);

/* Returns true in one of `count` cases. */
bool player_chance(struct player *player, uint32_t one_of);
uint32_t player_below(struct player *player, uint32_t bound);

#endif
