#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/config.h"
#include "report/gnuplot.h"
#include "report/report_private.h"

#define PATH_BYTES  (CONFIG_PATH_BYTES + 64)
#define LABEL_WIDTH 14

static void print_facts(FILE *out, const struct outcome *outcome)
{
    struct table facts;
    report_facts(&facts, outcome);
    for (uint32_t row = 0; row < table_rows(&facts); row++) {
        (void)fprintf(out, "%-*s", LABEL_WIDTH, table_cell(&facts, row, 0));
        table_print_words(out, table_cell(&facts, row, 1), LABEL_WIDTH);
    }
    table_free(&facts);
}

static void print_verdicts(FILE *out, const struct outcome *outcome)
{
    const uint32_t count = outcome->scenario->expects_count;
    if (count > 0)
        (void)fputc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        const struct verdict *verdict = &outcome->verdicts[i];
        (void)fprintf(out, "%-9s", report_verdict(outcome, i));
        table_print_words(out, verdict->text, 9);
    }
}

void report_print(FILE *out, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    table_print_words(out, scenario->about[0] ? scenario->about : scenario->name, 0);
    (void)fputc('\n', out);
    print_facts(out, outcome);
    report_tables(out, outcome, table_print);
    print_verdicts(out, outcome);
}

static enum error make_dir(const char *dir, bool *made, struct problem *problem)
{
    struct stat found;
    if (strlen(dir) >= CONFIG_PATH_BYTES)
        return problem_set(problem, TOO_BIG, "the name of the folder is too long: %.100s...", dir);
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
    return problem_set(problem, FAILED, "cannot make the folder %.250s: %s; choose another", dir,
                       error == EEXIST ? "a file of this name is in the way" : strerror(error));
}

static void file_path(char out[static PATH_BYTES], const char *dir, const char *name,
                      const char *ending)
{
    (void)snprintf(out, PATH_BYTES, "%s/%s%s", dir, name, ending);
}

static enum error cannot_write(const char *path, struct problem *problem)
{
    return problem_set(problem, FAILED, "cannot write %.300s: %s", path, strerror(errno));
}

/* A full disk shows when the file is closed, at the latest. */
static enum error close_file(FILE *file, const char *path, struct problem *problem)
{
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return cannot_write(path, problem);
    return OK;
}

static const struct {
    const char *name;
    void (*write)(FILE *out, const struct outcome *outcome);
} FILES[] = {
    {"series.csv", report_series_csv}, {"nodes.csv", report_nodes_csv}, {"use.csv", report_use_csv},
    {"summary.json", report_json},     {"plot.gp", report_script},
};

static enum error write_files(const char *dir, const struct outcome *outcome,
                              struct problem *problem)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        file_path(path, dir, FILES[i].name, "");
        FILE *file = fopen(path, "we");
        if (!file)
            return cannot_write(path, problem);
        FILES[i].write(file, outcome);
        const enum error error = close_file(file, path, problem);
        if (error != OK)
            return error;
    }
    return OK;
}

/* An earlier run may have drawn what this one does not. */
static void remove_plots(const char *dir)
{
    char path[PATH_BYTES];
    for (uint32_t i = 0; i < REPORT_PLOTS; i++) {
        file_path(path, dir, report_plot(i)->name, ".png");
        (void)remove(path);
        file_path(path, dir, report_plot(i)->name, ".svg");
        (void)remove(path);
    }
}

/* The file as a text that the caller frees; NULL: it cannot be read. */
static char *read_file(const char *path, size_t *bytes)
{
    char *text = NULL;
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

/* gnuplot does not report a full disk, so a file without its end counts as unfinished. */
static enum error read_drawing(const char *path, const char *end, size_t end_bytes, char **drawing,
                               struct problem *problem)
{
    size_t bytes = 0;
    *drawing = read_file(path, &bytes);
    if (*drawing && bytes >= end_bytes && memmem(*drawing + bytes - end_bytes, end_bytes, end, 4))
        return OK;
    free(*drawing);
    *drawing = NULL;
    return problem_set(problem, FAILED, "gnuplot left %.300s unfinished; is the disk full?", path);
}

static enum error check_png(const char *dir, const char *name, struct problem *problem)
{
    char path[PATH_BYTES], *bytes = NULL;
    file_path(path, dir, name, ".png");
    const enum error error = read_drawing(path, "IEND", 8, &bytes, problem);
    free(bytes);
    return error;
}

static enum error draw(const char *dir, const struct outcome *outcome,
                       char *drawings[static REPORT_PLOTS], struct problem *problem)
{
    char path[PATH_BYTES];
    remove_plots(dir);
    enum error error = gnuplot_draw(dir, "png", problem);
    if (error == OK)
        error = gnuplot_draw(dir, "svg", problem);
    for (uint32_t i = 0; error == OK && i < REPORT_PLOTS; i++) {
        if (!report_plot_drawn(outcome, i))
            continue;
        error = check_png(dir, report_plot(i)->name, problem);
        file_path(path, dir, report_plot(i)->name, ".svg");
        if (error == OK)
            error = read_drawing(path, "</svg>", 12, &drawings[i], problem);
    }
    return error;
}

static enum error write_page(const char *dir, const struct outcome *outcome,
                             char *const drawings[static REPORT_PLOTS], struct problem *problem)
{
    char path[PATH_BYTES];
    file_path(path, dir, "report.html", "");
    FILE *file = fopen(path, "we");
    if (!file)
        return cannot_write(path, problem);
    report_page(file, outcome, drawings);
    return close_file(file, path, problem);
}

enum error report_ready(const char *dir, bool *made, struct problem *problem)
{
    const enum error error = gnuplot_ready(problem);
    return error == OK ? make_dir(dir, made, problem) : error;
}

enum error report_write(const char *dir, const struct outcome *outcome, struct problem *problem)
{
    char *drawings[REPORT_PLOTS] = {NULL};
    bool made;
    enum error error = make_dir(dir, &made, problem);
    if (error == OK)
        error = write_files(dir, outcome, problem);
    if (error == OK)
        error = draw(dir, outcome, drawings, problem);
    if (error == OK)
        error = write_page(dir, outcome, drawings, problem);
    for (uint32_t i = 0; i < REPORT_PLOTS; i++)
        free(drawings[i]);
    return error;
}
