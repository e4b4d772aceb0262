#include "state/best_base.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/atomic_file.h"

#define BASE_NAME  "base-best.safetensors"
#define BASE_NEW   "base-best.new"
#define SCORE_NAME "best"
#define SCORE_MAX  1024 /* bytes of the score file */

void best_base_path(char path[static BASE_PATH_BYTES], const char *folder)
{
    (void)snprintf(path, BASE_PATH_BYTES, "%s/" BASE_NAME, folder);
}

/* Creates a hard link under a temporary name and renames it. rename() does nothing if both names
 * are links of one file, so the temporary name is also removed after the rename. */
static int keep_file(const struct disk *disk, const char *folder)
{
    char base[BASE_PATH_BYTES], path[BASE_PATH_BYTES], new_path[DISK_PATH_MAX];
    export_path(base, folder);
    best_base_path(path, folder);
    int error = disk_path(new_path, folder, BASE_NEW, "");
    if (error != 0)
        return error;
    (void)disk->remove(disk->self, new_path);
    error = disk->link(disk->self, base, new_path);
    if (error == 0)
        error = disk->rename(disk->self, new_path, path);
    if (error == 0)
        error = disk->sync_folder(disk->self, folder);
    (void)disk->remove(disk->self, new_path);
    return error;
}

static int write_score(const struct disk *disk, const char *folder, const struct best_base *best)
{
    char text[SCORE_MAX];
    struct atomic_file file;
    const struct evaluation *score = &best->score;
    const int length = snprintf(text, sizeof text,
                                "{\"samples\": %" PRIu32 ", \"correct\": %" PRIu32
                                ", \"loss\": %.17g, \"variance\": %.17g, "
                                "\"regression\": %s, \"sequence\": %s, \"digest\": \"%016" PRIx64
                                "\", \"saved_s\": %" PRIu64 "}\n",
                                score->samples, score->correct, score->loss, score->variance,
                                score->is_regression ? "true" : "false",
                                score->is_sequence ? "true" : "false", best->digest, best->saved_s);
    CHECK(length > 0 && length < SCORE_MAX);
    atomic_file_begin(&file, disk, folder, SCORE_NAME, ATOMIC_FILE_SHARED);
    atomic_file_write(&file, text, (size_t)length);
    return atomic_file_end(&file);
}

enum error best_base_keep(const struct disk *disk, const char *folder, const struct best_base *best,
                          struct problem *problem)
{
    CHECK(best->score.samples > 0);
    int error = keep_file(disk, folder);
    if (error == 0)
        error = write_score(disk, folder, best);
    return error == 0
               ? OK
               : problem_set(
                     problem, FAILED,
                     "%.300s/" BASE_NAME
                     ": cannot keep the best base: %s; free disk space, or set node.best_base = no",
                     folder, strerror(-error));
}

/* Reads the score file. Returns the number of its bytes, at most SCORE_MAX, or a negative errno. */
static int64_t read_text(const struct disk *disk, const char *folder, char text[SCORE_MAX])
{
    char path[DISK_PATH_MAX];
    int handle = disk_path(path, folder, SCORE_NAME, "");
    if (handle == 0)
        handle = disk->open(disk->self, path);
    if (handle < 0)
        return handle;
    const int64_t got = disk_read_all(disk, handle, text, SCORE_MAX);
    (void)disk->close(disk->self, handle);
    return got;
}

static bool unpack(const char *text, size_t bytes, struct best_base *best)
{
    json_int_t samples, correct, saved_s;
    int is_regression, is_sequence;
    const char *digest;
    char *end;
    struct evaluation *score = &best->score;
    json_t *object = json_loadb(text, bytes, 0, NULL);
    bool is_whole =
        object && json_unpack(object, "{s:I,s:I,s:F,s:F,s:b,s:b,s:s,s:I}", "samples", &samples,
                              "correct", &correct, "loss", &score->loss, "variance",
                              &score->variance, "regression", &is_regression, "sequence",
                              &is_sequence, "digest", &digest, "saved_s", &saved_s) == 0;
    is_whole = is_whole && samples > 0 && samples <= UINT32_MAX && correct >= 0 &&
               correct <= samples && saved_s >= 0 && strlen(digest) == 16;
    if (is_whole) {
        score->samples = (uint32_t)samples;
        score->correct = (uint32_t)correct;
        score->is_regression = is_regression;
        score->is_sequence = is_sequence;
        best->saved_s = (uint64_t)saved_s;
        best->digest = strtoull(digest, &end, 16);
        is_whole = *end == '\0';
    }
    json_decref(object);
    return is_whole;
}

enum error best_base_read(const struct disk *disk, const char *folder, struct best_base *best,
                          struct problem *problem)
{
    char text[SCORE_MAX], path[BASE_PATH_BYTES];
    struct safetensors_about about;
    struct problem ignored;
    const int64_t got = read_text(disk, folder, text);
    *best = (struct best_base){.digest = 0};
    if (got == -ENOENT)
        return MISSING;
    if (got < 0)
        return problem_set(problem, FAILED,
                           "%.300s/" SCORE_NAME ": cannot be read: %s; check its permissions",
                           folder, strerror((int)-got));
    if (!unpack(text, (size_t)got, best))
        return problem_set(problem, MALFORMED,
                           "%.300s/" SCORE_NAME
                           ": is damaged; remove it, and the next save writes it again",
                           folder);
    best_base_path(path, folder);
    if (safetensors_read_about(path, &about, &ignored) != OK || about.digest != best->digest)
        return MISSING;
    return OK;
}
