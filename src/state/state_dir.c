#include "state/state_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/amount.h"
#include "state/disk.h"
#include "state/export.h"

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

enum error state_dir_make(const char *path, struct problem *problem)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED,
                           "cannot create node.state_dir %s: %s; choose another in an existing "
                           "folder that this user can write to",
                           path, strerror(errno));
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode) || access(path, W_OK | X_OK) != 0)
        return problem_set(
            problem, FAILED,
            "node.state_dir %s is not a directory that this user can write to; choose another",
            path);
    return OK;
}

bool state_dir_is_of_program(const char *path)
{
    char caller[DISK_PATH_MAX];
    return disk_path(caller, path, STATE_CALLER_FILE, "") == 0 && access(caller, F_OK) == 0;
}

enum error state_dir_check_start(const char *folder, const char *start, struct problem *problem)
{
    char base[BASE_PATH_BYTES];
    export_path(base, folder);
    if (!is_same_file(start, base))
        return OK;
    return problem_set(problem, MALFORMED,
                       "[model] start: %s is overwritten when this node saves its base; copy the "
                       "file, and name the copy",
                       start);
}

static double age_s(const char *file)
{
    struct stat about;
    struct timespec now;
    if (stat(file, &about) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return (double)NAN;
    return fmax(0, difftime(now.tv_sec, about.st_mtim.tv_sec) +
                       (double)(now.tv_nsec - about.st_mtim.tv_nsec) * 1e-9);
}

struct state_dir_checkpoint state_dir_checkpoint(const char *path, uint64_t generation)
{
    struct state_dir_checkpoint described;
    const int length =
        snprintf(described.text, sizeof described.text, "%s/checkpoint-%" PRIu64, path, generation);
    CHECK(length > 0 && (size_t)length < sizeof described.text);
    (void)snprintf(described.text + length, sizeof described.text - (size_t)length, ", %s old",
                   amount_span(age_s(described.text)).text);
    return described;
}

enum error state_dir_check_history(const char *path, const struct node_options *options,
                                   struct problem *problem)
{
    if (node_can_restore(options))
        return OK;
    return problem_set(problem, TOO_BIG,
                       "the checkpoint in %s has more incarnations than limits.incarnations "
                       "allows; raise limits.incarnations",
                       path);
}
