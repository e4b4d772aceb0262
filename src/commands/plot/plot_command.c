#include "commands/plot/plot_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/config_options.h"
#include "commands/plot/plot_file.h"
#include "commands/plot/plot_json.h"
#include "commands/plot/plot_tensorboard.h"
#include "commands/plot/series.h"
#include "commands/terminal.h"
#include "plot/chart_text.h"

#define NAME_BYTES 256

struct plot_options {
    struct series_set set;
    const char *out; /* output file; NULL = the terminal */
    const char *title;
    const char *tensorboard; /* folder for TensorBoard; NULL = not given */
    bool has_range;
    double low, high;
    bool json;
    char **files;
    size_t count;
};

static const char *const BY[] = {
    [BY_TIME] = "time", [BY_SAMPLES] = "samples", [BY_BYTES] = "bytes"};

static enum error set_by(void *by, const struct command_option *option, const char *word,
                         struct problem *problem)
{
    (void)option;
    for (size_t i = 0; i < sizeof BY / sizeof *BY; i++)
        if (strcmp(word, BY[i]) == 0) {
            *(enum series_by *)by = (enum series_by)i;
            return OK;
        }
    return problem_set(problem, MALFORMED, "--by %.60s: write time, samples or bytes", word);
}

static enum error set_range(void *self, const struct command_option *option, const char *text,
                            struct problem *problem)
{
    struct plot_options *options = self;
    char *end;
    (void)option;
    options->low = strtod(text, &end);
    const bool has_low = end != text && *end == ':';
    const char *high = has_low ? end + 1 : text;
    options->high = strtod(high, &end);
    options->has_range = true;
    if (has_low && end != high && !*end && series_may_be(options->low) &&
        series_may_be(options->high) && options->low < options->high)
        return OK;
    return problem_set(problem, MALFORMED,
                       "--range %.60s: write two numbers, the lower one first, such as 0.7:0.92",
                       text);
}

static enum error set_what(void *what, const struct command_option *option, const char *word,
                           struct problem *problem)
{
    (void)option;
    *(const char **)what = word;
    return word[0] ? OK
                   : problem_set(problem, MALFORMED,
                                 "--what: write the name of a value; see: hearsay plot --help");
}

static enum error set_out(void *out, const struct command_option *option, const char *word,
                          struct problem *problem)
{
    (void)option;
    *(const char **)out = word;
    return plot_file_check(word, problem);
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct plot_options *options = self;
    options->files = words;
    options->count = (size_t)count;
    if (count == 0)
        return problem_set(problem, MALFORMED, "name at least one FILE; see: hearsay plot --help");
    if ((options->json != 0) + (options->out != NULL) + (options->tensorboard != NULL) > 1)
        return problem_set(
            problem, MALFORMED,
            "give only one of --json, --out and --tensorboard; see: hearsay plot --help");
    if (!options->set.what && !options->tensorboard)
        options->set.what = "loss";
    return OK;
}

/* Writes the name of a file's curve. by_folder: the name of its folder, such as node1 for
 * "run/node1/node.log"; otherwise the file's name without its suffix. */
static void label_of(const char *path, bool by_folder, char label[static NAME_BYTES])
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *end = strrchr(name, '.');
    int length = end && end > name ? (int)(end - name) : (int)strlen(name);
    if (by_folder && slash && slash > path) {
        const char *start = slash;
        while (start > path && start[-1] != '/')
            start--;
        name = start;
        length = (int)(slash - start);
    }
    (void)snprintf(label, NAME_BYTES, "%.*s", length, name);
}

static bool have_one_name(char *const *path, size_t count)
{
    char first[NAME_BYTES], other[NAME_BYTES];
    label_of(path[0], false, first);
    for (size_t i = 1; i < count; i++) {
        label_of(path[i], false, other);
        if (strcmp(first, other) != 0)
            return false;
    }
    return count > 1;
}

/* Returns true if another file has the same label. Then the curves of both are named by path. */
static bool is_taken(char *const *path, size_t count, bool by_folder, size_t mine)
{
    char label[NAME_BYTES], other[NAME_BYTES];
    label_of(path[mine], by_folder, label);
    for (size_t i = 0; i < count; i++) {
        label_of(path[i], by_folder, other);
        if (i != mine && strcmp(label, other) == 0)
            return true;
    }
    return false;
}

static enum error read_files(struct series_set *set, char *const *path, size_t count,
                             struct problem *problem)
{
    const bool by_folder = have_one_name(path, count);
    enum error error = OK;
    set->files = count;
    for (size_t i = 0; error == OK && i < count; i++) {
        char label[NAME_BYTES];
        label_of(path[i], by_folder, label);
        if (is_taken(path, count, by_folder, i))
            (void)snprintf(label, sizeof label, "%s", path[i]);
        error = series_read(set, path[i], label, problem);
    }
    return error;
}

/* Chooses a readable unit of time for the x axis: returns the name of the axis, and sets *scale to
 * the seconds per unit. */
static const char *name_of_x(const struct series_set *set, double *scale)
{
    double last = 0;
    *scale = 1;
    if (set->by != BY_TIME)
        return set->by == BY_SAMPLES ? "samples" : "bytes sent";
    for (size_t k = 0; k < set->count; k++)
        if (set->item[k].count > 0)
            last = fmax(last, set->item[k].x[set->item[k].count - 1]);
    if (last < 600)
        return "seconds";
    *scale = last < 4 * 3600 ? 60 : last < 4 * 86400 ? 3600 : 86400;
    return *scale < 61 ? "minutes" : *scale < 3601 ? "hours" : "days";
}

