#include "process/random_calls/crowd_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/random_calls/node_calls.h"

#define CALLS_MAX 24

/* A calling thread, with its own copy of the slot's expected state. */
struct caller {
    struct player player;
    struct slot view;
    struct place place; /* place of `view` */
    uint32_t calls;
    bool may_close;
};

static const enum call CROWDED[] = {CALL_JOIN,   CALL_STEP,       CALL_STEP,  CALL_SETTLE,
                                    CALL_REVERT, CALL_BASE,       CALL_SAVE,  CALL_STATUS,
                                    CALL_INFO,   CALL_ERROR_TEXT, CALL_EXTRA, CALL_NOTE};

static void *make_calls(void *argument)
{
    struct caller *caller = argument;
    const uint32_t count = sizeof CROWDED / sizeof *CROWDED;
    for (uint32_t i = 0; i < caller->calls; i++)
        node_call(&caller->player, &caller->view, CROWDED[player_below(&caller->player, count)]);
    if (caller->may_close)
        node_call(&caller->player, &caller->view, CALL_CLOSE);
    return NULL;
}

static void caller_init(struct caller *caller, struct player *player, const struct slot *slot,
                        uint64_t seed, bool may_close)
{
    *caller = (struct caller){.player = {.rng = rng_new(seed, may_close), .is_crowd = true},
                              .view = *slot,
                              .may_close = may_close,
                              .calls = 1 + player_below(player, CALLS_MAX)};
    if (slot->place)
        caller->place = *slot->place;
    caller->place.is_shared = true;
    caller->place.is_kept_known = false;
    caller->view.place = &caller->place;
    caller->view.given = (struct given){.count = 0}; /* no tensors: this thread does not train */
    if (slot->joined == JOINED_NO)
        caller->view.joined = JOINED_MAYBE;
}

static void add_calls(struct player *player, struct slot *slot, const struct caller *caller)
{
    slot->steps += caller->view.steps;
    slot->samples += caller->view.samples;
    for (int call = 0; call < CALL_COUNT; call++)
        for (int error = 0; error <= HEARSAY_ENDED; error++)
            player->returned[call][error] += caller->player.returned[call][error];
}

/* Sets the slot's expected state after both threads have ended. */
static void look_again(struct slot *slot, const struct caller callers[2])
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    if (hearsay_info(slot->node, &info) != HEARSAY_OK)
        slot_complain("hearsay_info fails after two threads");
    slot->joined = info.joined ? JOINED_YES : JOINED_NO;
    slot->place->is_kept_known = false;
    if (callers[0].view.state != SLOT_CLOSED && callers[1].view.state != SLOT_CLOSED)
        return;
    slot->state = SLOT_CLOSED;
    slot->place->is_open = false;
    slot->place = NULL;
}

void crowd_calls(struct player *player, struct slot *slot)
{
    struct caller callers[2];
    pthread_t thread;
    const uint64_t seed = rng_next(&player->rng);
    const bool may_close = player_chance(player, 8);
    struct slot before = *slot;
    CHECK(slot->node);
    before.steps = before.samples = 0;
    caller_init(&callers[0], player, &before, seed, false);
    caller_init(&callers[1], player, &before, seed, may_close);
    callers[0].may_close = may_close && player_chance(player, 2);
    CHECK(pthread_create(&thread, NULL, make_calls, &callers[0]) == 0);
    (void)make_calls(&callers[1]);
    CHECK(pthread_join(thread, NULL) == 0);
    add_calls(player, slot, &callers[0]);
    add_calls(player, slot, &callers[1]);
    if (slot->state == SLOT_OPEN)
        look_again(slot, callers);
}

static bool is_forked(struct hearsay *node)
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    char text[512] = "";
    size_t bytes = sizeof text;
    int level;
    return hearsay_join(node, -1) == HEARSAY_FORKED &&
           hearsay_step(node, 1, 0, NULL) == HEARSAY_FORKED &&
           hearsay_settle(node, -1) == HEARSAY_FORKED && hearsay_revert(node) == HEARSAY_FORKED &&
           hearsay_base(node, NULL, 0) == HEARSAY_FORKED &&
           hearsay_save(node, text, 1) == HEARSAY_FORKED &&
           hearsay_extra(node, text, &bytes) == HEARSAY_FORKED &&
           hearsay_info(node, &info) == HEARSAY_FORKED &&
           hearsay_note(node, &level, text, sizeof text) == HEARSAY_FORKED &&
           hearsay_status(node, text, &bytes) == HEARSAY_FORKED &&
           hearsay_close(node, -1) == HEARSAY_FORKED && hearsay_free(node) == HEARSAY_FORKED &&
           hearsay_error_text(node, HEARSAY_FORKED, text, sizeof text) == HEARSAY_OK &&
           strlen(text) > 10;
}

#ifdef __SANITIZE_THREAD__
#define MAY_OPEN false /* ThreadSanitizer allows no threads after fork */
#else
#define MAY_OPEN true
#endif

static void use_own(struct player *player, struct places *places)
{
    struct slot slot;
    open_call_own(player, &slot, places);
    for (int i = 0; i < 50; i++)
        node_call(player, &slot, CROWDED[player_below(player, sizeof CROWDED / sizeof *CROWDED)]);
    node_call_free(player, &slot);
}

void crowd_fork(struct player *player, struct slot slots[SLOT_COUNT], struct places *places)
{
    int status;
    const bool opens = player_chance(player, 4);
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        bool is_told = true;
        for (int i = 0; i < SLOT_COUNT; i++)
            is_told = is_told && (!slots[i].node || is_forked(slots[i].node));
        if (opens && MAY_OPEN)
            use_own(player, places);
        _exit(is_told ? 0 : 1);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        slot_complain("a child was not told that the nodes are its parent's: status %d", status);
    for (int i = 0; i < SLOT_COUNT; i++)
        player->returned[CALL_JOIN][HEARSAY_FORKED] += slots[i].node != NULL;
}
