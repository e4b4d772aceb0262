#include "config/saved_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "state/atomic_file.h"

#define NAME "started.conf"

bool saved_config_find(char path[static DISK_PATH_MAX], const char *state)
{
    struct stat found;
    char folder[DISK_PATH_MAX] = ".";
    const char *slash = strrchr(state, '/');
    if (stat(state, &found) == 0 && S_ISDIR(found.st_mode))
        (void)snprintf(folder, sizeof folder, "%s", state);
    else if (slash)
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - state), state);
    return disk_path(path, folder, NAME, "") == 0 && access(path, R_OK) == 0;
}

enum error saved_config_write(const struct config *config, struct problem *problem)
{
    char *text = NULL;
    size_t bytes = 0;
    struct atomic_file file;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        memory_missing(1);
    config_print(config, out);
    CHECK(fclose(out) == 0);
    atomic_file_begin(&file, disk_real(), config->node.state_dir, NAME, ATOMIC_FILE_SHARED);
    atomic_file_write(&file, text, bytes);
    const int error = atomic_file_end(&file);
    free(text);
    return error == 0
               ? OK
               : problem_set(
                     problem, FAILED,
                     "%.300s/" NAME
                     ": cannot be written: %s; free disk space, or fix the folder's permissions",
                     config->node.state_dir, strerror(-error));
}
