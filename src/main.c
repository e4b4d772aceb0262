/* The command line: finds the command, reads its options, and reports errors in them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/blas_kernels.h"
#include "backend/device.h"
#include "base/error.h"
#include "commands/data/data_command.h"
#include "commands/doctor/doctor.h"
#include "commands/eval.h"
#include "commands/export_command.h"
#include "commands/generate.h"
#include "commands/help/command.h"
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
#include "commands/status/members.h"
#include "commands/status/status.h"
#include "commands/status/top.h"
#include "commands/swarm/swarm.h"
#include "comparison/comparison.h"
#include "scenario/sim.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char keygen_usage[] =
    "hearsay keygen [FILE]: make the identity of one node (default node.key)\n"
    "\n"
    "The file must not exist yet. Keep it secret, on one machine; two nodes need two.\n"
    "\n"
    "  --json             print one JSON object: the file, and the public key if it has one\n"
    "  --help             print this\n"
    "\n"
    "Exit codes: 0 made, 1 it could not be, or is there already, 2 wrong usage.\n";

static const char swarmkey_usage[] =
    "hearsay swarmkey [FILE]: make the key of a swarm (default swarm.key)\n"
    "\n"
    "The file must not exist yet. All nodes of a swarm have the same, and who has it\n"
    "may enter.\n"
    "\n"
    "  --json             print one JSON object: the file, and the public key if it has one\n"
    "  --help             print this\n"
    "\n"
    "Exit codes: 0 made, 1 it could not be, or is there already, 2 wrong usage.\n";

static const char operatorkey_usage[] =
    "hearsay operatorkey [FILE]: make the key of a swarm's operator (default operator.key)\n"
    "\n"
    "The file must not exist yet. Who has it can expel nodes from a swarm (hearsay expel)\n"
    "and say who is in it (hearsay admit), if its nodes all have its public key, which is\n"
    "printed, as node.operator.\n"
    "\n"
    "  --json             print one JSON object: the file, and the public key if it has one\n"
    "  --help             print this\n"
    "\n"
    "Exit codes: 0 made, 1 it could not be, or is there already, 2 wrong usage.\n";

static int complain(int code, const struct problem *problem)
{
    (void)fprintf(stderr, "hearsay: %s\n", problem->text);
    return code;
}

static int print(const char *text)
{
    (void)fputs(text, stdout);
    return EXIT_OK;
}

/* Runs keygen, swarmkey or operatorkey, which take one optional file name. */
static int run_key(int argc, char **argv, const char *usage, const char *file,
                   enum error (*make)(const char *path, bool as_json, struct problem *problem))
{
    static const struct option known[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    struct problem problem;
    bool as_json = false;
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        as_json |= option == 'j';
        if (option == 'j')
            continue;
        if (option == 'h')
            return print(usage);
        (void)problem_set(&problem, MALFORMED, "see: %s --help", argv[0]);
        return complain(EXIT_USAGE, &problem);
    }
    if (argc - optind > 1) {
        (void)problem_set(&problem, MALFORMED, "one FILE at a time; see: %s --help", argv[0]);
        return complain(EXIT_USAGE, &problem);
    }
    const char *path = optind < argc ? argv[optind] : file;
    return make(path, as_json, &problem) == OK ? EXIT_OK : complain(EXIT_FAILED, &problem);
}

static int run_keygen(int argc, char **argv)
{
    return run_key(argc, argv, keygen_usage, "node.key", keygen_identity);
}

static int run_swarmkey(int argc, char **argv)
{
    return run_key(argc, argv, swarmkey_usage, "swarm.key", keygen_swarm);
}

static int run_operatorkey(int argc, char **argv)
{
    return run_key(argc, argv, operatorkey_usage, "operator.key", keygen_operator);
}

static int run_completion(int argc, char **argv);
static int run_manual(int argc, char **argv);

