/* Makes random calls through hearsay.h, valid ones and misuse, and compares them with a reference
 * model of possible results:
 *
 *   random_calls SEED CALLS
 *
 * It prints a table of the results at the end. If a result is not what hearsay.h says, it prints
 * the seed and the number of the call and ends. A seed draws the same calls as long as
 * their results are the same; these also depend on threads and the network. No call waits long, and
 * which results are allowed does not depend on timing.
 */
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/random_calls/crowd_calls.h"
#include "process/random_calls/node_calls.h"
#include "process/random_calls/open_calls.h"

/* Random actions besides the single calls. */
enum { FORK = CALL_COUNT, CROWD, OPEN_BAD, OPEN_WILD, TOGETHER, KINDS };
static const uint32_t WEIGHTS[KINDS] = {
    [CALL_ABI] = 200,    [CALL_OPEN] = 40,    [CALL_JOIN] = 900,        [CALL_STEP] = 2800,
    [CALL_SETTLE] = 60,  [CALL_REVERT] = 200, [CALL_BASE] = 600,        [CALL_SAVE] = 40,
    [CALL_EXTRA] = 1000, [CALL_INFO] = 1200,  [CALL_NOTE] = 600,        [CALL_STATUS] = 150,
    [CALL_CLOSE] = 14,   [CALL_FREE] = 30,    [CALL_ERROR_TEXT] = 1500, [FORK] = 2,
    [CROWD] = 6,         [OPEN_BAD] = 1000,   [OPEN_WILD] = 10,         [TOGETHER] = 10};

struct scene {
    struct player player;
    struct places places;
    struct slot slots[SLOT_COUNT];
};

static struct scene scene;

static void on_abort(int number)
{
    slot_say_where();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* The sanitizers' functions, if they are linked. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    /* a failed allocation is an error of the call, not of the program */
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* libuv closes descriptors by direct system calls, which ThreadSanitizer does not see. A reused
 * descriptor then looks as if two threads had created it. Suppresses reports in calls that create
 * or close a descriptor. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:socket$\nrace:accept4$\nrace:epoll_create1$\nrace:eventfd$\nrace:pipe2$\n"
           "race:fopen$\nrace:fclose$\nrace:closedir$\n";
}

static uint32_t draw_kind(struct player *player)
{
    uint32_t sum = 0, kind = 0;
    for (uint32_t i = 0; i < KINDS; i++)
        sum += WEIGHTS[i];
    uint32_t left = player_below(player, sum);
    while (left >= WEIGHTS[kind])
        left -= WEIGHTS[kind++];
    return kind;
}

static void free_slot(struct slot *slot)
{
    node_call_free(&scene.player, slot);
}

/* Returns an empty slot: `slot` or another one. If none is empty, frees one, preferably one without
 * an open node. */
static struct slot *make_empty(struct slot *slot)
{
    for (int i = 0; i < SLOT_COUNT && slot->state != SLOT_EMPTY; i++)
        if (scene.slots[i].state != SLOT_OPEN)
            slot = &scene.slots[i];
    if (slot->state != SLOT_EMPTY)
        free_slot(slot);
    return slot;
}

/* Calls hearsay_open with an invalid argument. Keeps the refused handle for later calls, or frees
 * it. */
static void open_bad(struct player *player, struct slot *slot)
{
    struct slot other = {.state = SLOT_EMPTY};
    struct slot *taken = slot->state == SLOT_EMPTY && player_chance(player, 32) ? slot : &other;
    open_call_bad(player, taken);
    if (taken == &other)
        free_slot(taken);
}

static void make_call(struct player *player)
{
    const uint32_t kind = draw_kind(player);
    struct slot *slot = &scene.slots[player_below(player, SLOT_COUNT)];
    switch (kind) {
    case CALL_OPEN:
        open_call_good(player, make_empty(slot), &scene.places, scene.slots);
        break;
    case CALL_FREE:
        free_slot(slot);
        break;
    case FORK:
        crowd_fork(player, scene.slots, &scene.places);
        break;
    case CROWD:
        if (slot->state != SLOT_EMPTY)
            crowd_calls(player, slot);
        break;
    case OPEN_BAD:
        open_bad(player, slot);
        break;
    case OPEN_WILD:
        if (slot->state == SLOT_EMPTY)
            open_call_wild(player, slot, &scene.places);
        break;
    case TOGETHER:
        node_calls_together(player, scene.slots);
        break;
    default:
        node_call(player, slot, (enum call)kind);
        break;
    }
}

static void print_returned(const struct player *player)
{
    for (int call = 0; call < CALL_COUNT; call++) {
        printf("%-10s", CALL_NAMES[call]);
        for (int error = 0; error <= HEARSAY_ENDED; error++)
            printf(" %7" PRIu32, player->returned[call][error]);
        printf("\n");
    }
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hearsay-random-calls-XXXXXX";
    if (argc != 3) {
        (void)fprintf(stderr, "random_calls SEED CALLS\n");
        return 2;
    }
    const uint64_t seed = strtoull(argv[1], NULL, 10), calls = strtoull(argv[2], NULL, 10);
    scene.player.rng = rng_new(seed, 0);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(slot_say_where);
    (void)signal(SIGABRT, on_abort);
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    open_calls_begin(&scene.places);
    for (uint64_t i = 1; i <= calls; i++) {
        slot_note_where(seed, i);
        make_call(&scene.player);
    }
    for (int i = 0; i < SLOT_COUNT; i++)
        free_slot(&scene.slots[i]);
    open_calls_end(&scene.places);
    print_returned(&scene.player);
    CHECK(chdir("/") == 0);
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : 1;
}
