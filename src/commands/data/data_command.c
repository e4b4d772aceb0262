#include "commands/data/data_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/config_options.h"
#include "commands/data/data_file.h"
#include "commands/data/data_set.h"
#include "commands/data/data_show.h"
#include "commands/json_output.h"
#include "commands/terminal.h"

#define SAMPLES_SHOWN 4

struct options {
    struct config_options config;
    int samples;
    char **files;
    int count;
};
COMMAND_BEGINS_WITH(struct options, config);

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct options *options = self;
    options->files = words;
    options->count = count;
    if (count > 0 && (options->config.file || options->config.sets > 0))
        return problem_set(problem, MALFORMED,
                           "give either FILEs, or --config and --set, which name a node's data; "
                           "see: hearsay data --help");
    return OK;
}

static bool is_colour_terminal(void)
{
    const char *depth = getenv("COLORTERM");
    return terminal_of(STDOUT_FILENO).has_color && depth &&
           (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0);
}

/* Continues with the next file after an error. */
static int report_files(char **paths, int count, int samples)
{
    int code = 0;
    for (int i = 0; i < count; i++) {
        struct problem problem;
        if (data_file_report(stdout, paths[i], samples, is_colour_terminal(), &problem) != OK) {
            (void)fflush(stdout);
            code = command_complain(&problem, 1);
        }
    }
    return code;
}

static int report_files_json(char **paths, int count)
{
    int code = 0;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        struct problem problem = {""};
        json_t *file = NULL;
        if (data_file_json(&file, paths[i], &problem) != OK)
            code = command_complain(&problem, 1);
        json_output_put(file, "problem", problem.text[0] ? json_string(problem.text) : NULL);
        CHECK(json_array_append_new(list, file) == 0);
    }
    json_output(json_pack("{s:o}", "files", list));
    return code;
}

static int report_configured(const struct options *options)
{
    static struct config config;
    struct problem problem;
    if (config_options_read(&config, &options->config, &problem) != OK)
        return command_complain(&problem, 2);
    const enum error error =
        options->config.json
            ? data_set_json(&config, &problem)
            : data_set_report(stdout, &config, options->samples, is_colour_terminal(), &problem);
    return error == OK ? 0 : command_complain(&problem, error == WRONG_SETTING ? 2 : 1);
}

static int run(int argc, char **argv)
{
    struct options options = {.samples = SAMPLES_SHOWN};
    const int code = command_read(&data_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (options.count > 0 && options.config.json)
        return report_files_json(options.files, options.count);
    return options.count > 0 ? report_files(options.files, options.count, options.samples)
                             : report_configured(&options);
}

const struct command data_command = {
    .name = "data",
    .summary = "describe data: type, shape, classes, samples, and errors",
    .forms = {{"hearsay data [options] [FILE...]", "describe data, and report errors in them"}},
    .about =
        "Each FILE is a NumPy array (.npy), an IDX file, text (plain or gzip) or a file of tokens\n"
        "(.bin). The command prints the type, the shape, the number of samples, the mean, "
        "standard\n"
        "deviation and range of the numbers, the classes with their counts, and the first "
        "samples.\n"
        "Without a FILE it describes the data of a configuration as a node would train on them.",
    .options =
        (const struct command_option[]){
            {"--config", "FILE", "the node's configuration, which names the data",
             .member = offsetof(struct config_options, file)},
            CONFIG_OPTION_SET("set one key, such as data.x=x.npy; may be repeated"),
            {"--samples", "N", "number of samples to show (default 4, at most 16)",
             COMMAND_WHOLE(struct options, samples, 0, DATA_SHOW_MAX)},
            CONFIG_OPTION_JSON("print one JSON object, without the samples"),
            {0}},
    .column = 31,
    .exit_codes = "0 a node can train on the data, 1 it cannot, 2 wrong usage or configuration.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
