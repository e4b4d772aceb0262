#include "process/random_calls/open_calls.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/cuda_module.h"
#include "backend/device.h"
#include "config/config_key.h"
#include "crypto/identity.h"
#include "crypto/secret.h"

#define SETTINGS_MAX    16
#define SETTING_MAX     640
#define PAGE_ROOM       (1u << 16)
#define CONFIG_FILE     "good.conf"
#define REFUSAL_S       15.0
#define REFUSALS_ONE_OF 100

/* Arguments of one hearsay_open call, freed when the call returns. */
struct opening {
    struct hearsay_options options;
    const char *settings[SETTINGS_MAX];
    char text[SETTINGS_MAX][SETTING_MAX];
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void place_init(struct place *place, const char *name, uint8_t seed)
{
    char path[32];
    uint8_t bytes[SEED_BYTES];
    struct identity identity;
    struct problem problem;
    *place = (struct place){.is_kept_known = true, .kind = -1};
    (void)snprintf(place->name, sizeof place->name, "%s", name);
    (void)snprintf(path, sizeof path, "%s.key", name);
    memset(bytes, seed, sizeof bytes);
    identity_from_seed(&identity, bytes);
    CHECK(identity_save(&identity, path, &problem) == OK);
}

static struct backend *open_gpu(void)
{
    struct backend *gpu;
    char text[DEVICE_TEXT_MAX];
    struct problem problem;
    CHECK(device_open("cuda:0", 1, PRECISION_FP32, &gpu, text, &problem) == OK);
    return gpu;
}

void open_calls_begin(struct places *places)
{
    static const char *const NAMES[OPEN_PLACES] = {"a", "b", "c", "d", "e"};
    uint8_t key[KEY_BYTES];
    struct problem problem;
    secret_start();
    memset(key, 7, sizeof key);
    CHECK(swarm_key_save(key, "swarm.key", &problem) == OK);
    for (uint8_t i = 0; i < OPEN_PLACES; i++)
        place_init(&places->good[i], NAMES[i], (uint8_t)(i + 1));
    place_init(&places->wild, "w", OPEN_PLACES + 1);
    place_init(&places->bad, "bad", OPEN_PLACES + 2);
    place_init(&places->own, "own", OPEN_PLACES + 3);
    write_file(CONFIG_FILE, "[node]\nlisten = 127.0.0.1:0\n[exchange]\nsteps_min = 4\n");
    write_file("bad.conf", "[node\nlisten ! \377\n= 3\n");
    write_file("no-folder", "");
    if (cuda_module()->devices() > 0)
        places->gpu = open_gpu();
}

void open_calls_end(struct places *places)
{
    if (places->gpu)
        places->gpu->close(places->gpu);
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

static void forget(struct place *place)
{
    (void)nftw(place->name, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    place->is_kept_known = true;
    place->is_shared = false;
    place->kept_bytes = 0;
    place->kind = -1;
    place->has_diverged = place->had_company = false;
}

static void set(struct opening *opening, const char *key, const char *value)
{
    const uint32_t i = opening->options.settings_count++;
    CHECK(i < SETTINGS_MAX);
    (void)snprintf(opening->text[i], SETTING_MAX, "%s=%s", key, value);
    opening->settings[i] = opening->text[i];
}

/* Makes a node's valid options. Without a run name they include the data of the preset xor. */
static struct opening *opening_new(struct given *given, uint32_t kind, const char *folder)
{
    char key[32];
    struct opening *opening = calloc(1, sizeof *opening);
    CHECK(opening);
    opening->options = (struct hearsay_options){.abi = HEARSAY_ABI,
                                                .tensors = given->tensors,
                                                .tensors_count = given->count,
                                                .settings = opening->settings,
                                                .run = kind == GIVEN_NATIVE ? NULL : "random"};
    if (given->is_copied) {
        opening->options.fetch = given_fetch;
        opening->options.store = given_store;
        opening->options.self = given;
    }
    (void)snprintf(key, sizeof key, "%.16s.key", folder);
    set(opening, "node.listen", "127.0.0.1:0");
    set(opening, "node.swarm_key", "swarm.key");
    set(opening, "node.identity", key);
    set(opening, "node.state_dir", folder);
    set(opening, "node.grace_s", "0.2");
    if (kind == GIVEN_NATIVE) {
        set(opening, "data.source", "xor");
        set(opening, "model.name", "xor");
        set(opening, "train.batch", "4");
    }
    return opening;
}

static void find_address(struct slot *slot)
{
    size_t bytes = PAGE_ROOM;
    char *page = malloc(bytes);
    CHECK(page);
    if (hearsay_status(slot->node, page, &bytes) == HEARSAY_OK) {
        const char *at = strstr(page, "\"address\":\"");
        CHECK(!at || sscanf(at, "\"address\":\"%63[^\"]", slot->address) == 1);
    }
    free(page);
}

/* Returns an open slot whose node can be dialled, or NULL. */
static struct slot *draw_other(struct player *player, struct slot others[SLOT_COUNT])
{
    const uint32_t first = player_below(player, SLOT_COUNT);
    for (uint32_t i = 0; i < SLOT_COUNT; i++) {
        struct slot *other = &others[(first + i) % SLOT_COUNT];
        if (other->state == SLOT_OPEN && other->address[0] != '\0')
            return other;
    }
    return NULL;
}

/* Makes the slot's node dial the node of another slot, which may have another model. */
static void call_other(struct slot *slot, struct opening *opening, struct slot *other)
{
    set(opening, "node.peers", other->address);
    slot->is_alone = other->is_alone = false;
    /* a node may end after its last peer, which had the rest of its base, has closed */
    slot->may_end = other->may_end = true;
}

static void vary_settings(struct player *player, struct opening *opening)
{
    if (player_chance(player, 4))
        opening->options.config = CONFIG_FILE;
    if (player_chance(player, 4))
        set(opening, "train.optimizer", "adam");
    if (player_chance(player, 8))
        set(opening, "train.enabled", "no");
    if (player_chance(player, 4))
        set(opening, "exchange.steps_min", "1");
    if (player_chance(player, 4))
        set(opening, "exchange.interval_s", "0.01");
}

/* Waits until the node has joined, or peers with another model refuse it. This takes seconds, so it
 * is rare. */
static void wait_for_refusal(struct player *player, struct slot *slot)
{
    const int error = hearsay_join(slot->node, REFUSAL_S);
    slot_expect(player, slot, CALL_JOIN, error,
                ALLOW(HEARSAY_OK) | ALLOW(HEARSAY_TIMEOUT) | ALLOW_END);
    if (error == HEARSAY_OK)
        slot->joined = JOINED_YES;
}

/* Calls hearsay_open. Then overwrites and frees the arguments. */
static int open_it(struct slot *slot, struct opening *opening)
{
    /* an invalid pointer, which hearsay_open must overwrite */
    slot->node = (struct hearsay *)&slot->address;
    const int error = hearsay_open(&opening->options, &slot->node);
    memset(opening, 0x5a, sizeof *opening);
    free(opening);
    given_free_names(&slot->given);
    slot->given.node = slot->node;
    slot->state = error == HEARSAY_OK ? SLOT_OPEN : SLOT_REFUSED;
    if (error != HEARSAY_OK)
        given_free(&slot->given);
    return error;
}

static void take_place(struct slot *slot, struct place *place)
{
    slot->place = place;
    place->is_open = true;
    place->kind = (int)slot->kind;
    find_address(slot);
}

void open_call_good(struct player *player, struct slot *slot, struct places *places,
                    struct slot others[SLOT_COUNT])
{
    static const uint32_t KINDS[OPEN_PLACES] = {0, 0, 1, 2, GIVEN_NATIVE};
    const uint32_t i = player_below(player, OPEN_PLACES);
    struct place *place = &places->good[i];
    struct slot *other = player_chance(player, 4) ? NULL : draw_other(player, others);
    const uint32_t kind = player_chance(player, 8) ? player_below(player, GIVEN_KINDS)
                          : other                  ? other->kind
                                                   : KINDS[i];
    if (!place->is_open && (player_chance(player, 8) || (other && place->kind != (int)kind)))
        forget(place);
    *slot = (struct slot){.kind = kind, .is_alone = true, .diverges = player_chance(player, 4)};
    given_init(&slot->given, kind, 1);
    slot->parameters = given_parameters(&slot->given);
    if (player_chance(player, 2))
        given_copy(&slot->given,
                   kind != GIVEN_NATIVE && player_chance(player, 2) ? places->gpu : NULL);
    struct opening *opening = opening_new(&slot->given, kind, place->name);
    vary_settings(player, opening);
    uint32_t allowed = ALLOW(place->is_open ? HEARSAY_FAILED : HEARSAY_OK);
    if (place->kind >= 0 && place->kind != (int)kind)
        allowed |= ALLOW(HEARSAY_FAILED); /* the folder's checkpoint is of another model */
    else if (place->kind >= 0 && !place->had_company && player_chance(player, 4))
        given_poison(&slot->given, &player->rng); /* the checkpoint replaces the invalid value */
    if (!place->is_open && other) {
        call_other(slot, opening, other);
        place->had_company = other->place->had_company = true;
    }
    const int error = open_it(slot, opening);
    slot_expect(player, slot, CALL_OPEN, error, allowed);
    if (error == HEARSAY_OK)
        take_place(slot, place);
    if (error == HEARSAY_OK && slot->may_end && player_chance(player, REFUSALS_ONE_OF))
        wait_for_refusal(player, slot);
}

void open_call_own(struct player *player, struct slot *slot, struct places *places)
{
    *slot = (struct slot){.is_alone = true};
    forget(&places->own);
    given_init(&slot->given, slot->kind, 1);
    slot->parameters = given_parameters(&slot->given);
    const int error = open_it(slot, opening_new(&slot->given, slot->kind, places->own.name));
    slot_expect(player, slot, CALL_OPEN, error, ALLOW(HEARSAY_OK));
    take_place(slot, &places->own);
}

static void draw_setting(struct player *player, struct opening *opening)
{
    static const char *const VALUES[] = {"",
                                         "-1",
                                         "0",
                                         "1",
                                         "7",
                                         "0.5",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "1e308",
                                         "1e-9",
                                         "yes",
                                         "no",
                                         "none",
                                         "auto",
                                         "sgd",
                                         "adam",
                                         "3/7",
                                         "0/0",
                                         "1/1",
                                         "4G",
                                         "%s%n",
                                         " ",
                                         "a=b",
                                         "\xc3",
                                         "64",
                                         "127.0.0.1:0",
                                         "[::1]:0",
                                         "18446744073709551615",
                                         "18446744073709551616"};
    const uint32_t count = sizeof VALUES / sizeof *VALUES, i = player_below(player, count + 1);
    const struct config_key *key =
        config_key_at(player_below(player, (uint32_t)config_key_count()));
    char name[64], long_value[SETTING_MAX / 2];
    if (strcmp(key->name, "verbose") == 0)
        return;
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    (void)snprintf(name, sizeof name, "%s.%s", key->section, key->name);
    set(opening, name, i < count ? VALUES[i] : long_value);
}

void open_call_wild(struct player *player, struct slot *slot, struct places *places)
{
    const uint32_t kind = player_below(player, GIVEN_NATIVE);
    struct place *place = &places->wild;
    if (place->is_open)
        return;
    forget(place);
    *slot = (struct slot){.kind = kind, .may_end = true};
    given_init(&slot->given, kind, 1);
    slot->parameters = given_parameters(&slot->given);
    struct opening *opening = opening_new(&slot->given, kind, place->name);
    for (uint32_t i = 0; i <= player_below(player, 3); i++)
        draw_setting(player, opening);
    const int error = open_it(slot, opening);
    slot_expect(player, slot, CALL_OPEN, error,
                ALLOW(HEARSAY_OK) | ALLOW(HEARSAY_CONFIG) | ALLOW(HEARSAY_FAILED));
    if (error != HEARSAY_OK)
        return;
    take_place(slot, place);
    place->is_shared = true; /* the drawn settings may name another folder */
    place->is_kept_known = false;
}

static int spoil_run(struct player *player, struct hearsay_options *options)
{
    static const char *const RUNS[] = {
        "",
        "two words",
        "a,b",
        "\xc3\xa9",
        "%s",
        "\n",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"};
    options->run = RUNS[player_below(player, sizeof RUNS / sizeof *RUNS)];
    return HEARSAY_ARGUMENT;
}

static int spoil_settings(struct player *player, struct opening *opening)
{
    static const char *const SETTINGS[] = {
        NULL,         "",           "=", "node.nothing=1", "node.seed",
        "node.log=-", "nothing.x=", ".", "node.=1",        "train.optimizer=lion"};
    opening->settings[opening->options.settings_count++] =
        SETTINGS[player_below(player, sizeof SETTINGS / sizeof *SETTINGS)];
    return HEARSAY_CONFIG;
}

static int spoil_file(struct player *player, struct hearsay_options *options)
{
    static const char *const FILES[] = {"no-such.conf", "", ".", "bad.conf", "no-folder/x"};
    options->config = FILES[player_below(player, sizeof FILES / sizeof *FILES)];
    return HEARSAY_CONFIG;
}

static int spoil_count(struct player *player, struct hearsay_options *options)
{
    if (player_chance(player, 2))
        options->settings = NULL;
    else
        options->settings_count = UINT32_MAX - player_below(player, 1000);
    return HEARSAY_ARGUMENT;
}

static int spoil_keys(struct player *player, struct opening *opening)
{
    static const char *const SETTINGS[][2] = {
        {"node.identity", "no-such.key"}, {"node.swarm_key", "bad.conf"},
        {"node.state_dir", "no-folder"},  {"node.state_dir", "no-folder/x"},
        {"node.log", "no-folder/x"},      {"node.members", "no-such"}};
    const uint32_t i = player_below(player, sizeof SETTINGS / sizeof *SETTINGS);
    set(opening, SETTINGS[i][0], SETTINGS[i][1]);
    return HEARSAY_FAILED;
}

/* Makes one error in the options or tensors. Returns the error that hearsay_open must return. */
static int spoil(struct player *player, struct opening *opening, struct given *given,
                 struct hearsay_tensor spoiled[GIVEN_TENSORS])
{
    struct hearsay_options *options = &opening->options;
    switch (player_below(player, 10)) {
    case 0:
        options->abi = HEARSAY_ABI + 1 + player_below(player, UINT32_MAX - HEARSAY_ABI);
        return HEARSAY_ABI_UNKNOWN;
    case 1:
        return spoil_run(player, options);
    case 2:
        return spoil_settings(player, opening);
    case 3:
        return spoil_file(player, options);
    case 4:
        return spoil_count(player, options);
    case 5:
        /* The special errors of cases 5 to 7 are rare, because the library finds them late: while
         * it starts a node. */
        if (!player_chance(player, 20))
            return spoil_run(player, options);
        return spoil_keys(player, opening);
    case 6:
        if (!player_chance(player, 20))
            return spoil_file(player, options);
        given_poison(given, &player->rng);
        return HEARSAY_ARGUMENT;
    case 7:
        if (!player_chance(player, 20))
            return spoil_count(player, options);
        options->run = NULL; /* the configured model has other tensors */
        set(opening, "data.source", "xor");
        set(opening, "model.name", "xor");
        return HEARSAY_ARGUMENT;
    default:
        return given_spoil(given, &player->rng, spoiled, &options->tensors,
                           &options->tensors_count);
    }
}

void open_call_bad(struct player *player, struct slot *slot)
{
    const uint32_t kind = player_below(player, 3);
    struct hearsay_tensor spoiled[GIVEN_TENSORS];
    if (player_chance(player, 16)) {
        *slot = (struct slot){.state = SLOT_REFUSED};
        slot_expect(player, slot, CALL_OPEN, hearsay_open(NULL, NULL), ALLOW(HEARSAY_ARGUMENT));
        slot_expect(player, slot, CALL_OPEN, hearsay_open(NULL, &slot->node),
                    ALLOW(HEARSAY_ARGUMENT));
        return;
    }
    *slot = (struct slot){.kind = kind};
    given_init(&slot->given, kind, 1);
    struct opening *opening = opening_new(&slot->given, kind, "bad");
    const int expected = spoil(player, opening, &slot->given, spoiled);
    const int error = open_it(slot, opening);
    slot_expect(player, slot, CALL_OPEN, error, ALLOW(expected));
}
