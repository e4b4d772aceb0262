#include "process/random_calls/node_calls.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES   100 /* maximum samples of a usual step */
#define KEPT_MAX  300
#define PAGE_ROOM (1u << 16)
#define WAIT_S    0.003 /* maximum seconds to wait for an event that may never happen */

/* Constants of node_calls_together. */
#define MEETING_S       0.3 /* seconds for each node to join */
#define TOGETHER_S      0.02
#define TOGETHER_ROUNDS 4
#define TOGETHER_STEPS  5

/* Returns memory of exactly `bytes` bytes, or NULL for 0. */
static void *room_of(size_t bytes)
{
    void *room = bytes > 0 ? malloc(bytes) : NULL;
    CHECK(room || bytes == 0);
    return room;
}

static bool is_forever(double timeout_s)
{
    return timeout_s < 0 || timeout_s > 1e9;
}

/* Draws a timeout in seconds. It is unlimited only if the wait certainly ends. */
static double draw_timeout(struct player *player, const struct slot *slot)
{
    const double nothing[] = {0, -0.0, 5e-324, 1e-12};
    const double forever[] = {-1, -5e-324, -INFINITY, INFINITY, 1e300, 1.1e9};
    switch (player_below(player, 8)) {
    case 0:
        return (double)NAN;
    case 1:
        return slot->is_alone ? forever[player_below(player, 6)] : 0;
    case 2:
        return WAIT_S * rng_uniform(&player->rng);
    default:
        return nothing[player_below(player, 4)];
    }
}

static void join(struct player *player, struct slot *slot, double timeout_s)
{
    uint32_t inner = ALLOW(HEARSAY_OK);
    if (slot->joined != JOINED_YES)
        inner |=
            (is_forever(timeout_s) ? 0 : ALLOW(HEARSAY_TIMEOUT)) | (slot->may_end ? ALLOW_END : 0);
    if (isnan(timeout_s))
        inner = ALLOW(HEARSAY_ARGUMENT);
    const int error = hearsay_join(slot->node, timeout_s);
    slot_expect(player, slot, CALL_JOIN, error, slot_allowed_open(player, slot, inner));
    if (error == HEARSAY_OK)
        slot->joined = JOINED_YES;
}

static void call_join(struct player *player, struct slot *slot)
{
    join(player, slot, draw_timeout(player, slot));
}

static double draw_loss(struct player *player)
{
    const double losses[] = {NAN, INFINITY, -INFINITY, 1.7e308, -1.7e308, 0, -3};
    return player_chance(player, 4) ? losses[player_below(player, 7)] : rng_uniform(&player->rng);
}

static uint64_t draw_samples(struct player *player)
{
    const uint64_t samples[] = {0, UINT64_MAX, (uint64_t)UINT32_MAX + 1, UINT32_MAX, 1};
    return player_chance(player, 16) ? samples[player_below(player, 5)]
                                     : 1 + player_below(player, SAMPLES);
}

/* Trains between two steps. If the slot diverges, sometimes makes a value invalid. */
static void train(struct player *player, struct slot *slot)
{
    if (player->is_crowd || slot->joined != JOINED_YES || slot->state != SLOT_OPEN)
        return;
    given_train(&slot->given, &player->rng);
    if (!slot->diverges || !player_chance(player, 20))
        return;
    given_poison(&slot->given, &player->rng);
    slot->may_end = slot->place->has_diverged = true;
}

static void call_step(struct player *player, struct slot *slot)
{
    const uint64_t samples = draw_samples(player);
    const bool is_bad = samples == 0 || samples > UINT32_MAX;
    int changed = 7;
    train(player, slot);
    const uint32_t stores = slot->given.stores;
    const int error = hearsay_step(slot->node, samples, draw_loss(player),
                                   player_chance(player, 4) ? NULL : &changed);
    if (slot->given.is_copied && changed != 7 && slot->given.stores - stores != (uint32_t)changed)
        slot_complain("*changed is %d, and copies were written back %u times", changed,
                      (unsigned)(slot->given.stores - stores));
    slot_expect(player, slot, CALL_STEP, error,
                slot_allowed_joined(player, slot, ALLOW(is_bad ? HEARSAY_ARGUMENT : HEARSAY_OK)));
    if (changed != 7 && (error != HEARSAY_OK || (changed != 0 && changed != 1)))
        slot_complain("hearsay_step returned %d, and *changed is %d", error, changed);
    slot->steps += error == HEARSAY_OK;
    slot->samples += error == HEARSAY_OK ? samples : 0;
}

