/* The real disk, in a temporary folder, does what disk.h says and stores checkpoints. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "state/atomic_file.h"
#include "state/checkpoint.h"
#include "state/disk.h"

static const struct disk *disk;
static char folder[256], path[DISK_PATH_MAX];

static int begin(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.200s/hearsay-disk-XXXXXX", base ? base : "/tmp");
    disk = disk_real();
    return mkdtemp(folder) ? 0 : -1;
}

static void remove_one(void *context, const char *name)
{
    (void)context;
    if (disk_path(path, folder, name, "") == 0)
        (void)unlink(path);
}

static int end(void **state)
{
    (void)state;
    (void)disk->list(disk->self, folder, remove_one, NULL);
    return rmdir(folder);
}

static char *in_folder(const char *name)
{
    assert_int_equal(disk_path(path, folder, name, ""), 0);
    return path;
}

static void put(const char *name, const char *text)
{
    const int handle = disk->create(disk->self, in_folder(name), 0600);
    assert_true(handle >= 0);
    assert_int_equal(disk_write_all(disk, handle, text, strlen(text)), 0);
    assert_int_equal(disk->sync(disk->self, handle), 0);
    assert_int_equal(disk->close(disk->self, handle), 0);
}

static void must_hold(const char *name, const char *text)
{
    char got[64] = "";
    const int handle = disk->open(disk->self, in_folder(name));
    assert_true(handle >= 0);
    assert_int_equal(disk_read_all(disk, handle, got, sizeof got - 1), strlen(text));
    assert_string_equal(got, text);
    assert_int_equal(disk->read(disk->self, handle, got, 1), 0);
    assert_int_equal(disk->close(disk->self, handle), 0);
}

static void reads_back_written_bytes(void **state)
{
    (void)state;
    struct stat about;
    put("a", "some words");
    must_hold("a", "some words");
    assert_int_equal(stat(in_folder("a"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
}

static void names_change_and_go(void **state)
{
    (void)state;
    char to[DISK_PATH_MAX];
    put("a", "new");
    put("b", "old");
    assert_int_equal(disk_path(to, folder, "b", ""), 0);
    assert_int_equal(disk->rename(disk->self, in_folder("a"), to), 0);
    assert_int_equal(disk->sync_folder(disk->self, folder), 0);
    must_hold("b", "new");
    assert_int_equal(disk->open(disk->self, in_folder("a")), -ENOENT);
    assert_int_equal(disk->remove(disk->self, to), 0);
    assert_int_equal(disk->remove(disk->self, to), -ENOENT);
}

static void a_file_has_two_names_until_one_goes(void **state)
{
    (void)state;
    char to[DISK_PATH_MAX];
    put("a", "of both");
    assert_int_equal(disk_path(to, folder, "b", ""), 0);
    assert_int_equal(disk->link(disk->self, in_folder("a"), to), 0);
    assert_int_equal(disk->link(disk->self, in_folder("a"), to), -EEXIST);
    assert_int_equal(disk->remove(disk->self, in_folder("a")), 0);
    assert_int_equal(disk->link(disk->self, in_folder("a"), to), -ENOENT);
    must_hold("b", "of both");
}

static void failures_report_their_cause(void **state)
{
    (void)state;
    char nowhere[DISK_PATH_MAX];
    put("a", "");
    assert_int_equal(disk->create(disk->self, in_folder("a"), 0600), -EEXIST);
    assert_int_equal(disk_path(nowhere, folder, "no", "/a"), 0);
    assert_int_equal(disk->create(disk->self, nowhere, 0600), -ENOENT);
    assert_int_equal(disk->rename(disk->self, in_folder("a"), nowhere), -ENOENT);
    assert_int_equal(disk->sync_folder(disk->self, nowhere), -ENOENT);
    assert_int_equal(disk->list(disk->self, nowhere, remove_one, NULL), -ENOENT);
    assert_int_equal(disk->close(disk->self, -1), -EBADF);
    assert_int_equal(disk->sync(disk->self, -1), -EBADF);
    assert_int_equal(disk->read(disk->self, -1, nowhere, 1), -EBADF);
    assert_int_equal(disk->write(disk->self, -1, nowhere, 1), -EBADF);
    memset(nowhere, 'x', sizeof nowhere - 1);
    nowhere[sizeof nowhere - 1] = '\0';
    assert_int_equal(disk_path(path, folder, nowhere, ""), -ENAMETOOLONG);
}

static void count_one(void *context, const char *name)
{
    int *count = context;
    *count += strcmp(name, "a") == 0 || strcmp(name, "b") == 0 ? 1 : 0;
    *count += name[0] == '.' ? 0 : 100;
}

static void a_folder_lists_its_names(void **state)
{
    (void)state;
    int count = 0;
    put("a", "1");
    put("b", "2");
    assert_int_equal(disk->list(disk->self, folder, count_one, &count), 0);
    assert_int_equal(count, 202);
}

static void an_atomic_file_replaces_what_had_its_name(void **state)
{
    (void)state;
    struct atomic_file file;
    put("a", "old");
    put("a" ATOMIC_FILE_SUFFIX, "left by a crash");
    atomic_file_begin(&file, disk, folder, "a", ATOMIC_FILE_PRIVATE);
    atomic_file_write(&file, "new ", 4);
    atomic_file_write(&file, "words", 5);
    must_hold("a", "old");
    assert_int_equal(atomic_file_end(&file), 0);
    must_hold("a", "new words");
    assert_int_equal(disk->open(disk->self, in_folder("a" ATOMIC_FILE_SUFFIX)), -ENOENT);
    atomic_file_begin(&file, disk, "/nowhere/at/all", "a", ATOMIC_FILE_PRIVATE);
    atomic_file_write(&file, "x", 1);
    assert_int_equal(atomic_file_end(&file), -ENOENT);
}

static void must_not_be_refused(void *context, const struct problem *problem)
{
    (void)context;
    fail_msg("%s", problem->text);
}

static enum error save_whole(const char *to, const struct snapshot_record *whole,
                             struct checkpoint *checkpoint, struct checkpoint_series *series,
                             struct problem *problem)
{
    static struct checkpoint_writer writer;
    checkpoint_begin(&writer, disk, to, checkpoint, whole->part.parameters, series);
    checkpoint_put(&writer, whole);
    return checkpoint_end(&writer, checkpoint, series, problem);
}

static void copy_whole(void *self, const struct snapshot_record *record)
{
    const struct learner_state *to = self;
    assert_int_equal(record->kind, SNAPSHOT_PART);
    assert_int_equal(record->part.parameters, to->parameters);
    memcpy(to->base, record->part.base, learner_state_bytes(to->parameters, to->moments));
}

/* The checkpoint has the longest possible history of a node. */
static void a_checkpoint_is_saved_and_loaded_on_it(void **state)
{
    (void)state;
    enum { P = 50000 };
    static int32_t vectors[2][4 * P + 64];
    static uint8_t own[2][CHECKPOINT_OWN_MAX];
    struct checkpoint saved = {.model = "m", .own = own[0], .own_bytes = CHECKPOINT_OWN_MAX};
    struct checkpoint loaded = {.model = "m", .own = own[1]};
    struct snapshot_record whole = {.kind = SNAPSHOT_PART};
    struct learner_state state_loaded;
    const struct checkpoint_target target = {&state_loaded, copy_whole};
    struct checkpoint_series series;
    const struct checkpoint_refusal refusal = {NULL, must_not_be_refused};
    struct problem problem;
    struct rng rng = rng_new(1, 1);
    learner_state_init(&whole.part, vectors[0], P, 1);
    learner_state_init(&state_loaded, vectors[1], P, 1);
    saved.state = loaded.state = whole.part;
    assert_int_equal(checkpoint_load(disk, folder, &loaded, &target, &series, &refusal, &problem),
                     MISSING);
    for (uint64_t generation = 1; generation <= 3; generation++) {
        for (size_t i = 0; i < sizeof vectors[0] / sizeof vectors[0][0]; i++)
            vectors[0][i] = (int32_t)(rng_next(&rng) >> 32);
        for (size_t i = 0; i < CHECKPOINT_OWN_MAX; i++)
            own[0][i] = (uint8_t)rng_next(&rng);
        assert_int_equal(save_whole(folder, &whole, &saved, &series, &problem), OK);
        assert_int_equal(
            checkpoint_load(disk, folder, &loaded, &target, &series, &refusal, &problem), OK);
        assert_int_equal(series.good, generation);
        assert_memory_equal(whole.part.base, state_loaded.base, learner_state_bytes(P, 1));
        assert_memory_equal(own[0], own[1], CHECKPOINT_OWN_MAX);
    }
    assert_int_equal(disk->open(disk->self, in_folder("checkpoint-1")), -ENOENT);
    assert_int_equal(save_whole("/nowhere", &whole, &saved, &series, &problem), FAILED);
    assert_non_null(strstr(problem.text, "/nowhere: cannot save a checkpoint: No such file"));
    assert_int_equal(
        checkpoint_load(disk, "/nowhere", &loaded, &target, &series, &refusal, &problem), FAILED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_back_written_bytes),
        TEST(names_change_and_go),
        TEST(a_file_has_two_names_until_one_goes),
        TEST(failures_report_their_cause),
        TEST(a_folder_lists_its_names),
        TEST(an_atomic_file_replaces_what_had_its_name),
        TEST(a_checkpoint_is_saved_and_loaded_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
