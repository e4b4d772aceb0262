#include "commands/swarm/swarm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cuda/cuda_module.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/system_clock.h"
#include "commands/swarm/swarm_folder.h"
#include "commands/swarm/swarm_options.h"
#include "commands/swarm/swarm_score.h"
#include "commands/swarm/swarm_view.h"
#include "config/config.h"
#include "crypto/secret.h"

#define START_WAIT_S 60 /* seconds to wait for the first node's address */
#define EVALUATE_S   4

struct swarm {
    struct swarm_options options;
    char dir[FOLDER_BYTES];
    bool goes_on; /* the swarm continues: its folder has been used before */
    struct swarm_node nodes[SWARM_NODES_MAX];
    int started;
    double start_s;
    struct swarm_goal goal;
    struct swarm_view view;
    /* Goal or limit that ended training. SWARM_GOES_ON = none did: training goes on, a signal
     * ended it, or no node is left. */
    enum swarm_end end;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted++;
}

/* i: number of the node, from 1. */
static enum error make_config(const struct swarm *swarm, int i, const char *seed_peer,
                              struct config *config, struct problem *problem)
{
    struct config_node *node = &config->node;
    const struct slice slice = {(uint32_t)i - 1, (uint32_t)swarm->options.nodes};
    *config = swarm->options.config;
    folder_fill_config(swarm->dir, i, config);
    (void)snprintf(node->log, sizeof node->log, "-");
    node->listen = (struct address){.host = "127.0.0.1"};
    node->seed = swarm->options.seed;
    config->model.seed = swarm->options.seed;
    config->data.seed = swarm->options.seed;
    config->data.shard = slice;
    config->train.evaluate_part =
        (struct slice){slice.index, slice.count * swarm->options.evaluate_parts};
    config->train.evaluate_s = EVALUATE_S;
    const int gpus = cuda_module()->devices();
    if (gpus > 0) /* distributes the nodes over the GPUs */
        (void)snprintf(config->train.device, sizeof config->train.device, "cuda:%d",
                       (i - 1) % gpus);
    enum error error = OK;
    if (seed_peer) {
        node->peers.count = 1;
        error = address_parse(&node->peers.item[0], seed_peer, problem);
    }
    for (int s = 0; s < swarm->options.sets && error == OK; s++)
        error = config_set(config, swarm->options.set[s], problem);
    return error == OK ? config_check(config, problem) : error;
}

/* Runs in the child process: directs the log to the pipe and error messages to a file, then runs
 * `hearsay node`. Never returns. */
