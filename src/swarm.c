#include "swarm.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "identity.h"
#include "status.h"

#define SETS_MAX      64
#define PATH_BYTES    512
#define START_WAIT_S  60 /* for the first node's address */
#define ABOVE_ROUNDS  2  /* evaluations of all nodes that must reach the target, one after another */

static const char usage[] =
    "hearsay swarm [options]: run a whole swarm on this machine and watch it train one model\n"
    "\n"
    "  --nodes N         processes to start (default 4, at most 32)\n"
    "  --model NAME      xor, mlp or lenet (default lenet)\n"
    "  --layers LINE     a model of your own, as in: \"dense 64, relu, dense 10\"\n"
    "  --data NAME       idx, generated or xor (default: idx where Fashion-MNIST is installed)\n"
    "  --target A        stop at this test accuracy (default 0.88)\n"
    "  --seconds S       stop after this time at the latest (default 300)\n"
    "  --seed N          of the model, the data and the choices (default 1)\n"
    "  --json FILE       write the results there\n"
    "  --dir DIR         keep keys, configurations, logs and models there\n"
    "                    (default: a temporary folder, removed at the end)\n"
    "  --set SECTION.KEY=VALUE  set a key of every node's configuration; may be repeated\n"
    "  --help            print this\n"
    "\n"
    "Exit codes: 0 all nodes hold the same model and it reaches the target, 1 not so, 2 wrong\n"
    "usage.\n";

struct options {
    int nodes;
    double target;
    double seconds;
    uint64_t seed;
    const char *json;
    const char *dir;
    const char *set[SETS_MAX]; /* the user's last, so that they win */
    int sets;
    bool help;
};

