/* The command line: finds the command and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/blas_kernels.h"
#include "backend/device.h"
#include "base/error.h"
#include "base/words.h"
#include "commands/data/data_command.h"
#include "commands/doctor/doctor.h"
#include "commands/eval.h"
#include "commands/export_command.h"
#include "commands/generate.h"
#include "commands/help/completion.h"
#include "commands/help/exit_codes.h"
#include "commands/help/manual.h"
#include "commands/keygen.h"
#include "commands/library_memory.h"
#include "commands/model_command.h"
#include "commands/node_command.h"
#include "commands/operator/admit.h"
#include "commands/operator/expel.h"
#include "commands/operator/rekey.h"
#include "commands/plot/plot_command.h"
#include "commands/predict.h"
#include "commands/rewind.h"
#include "commands/simulator.h"
#include "commands/status/members.h"
#include "commands/status/status.h"
#include "commands/status/top.h"
#include "commands/swarm/swarm.h"
#include "options/comparison_command.h"
#include "options/sim_command.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const struct command *const commands[] = {
    &node_command,   &status_command,   &top_command,         &members_command, &doctor_command,
    &keygen_command, &swarmkey_command, &operatorkey_command, &admit_command,   &expel_command,
    &rekey_command,  &rewind_command,   &swarm_command,       &sim_command,     &comparison_command,
    &plot_command,   &model_command,    &data_command,        &eval_command,    &predict_command,
    &export_command, &generate_command, &completion_command,  &manual_command};

static const struct command_table table = {commands, sizeof commands / sizeof commands[0]};

static void print_usage(FILE *out)
{
    (void)fputs("hearsay trains one model on many machines by encrypted gossip.\n\n"
                "usage: hearsay COMMAND [options]\n\n",
                out);
    for (size_t i = 0; i < table.count; i++)
        (void)fprintf(out, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    (void)fputs("  help        help on a command: hearsay help COMMAND; exit codes:\n"
                "              hearsay help " EXIT_CODES_TOPIC "\n\n"
                "  --help, --version\n",
                out);
}

static int unknown_command(const char *name)
{
    struct problem problem;
    const char *words[sizeof commands / sizeof commands[0]];
    for (size_t i = 0; i < table.count; i++)
        words[i] = commands[i]->name;
    const char *nearest = words_nearest(name, words, table.count);
    (void)problem_set(&problem, MALFORMED, "unknown command \"%.80s\"%s%s%s; see: hearsay --help",
                      name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                      nearest ? "\"?" : "");
    return command_complain(&problem, EXIT_USAGE);
}

static int run_command(const char *name, int argc, char **argv)
{
    char title[COMMAND_TITLE_BYTES];
    const struct command *command = command_find(&table, name);
    if (!command)
        return unknown_command(name);
    (void)snprintf(title, sizeof title, "hearsay %s", command->name);
    argv[0] = title;
    if (command->run_on_all)
        return command->run_on_all(&table, argc, argv);
    return command->run ? command->run(argc, argv) : simulator_start(command->name, argc, argv);
}

static int run_help(int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find(&table, argv[1]) : NULL;
    if (argc <= 1)
        print_usage(stdout);
    else if (strcmp(argv[1], EXIT_CODES_TOPIC) == 0)
        exit_codes_print(stdout, &table);
    else if (command)
        command_help(command, stdout);
    else
        return unknown_command(argv[1]);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        (void)printf("hearsay %s\n", HEARSAY_VERSION);
        device_list(stdout);
        return EXIT_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return run_help(argc - 1, argv + 1);
    return run_command(name, argc - 1, argv + 1);
}

/* Returns true if OpenBLAS would create threads while it is loaded, for a command that enters the
 * sandbox. The sandbox restricts only threads that are created after it was entered. */
static bool has_early_threads(int argc, char **argv)
{
    const char *threads = getenv(BLAS_THREADS_VARIABLE);
    const bool enters =
        argc > 1 && (strcmp(argv[1], "node") == 0 || strcmp(argv[1], "doctor") == 0);
    return enters && (!threads || strcmp(threads, "1") != 0);
}

int main(int argc, char **argv)
{
    blas_kernels_restart(argv, has_early_threads(argc, argv));
    library_memory_set();
    return command_end(run(argc, argv));
}
