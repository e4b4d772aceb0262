#include "commands/doctor/doctor.h"

#include <stdlib.h>

#include "base/memory.h"
#include "commands/config_options.h"
#include "commands/json_output.h"
#include "crypto/locked_memory.h"
#include "crypto/secret.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay doctor [options]: before a node starts, try everything its start needs\n"
    "\n"
    "  --config FILE           the node's configuration; without it, all keys have defaults\n"
    "  --set SECTION.KEY=VALUE set one key, after the file was read; may be repeated\n"
    "  --log FILE              where the node is to write its notes\n"
    "  --json                  print one JSON object: the lines, and how many failed\n"
    "  --help                  print this\n"
    "\n"
    "It changes nothing, and is no member of the swarm at any time. Each line begins with\n"
    "ok, WARN (look at this) or FAIL (do what it says first).\n"
    "Exit codes: 0 nothing failed, 1 something did, 2 wrong usage or configuration.\n";

static void conclude(const struct doctor *doctor)
{
    if (doctor->lines)
        json_output(json_pack("{s:o, s:i, s:i}", "lines", doctor->lines, "failed", doctor->failed,
                              "warned", doctor->warned));
    else if (doctor->failed > 0)
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
        return EXIT_USAGE; /* without a configuration no other check is possible */
    }
    doctor_say(doctor, VERDICT_OK, "configuration", "%s",
               options->file ? options->file : "no file, all keys have their defaults");
    doctor_look_here(doctor);
    doctor_look_at_peers(doctor);
    return doctor->failed > 0 ? EXIT_FAILED : EXIT_OK;
}

int doctor_run(int argc, char **argv)
{
    struct config_options options;
    struct problem problem;
    if (config_options_parse(&options, TAKES_LOG | TAKES_JSON, argc, argv, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    struct doctor *doctor = memory_new(1, sizeof *doctor);
    secret_start();
    locked_memory_refuse_dumps();
    doctor->out = stdout;
    doctor->lines = options.json ? json_array() : NULL;
    const int code = examine(doctor, &options);
    conclude(doctor);
    secret_wipe(doctor, sizeof *doctor);
    free(doctor);
    return code;
}
