#include "state/older_bases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HOUR_S     3600
#define NAME_FORM  "base-%Y%m%d-%H%M%S.safetensors"
#define NAME_BYTES 64

static void name_of(char name[static NAME_BYTES], uint64_t saved_s)
{
    const time_t seconds = (time_t)saved_s;
    struct tm moment;
    CHECK(gmtime_r(&seconds, &moment) && strftime(name, NAME_BYTES, NAME_FORM, &moment) > 0);
}

/* Returns false for any name that this program would not write. */
static bool is_name(const char *name, uint64_t *saved_s)
{
    struct tm moment = {0};
    char own[NAME_BYTES];
    const char *end = strptime(name, NAME_FORM, &moment);
    const time_t seconds = end && *end == '\0' ? timegm(&moment) : -1;
    if (seconds < 0)
        return false;
    *saved_s = (uint64_t)seconds;
    name_of(own, *saved_s);
    return strcmp(own, name) == 0;
}

static void insert(struct older_bases *bases, uint64_t saved_s)
{
    uint32_t at = bases->count++;
    CHECK(at <= OLDER_BASES_MAX);
    for (; at > 0 && bases->saved_s[at - 1] > saved_s; at--)
        bases->saved_s[at] = bases->saved_s[at - 1];
    bases->saved_s[at] = saved_s;
}

static void look_at(void *context, const char *name)
{
    struct older_bases *bases = context;
    uint64_t saved_s;
    if (bases->count < OLDER_BASES_MAX && is_name(name, &saved_s))
        insert(bases, saved_s);
}

enum error older_bases_list(const struct disk *disk, const char *folder, struct older_bases *bases,
                            struct problem *problem)
{
    bases->count = 0;
    const int error = disk->list(disk->self, folder, look_at, bases);
    return error == 0
               ? OK
               : problem_set(
                     problem, FAILED,
                     "%.300s: cannot be read: %s; name the state folder of a node (node.state_dir)",
                     folder, strerror(-error));
}

void older_bases_path(char path[static BASE_PATH_BYTES], const char *folder, uint64_t saved_s)
{
    char name[NAME_BYTES];
    name_of(name, saved_s);
    (void)snprintf(path, BASE_PATH_BYTES, "%s/%s", folder, name);
}

static double age_s(const struct older_bases *bases, uint32_t i, uint64_t now_s)
{
    return bases->saved_s[i] < now_s ? (double)(now_s - bases->saved_s[i]) : 0;
}

uint32_t older_bases_to_go(const struct older_bases *bases, uint64_t now_s)
{
    uint32_t least = 0;
    double least_gap = 0;
    CHECK(bases->count >= 2);
    for (uint32_t i = 1; i + 1 < bases->count; i++) {
        const double gap =
            (age_s(bases, i - 1, now_s) + HOUR_S) / (age_s(bases, i + 1, now_s) + HOUR_S);
        if (least == 0 || gap < least_gap) {
            least = i;
            least_gap = gap;
        }
    }
    return least; /* if there are only two bases: index 0, the older one */
}

/* Returns true if there is no base, or the last one is at least an hour old. Ignores a last time
 * more than an hour in the future, because the clock must have been wrong. */
static bool is_time(const struct older_bases *bases, uint64_t now_s)
{
    const uint64_t last_s = bases->count > 0 ? bases->saved_s[bases->count - 1] : 0;
    return bases->count == 0 || now_s >= last_s + HOUR_S || last_s > now_s + HOUR_S;
}

static void remove_at(const struct disk *disk, const char *folder, struct older_bases *bases,
                      uint32_t i)
{
    char path[BASE_PATH_BYTES];
    older_bases_path(path, folder, bases->saved_s[i]);
    (void)disk->remove(disk->self, path); /* if it fails, the next kept base tries again */
    bases->count--;
    memmove(&bases->saved_s[i], &bases->saved_s[i + 1],
            (bases->count - i) * sizeof *bases->saved_s);
}

enum error older_bases_keep(const struct disk *disk, const char *folder, uint64_t now_s,
                            uint32_t most, struct problem *problem)
{
    char base[BASE_PATH_BYTES], path[BASE_PATH_BYTES];
    struct older_bases bases;
    CHECK(most <= OLDER_BASES_MAX);
    if (most == 0)
        return OK;
    const enum error error = older_bases_list(disk, folder, &bases, problem);
    if (error != OK || !is_time(&bases, now_s))
        return error;
    export_path(base, folder);
    older_bases_path(path, folder, now_s);
    int failure = disk->link(disk->self, base, path);
    if (failure == 0 || failure == -EEXIST)
        failure = disk->sync_folder(disk->self, folder);
    if (failure != 0)
        return problem_set(problem, FAILED,
                           "%.300s: cannot keep this base for hearsay rewind: %s; free disk space, "
                           "or set node.older_bases = 0",
                           path, strerror(-failure));
    insert(&bases, now_s);
    while (bases.count > most)
        remove_at(disk, folder, &bases, older_bases_to_go(&bases, now_s));
    return OK;
}