_Noreturn static void become_node(const struct swarm *swarm, int i, int log)
{
    char config[FOLDER_BYTES + 64], errors[FOLDER_BYTES + 64];
    (void)snprintf(config, sizeof config, "%s/node%d/node.conf", swarm->dir, i);
    (void)snprintf(errors, sizeof errors, "%s/node%d/node.err", swarm->dir, i);
    const int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    /* Ctrl+C must reach only the parent process, which then stops the nodes. */
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* sent if the parent process is killed */
    if (err >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
        (void)execl("/proc/self/exe", "hearsay", "node", "--config", config, (char *)NULL);
    _exit(127);
}

static enum error start_node(struct swarm *swarm, int i, const char *seed_peer,
                             struct problem *problem)
{
    struct swarm_node *node = &swarm->nodes[i - 1];
    struct config config;
    int ends[2];
    enum error error = make_config(swarm, i, seed_peer, &config, problem);
    if (error == OK)
        error = folder_write_config(swarm->dir, i, &config, problem);
    if (error != OK)
        return error;
    node->line = memory_new(SWARM_LINE_MAX, 1);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return problem_set(problem, FAILED, "cannot make a pipe: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0)
        become_node(swarm, i, ends[1]);
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return problem_set(problem, FAILED, "cannot start a process: %s", strerror(errno));
    }
    node->pid = pid;
    node->pipe = ends[0];
    swarm->started = i;
    return OK;
}

static void take_lines(struct swarm_node *node)
{
    char *start = node->line, *end = node->line + node->line_bytes, *newline;
    while ((newline = memchr(start, '\n', (size_t)(end - start)))) {
        *newline = 0;
        (void)swarm_read_line(node, start);
        start = newline + 1;
    }
    node->line_bytes = (size_t)(end - start);
    memmove(node->line, start, node->line_bytes);
    if (node->line_bytes == SWARM_LINE_MAX)
        node->line_bytes = 0; /* drops a line that is too long for a log line */
}

static void read_pipe(struct swarm_node *node)
{
    ssize_t got =
        read(node->pipe, node->line + node->line_bytes, SWARM_LINE_MAX - node->line_bytes);
    if (got > 0) {
        node->line_bytes += (size_t)got;
        take_lines(node);
    } else if (got == 0 || errno != EINTR) {
        (void)close(node->pipe);
        node->pipe = -1;
        int status;
        if (waitpid(node->pid, &status, 0) == node->pid)
            node->exit_status = status;
        node->pid = 0;
    }
}

static int alive(const struct swarm *swarm)
{
    int count = 0;
    for (int i = 0; i < swarm->started; i++)
        count += swarm->nodes[i].pid != 0;
    return count;
}

/* Reads the nodes' output until `seconds` have passed, a signal has arrived or no node is left. */
static void listen_for(struct swarm *swarm, double seconds)
{
    struct pollfd polls[SWARM_NODES_MAX];
    const double until = monotonic_s() + seconds;
    const int before = interrupted;
    double left = seconds;
    while (left > 0 && alive(swarm) > 0 && interrupted == before) {
        for (int i = 0; i < swarm->started; i++)
            polls[i] = (struct pollfd){.fd = swarm->nodes[i].pipe, .events = POLLIN};
        if (poll(polls, (nfds_t)swarm->started, (int)ceil(left * 1000)) > 0)
            for (int i = 0; i < swarm->started; i++)
                if (polls[i].revents)
                    read_pipe(&swarm->nodes[i]);
        left = until - monotonic_s();
    }
}

static void signal_nodes(const struct swarm *swarm, int number)
{
    for (int i = 0; i < swarm->started; i++)
        if (swarm->nodes[i].pid)
            (void)kill(swarm->nodes[i].pid, number);
}

/* The first node reports its address, which the other nodes get as their only peer. They find each
 * other from there. */
static enum error start_nodes(struct swarm *swarm, struct problem *problem)
{
    struct swarm_node *first = &swarm->nodes[0];
    enum error error = start_node(swarm, 1, NULL, problem);
    const double until = monotonic_s() + START_WAIT_S;
    while (error == OK && !first->address[0] && first->pid && monotonic_s() < until && !interrupted)
        listen_for(swarm, 0.05);
    if (error == OK && !first->address[0] && !interrupted)
        return problem_set(problem, FAILED, "the first node did not start");
    for (int i = 2; i <= swarm->options.nodes && error == OK && !interrupted; i++)
        error = start_node(swarm, i, first->address, problem);
    return error;
}

static void show(struct swarm *swarm, double seconds)
{
    const struct terminal screen = terminal_of(STDOUT_FILENO);
    swarm_view_show(&swarm->view, stdout, &screen, swarm->nodes, swarm->started, &swarm->goal,
                    seconds);
}

static void watch(struct swarm *swarm)
{
    double next = 1;
    const char *why = NULL;
    while (!why) {
        listen_for(swarm, fmax(0.01, swarm->start_s + next - monotonic_s()));
        const double seconds = monotonic_s() - swarm->start_s;
        swarm->end = swarm_goal_judge(&swarm->goal, swarm->nodes, swarm->started, seconds);
        if (interrupted)
            why = "interrupted";
        else if (alive(swarm) == 0)
            why = "no node is left";
        else if (swarm->end != SWARM_GOES_ON)
            why = swarm_goal_why(swarm->end);
        if (seconds < next && !why)
            continue;
        next = floor(seconds) + 1;
        show(swarm, seconds);
    }
    (void)printf("%s: training ends, and the nodes exchange their last rumors\n", why);
    (void)fflush(stdout);
}

static void stop_nodes(struct swarm *swarm)
{
    const double until = monotonic_s() + swarm->options.config.node.grace_s + 60;
    int seen = interrupted;
    signal_nodes(swarm, SIGTERM);
    while (alive(swarm) > 0 && monotonic_s() < until) {
        listen_for(swarm, 1);
        if (interrupted != seen) {
            seen = interrupted;
            signal_nodes(swarm, SIGTERM); /* a second SIGTERM ends a node at once */
        }
    }
    signal_nodes(swarm, SIGKILL);
    listen_for(swarm, 5);
}

/* Prints the last error message of each node that failed. */
static void print_errors(const struct swarm *swarm)
{
    for (int i = 1; i <= swarm->started; i++) {
        const struct swarm_node *node = &swarm->nodes[i - 1];
        if (swarm_node_finished(node))
            continue;
        char path[FOLDER_BYTES + 64], line[512], last[512] = "";
        (void)snprintf(path, sizeof path, "%s/node%d/node.err", swarm->dir, i);
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
            (void)snprintf(last, sizeof last, "%s", line);
        if (file)
            (void)fclose(file);
        (void)printf("node %d did not finish; its last message: %s", i, last[0] ? last : "none\n");
        if (swarm->options.dir)
            (void)printf("all its messages are in %s\n", path);
    }
}

static void print_verdict(const struct swarm_verdict *verdict, int nodes)
{
    if (!verdict->finished)
        (void)printf("No node finished.\n");
    else if (!verdict->same_model)
        (void)printf("The nodes do NOT hold the same model.\n");
    else if (verdict->finished < nodes)
        (void)printf("The nodes that finished hold the same model, bit for bit; not all "
                     "finished.\n");
    else
        (void)printf("All nodes hold the same model, bit for bit: the sum of %" PRIu64 " rumors.\n",
                     verdict->rumors);
}

/* Formats the target as the user reads it: bits per byte or percent. */
static const char *goal_text(char out[static SCORE_TEXT], const struct swarm_goal *goal)
{
    if (goal->kind == SCORE_OF_TEXT)
        (void)snprintf(out, SCORE_TEXT, "%.4g bits/byte", swarm_score_bits(goal->target));
    else
        (void)snprintf(out, SCORE_TEXT, "%.4g %%", 100 * goal->target);
    return out;
}

static void say_what_was_missing(const struct swarm *swarm, double score)
{
    char text[SCORE_TEXT];
    const uint64_t samples = swarm_goal_samples(swarm->nodes, swarm->started);
    if (swarm->end == SWARM_TIME_OVER)
        (void)printf("It had reached %s after %" PRIu64
                     " samples when the time was over; give more time with --seconds.\n",
                     swarm_score_text(text, swarm->goal.kind, score), samples);
    else if (swarm->end == SWARM_SAMPLES_OVER || swarm->end == SWARM_LIMIT_OVER)
        (void)printf("It stopped after %" PRIu64
                     " samples; give more with --samples, or a lower --target.\n",
                     samples);
}

/* Prints text that the first finished node's model generates. */
static void show_text(const struct swarm *swarm)
{
    char state[FOLDER_BYTES + 64];
    for (int i = 1; i <= swarm->started; i++) {
        if (!swarm_node_finished(&swarm->nodes[i - 1]))
            continue;
        (void)snprintf(state, sizeof state, "%s/node%d", swarm->dir, i);
        (void)printf("\nIt writes:\n");
        (void)fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            (void)execl("/proc/self/exe", "hearsay", "generate", "--state", state, "--tokens",
                        "400", (char *)NULL);
            _exit(127);
        }
        if (pid > 0)
            (void)waitpid(pid, NULL, 0);
        return;
    }
}

