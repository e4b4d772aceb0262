#include "commands/doctor/doctor.h"

#include <stdlib.h>

#include "base/memory.h"
#include "commands/config_options.h"
#include "commands/json_output.h"
#include "crypto/locked_memory.h"
#include "crypto/secret.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static void conclude(const struct doctor *doctor)
{
    if (doctor->lines)
        json_output(json_pack("{s:o, s:i, s:i}", "lines", doctor->lines, "failed", doctor->failed,
                              "warned", doctor->warned));
    else if (doctor->failed > 0)
        (void)fprintf(doctor->out, "\nchecks failed: %d, warnings: %d\n", doctor->failed,
                      doctor->warned);
    else if (doctor->warned > 0)
        (void)fprintf(doctor->out, "\nno check failed, warnings: %d\n", doctor->warned);
    else
        (void)fprintf(doctor->out, "\nall checks passed\n");
}

static int examine(struct doctor *doctor, const struct config_options *options)
{
    struct problem problem;
    if (config_options_read(&doctor->config, options, &problem) != OK) {
        doctor_say(doctor, VERDICT_FAIL, "configuration", "%s", problem.text);
        return EXIT_USAGE; /* without a configuration, no other check is possible */
    }
    doctor_say(doctor, VERDICT_OK, "configuration", "%s",
               options->file ? options->file : "no file: all keys have their defaults");
    doctor_look_here(doctor);
    doctor_look_at_peers(doctor);
    return doctor->failed > 0 ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct config_options options = {0};
    int code = command_read(&doctor_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    struct doctor *doctor = memory_new(1, sizeof *doctor);
    secret_start();
    locked_memory_refuse_dumps();
    doctor->out = stdout;
    doctor->lines = options.json ? json_array() : NULL;
    code = examine(doctor, &options);
    conclude(doctor);
    secret_wipe(doctor, sizeof *doctor);
    free(doctor);
    return code;
}

const struct command doctor_command = {
    .name = "doctor",
    .summary = "check everything that a node needs to start",
    .forms = {{"hearsay doctor [options]", "check everything that a node needs, before it starts"}},
    .options =
        (const struct command_option[]){
            {"--config", "FILE", "the node's configuration; without it, all keys have defaults",
             .member = offsetof(struct config_options, file)},
            CONFIG_OPTION_SET("set one key, overriding the file; may be repeated"),
            {"--log", "FILE", "check that the node can write to this log",
             .member = offsetof(struct config_options, log)},
            CONFIG_OPTION_JSON("print one JSON object: the lines, and how many failed"),
            {0}},
    .column = 26,
    .notes = "The command changes nothing and never becomes a member of the swarm. Each line "
             "begins with\n"
             "ok, WARN (check this) or FAIL (repair this before the start).",
    .exit_codes = "0 no check failed, 1 a check failed, 2 wrong usage or configuration.",
    .run = run,
};
