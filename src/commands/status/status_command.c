#include "commands/status/status_command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/status/status_ask.h"
#include "commands/status/status_text.h"

#define WAIT_MS 5000

enum { EXIT_HEALTHY = 0, EXIT_NO_ANSWER = 1, EXIT_USAGE = 2, EXIT_NOT_YET = 3 };

static const char usage[] =
    "hearsay status [--state DIR | --config FILE] [--json]: how is the node of this machine?\n"
    "\n"
    "  --state DIR    the node's state folder (default state)\n"
    "  --config FILE  the node's configuration, which names it\n"
    "  --json         print one JSON object, with everything\n"
    "  --help         print this\n"
    "\n"
    "Exit codes, for health probes: 0 it trains (or passes on), 1 no node answers,\n"
    "2 wrong usage, 3 it is there, but still joins or catches up.\n";

/* Where the configuration says. */
static enum error read_config(struct status_options *options, struct problem *problem)
{
    struct config config;
    config_defaults(&config);
    const enum error status = config_load(&config, options->config, problem);
    if (status == OK)
        (void)snprintf(options->dir, sizeof options->dir, "%s", config.node.state_dir);
    return status;
}

static enum error parse_option(struct status_options *options, int option, const char *command,
                               struct problem *problem)
{
    switch (option) {
    case 's':
        if (strlen(optarg) >= sizeof options->dir)
            return problem_set(problem, TOO_BIG, "--state: more than %d characters",
                               CONFIG_PATH_BYTES - 1);
        (void)snprintf(options->dir, sizeof options->dir, "%s", optarg);
        return OK;
    case 'c':
        options->config = optarg;
        return OK;
    case 'j':
        options->json = true;
        return OK;
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: %s --help", command);
    }
}

enum error status_options_parse(struct status_options *options, int argc, char **argv,
                                bool knows_json, struct problem *problem)
{
    static const struct option known[] = {{"state", required_argument, NULL, 's'},
                                          {"config", required_argument, NULL, 'c'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"json", no_argument, NULL, 'j'},
                                          {NULL, 0, NULL, 0}};
    struct option taken[5];
    memcpy(taken, known, sizeof taken);
    if (!knows_json)
        taken[3] = (struct option){0};
    *options = (struct status_options){.dir = "state"};
    int option, named = 0;
    while ((option = getopt_long(argc, argv, "h", taken, NULL)) != -1) {
        named += option == 's' || option == 'c';
        const enum error status = parse_option(options, option, argv[0], problem);
        if (status != OK || options->help)
            return status;
    }
    if (named > 1)
        return problem_set(problem, MALFORMED, "either --state or --config, once; see: %s --help",
                           argv[0]);
    if (optind < argc)
        return problem_set(problem, MALFORMED, "no argument \"%.80s\" is known; see: %s --help",
                           argv[optind], argv[0]);
    return options->config ? read_config(options, problem) : OK;
}

enum error status_page_ask(struct status_page *page, const char *dir, int wait_ms,
                           struct problem *problem)
{
    char *bytes;
    size_t count;
    enum error status = status_ask(dir, wait_ms, &bytes, &count, problem);
    if (status != OK)
        return status;
    status = status_page_decode(page, bytes, count, problem);
    free(bytes);
    return status;
}

static void print_text(const struct status_page *page)
{
    status_text_node(stdout, page);
    (void)fputc('\n', stdout);
    status_text_links(stdout, page);
    (void)fputc('\n', stdout);
    status_text_members(stdout, page);
}

/* The node's own words, once they are known to be a page. */
static int answer(const struct status_options *options, const char *bytes, size_t count)
{
    struct status_page page;
    struct problem problem;
    if (status_page_decode(&page, bytes, count, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return EXIT_NO_ANSWER;
    }
    if (options->json)
        (void)printf("%s\n", bytes);
    else
        print_text(&page);
    const int code = page.healthy ? EXIT_HEALTHY : EXIT_NOT_YET;
    status_page_free(&page);
    return code;
}

int status_run(int argc, char **argv)
{
    struct status_options options;
    struct problem problem;
    char *bytes;
    size_t count;
    if (status_options_parse(&options, argc, argv, true, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return EXIT_USAGE;
    }
    if (options.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    if (status_ask(options.dir, WAIT_MS, &bytes, &count, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return EXIT_NO_ANSWER;
    }
    const int code = answer(&options, bytes, count);
    free(bytes);
    return code;
}
