/* A saved base's version text does not depend on the order in which a node has met the origins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "node/broadcast/history.h"
#include "state/base_version.h"
#include "state/export.h"
#include "support/net/stream.h"

#define ORIGINS 4

static const struct history_entry ORIGIN[ORIGINS] = {
    {.id = {0x0A, 1}, .incarnation = 900, .next = 3, .samples = 40},
    {.id = {0x0A, 1}, .incarnation = 901, .next = 12, .samples = 100},
    {.id = {0x0A, 2}, .incarnation = 7, .next = 1, .samples = 1000},
    {.id = {0xB0}, .incarnation = 10000, .next = UINT32_MAX, .samples = 10000},
};

struct history {
    size_t bytes;
    uint8_t at[ORIGINS * HISTORY_ENTRY_BYTES];
};

static const uint8_t context[CONTEXT_BYTES];

static void put_entry(uint8_t *out, const struct history_entry *entry)
{
    const struct signed_head head =
        stream_unsigned(entry->id, entry->incarnation, entry->next - 1, entry->samples, context);
    memcpy(out, head.bytes, HISTORY_ENTRY_BYTES);
}

/* Returns a history with these origins in this order. */
static struct history history_of(const int *order, size_t count)
{
    struct history history = {.bytes = count * HISTORY_ENTRY_BYTES};
    for (size_t i = 0; i < count; i++)
        put_entry(history.at + i * HISTORY_ENTRY_BYTES, &ORIGIN[order[i]]);
    return history;
}

/* Calls `check` with the history in each of the 24 orders. */
static void in_every_order(void (*check)(const struct history *history))
{
    for (int i = 0; i < 256; i++) {
        const int order[ORIGINS] = {i & 3, i >> 2 & 3, i >> 4 & 3, i >> 6};
        const int seen = 1 << order[0] | 1 << order[1] | 1 << order[2] | 1 << order[3];
        const struct history history = history_of(order, ORIGINS);
        if (seen == 15)
            check(&history);
    }
}

static void check_text(const struct history *history)
{
    static const char whole[] =
        "0a010000/900:3 0a010000/901:12 0a020000/7:1 b0000000/10000:4294967295";
    char text[sizeof whole];
    base_version_text(history->at, history->bytes, text, sizeof text);
    assert_string_equal(text, whole);
}

static void the_text_is_sorted_by_id_and_incarnation(void **state)
{
    (void)state;
    in_every_order(check_text);
}

static void check_cut(const struct history *history)
{
    static const char *const cuts[] = {
        "0a010000/900:3 0a010000/901:12 0a020000/7:1 b0000000/10000:4294967295",
        "0a010000/900:3 0a010000/901:12 b0000000/10000:4294967295",
        "0a010000/901:12 b0000000/10000:4294967295", "b0000000/10000:4294967295", ""};
    char text[128];
    size_t cut = 0;
    for (size_t room = sizeof text; room >= 1; room--) {
        while (strlen(cuts[cut]) >= room)
            cut++;
        memset(text, '?', sizeof text);
        base_version_text(history->at, history->bytes, text, room);
        assert_string_equal(text, cuts[cut]);
        for (size_t at = room; at < sizeof text; at++)
            assert_int_equal(text[at], '?');
    }
}

static void a_full_text_drops_the_oldest_origins(void **state)
{
    (void)state;
    in_every_order(check_cut);
}

static void check_samples(const struct history *history)
{
    assert_int_equal(base_version_samples(history->at, history->bytes), 11100);
}

static void samples_that_the_next_incarnation_counts_on_count_once(void **state)
{
    (void)state;
    in_every_order(check_samples);
}

static void a_next_incarnation_that_counts_from_zero_is_added(void **state)
{
    (void)state;
    struct history_entry fewer = ORIGIN[1];
    struct history history = history_of((const int[]){0, 1}, 2);
    fewer.samples = 39;
    put_entry(history.at + HISTORY_ENTRY_BYTES, &fewer);
    assert_int_equal(base_version_samples(history.at, history.bytes), 79);
}

