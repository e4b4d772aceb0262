/* The program hearsay-sim, which `hearsay sim` and `hearsay compare` start. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/blas_kernels.h"
#include "base/memory.h"
#include "commands/commands.h"
#include "options/comparison_command.h"
#include "options/sim_command.h"

#define EXIT_USAGE 2

static const struct {
    const struct command *command;
    int (*run)(int argc, char **argv);
} commands[] = {{&sim_command, play_scenario}, {&comparison_command, play_comparison}};

static void *take(size_t bytes)
{
    return memory_new(bytes, 1);
}

static int run(int argc, char **argv)
{
    char title[COMMAND_TITLE_BYTES];
    struct problem problem;
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].command->name) != 0)
            continue;
        (void)snprintf(title, sizeof title, "hearsay %s", argv[1]);
        argv[1] = title;
        return commands[i].run(argc - 1, argv + 1);
    }
    (void)problem_set(&problem, MALFORMED,
                      "hearsay-sim is a part of hearsay: use hearsay sim or hearsay compare");
    return command_complain(&problem, EXIT_USAGE);
}

int main(int argc, char **argv)
{
    blas_kernels_restart(argv, false);
    json_set_alloc_funcs(take, free); /* a lack of memory ends the program with a message */
    return command_end(run(argc, argv));
}
