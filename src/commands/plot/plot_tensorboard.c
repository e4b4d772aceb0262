#include "commands/plot/plot_tensorboard.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/plot/event_file.h"

#define PATH_BYTES 4096
#define FILE_NAME  "events.out.tfevents.0000000001.hearsay"

static enum error cannot(const char *path, struct problem *problem)
{
    return problem_set(problem, FAILED,
                       "--tensorboard: cannot write %.300s: %s; name another folder", path,
                       strerror(errno));
}

static enum error make_folder(const char *path, struct problem *problem)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? OK : cannot(path, problem);
}

/* Writes DIR/NAME to out, with characters replaced that a folder name cannot have. */
static void folder_of(char out[static PATH_BYTES], const char *dir, const char *name)
{
    int at = snprintf(out, PATH_BYTES, "%s/", dir);
    for (; *name && at < PATH_BYTES - 64; name++)
        out[at++] = *name == '/' || (unsigned char)*name < ' ' ? '_' : *name;
    if (out[at - 1] == '.' && (out[at - 2] == '/' || out[at - 3] == '/'))
        out[at - 1] = '_'; /* a folder cannot be named "." or ".." */
    out[at] = 0;
}

static void write_points(FILE *out, const struct series *series, const char *tag)
{
    for (size_t i = 0; i < series->count; i++)
        event_file_add(out, series->wall_s[i], (int64_t)fmin(fmax(round(series->x[i]), 0), 1e18),
                       tag, (float)series->y[i]);
}

static enum error add_series(const char *dir, const struct series *series, const char *tag,
                             bool is_first, struct problem *problem)
{
    char path[PATH_BYTES];
    folder_of(path, dir, series->name);
    const enum error error = make_folder(path, problem);
    if (error != OK)
        return error;
    (void)strcat(path, "/" FILE_NAME);
    FILE *out = fopen(path, is_first ? "we" : "ae");
    if (!out)
        return cannot(path, problem);
    if (ftell(out) == 0 && series->count > 0)
        event_file_begin(out, series->wall_s[0]);
    write_points(out, series, tag);
    const bool is_written = fflush(out) == 0 && !ferror(out);
    return fclose(out) == 0 && is_written ? OK : cannot(path, problem);
}

enum error plot_tensorboard_add(const char *dir, const struct series_set *set, bool is_first,
                                struct problem *problem)
{
    enum error error = make_folder(dir, problem);
    for (size_t k = 0; error == OK && k < set->count; k++)
        error = add_series(dir, &set->item[k], set->what, is_first, problem);
    return error;
}
