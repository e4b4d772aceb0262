#include "commands/data/data_command.h"

#include <getopt.h>
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

static const char usage[] =
    "hearsay data [options] [FILE...]: what data are, and what is wrong with them\n"
    "\n"
    "Each FILE is an array of NumPy's (.npy), an IDX file, text (plain or gzip) or a file of\n"
    "tokens (.bin). It says the type, the shape, how many samples there are, mean, deviation and\n"
    "bounds of the numbers, the classes with their counts, and shows the first samples. Without a\n"
    "FILE it does the same for the data of a configuration, as a node would learn them.\n"
    "\n"
    "  --config FILE                read this file first\n"
    "  --set SECTION.KEY=VALUE      then set this key, such as data.x=x.npy\n"
    "  --samples N                  how many samples it shows (default 4, at most 16)\n"
    "  --json                       print one JSON object, without the samples\n"
    "  --help                       print this\n"
    "\n"
    "Exit codes: 0 they can be learned, 1 they cannot, 2 wrong usage.\n";

struct options {
    struct config_options config;
    int samples;
};

static enum error parse_samples(const char *text, int *samples, struct problem *problem)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 0 || value > DATA_SHOW_MAX)
        return problem_set(problem, MALFORMED, "\"%.40s\": write a whole number from 0 to %d", text,
                           DATA_SHOW_MAX);
    *samples = (int)value;
    return OK;
}

static enum error parse_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'c':
        options->config.file = optarg;
        return OK;
    case 's':
        return config_options_add_set(&options->config, optarg, problem);
    case 'n':
        return parse_samples(optarg, &options->samples, problem);
    case 'j':
        options->config.json = true;
        return OK;
    case 'h':
        options->config.help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay data --help");
    }
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'},  {"set", required_argument, NULL, 's'},
        {"samples", required_argument, NULL, 'n'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum error error = parse_option(options, option, problem);
        if (error != OK || options->config.help)
            return error;
    }
    if (optind < argc && (options->config.file || options->config.sets > 0))
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

/* Prints a report on each file. A file with a problem does not stop the others. */
static int report_files(char **paths, int count, int samples)
{
    int code = 0;
    for (int i = 0; i < count; i++) {
        struct problem problem;
        if (data_file_report(stdout, paths[i], samples, is_colour_terminal(), &problem) != OK) {
            (void)fflush(stdout);
            code = config_options_complain(&problem, 1);
        }
    }
    return code;
}

/* Reports all files as one JSON object. */
static int report_files_json(char **paths, int count)
{
    int code = 0;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        struct problem problem = {""};
        json_t *file = NULL;
        if (data_file_json(&file, paths[i], &problem) != OK)
            code = config_options_complain(&problem, 1);
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
        return config_options_complain(&problem, 2);
    if (options->config.json)
        return data_set_json(&config, &problem) == OK ? 0 : config_options_complain(&problem, 1);
    if (data_set_report(stdout, &config, options->samples, is_colour_terminal(), &problem) != OK)
        return config_options_complain(&problem, 1);
    return 0;
}

int data_command_run(int argc, char **argv)
{
    struct options options = {.samples = SAMPLES_SHOWN};
    struct problem problem;
    if (parse_options(&options, argc, argv, &problem) != OK)
        return config_options_complain(&problem, 2);
    if (options.config.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    if (optind < argc && options.config.json)
        return report_files_json(argv + optind, argc - optind);
    return optind < argc ? report_files(argv + optind, argc - optind, options.samples)
                         : report_configured(&options);
}