static void call_settle(struct player *player, struct slot *slot)
{
    const double timeout_s = draw_timeout(player, slot);
    uint32_t inner = ALLOW(HEARSAY_OK) | (is_forever(timeout_s) ? 0 : ALLOW(HEARSAY_TIMEOUT));
    if (isnan(timeout_s))
        inner = ALLOW(HEARSAY_ARGUMENT);
    slot_expect(player, slot, CALL_SETTLE, hearsay_settle(slot->node, timeout_s),
                slot_allowed_joined(player, slot, inner));
}

static void call_revert(struct player *player, struct slot *slot)
{
    slot_expect(player, slot, CALL_REVERT, hearsay_revert(slot->node),
                slot_allowed_joined(player, slot, ALLOW(HEARSAY_OK)));
}

static void call_base(struct player *player, struct slot *slot)
{
    struct given given;
    struct hearsay_tensor spoiled[GIVEN_TENSORS];
    const bool is_other = player_chance(player, 6);
    int expected = HEARSAY_OK;
    given_init(&given, is_other ? (slot->kind + 1) % GIVEN_KINDS : slot->kind, 1);
    const struct hearsay_tensor *tensors = given.tensors;
    uint32_t count = given.count;
    if (player_chance(player, 3)) {
        expected = given_spoil(&given, &player->rng, spoiled, &tensors, &count);
    } else if (is_other) {
        expected = HEARSAY_ARGUMENT;
    } else if (player_chance(player, 4)) {
        count--; /* the last tensor is missing */
        expected = HEARSAY_ARGUMENT;
    } else if (player_chance(player, 2)) {
        given_vary(&given, &player->rng);
    }
    const int error = hearsay_base(slot->node, tensors, count);
    slot_expect(player, slot, CALL_BASE, error, slot_allowed_joined(player, slot, ALLOW(expected)));
    given_free(&given);
}

/* Records the caller's data after hearsay_save. If peers refused the node or it has ended, the
 * place may have the old or the new data. */
static void keep(struct slot *slot, int error, uint32_t bytes, uint8_t byte)
{
    struct place *place = slot->place;
    if (error == HEARSAY_OK && !place->is_shared) {
        place->is_kept_known = true;
        place->kept_bytes = bytes;
        place->kept = byte;
    } else if (error == HEARSAY_REFUSED || error == HEARSAY_ENDED) {
        place->is_kept_known = false;
    }
}

static void call_save(struct player *player, struct slot *slot)
{
    const uint8_t byte = (uint8_t)player_below(player, 256);
    size_t bytes = player_below(player, KEPT_MAX);
    void *extra = room_of(bytes + 1);
    int expected = HEARSAY_OK;
    memset(extra, byte, bytes + 1);
    const uint32_t way = player_below(player, 8);
    if (way == 0) {
        bytes = SIZE_MAX - bytes; /* more memory than any machine has */
        expected = HEARSAY_FAILED;
    } else if (way == 1 && bytes > 0) {
        expected = HEARSAY_ARGUMENT;
    } else if (way == 2) {
        bytes = 0;
    }
    const bool is_null = way <= 2 && way != 0;
    const int error = hearsay_save(slot->node, is_null ? NULL : extra, bytes);
    slot_expect(player, slot, CALL_SAVE, error, slot_allowed_joined(player, slot, ALLOW(expected)));
    if (slot->state == SLOT_OPEN && !is_null)
        keep(slot, error, (uint32_t)bytes, byte);
    free(extra);
}

static uint32_t allowed_extra(const struct slot *slot, size_t room)
{
    if (slot->state != SLOT_OPEN || !slot->place->is_kept_known)
        return ALLOW(HEARSAY_OK) | ALLOW(HEARSAY_TOO_SMALL);
    return ALLOW(room < slot->place->kept_bytes ? HEARSAY_TOO_SMALL : HEARSAY_OK);
}