static const struct command commands[] = {
    {"node", "run a node: train, publish and receive", node_command_run},
    {"status", "how the node of this machine is; a health probe", status_run},
    {"top", "the same, live, on the whole terminal", top_run},
    {"members", "who is in the swarm, by what, and what each contributed", members_run},
    {"doctor", "before starting: try everything that a start needs", doctor_run},
    {"keygen", "make a node's identity", run_keygen},
    {"swarmkey", "make a swarm's key", run_swarmkey},
    {"operatorkey", "make the key of who may admit and expel nodes", run_operatorkey},
    {"admit", "the operator admits a member, or all who are in", admit_run},
    {"expel", "the operator puts a member out of the swarm", expel_run},
    {"rekey", "the operator gives the swarm another key, while it trains", rekey_run},
    {"rewind", "begin again from a base before somebody did harm: which, and how", rewind_run},
    {"swarm", "run a whole swarm on this machine and show that its nodes agree", swarm_run},
    {"sim", "play a swarm under virtual time, on any links, with any faults", sim_run},
    {"compare", "play every strategy of the field on the same links, and say who wins",
     comparison_run},
    {"plot", "curves of what logs and simulations hold", plot_run},
    {"model", "the layers of a model as a table: shapes, parameters, work", model_command_run},
    {"data", "what data are: type, shape, classes, samples; and what is wrong", data_command_run},
    {"eval", "loss and accuracy of a saved model", eval_run},
    {"predict", "what a saved model says of samples: classes or numbers", predict_run},
    {"export", "a saved model with the names that PyTorch's libraries have", export_command_run},
    {"generate", "a saved model goes on with a text", generate_run},
    {"completion", "what completes these command lines in bash, zsh or fish", run_completion},
    {"manual", "a page for man, of a command or of the configuration", run_manual},
};

static const struct command_table table = {commands, sizeof commands / sizeof commands[0]};

static int run_completion(int argc, char **argv)
{
    return completion_run(&table, argc, argv);
}

static int run_manual(int argc, char **argv)
{
    return manual_run(&table, argc, argv);
}

static void print_usage(FILE *out)
{
    (void)fputs("hearsay trains one model on many machines by encrypted gossip.\n\n"
                "usage: hearsay COMMAND [options]\n\n",
                out);
    for (size_t i = 0; i < table.count; i++)
        (void)fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    (void)fputs("  help        what a command can do: hearsay help COMMAND; how they end:\n"
                "              hearsay help " EXIT_CODES_TOPIC "\n\n"
                "  --help, --version\n",
                out);
}

static int unknown_command(const char *name)
{
    struct problem problem;
    (void)problem_set(&problem, MALFORMED, "unknown command \"%.80s\"; see: hearsay --help", name);
    return complain(EXIT_USAGE, &problem);
}

static int run_command(const char *name, int argc, char **argv)
{
    char title[COMMAND_TITLE_BYTES];
    const struct command *command = command_find(&table, name);
    if (!command)
        return unknown_command(name);
    (void)snprintf(title, sizeof title, "hearsay %s", command->name);
    argv[0] = title;
    return command->run(argc, argv);
}

static int run_help(int argc, char **argv)
{
    char help[] = "--help";
    char *asked[] = {NULL, help, NULL};
    if (argc > 1 && strcmp(argv[1], EXIT_CODES_TOPIC) == 0) {
        exit_codes_print(stdout, &table);
        return EXIT_OK;
    }
    if (argc > 1)
        return run_command(argv[1], 2, asked);
    print_usage(stdout);
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

/* Returns true if OpenBLAS would create threads while it is loaded. The node's sandbox restricts
 * only threads that are created after it was entered, so such early threads would escape it. */
static bool has_early_threads(int argc, char **argv)
{
    const char *threads = getenv(BLAS_THREADS_VARIABLE);
    const bool enters =
        argc > 1 && (strcmp(argv[1], "node") == 0 || strcmp(argv[1], "doctor") == 0);
    return enters && (!threads || strcmp(threads, "1") != 0);
}

/* Restarts the program in the same process with environment variables for OpenBLAS: no early
 * threads, and kernels that suit this processor. Does nothing if they are set, or if the restart
 * fails. */
static void begin_with_fitting_blas(int argc, char **argv)
{
    char path[4096];
    const char *kernels = blas_kernels_wanted();
    const bool is_early = has_early_threads(argc, argv);
    if (!kernels && !is_early)
        return;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || (kernels && setenv(BLAS_KERNELS_VARIABLE, kernels, 0) != 0) ||
        (is_early && setenv(BLAS_THREADS_VARIABLE, "1", 1) != 0))
        return;
    path[length] = '\0';
    (void)execv(path, argv);
}

int main(int argc, char **argv)
{
    begin_with_fitting_blas(argc, argv);
    library_memory_set();
    int code = run(argc, argv);
    if (fflush(stdout) == 0)
        return code;
    perror("hearsay: standard output");
    return code == EXIT_OK ? EXIT_FAILED : code;
}