static void nothing_heard_is_an_empty_version(void **state)
{
    (void)state;
    char text[] = "?";
    base_version_text(NULL, 0, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(base_version_samples(NULL, 0), 0);
}

/* A model with a base to save. */
struct world {
    char folder[64];
    struct arena arena;
    struct backend *backend;
    struct model *model;
    struct export export;
    int32_t *base; /* the model's base, in units */
};

static int begin(void **state)
{
    static struct world the_world;
    struct world *world = *state = &the_world;
    struct problem problem;
    *world = (struct world){.folder = "/tmp/hearsay-version-XXXXXX"};
    assert_non_null(mkdtemp(world->folder));
    arena_init(&world->arena, 16u << 20);
    world->backend = backend_cpu(1);
    assert_int_equal(model_new(&world->model, &world->arena, world->backend, "dense 2",
                               (struct shape){1, 1, 3, 0}, 2, 4, &problem),
                     OK);
    world->export = (struct export){.model = world->model, .about = {.classes = 2, .scale = 1}};
    export_path(world->export.path, world->folder);
    const size_t parameters = model_parameters(world->model);
    world->base = arena_alloc(&world->arena, parameters, sizeof *world->base);
    for (size_t c = 0; c < parameters; c++)
        world->base[c] = (int32_t)c * 1000 - 7;
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;
    (void)unlink(world->export.path);
    model_free(world->model);
    world->backend->close(world->backend);
    arena_release(&world->arena);
    return rmdir(world->folder);
}

static size_t save(struct world *world, const struct history *history, char file[static 4096])
{
    struct problem problem;
    int32_t units[64];
    const size_t parameters = model_parameters(world->model);
    assert_true(parameters <= 64);
    /* export_save overwrites its argument */
    memcpy(units, world->base, parameters * sizeof *units);
    assert_int_equal(export_save(&world->export, units, 7, history->at, history->bytes, &problem),
                     OK);
    FILE *stream = fopen(world->export.path, "rb");
    assert_non_null(stream);
    const size_t bytes = fread(file, 1, 4096, stream);
    assert_int_equal(fclose(stream), 0);
    assert_true(bytes > 0 && bytes < 4096);
    return bytes;
}

static void nodes_of_equal_version_save_equal_files(void **state)
{
    struct world *world = *state;
    char one[4096], other[4096];
    const struct history as_one_heard = history_of((const int[]){0, 1, 2, 3}, ORIGINS);
    const struct history as_another_did = history_of((const int[]){3, 1, 0, 2}, ORIGINS);
    const struct history of_less = history_of((const int[]){3, 1, 0}, ORIGINS - 1);
    const size_t bytes = save(world, &as_one_heard, one);
    assert_int_equal(save(world, &as_another_did, other), bytes);
    assert_memory_equal(one, other, bytes);
    const size_t bytes_of_less = save(world, &of_less, other);
    assert_false(bytes == bytes_of_less && memcmp(one, other, bytes) == 0);
}

static void a_text_tells_how_much_of_whom_there_is(void **state)
{
    (void)state;
    static const char *const TEXT =
        "0a1b2c3d/1795579963977:40 0a1b2c3d/1795579963999:2 5566aabb/1795579963988:10 "
        "5566aabb/1795579964000:0 ffff0000/7:0";
    struct base_summary summary = base_version_summary(TEXT, "");
    assert_int_equal(summary.members, 2);
    assert_int_equal(summary.rumors, 52);
    assert_int_equal(summary.of, 0);
    assert_int_equal(base_version_summary(TEXT, "0A").of, 42);
    assert_int_equal(base_version_summary(TEXT, "5566aabb00112233").of, 10);
    assert_int_equal(base_version_summary(TEXT, "5566aabc").of, 0);
    assert_int_equal(base_version_summary("", "0a").rumors, 0);
    static const char *const STRANGE[] = {
        " ", "0a/", "0a/1", "0a/1:", "/", ":3", "0a 1:3", "0a/x:3"};
    for (size_t i = 0; i < sizeof STRANGE / sizeof *STRANGE; i++)
        assert_int_equal(base_version_summary(STRANGE[i], "0a").of, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_tells_how_much_of_whom_there_is),
        cmocka_unit_test(the_text_is_sorted_by_id_and_incarnation),
        cmocka_unit_test(a_full_text_drops_the_oldest_origins),
        cmocka_unit_test(samples_that_the_next_incarnation_counts_on_count_once),
        cmocka_unit_test(a_next_incarnation_that_counts_from_zero_is_added),
        cmocka_unit_test(nothing_heard_is_an_empty_version),
        cmocka_unit_test_setup_teardown(nodes_of_equal_version_save_equal_files, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
