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
                           "either FILEs, or --config and --set, which name the data of a node; "
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
    if (options->config.json)
        return data_set_json(&config, &problem) == OK ? 0 : command_complain(&problem, 1);
    if (data_set_report(stdout, &config, options->samples, is_colour_terminal(), &problem) != OK)
        return command_complain(&problem, 1);
    return 0;
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
    .summary = "what data are: type, shape, classes, samples; and what is wrong",
    .forms = {{"hearsay data [options] [FILE...]", "what data are, and what is wrong with them"}},
    .about =
        "Each FILE is an array of NumPy's (.npy), an IDX file, text (plain or gzip) or a file of\n"
        "tokens (.bin). It says the type, the shape, how many samples there are, mean, deviation "
        "and\n"
        "bounds of the numbers, the classes with their counts, and shows the first samples. "
        "Without a\n"
        "FILE it does the same for the data of a configuration, as a node would learn them.",
    .options =
        (const struct command_option[]){
            {"--config", "FILE", "read this file first",
             .member = offsetof(struct config_options, file)},
            CONFIG_OPTION_SET("then set this key, such as data.x=x.npy"),
            {"--samples", "N", "how many samples it shows (default 4, at most 16)",
             COMMAND_WHOLE(struct options, samples, 0, DATA_SHOW_MAX)},
            CONFIG_OPTION_JSON("print one JSON object, without the samples"),
            {0}},
    .column = 31,
    .exit_codes = "0 they can be learned, 1 they cannot, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
