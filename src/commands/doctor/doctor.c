#include "commands/doctor/doctor.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>

#include "commands/config_options.h"
#include "crypto/secret.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay doctor [options]: before a node starts, try everything its start needs\n"
    "\n"
    "  --config FILE           the node's configuration; without it, all keys have defaults\n"
    "  --set SECTION.KEY=VALUE set one key, after the file was read; may be repeated\n"
    "  --log FILE              where the node is to write its notes\n"
    "  --help                  print this\n"
    "\n"
    "It changes nothing, and is no member of the swarm at any time. Each line begins with\n"
    "ok, WARN (look at this) or FAIL (do what it says first).\n"
    "Exit codes: 0 nothing failed, 1 something did, 2 wrong usage or configuration.\n";

struct doctor_options {
    struct config_options config;
    bool help;
};

void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...)
{
    static const char *const VERDICTS[] = {
        [VERDICT_OK] = "ok", [VERDICT_WARN] = "WARN", [VERDICT_FAIL] = "FAIL"};
    va_list arguments;
    doctor->failed += verdict == VERDICT_FAIL;
    doctor->warned += verdict == VERDICT_WARN;
    (void)fprintf(doctor->out, "%-4s  %s: ", VERDICTS[verdict], subject);
    va_start(arguments, format);
    (void)vfprintf(doctor->out, format, arguments);
    va_end(arguments);
    (void)fputc('\n', doctor->out);
    (void)fflush(doctor->out); /* the next may take its time */
}

static enum error parse_option(struct doctor_options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'c':
        options->config.file = optarg;
        return OK;
    case 's':
        return config_options_set(&options->config, optarg, problem);
    case 'l':
        options->config.log = optarg;
        return OK;
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay doctor --help");
    }
}

static enum error parse_options(struct doctor_options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {{"config", required_argument, NULL, 'c'},
                                          {"set", required_argument, NULL, 's'},
                                          {"log", required_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum error error = parse_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    if (optind < argc)
        return problem_set(problem, MALFORMED,
                           "doctor takes no argument \"%.80s\"; a configuration file is given "
                           "with --config",
                           argv[optind]);
    return OK;
}

static void conclude(const struct doctor *doctor)
{
    if (doctor->failed > 0)
        (void)fprintf(doctor->out, "\n%d failed, %d to look at\n", doctor->failed, doctor->warned);
    else if (doctor->warned > 0)
        (void)fprintf(doctor->out, "\nnothing failed, %d to look at\n", doctor->warned);
    else
        (void)fprintf(doctor->out, "\nall is well\n");
}

static int examine(struct doctor *doctor, const struct config_options *options)
{
    struct problem problem;
    if (config_options_read(&doctor->config, options, &problem) != OK) {
        doctor_say(doctor, VERDICT_FAIL, "configuration", "%s", problem.text);
        return EXIT_USAGE; /* what it would have said of all the rest is not known */
    }
    doctor_say(doctor, VERDICT_OK, "configuration", "%s",
               options->file ? options->file : "no file, all keys have their defaults");
    doctor_look_here(doctor);
    doctor_look_at_peers(doctor);
    return doctor->failed > 0 ? EXIT_FAILED : EXIT_OK;
}

int doctor_run(int argc, char **argv)
{
    struct doctor_options options = {0};
    struct problem problem;
    if (parse_options(&options, argc, argv, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
        return EXIT_USAGE;
    }
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    struct doctor *doctor = calloc(1, sizeof *doctor);
    CHECK(doctor);
    secret_start();
    doctor->out = stdout;
    const int code = examine(doctor, &options.config);
    conclude(doctor);
    secret_wipe(doctor, sizeof *doctor);
    free(doctor);
    return code;
}