struct swarm {
    struct options options;
    struct config config; /* what all nodes have in common */
    char dir[PATH_BYTES];
    bool keep;
    struct swarm_node nodes[SWARM_NODES_MAX];
    int started;
    double start_s;
    uint64_t rounds_seen; /* evaluations already judged */
    int rounds_above;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted++;
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Options. */

static enum status set_key(struct swarm *swarm, const char *key, const char *value,
                           struct problem *problem)
{
    char assignment[MODEL_LINE_MAX + 64];
    if (snprintf(assignment, sizeof assignment, "%s=%s", key, value) >= (int)sizeof assignment)
        return problem_set(problem, TOO_BIG, "--set %s: the value is too long", key);
    return config_set(&swarm->config, assignment, problem);
}

static enum status parse_number(double *value, const char *name, double low, double high,
                                struct problem *problem)
{
    char *end;
    double parsed = strtod(optarg, &end);
    if (end == optarg || *end || !(parsed >= low && parsed <= high))
        return problem_set(problem, MALFORMED, "--%s %.40s: must be a number from %g to %g", name,
                           optarg, low, high);
    *value = parsed;
    return OK;
}

static enum status parse_option(struct swarm *swarm, int option, struct problem *problem)
{
    struct options *options = &swarm->options;
    double value = 0;
    enum status status = OK;
    switch (option) {
    case 'n':
        status = parse_number(&value, "nodes", 1, SWARM_NODES_MAX, problem);
        options->nodes = status == OK ? (int)value : 0;
        return status;
    case 'm':
        return set_key(swarm, "model.name", optarg, problem);
    case 'L':
        return set_key(swarm, "model.layers", optarg, problem);
    case 'd':
        return set_key(swarm, "data.source", optarg, problem);
    case 't':
        return parse_number(&options->target, "target", 0, 1, problem);
    case 'S':
        return parse_number(&options->seconds, "seconds", 1, 1e7, problem);
    case 's':
        status = parse_number(&value, "seed", 1, 1e15, problem);
        options->seed = status == OK ? (uint64_t)value : 0;
        return status;
    case 'j':
        options->json = optarg;
        return OK;
    case 'D':
        options->dir = optarg;
        return OK;
    case 'k':
        if (options->sets == SETS_MAX)
            return problem_set(problem, TOO_BIG, "more than %d times --set", SETS_MAX);
        options->set[options->sets++] = optarg;
        return OK;
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay swarm --help");
    }
}

static bool has_fashion_mnist(const char *dir)
{
    char path[CONFIG_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/train-images-idx3-ubyte.gz", dir);
    return access(path, R_OK) == 0;
}

static enum status parse_options(struct swarm *swarm, int argc, char **argv,
                                 struct problem *problem)
{
    static const struct option known[] = {
        {"nodes", required_argument, NULL, 'n'},   {"model", required_argument, NULL, 'm'},
        {"layers", required_argument, NULL, 'L'},  {"data", required_argument, NULL, 'd'},
        {"target", required_argument, NULL, 't'},  {"seconds", required_argument, NULL, 'S'},
        {"seed", required_argument, NULL, 's'},    {"json", required_argument, NULL, 'j'},
        {"dir", required_argument, NULL, 'D'},     {"set", required_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    swarm->options = (struct options){.nodes = 4, .target = 0.88, .seconds = 300, .seed = 1};
    config_defaults(&swarm->config);
    if (!has_fashion_mnist(swarm->config.data.dir))
        swarm->config.data.source = DATASET_GENERATED;
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        enum status status = parse_option(swarm, option, problem);
        if (status != OK || swarm->options.help)
            return status;
    }
    if (optind < argc)
        return problem_set(problem, MALFORMED, "swarm takes no argument \"%.80s\"", argv[optind]);
    return OK;
}

/* The folder: keys and configurations. */

static enum status make_dir(const char *path, struct problem *problem)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED, "cannot make the folder %s: %s", path,
                           strerror(errno));
    return OK;
}

static enum status make_swarm_dir(struct swarm *swarm, struct problem *problem)
{
    swarm->keep = swarm->options.dir != NULL;
    if (swarm->keep) {
        if (snprintf(swarm->dir, sizeof swarm->dir, "%s", swarm->options.dir) >=
            (int)sizeof swarm->dir - 64)
            return problem_set(problem, TOO_BIG, "--dir: the path is too long");
        return make_dir(swarm->dir, problem);
    }
    const char *base = getenv("TMPDIR");
    (void)snprintf(swarm->dir, sizeof swarm->dir, "%.400s/hearsay-swarm-XXXXXX",
                   base && base[0] ? base : "/tmp");
    if (!mkdtemp(swarm->dir))
        return problem_set(problem, FAILED, "cannot make a folder like %s: %s; set TMPDIR",
                           swarm->dir, strerror(errno));
    return OK;
}

static enum status make_keys(const struct swarm *swarm, struct problem *problem)
{
    struct entropy entropy;
    uint8_t seed[SEED_BYTES];
    char path[PATH_BYTES + 64];
    entropy_from_system(&entropy);
    entropy_bytes(&entropy, seed, sizeof seed);
    (void)snprintf(path, sizeof path, "%s/swarm.key", swarm->dir);
    enum status status = swarm_key_save(seed, path, problem);
    for (int i = 1; i <= swarm->options.nodes && status == OK; i++) {
        struct identity identity;
        entropy_bytes(&entropy, seed, sizeof seed);
        identity_from_seed(&identity, seed);
        (void)snprintf(path, sizeof path, "%s/node%d", swarm->dir, i);
        status = make_dir(path, problem);
        (void)snprintf(path, sizeof path, "%s/node%d/node.key", swarm->dir, i);
        if (status == OK)
            status = identity_save(&identity, path, problem);
        secret_wipe(&identity, sizeof identity);
    }
    secret_wipe(seed, sizeof seed);
    secret_wipe(&entropy, sizeof entropy);
    return status;
}

/* The configuration of node i (from 1), written to its folder. */
static enum status write_config(const struct swarm *swarm, int i, const char *seed_peer,
                                struct problem *problem)
{
    struct config config = swarm->config;
    struct config_node *node = &config.node;
    const uint32_t slice = (uint32_t)i - 1, slices = (uint32_t)swarm->options.nodes;
    (void)snprintf(node->identity, sizeof node->identity, "%s/node%d/node.key", swarm->dir, i);
    (void)snprintf(node->swarm_key, sizeof node->swarm_key, "%s/swarm.key", swarm->dir);
    (void)snprintf(node->state_dir, sizeof node->state_dir, "%s/node%d", swarm->dir, i);
    (void)snprintf(node->log, sizeof node->log, "-");
    node->listen = (struct address){.host = "127.0.0.1"};
    config.model.seed = swarm->options.seed;
    config.data.seed = swarm->options.seed;
    node->seed = swarm->options.seed;
    config.data.shard = (struct slice){slice, slices};
    config.train.evaluate_part = (struct slice){slice, slices};
    config.train.evaluate_s = 4;
    enum status status = OK;
    if (seed_peer) {
        node->peers.count = 1;
        status = address_parse(&node->peers.item[0], seed_peer, problem);
    }
    for (int s = 0; s < swarm->options.sets && status == OK; s++)
        status = config_set(&config, swarm->options.set[s], problem);
    if (status == OK)
        status = config_check(&config, problem);
    if (status != OK)
        return status;
    char path[PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/node%d/node.conf", swarm->dir, i);
    FILE *file = fopen(path, "we");
    if (!file)
        return problem_set(problem, FAILED, "cannot write %s: %s", path, strerror(errno));
    config_print(&config, file);
    if (fclose(file) != 0)
        return problem_set(problem, FAILED, "cannot write %s: %s", path, strerror(errno));
    return OK;
}

static void remove_file(const char *dir, const char *name)
{
    char path[PATH_BYTES + 128];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    (void)unlink(path);
}

/* Only what this program and its nodes have put there. */
static void remove_swarm_dir(const struct swarm *swarm)
{
    static const char *const FILES[] = {"node.key", "node.conf", "node.err", "base.safetensors"};
    for (int i = 1; i <= swarm->options.nodes; i++) {
        char dir[PATH_BYTES + 32];
        (void)snprintf(dir, sizeof dir, "%s/node%d", swarm->dir, i);
        for (size_t f = 0; f < sizeof FILES / sizeof *FILES; f++)
            remove_file(dir, FILES[f]);
        (void)rmdir(dir);
    }
    remove_file(swarm->dir, "swarm.key");
    (void)rmdir(swarm->dir);
}

/* Processes. */

/* In the child: its log to the pipe, its lines for people to a file, then `hearsay node`. */
_Noreturn static void become_node(const struct swarm *swarm, int i, int log)
{
    char config[PATH_BYTES + 64], errors[PATH_BYTES + 64];
    (void)snprintf(config, sizeof config, "%s/node%d/node.conf", swarm->dir, i);
    (void)snprintf(errors, sizeof errors, "%s/node%d/node.err", swarm->dir, i);
    const int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    (void)setpgid(0, 0);                   /* Ctrl+C reaches us only; we tell the nodes */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* and if we are killed, they leave too */
    if (err >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
        (void)execl("/proc/self/exe", "hearsay", "node", "--config", config, (char *)NULL);
    _exit(127);
}

static enum status start_node(struct swarm *swarm, int i, const char *seed_peer,
                              struct problem *problem)
{
    struct swarm_node *node = &swarm->nodes[i - 1];
    int ends[2];
    enum status status = write_config(swarm, i, seed_peer, problem);
    if (status != OK)
        return status;
    node->line = malloc(SWARM_LINE_MAX);
    if (!node->line || pipe2(ends, O_CLOEXEC) != 0)
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
        node->line_bytes = 0; /* no line of ours is that long */
}

static void read_pipe(struct swarm_node *node)
{
    ssize_t got = read(node->pipe, node->line + node->line_bytes,
                       SWARM_LINE_MAX - node->line_bytes);
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

/* Read what the nodes say for at most so many seconds, or until a signal comes. */
static void listen_for(struct swarm *swarm, double seconds)
{
    struct pollfd polls[SWARM_NODES_MAX];
    const double until = now_s() + seconds;
    const int before = interrupted;
    double left = seconds;
    while (left > 0 && alive(swarm) > 0 && interrupted == before) {
        for (int i = 0; i < swarm->started; i++)
            polls[i] = (struct pollfd){.fd = swarm->nodes[i].pipe, .events = POLLIN};
        if (poll(polls, (nfds_t)swarm->started, (int)ceil(left * 1000)) > 0)
            for (int i = 0; i < swarm->started; i++)
                if (polls[i].revents)
                    read_pipe(&swarm->nodes[i]);
        left = until - now_s();
    }
}

static void signal_nodes(const struct swarm *swarm, int number)
{
    for (int i = 0; i < swarm->started; i++)
        if (swarm->nodes[i].pid)
            (void)kill(swarm->nodes[i].pid, number);
}

/* The first node says where it listens; the others get that one address and meet the rest. */
static enum status start_nodes(struct swarm *swarm, struct problem *problem)
{
    struct swarm_node *first = &swarm->nodes[0];
    enum status status = start_node(swarm, 1, NULL, problem);
    const double until = now_s() + START_WAIT_S;
    while (status == OK && !first->address[0] && first->pid && now_s() < until && !interrupted)
        listen_for(swarm, 0.05);
    if (status == OK && !first->address[0] && !interrupted)
        return problem_set(problem, FAILED, "the first node did not start");
    for (int i = 2; i <= swarm->options.nodes && status == OK && !interrupted; i++)
        status = start_node(swarm, i, first->address, problem);
    return status;
}

/* Watching. */

/* Each node looks at its part of the test set; once all have looked again, judge the whole. */
static bool reached(struct swarm *swarm)
{
    uint64_t tested = 0, correct = 0, rounds = UINT64_MAX;
    for (int i = 0; i < swarm->started; i++) {
        const struct swarm_node *node = &swarm->nodes[i];
        if (node->pid == 0)
            continue;
        tested += node->tested;
        correct += node->correct;
        rounds = node->evaluations < rounds ? node->evaluations : rounds;
    }
    if (tested == 0 || rounds <= swarm->rounds_seen)
        return false;
    swarm->rounds_seen = rounds;
    const bool above = (double)correct >= swarm->options.target * (double)tested;
    swarm->rounds_above = above ? swarm->rounds_above + 1 : 0;
    return swarm->rounds_above >= ABOVE_ROUNDS;
}

static const char *watch(struct swarm *swarm)
{
    const bool terminal = isatty(STDOUT_FILENO);
    double next = 1;
    const char *why = NULL;
    while (!why) {
        listen_for(swarm, fmax(0.01, swarm->start_s + next - now_s()));
        const double seconds = now_s() - swarm->start_s;
        if (interrupted)
            why = "interrupted";
        else if (alive(swarm) == 0)
            why = "no node is left";
        else if (reached(swarm))
            why = "the target is reached";
        else if (seconds >= swarm->options.seconds)
            why = "the time is over";
        if (seconds < next && !why)
            continue;
        next = floor(seconds) + 1;
        swarm_print_live(stdout, swarm->nodes, swarm->started, seconds,
                         swarm->options.seconds - seconds, terminal);
    }
    (void)printf("%s%s: the nodes stop training and let the last rumors travel\n",
                 terminal ? "\n" : "", why);
    (void)fflush(stdout);
    return why;
}

static void stop_nodes(struct swarm *swarm)
{
    const double until = now_s() + swarm->config.node.grace_s + 60;
    int seen = interrupted;
    signal_nodes(swarm, SIGTERM);
    while (alive(swarm) > 0 && now_s() < until) {
        listen_for(swarm, 1);
        if (interrupted != seen) {
            seen = interrupted;
            signal_nodes(swarm, SIGTERM); /* a second one: they end at once */
        }
    }
    signal_nodes(swarm, SIGKILL);
    listen_for(swarm, 5);
}

/* Why a node that failed did so, in its own words. */
static void print_errors(const struct swarm *swarm)
{
    for (int i = 1; i <= swarm->started; i++) {
        const struct swarm_node *node = &swarm->nodes[i - 1];
        if (node->has_final && WIFEXITED(node->exit_status) && WEXITSTATUS(node->exit_status) == 0)
            continue;
        char path[PATH_BYTES + 64], line[512], last[512] = "";
        (void)snprintf(path, sizeof path, "%s/node%d/node.err", swarm->dir, i);
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
            (void)snprintf(last, sizeof last, "%s", line);
        if (file)
            (void)fclose(file);
        (void)printf("node %d did not finish; the last it said: %s", i, last[0] ? last : "nothing\n");
    }
}

static bool conclude(const struct swarm *swarm, const char *why)
{
    const struct options *options = &swarm->options;
    const struct swarm_verdict verdict = swarm_judge(swarm->nodes, options->nodes);
    const bool met = verdict.accuracy >= options->target;
    const bool all = verdict.finished == options->nodes;
    print_errors(swarm);
    swarm_print_table(stdout, swarm->nodes, swarm->started);
    (void)printf("\n%s\n", !verdict.finished      ? "No node finished."
                           : !verdict.same_model ? "The nodes do NOT hold the same model."
                           : all ? "All nodes hold the same model, bit for bit."
                                 : "The nodes that finished hold the same model, bit for bit; not "
                                   "all finished.");
    if (verdict.finished)
        (void)printf("Its accuracy is %.2f %% (target %.2f %%: %s; %s). All together sent %.3f %% "
                     "of what dense exchange would have.\n",
                     100 * verdict.accuracy, 100 * options->target, met ? "met" : "not met", why,
                     verdict.dense_bytes
                         ? 100 * (double)verdict.sent_bytes / (double)verdict.dense_bytes
                         : 0);
    return all && verdict.same_model && met;
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
    static const char *const SOURCES[] = {[DATASET_IDX] = "Fashion-MNIST or other IDX files in ",
                                          [DATASET_GENERATED] = "the generated glyphs",
                                          [DATASET_XOR] = "exclusive or"};
    const struct config *config = &swarm->config;
    const bool idx = config->data.source == DATASET_IDX;
    (void)printf("%d nodes on this machine, model %s, data: %s%s%s; until %.1f %% or %.0f s\n",
                 swarm->options.nodes,
                 config->model.layers[0] ? config->model.layers : config->model.name,
                 SOURCES[config->data.source], idx ? config->data.dir : "",
                 !idx && !has_fashion_mnist(config->data.dir)
                     ? " (Fashion-MNIST is not installed: package dataset-fashion-mnist)"
                     : "",
                 100 * swarm->options.target, swarm->options.seconds);
    (void)printf("keys, configurations and logs: %s\n", swarm->dir);
    (void)fflush(stdout);
}

static int run(struct swarm *swarm)
{
    struct problem problem = {""};
    enum status status = make_swarm_dir(swarm, &problem);
    if (status == OK)
        status = make_keys(swarm, &problem);
    if (status == OK) {
        say_what(swarm);
        swarm->start_s = now_s();
        status = start_nodes(swarm, &problem);
    }
    const char *why = status == OK ? watch(swarm) : "not all nodes started";
    stop_nodes(swarm);
    bool ok = conclude(swarm, why);
    if (swarm->options.json &&
        !swarm_write_json(swarm->options.json, swarm->nodes, swarm->options.nodes,
                          swarm->options.target, ok)) {
        (void)fprintf(stderr, "hearsay: cannot write %s\n", swarm->options.json);
        ok = false;
    }
    if (problem.text[0])
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    if (!swarm->keep && swarm->dir[0])
        remove_swarm_dir(swarm);
    return ok ? 0 : 1;
}

int swarm_run(int argc, char **argv)
{
    struct swarm *swarm = calloc(1, sizeof *swarm);
    struct problem problem;
    CHECK(swarm);
    int code = 2;
    if (parse_options(swarm, argc, argv, &problem) != OK) {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    } else if (swarm->options.help) {
        (void)fputs(usage, stdout);
        code = 0;
    } else {
        secret_start();
        catch_signals();
        code = run(swarm);
    }
    for (int i = 0; i < SWARM_NODES_MAX; i++) {
        free(swarm->nodes[i].line);
        free(swarm->nodes[i].version);
    }
    free(swarm);
    return code;
}
