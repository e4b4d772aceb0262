#include "support/state/safetensors_story.h"

const struct safetensors_about ABOUT = {.layers = "not used by a save",
                                        .classes = 2,
                                        .mean = 72.9403381f,
                                        .scale = 1 / 90.0211f,
                                        .digest = 0x00FEDCBA98765432u,
                                        .samples = UINT64_MAX,
                                        .version = "a1/0:17 b2/3:4"};

static struct world the_world;

static void *alloc(struct backend *backend, size_t bytes)
{
    (void)backend;
    return arena_alloc(&the_world.arena, bytes, 1);
}

static void release(struct backend *backend, void *memory)
{
    (void)backend; /* the arena frees the memory */
    (void)memory;
}

static size_t logits_budget(struct backend *backend)
{
    (void)backend;
    return (size_t)1 << 20;
}

/* Makes a model. It computes nothing, so its backend only allocates memory. */
static struct model *model_of(const char *line, struct shape in)
{
    static const struct loss_operations loss = {.logits_budget = logits_budget};
    static struct backend storage = {
        .name = "storage", .alloc = alloc, .free = release, .loss = &loss};
    struct model *model;
    struct problem problem;
    if (model_new(&model, &the_world.arena, &storage, line, in, 2, 4, &problem) != OK)
        fail_msg("%s", problem.text);
    return model;
}

int make_world(void **state)
{
    struct world *world = &the_world;
    *world = (struct world){.folder = "/tmp/hearsay-tensors-XXXXXX"};
    if (!mkdtemp(world->folder))
        return -1;
    (void)snprintf(world->path, sizeof world->path, "%.63s/model.safetensors", world->folder);
    arena_init(&world->arena, 16 * 1024 * 1024);
    world->model = model_of(LINE_SAME, (struct shape){1, 4, 4, 0});
    world->other = model_of(LINE_MORE, (struct shape){1, 4, 4, 0});
    world->sequences = model_of("embed 20 1, dense 20", (struct shape){1, 1, 1, 24});
    for (size_t i = 0; i < sizeof world->weights / sizeof *world->weights; i++)
        world->weights[i] = (float)i / 3 - 5;
    *state = world;
    return 0;
}

int end_world(void **state)
{
    struct world *world = *state;
    model_free(world->model);
    model_free(world->other);
    model_free(world->sequences);
    arena_release(&world->arena);
    (void)remove(world->path);
    return rmdir(world->folder);
}

void save_model(const struct world *world)
{
    struct problem problem;
    if (safetensors_save(world->path, world->model, &ABOUT, world->weights, &problem) != OK)
        fail_msg("%s", problem.text);
}

struct bytes read_file(const char *path)
{
    struct bytes bytes;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes.count = fread(bytes.at, 1, sizeof bytes.at, file);
    assert_true(bytes.count < sizeof bytes.at);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

enum error load_model(const struct world *world, float weights[static 64])
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

enum error read_about(const struct world *world, struct safetensors_about *about)
{
    struct problem problem;
    return safetensors_read_about(world->path, about, &problem);
}

void replace(struct bytes *bytes, const char *from, const char *to)
{
    assert_int_equal(strlen(from), strlen(to));
    char *found = memmem(bytes->at, bytes->count, from, strlen(from));
    if (!found)
        fail_msg("the header does not hold: %s", from);
    memcpy(found, to, strlen(to));
}

void write_changed(const struct world *world, const char *from, const char *to)
{
    save_model(world);
    struct bytes bytes = read_file(world->path);
    replace(&bytes, from, to);
    write_file(world->path, bytes.at, bytes.count);
}

uint64_t header_length(const struct bytes *bytes)
{
    uint64_t length;
    memcpy(&length, bytes->at, sizeof length);
    return length;
}

int files_in(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    assert_int_equal(closedir(listing), 0);
    return count - 2;
}