static void check_extra(const struct slot *slot, int error, const uint8_t *extra, size_t bytes)
{
    struct place *place = slot->place;
    if (place->is_kept_known && bytes != place->kept_bytes)
        slot_complain("%zu bytes are kept, and not %u", bytes, (unsigned)place->kept_bytes);
    for (size_t i = 0; error == HEARSAY_OK && place->is_kept_known && i < bytes; i++)
        if (extra[i] != place->kept)
            slot_complain("byte %zu that was kept is another", i);
    if (error == HEARSAY_OK && !place->is_kept_known && !place->is_shared) {
        place->is_kept_known = true;
        place->kept_bytes = (uint32_t)bytes;
        place->kept = bytes > 0 ? extra[0] : 0;
    }
}

static void call_extra(struct player *player, struct slot *slot)
{
    const size_t room = player_chance(player, 3) ? 0 : player_below(player, 2 * KEPT_MAX);
    size_t bytes = room;
    uint8_t *extra = room_of(room);
    if (player_chance(player, 8)) {
        slot_expect(player, slot, CALL_EXTRA, hearsay_extra(slot->node, extra, NULL),
                    slot_allowed_open(player, slot, ALLOW(HEARSAY_ARGUMENT)));
        free(extra);
        return;
    }
    if (!extra && player_chance(player, 2))
        bytes = SIZE_MAX; /* without a buffer the size does not matter */
    const int error = hearsay_extra(slot->node, extra, &bytes);
    slot_expect(player, slot, CALL_EXTRA, error,
                slot_allowed_open(player, slot, allowed_extra(slot, room)));
    if (error == HEARSAY_OK || error == HEARSAY_TOO_SMALL)
        check_extra(slot, error, extra, bytes);
    free(extra);
}

/* Returns the allowed results of hearsay_info, hearsay_note and hearsay_status. Any thread may call
 * them, also for a closed node. */
static uint32_t allowed_any(const struct slot *slot, uint32_t inner)
{
    return slot->state == SLOT_EMPTY ? ALLOW(HEARSAY_ARGUMENT) : inner;
}

static void check_info(const struct player *player, const struct slot *slot,
                       const struct hearsay_info *info)
{
    if (info->abi != HEARSAY_ABI)
        slot_complain("hearsay_info gave an abi of %u", (unsigned)info->abi);
    if (slot->state == SLOT_REFUSED || player->is_crowd)
        return;
    if (info->parameters != slot->parameters || info->steps != slot->steps ||
        info->samples != slot->samples || info->joined != (slot->joined == JOINED_YES))
        slot_complain("hearsay_info: %llu parameters, %llu steps, %llu samples, joined %u; and it "
                      "is %zu, %llu, %llu, %d",
                      (unsigned long long)info->parameters, (unsigned long long)info->steps,
                      (unsigned long long)info->samples, (unsigned)info->joined, slot->parameters,
                      (unsigned long long)slot->steps, (unsigned long long)slot->samples,
                      slot->joined == JOINED_YES);
}

static void call_info(struct player *player, struct slot *slot)
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    const uint32_t way = player_below(player, 8);
    uint32_t inner = ALLOW(HEARSAY_OK);
    if (way == 0)
        inner = ALLOW(HEARSAY_ARGUMENT);
    if (way == 1) {
        info.abi = HEARSAY_ABI + 1 + player_below(player, UINT32_MAX - HEARSAY_ABI);
        inner = ALLOW(HEARSAY_ABI_UNKNOWN);
    }
    const int error = hearsay_info(slot->node, way == 0 ? NULL : &info);
    slot_expect(player, slot, CALL_INFO, error, allowed_any(slot, inner));
    if (error == HEARSAY_OK)
        check_info(player, slot, &info);
}

