#include "commands/plot/series.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/plot/series_file.h"

struct point {
    double x, y, wall_s;
    size_t place; /* index of the point before sorting, which orders points with equal x */
};

static int by_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->place < q->place ? -1 : p->place > q->place;
}

static bool is_sorted(const struct series *series)
{
    for (size_t i = 1; i < series->count; i++)
        if (series->x[i] < series->x[i - 1])
            return false;
    return true;
}

static void sort(struct series *series)
{
    if (is_sorted(series))
        return;
    struct point *points = memory_new(series->count, sizeof *points);
    for (size_t i = 0; i < series->count; i++)
        points[i] = (struct point){series->x[i], series->y[i], series->wall_s[i], i};
    qsort(points, series->count, sizeof *points, by_x);
    for (size_t i = 0; i < series->count; i++) {
        series->x[i] = points[i].x;
        series->y[i] = points[i].y;
        series->wall_s[i] = points[i].wall_s;
    }
    free(points);
}

/* Converts wall_s from seconds since the start of a file's run to wall-clock time. written_s: time
 * of the last change of the file, which the latest point gets. Skips points before index `from`,
 * which are from other files. */
static void date(struct series *series, size_t from, double written_s)
{
    double last = 0;
    for (size_t i = from; i < series->count; i++)
        last = fmax(last, series->wall_s[i]);
    for (size_t i = from; i < series->count; i++)
        series->wall_s[i] += written_s - last;
}

/* Reads an open file. Its first line shows which kind of file it is. */
static enum error read_open(struct series_set *set, FILE *file, const char *path, const char *label,
                            struct problem *problem)
{
    char *line = NULL;
    size_t room = 0;
    const ssize_t length = getline(&line, &room, file);
    enum error error = OK;
    if (length <= 0) {
        error = ferror(file)
                    ? problem_set(problem, FAILED, "cannot read %.400s: %s", path, strerror(errno))
                    : problem_set(problem, MISSING, "%.400s is empty", path);
    } else if (fseek(file, 0, SEEK_SET) != 0) {
        error = problem_set(problem, FAILED, "%.400s cannot be read twice; name a file", path);
    } else if (line[0] != '{') {
        error = series_read_csv(set, file, path, label, problem);
    } else {
        json_t *first = json_loadb(line, (size_t)length, 0, NULL);
        const bool is_log = json_is_string(json_object_get(first, "note"));
        json_decref(first);
        error = is_log ? series_read_log(set, file, path, label, problem)
                       : series_read_play(set, file, path, label, problem);
    }
    free(line);
    return error;
}

enum error series_read(struct series_set *set, const char *path, const char *label,
                       struct problem *problem)
{
    CHECK(set->what && set->what[0]);
    FILE *file = fopen(path, "re");
    if (!file)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED, "cannot open %.400s: %s",
                           path, strerror(errno));
    size_t before[SERIES_MAX];
    struct stat about = {0};
    for (size_t i = 0; i < SERIES_MAX; i++)
        before[i] = i < set->count ? set->item[i].count : 0;
    (void)fstat(fileno(file), &about);
    const enum error error = read_open(set, file, path, label, problem);
    (void)fclose(file);
    for (size_t i = 0; i < set->count; i++) {
        date(&set->item[i], before[i], (double)about.st_mtim.tv_sec);
        sort(&set->item[i]);
    }
    return error;
}