static bool conclude(const struct swarm *swarm)
{
    const struct swarm_options *options = &swarm->options;
    const enum score_kind kind = swarm->goal.kind;
    const struct swarm_verdict verdict = swarm_judge(swarm->nodes, options->nodes, kind);
    const bool met = verdict.score >= swarm->goal.target;
    char score[SCORE_TEXT], target[SCORE_TEXT];
    if (verdict.finished)
        swarm_print_table(stdout, swarm->nodes, swarm->started, kind);
    (void)fputc('\n', stdout);
    print_errors(swarm);
    print_verdict(&verdict, options->nodes);
    if (verdict.finished) {
        (void)printf("%s %s: the target of %s is %smet.\n",
                     kind == SCORE_OF_TEXT      ? "It is at"
                     : kind == SCORE_OF_NUMBERS ? "Its R2 is"
                                                : "Its accuracy is",
                     swarm_score_text(score, kind, verdict.score), goal_text(target, &swarm->goal),
                     met ? "" : "not ");
        if (!met)
            say_what_was_missing(swarm, verdict.score);
        swarm_print_traffic(stdout, &verdict);
    }
    if (kind == SCORE_OF_TEXT)
        show_text(swarm);
    (void)fflush(stdout);
    return verdict.finished == options->nodes && verdict.same_model && met;
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

static void say_what(const struct swarm *swarm)
{
    const struct swarm_options *options = &swarm->options;
    const struct config *config = &options->config;
    const struct dataset_source_row *source = &dataset_sources[config->data.source];
    char limit[64], target[SCORE_TEXT];
    swarm_goal_limit(&swarm->goal, limit, sizeof limit);
    (void)printf("%d node%s on this machine, until %s or %s\n", options->nodes,
                 options->nodes == 1 ? "" : "s", goal_text(target, &swarm->goal), limit);
    (void)printf("  model   %s\n",
                 config->model.layers[0] ? config->model.layers : config->model.name);
    (void)printf("  data    %s%s%s\n", source->about ? source->about : "",
                 config_data_text(&config->data, source->files),
                 config->data.source == DATASET_GENERATED && !swarm_options_has_files(config)
                     ? " (Fashion-MNIST is not installed: Debian package dataset-fashion-mnist)"
                     : "");
    (void)printf("  folder  %s%s\n", swarm->dir,
                 !options->dir    ? " (removed at the end)"
                 : swarm->goes_on ? " (its keys and models are kept, and the swarm continues)"
                                  : "");
    (void)fflush(stdout);
}

static enum error prepare(struct swarm *swarm, struct problem *problem)
{
    enum error error = folder_make(swarm->dir, swarm->options.dir, problem);
    swarm->goes_on = error == OK && folder_is_used(swarm->dir);
    return error == OK ? folder_make_keys(swarm->dir, swarm->options.nodes, problem) : error;
}

/* Runs the nodes until training ends, and prints the result. Returns true if all nodes finished
 * with one model and it reached the target. */
static bool live(struct swarm *swarm, struct problem *problem)
{
    swarm->start_s = monotonic_s();
    swarm->goal = (struct swarm_goal){.target = swarm->options.target,
                                      .kind = swarm->options.kind,
                                      .seconds = swarm->options.seconds,
                                      .samples = swarm->options.samples};
    say_what(swarm);
    if (start_nodes(swarm, problem) == OK)
        watch(swarm);
    stop_nodes(swarm);
    return conclude(swarm);
}

static enum error close_json(FILE *json, const struct swarm *swarm, bool ok,
                             struct problem *problem)
{
    const struct swarm_options *options = &swarm->options;
    const bool written = swarm_write_json(json, swarm->nodes, options->nodes, &swarm->goal, ok);
    if (fclose(json) == 0 && written)
        return OK;
    return problem_set(problem, FAILED, "--json %s: cannot be written: %s", options->json,
                       strerror(errno));
}

static int run_swarm(struct swarm *swarm)
{
    struct problem problem = {""};
    FILE *json = NULL;
    bool ok = false;
    enum error error = OK;
    if (swarm->options.json)
        error = swarm_open_json(&json, swarm->options.json, &problem);
    if (error == OK)
        error = prepare(swarm, &problem);
    if (error == OK)
        ok = live(swarm, &problem);
    if (json && close_json(json, swarm, ok, &problem) != OK)
        ok = false;
    if (problem.text[0])
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    if (!swarm->options.dir && swarm->dir[0])
        folder_remove(swarm->dir, swarm->options.nodes);
    return ok ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct swarm *swarm = memory_new(1, sizeof *swarm);
    swarm_options_init(&swarm->options);
    int code = command_read(&swarm_command, &swarm->options, argc, argv);
    if (code == COMMAND_RUNS) {
        secret_start();
        catch_signals();
        code = run_swarm(swarm);
    }
    for (int i = 0; i < SWARM_NODES_MAX; i++) {
        free(swarm->nodes[i].line);
        free(swarm->nodes[i].version);
    }
    free(swarm);
    return code;
}

const struct command swarm_command = {
    .name = "swarm",
    .summary = "run a whole swarm on this machine and show that its nodes agree",
    .forms = {{"hearsay swarm [options]", "train one model with a whole swarm on this machine"}},
    .options = swarm_options_table,
    .column = 20,
    .exit_codes =
        "0 all nodes hold the same model and it reaches the target, 1 otherwise,\n2 wrong usage.",
    .finish = swarm_options_finish,
    .run = run,
};