static void call_note(struct player *player, struct slot *slot)
{
    char text[600] = "";
    int level = -1;
    const uint32_t way = player_below(player, 8);
    const uint32_t inner = ALLOW(way < 3 ? HEARSAY_ARGUMENT : HEARSAY_OK);
    const int error = hearsay_note(slot->node, way == 0 ? NULL : &level, way == 1 ? NULL : text,
                                   way == 2 ? 0 : 2 + player_below(player, sizeof text - 1));
    slot_expect(player, slot, CALL_NOTE, error, allowed_any(slot, inner));
    if (error == HEARSAY_OK && (level < HEARSAY_NONE || level > HEARSAY_ERROR ||
                                (level == HEARSAY_NONE) != (text[0] == '\0')))
        slot_complain("hearsay_note gave level %d and \"%s\"", level, text);
}

static void call_status(struct player *player, struct slot *slot)
{
    const bool is_small = player_chance(player, 3), has_room = !player_chance(player, 8);
    size_t bytes = is_small ? player_below(player, 20) : PAGE_ROOM;
    const size_t room = bytes;
    char *json = room_of(room);
    uint32_t inner = ALLOW(is_small ? HEARSAY_TOO_SMALL : HEARSAY_OK);
    if (slot->state != SLOT_OPEN)
        inner = ALLOW(HEARSAY_CLOSED);
    else if (slot->may_end || player->is_crowd)
        inner |= ALLOW(HEARSAY_CLOSED) | ALLOW(HEARSAY_REFUSED) | ALLOW(HEARSAY_ENDED);
    if (!has_room)
        inner = ALLOW(HEARSAY_ARGUMENT);
    const int error = hearsay_status(slot->node, json, has_room ? &bytes : NULL);
    slot_expect(player, slot, CALL_STATUS, error, allowed_any(slot, inner));
    if (error == HEARSAY_OK && (json[0] != '{' || strlen(json) + 1 != bytes))
        slot_complain("hearsay_status gave %zu bytes that are no page", bytes);
    if (error == HEARSAY_TOO_SMALL && bytes <= room)
        slot_complain("hearsay_status has no room in %zu bytes, and needs %zu", room, bytes);
    free(json);
}

/* Marks the slot as closed. Unless another thread may use the handle, releases the folder for other
 * slots and sometimes frees the tensors. */
static void leave_place(struct player *player, struct slot *slot)
{
    slot->state = SLOT_CLOSED;
    if (player->is_crowd)
        return;
    slot->place->is_open = false;
    slot->place = NULL;
    if (player_chance(player, 2))
        given_free(&slot->given);
}

/* Returns the allowed results of hearsay_close. A node that was taking over a base, or has ended,
 * cannot save. */
static uint32_t allowed_close(const struct slot *slot)
{
    return ALLOW(HEARSAY_OK) | (slot->may_end ? ALLOW(HEARSAY_FAILED) : 0);
}

static void call_close(struct player *player, struct slot *slot)
{
    const double grace_s = draw_timeout(player, slot);
    const int error = hearsay_close(slot->node, grace_s);
    slot_expect(player, slot, CALL_CLOSE, error,
                slot_allowed_open(player, slot, allowed_close(slot)));
    if (slot->state == SLOT_OPEN && (error == HEARSAY_OK || error == HEARSAY_FAILED))
        leave_place(player, slot);
}

void node_call_free(struct player *player, struct slot *slot)
{
    CHECK(!player->is_crowd);
    const int error = hearsay_free(slot->node);
    slot_expect_gone(player, CALL_FREE, error,
                     slot->state == SLOT_OPEN ? allowed_close(slot) : ALLOW(HEARSAY_OK));
    if (slot->state == SLOT_OPEN)
        leave_place(player, slot);
    given_free(&slot->given);
    *slot = (struct slot){.state = SLOT_EMPTY};
}

