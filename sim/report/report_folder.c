#include "report/report_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum error report_folder_make(const char *dir, bool *made, struct problem *problem)
{
    struct stat found;
    if (strlen(dir) >= CONFIG_PATH_BYTES)
        return problem_set(problem, TOO_BIG,
                           "the name of the folder is too long: %.100s...; choose a shorter one",
                           dir);
    *made = mkdir(dir, 0777) == 0;
    if (*made)
        return OK;
    const int error = errno;
    if (error == EEXIST && stat(dir, &found) == 0 && S_ISDIR(found.st_mode)) {
        if (access(dir, W_OK | X_OK) == 0)
            return OK;
        return problem_set(problem, FAILED, "cannot write to the folder %.250s: %s; choose another",
                           dir, strerror(errno));
    }
    return problem_set(problem, FAILED, "cannot create the folder %.250s: %s; choose another", dir,
                       error == EEXIST ? "a file of this name exists" : strerror(error));
}

enum error report_folder_lock(const char *dir, struct problem *problem)
{
    const int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0)
        return OK; /* the lock's descriptor is never closed, so the folder stays locked */
    const int reason = errno;
    (void)close(folder);
    if (reason != EWOULDBLOCK)
        return OK;
    return problem_set(problem, MISMATCH,
                       "another comparison is running in the folder %.250s: wait until it ends, or "
                       "name another folder (--out)",
                       dir);
}

static void path_of(char out[static REPORT_PATH_BYTES], const char *dir, const char *name)
{
    (void)snprintf(out, REPORT_PATH_BYTES, "%s/%s", dir, name);
}

static enum error cannot_write(const char *path, struct problem *problem)
{
    return problem_set(problem, FAILED, "cannot write %.300s: %s; choose another folder", path,
                       strerror(errno));
}

/* An error such as a full disk may appear only in fclose. */
enum error report_folder_write(const char *dir, const char *name,
                               void (*write)(FILE *out, const void *context), const void *context,
                               struct problem *problem)
{
    char path[REPORT_PATH_BYTES];
    path_of(path, dir, name);
    FILE *file = fopen(path, "we");
    if (!file)
        return cannot_write(path, problem);
    write(file, context);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return cannot_write(path, problem);
    return OK;
}

char *report_folder_read(const char *dir, const char *name, size_t *bytes)
{
    char path[REPORT_PATH_BYTES], *text = NULL;
    path_of(path, dir, name);
    FILE *in = fopen(path, "re");
    if (!in)
        return NULL;
    FILE *copy = open_memstream(&text, bytes);
    if (!copy)
        memory_missing(BUFSIZ);
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, in)) > 0;)
        (void)fwrite(piece, 1, got, copy);
    CHECK(fclose(copy) == 0);
    (void)fclose(in);
    return text;
}