static void draw_characters(const struct chart *chart)
{
    const struct terminal terminal = terminal_of(STDOUT_FILENO);
    const struct chart_text_style style = {
        .rows = terminal.rows > 0 ? (int)fmax(terminal.rows - 2, CHART_TEXT_ROWS_MIN)
                                  : TERMINAL_ROWS - 2,
        .columns = terminal.columns > 0 ? (int)fmax(terminal.columns, CHART_TEXT_COLUMNS_MIN)
                                        : TERMINAL_COLUMNS,
        .is_utf8 = terminal.is_utf8,
        .has_color = terminal.has_color};
    chart_text_write(stdout, chart, &style);
}

static enum error draw(const struct plot_options *options, struct problem *problem)
{
    const struct series_set *set = &options->set;
    struct curve curves[SERIES_MAX];
    double scale;
    struct chart chart = {.title = options->title ? options->title : "",
                          .x_name = name_of_x(set, &scale),
                          .y_name = set->what,
                          .curves = curves,
                          .count = set->count,
                          .has_range = options->has_range,
                          .low = options->low,
                          .high = options->high};
    for (size_t k = 0; k < set->count; k++) {
        const struct series *series = &set->item[k];
        for (size_t i = 0; i < series->count; i++)
            series->x[i] /= scale;
        curves[k] = (struct curve){series->name, series->x, series->y, series->count};
    }
    if (options->out)
        return plot_file_write(options->out, &chart, problem);
    draw_characters(&chart);
    return OK;
}

/* Reads the series of one value from all files and writes them under one TensorBoard tag.
 * Returns MISSING if a file lacks the value. */
static enum error add_tag(const struct plot_options *options, const char *what, char *const *path,
                          size_t count, bool is_first, struct problem *problem)
{
    struct series_set *set = memory_new(1, sizeof *set);
    *set = (struct series_set){.what = what, .by = options->set.by};
    enum error error = read_files(set, path, count, problem);
    if (error == OK)
        error = plot_tensorboard_add(options->tensorboard, set, is_first, problem);
    series_free(set);
    free(set);
    return error;
}

static enum error write_tensorboard(const struct plot_options *options, char *const *path,
                                    size_t count, struct problem *problem)
{
    static const char *const USUAL[] = {"loss",    "test_loss",          "accuracy",   "r2",
                                        "share",   "samples_per_second", "neighbours", "members",
                                        "samples", "bytes_sent",         "sent_bytes"};
    bool is_first = true;
    if (options->set.what)
        return add_tag(options, options->set.what, path, count, true, problem);
    enum error error = OK;
    for (size_t i = 0; i < sizeof USUAL / sizeof *USUAL; i++) {
        error = add_tag(options, USUAL[i], path, count, is_first, problem);
        if (error != OK && error != MISSING)
            return error;
        is_first = is_first && error != OK;
    }
    return is_first ? error : OK;
}

static int run(int argc, char **argv)
{
    struct plot_options *options = memory_new(1, sizeof *options);
    struct problem problem;
    enum error error = OK;
    int code = command_read(&plot_command, options, argc, argv);
    if (code == COMMAND_RUNS) {
        if (options->tensorboard)
            error = write_tensorboard(options, options->files, options->count, &problem);
        else
            error = read_files(&options->set, options->files, options->count, &problem);
        if (error == OK && options->json)
            plot_json_write(stdout, &options->set, BY[options->set.by]);
        else if (error == OK && !options->tensorboard)
            error = draw(options, &problem);
        code = error == OK ? 0 : command_complain(&problem, 1);
    }
    series_free(&options->set);
    free(options);
    return code;
}

const struct command plot_command = {
    .name = "plot",
    .summary = "draw curves from logs and simulations",
    .forms = {{"hearsay plot [options] FILE...", "draw curves from logs and simulations"}},
    .about =
        "FILE is the log of a node (node.log), CSV with a heading, such as the series.csv and\n"
        "nodes.csv of hearsay sim, or a play of hearsay compare (plays/*.json).",
    .options =
        (const struct command_option[]){
            {"--what", "NAME",
             "loss, test-loss, accuracy, or any other number that the files have,\n"
             "such as samples_per_second, share or lag_s_max (default loss)",
             .member = offsetof(struct plot_options, set.what), .set = set_what},
            {"--by", "NAME",
             "time, samples or bytes: the x axis (default time); in a log, samples and\nbytes are "
             "those of its node",
             .member = offsetof(struct plot_options, set.by), .set = set_by},
            {"--out", "FILE", "draw a picture, FILE.svg or FILE.png, instead of characters",
             .member = offsetof(struct plot_options, out), .set = set_out},
            {"--title", "TEXT", "title above the chart",
             .member = offsetof(struct plot_options, title)},
            {"--range", "LOW:HIGH", "range of the y axis (default: all values)", .set = set_range},
            {"--tensorboard", "DIR",
             "write the curves for TensorBoard: one run for each curve; without --what,\nall usual "
             "values, each under its name",
             .member = offsetof(struct plot_options, tensorboard)},
            {"--json", NULL, "print the points as one JSON object",
             .member = offsetof(struct plot_options, json)},
            {0}},
    .column = 21,
    .notes = "If a CSV file has a column named curve, strategy, contestant or node, each name in "
             "it has a\n"
             "curve. The log of a restarted node is one curve, without the time between the runs.\n"
             "A .png file needs rsvg-convert, from Debian's package librsvg2-bin.",
    .exit_codes = "0 drawn, 1 failed, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