static void call_error_text(struct player *player, struct slot *slot)
{
    const int errors[] = {-1, INT32_MIN, INT32_MAX, HEARSAY_ENDED + 1};
    const int error = player_chance(player, 3) ? errors[player_below(player, 4)]
                                               : (int)player_below(player, HEARSAY_ENDED + 1);
    const size_t bytes = player_chance(player, 3) ? player_below(player, 8) : 512;
    char *text = room_of(bytes);
    if (text)
        memset(text, 'x', bytes);
    const int told = hearsay_error_text(slot->node, error, text, text ? bytes : 512);
    slot_expect(player, slot, CALL_ERROR_TEXT, told, ALLOW(text ? HEARSAY_OK : HEARSAY_ARGUMENT));
    if (text && strnlen(text, bytes) == bytes)
        slot_complain("the sentence of %d has no end in %zu bytes", error, bytes);
    if (text && bytes > 1 && text[0] == '\0')
        slot_complain("the sentence of %d is empty", error);
    free(text);
}

static void call_abi(struct player *player, struct slot *slot)
{
    (void)slot;
    if (hearsay_abi() != HEARSAY_ABI)
        slot_complain("the library has another ABI than its header");
    player->returned[CALL_ABI][HEARSAY_OK]++;
}

/* Checks that a call has written copies back at most once, or never if it must not. Also checks
 * that trained values are finite, if the node has joined and no weights have diverged. Then fills
 * copies with NaNs. */
static void check_given(struct slot *slot, enum call call, uint32_t stores)
{
    const bool may_store = call == CALL_JOIN || call == CALL_STEP || call == CALL_SETTLE ||
                           call == CALL_SAVE || call == CALL_BASE || call == CALL_REVERT;
    if (stores > (may_store ? 1 : 0))
        slot_complain("copies were written back %u times in one call", (unsigned)stores);
    if (slot->joined == JOINED_YES && !slot->diverges && !slot->place->has_diverged &&
        !given_is_sound(&slot->given))
        slot_complain("what is trained is no number");
    given_spoil_copies(&slot->given);
}

void node_call(struct player *player, struct slot *slot, enum call call)
{
    static void (*const calls[CALL_COUNT])(struct player *,
                                           struct slot *) = {[CALL_ABI] = call_abi,
                                                             [CALL_JOIN] = call_join,
                                                             [CALL_STEP] = call_step,
                                                             [CALL_SETTLE] = call_settle,
                                                             [CALL_REVERT] = call_revert,
                                                             [CALL_BASE] = call_base,
                                                             [CALL_SAVE] = call_save,
                                                             [CALL_EXTRA] = call_extra,
                                                             [CALL_INFO] = call_info,
                                                             [CALL_NOTE] = call_note,
                                                             [CALL_STATUS] = call_status,
                                                             [CALL_CLOSE] = call_close,
                                                             [CALL_ERROR_TEXT] = call_error_text};
    CHECK(call < CALL_COUNT && calls[call]);
    const uint32_t stores = slot->given.stores;
    calls[call](player, slot);
    if (!player->is_crowd && slot->state == SLOT_OPEN)
        check_given(slot, call, slot->given.stores - stores);
}

static void settle(struct player *player, struct slot *slot)
{
    const uint32_t stores = slot->given.stores;
    const uint32_t inner = ALLOW(HEARSAY_OK) | ALLOW(HEARSAY_TIMEOUT);
    slot_expect(player, slot, CALL_SETTLE, hearsay_settle(slot->node, TOGETHER_S),
                slot_allowed_joined(player, slot, inner));
    check_given(slot, CALL_SETTLE, slot->given.stores - stores);
}

void node_calls_together(struct player *player, struct slot slots[SLOT_COUNT])
{
    for (int i = 0; i < SLOT_COUNT; i++)
        if (slots[i].state == SLOT_OPEN) {
            const uint32_t stores = slots[i].given.stores;
            join(player, &slots[i], MEETING_S);
            check_given(&slots[i], CALL_JOIN, slots[i].given.stores - stores);
        }
    for (int round = 0; round < TOGETHER_ROUNDS; round++) {
        for (int i = 0; i < SLOT_COUNT; i++)
            for (int step = 0; slots[i].state == SLOT_OPEN && step < TOGETHER_STEPS; step++)
                node_call(player, &slots[i], CALL_STEP);
        for (int i = 0; i < SLOT_COUNT; i++)
            if (slots[i].state == SLOT_OPEN && slots[i].joined == JOINED_YES)
                settle(player, &slots[i]);
    }
}
