/* Stories of a saved model: two models in one folder, of which one is saved, looked at and loaded.
 *
 *   save ─► read_file, write_changed, … ─► load, read_about */
#ifndef HEARSAY_TESTS_SUPPORT_TENSORS_STORY_H
#define HEARSAY_TESTS_SUPPORT_TENSORS_STORY_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/safetensors.h"

#define LINE      "conv 2 3x3, relu, dense 2"
#define LINE_SAME "conv   2 3x3 ,relu,dense 2"
#define LINE_MORE LINE ", relu, dense 2"

/* Two models in one folder: the other is the first with one layer more. */
struct world {
    char folder[64];
    char path[96];
    struct arena arena;
    struct model *model;
    struct model *other;
    float weights[64];
};

/* The bytes of a file. */
struct bytes {
    size_t count;
    char at[4096];
};

static const struct safetensors_about ABOUT = {.layers = "not used by a save",
                                               .classes = 2,
                                               .mean = 72.9403381f,
                                               .scale = 1 / 90.0211f,
                                               .digest = 0x00FEDCBA98765432u,
                                               .samples = UINT64_MAX,
                                               .version = "a1/0:17 b2/3:4"};

static struct world the_world;

static inline void *take(struct backend *backend, size_t bytes)
{
    (void)backend;
    return arena_take(&the_world.arena, bytes, 1);
}

/* Nothing is computed here: a backend that can give memory is enough. */
static inline struct model *model_of(const char *line, struct shape in)
{
    static struct backend storage = {.name = "storage", .take = take};
    struct model *model;
    struct problem problem;
    if (model_new(&model, &the_world.arena, &storage, line, in, 2, 4, &problem) != OK)
        fail_msg("%s", problem.text);
    return model;
}

static inline int make_world(void **state)
{
    struct world *world = &the_world;
    *world = (struct world){.folder = "/tmp/hearsay-tensors-XXXXXX"};
    if (!mkdtemp(world->folder))
        return -1;
    (void)snprintf(world->path, sizeof world->path, "%.63s/model.safetensors", world->folder);
    arena_init(&world->arena, 16 * 1024 * 1024);
    world->model = model_of(LINE_SAME, (struct shape){1, 4, 4});
    world->other = model_of(LINE_MORE, (struct shape){1, 4, 4});
    for (size_t i = 0; i < model_parameters(world->model); i++)
        world->weights[i] = (float)i / 3 - 5;
    *state = world;
    return 0;
}

static inline int end_world(void **state)
{
    struct world *world = *state;
    arena_release(&world->arena);
    (void)remove(world->path);
    return rmdir(world->folder);
}

static inline void save(const struct world *world)
{
    struct problem problem;
    if (safetensors_save(world->path, world->model, &ABOUT, world->weights, &problem) != OK)
        fail_msg("%s", problem.text);
}

static inline struct bytes read_file(const char *path)
{
    struct bytes bytes;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes.count = fread(bytes.at, 1, sizeof bytes.at, file);
    assert_true(bytes.count < sizeof bytes.at);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static inline void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* The load must leave the weights alone unless it says OK. */
static inline enum error load(const struct world *world, float weights[static 64])
{
    struct problem problem;
    for (size_t i = 0; i < 64; i++)
        weights[i] = -99;
    enum error error = safetensors_load(world->path, world->model, weights, &problem);
    if (error != OK && strstr(problem.text, world->path) != problem.text)
        fail_msg("no path in: %s", problem.text);
    for (size_t i = 0; error != OK && i < 64; i++)
        assert_true(weights[i] == -99);
    return error;
}

static inline enum error read_about(const struct world *world, struct safetensors_about *about)
{
    struct problem problem;
    return safetensors_read_about(world->path, about, &problem);
}

/* Its first `from` gives way to `to`, which is as long. */
static inline void replace(struct bytes *bytes, const char *from, const char *to)
{
    assert_int_equal(strlen(from), strlen(to));
    char *found = memmem(bytes->at, bytes->count, from, strlen(from));
    if (!found)
        fail_msg("the header does not hold: %s", from);
    memcpy(found, to, strlen(to));
}

/* The saved file with `from` in its header replaced by `to`, which is as long. */
static inline void write_changed(const struct world *world, const char *from, const char *to)
{
    save(world);
    struct bytes bytes = read_file(world->path);
    replace(&bytes, from, to);
    write_file(world->path, bytes.at, bytes.count);
}

static inline uint64_t header_length(const struct bytes *bytes)
{
    uint64_t length;
    memcpy(&length, bytes->at, sizeof length);
    return length;
}

static inline int files_in(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    assert_int_equal(closedir(listing), 0);
    return count - 2;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)

#endif
