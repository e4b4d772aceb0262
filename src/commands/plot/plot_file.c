#include "commands/plot/plot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot/chart_svg.h"

#define ZOOM "2" /* scale of the picture, for screens with a high resolution */

static bool ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path), bytes = strlen(end);
    return length > bytes && strcasecmp(path + length - bytes, end) == 0;
}

enum error plot_file_check(const char *path, struct problem *problem)
{
    if (ends_in(path, ".svg") || ends_in(path, ".png"))
        return OK;
    return problem_set(problem, MALFORMED, "--out %.300s: name a file that ends in .svg or in .png",
                       path);
}

static enum error cannot_write(const char *path, int error, struct problem *problem)
{
    return problem_set(problem, FAILED, "cannot write %.300s: %s; name another file with --out",
                       path, strerror(error));
}

static enum error write_svg(const char *path, const struct chart *chart, struct problem *problem)
{
    FILE *out = fopen(path, "we");
    if (!out)
        return cannot_write(path, errno, problem);
    chart_svg_write(out, chart);
    const bool is_written = fflush(out) == 0 && !ferror(out);
    const int error = errno;
    if (fclose(out) == 0 && is_written)
        return OK;
    (void)unlink(path);
    return cannot_write(path, error, problem);
}

/* Runs rsvg-convert, which reads the file `from` and writes the picture to the file `to`. Returns
 * its exit status as from waitpid, or a negative errno if it did not start. */
static int convert(int from, int to)
{
    char name[] = "rsvg-convert", format[] = "--format=png", zoom[] = "--zoom=" ZOOM;
    char *const argv[] = {name, format, zoom, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return -error;
    error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (!error)
        error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -error;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static enum error convert_to(const char *path, FILE *svg, struct problem *problem)
{
    const int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0)
        return cannot_write(path, errno, problem);
    const int status = convert(fileno(svg), out);
    if (close(out) == 0 && status == 0)
        return OK;
    (void)unlink(path);
    if (status == -ENOENT)
        return problem_set(problem, MISSING,
                           "%.300s: rsvg-convert, which draws .png files, is not installed: "
                           "apt-get install librsvg2-bin, or name a file that ends in .svg",
                           path);
    return problem_set(problem, FAILED,
                       "%.300s: rsvg-convert failed (status %d); name a file that ends in .svg",
                       path, status);
}

static enum error write_png(const char *path, const struct chart *chart, struct problem *problem)
{
    FILE *svg = tmpfile();
    if (!svg)
        return problem_set(problem, FAILED, "cannot make a temporary file: %s", strerror(errno));
    chart_svg_write(svg, chart);
    enum error error = OK;
    if (fflush(svg) != 0 || ferror(svg) || fseek(svg, 0, SEEK_SET) != 0)
        error = problem_set(problem, FAILED, "cannot write a temporary file: %s", strerror(errno));
    else
        error = convert_to(path, svg, problem);
    (void)fclose(svg);
    return error;
}

enum error plot_file_write(const char *path, const struct chart *chart, struct problem *problem)
{
    return ends_in(path, ".png") ? write_png(path, chart, problem)
                                 : write_svg(path, chart, problem);
}
