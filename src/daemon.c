#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hatch.h"
#include "node.h"
#include "report.h"
#include "setup.h"
#include "tensors.h"
#include "transport.h"

#define SECOND_NS 1000000000ull

struct daemon {
    const struct config *config;
    struct setup setup;
    struct node_options node_options;
    struct arena arena; /* of node and hatch */
    struct node *node;
    struct hatch *hatch;
    struct transport *transport;
    struct report report;

    uint64_t status_ns;   /* next status line */
    uint64_t evaluate_ns; /* next evaluation; UINT64_MAX: never, or one is under way */
    double loss_sum;      /* of the steps since the last status line */
    uint32_t loss_steps;
    double loss;
    bool diverged;
};

/* Do what the node asks for, until it has no wish left; then sleep until its next time. */
static void pump(struct daemon *daemon)
{
    struct action action;
    while (node_next(daemon->node, &action)) {
        switch (action.kind) {
        case ACTION_DIAL:
            transport_dial(daemon->transport, action.conn, &action.address);
            break;
        case ACTION_SEND:
            transport_send(daemon->transport, action.conn, action.bytes, action.count);
            break;
        case ACTION_HANGUP:
            transport_hang_up(daemon->transport, action.conn);
            break;
        case ACTION_APPLY:
            hatch_hear(daemon->hatch, action.update);
            break;
        case ACTION_TRAIN:
            hatch_train(daemon->hatch);
            break;
        case ACTION_TELL:
            hatch_tell(daemon->hatch, &action.tell, action.last);
            break;
        case ACTION_NOTE:
            report_note(&daemon->report, &action.note);
            break;
        case ACTION_FINISHED:
            transport_stop(daemon->transport);
            break;
        }
    }
    uint64_t wake_ns = node_wake_ns(daemon->node);
    if (daemon->status_ns < wake_ns)
        wake_ns = daemon->status_ns;
    transport_set_timer(daemon->transport, wake_ns);
}

/* The transport's callbacks: hand on with the time, then pump. */

static uint64_t on_accept(void *self, const struct address *from)
{
    struct daemon *daemon = self;
    const uint64_t conn = node_on_accept(daemon->node, transport_now_ns(), from);
    pump(daemon);
    return conn;
}

static void on_connected(void *self, uint64_t conn)
{
    struct daemon *daemon = self;
    node_on_connected(daemon->node, transport_now_ns(), conn);
    pump(daemon);
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct daemon *daemon = self;
    node_on_bytes(daemon->node, transport_now_ns(), conn, bytes, count);
    pump(daemon);
}

static void on_sent(void *self, uint64_t conn)
{
    struct daemon *daemon = self;
    node_on_sent(daemon->node, transport_now_ns(), conn);
    pump(daemon);
}

static void on_closed(void *self, uint64_t conn, const char *why)
{
    struct daemon *daemon = self;
    node_on_closed(daemon->node, transport_now_ns(), conn, why);
    pump(daemon);
}

static void say_status(struct daemon *daemon, uint64_t now_ns)
{
    struct node_stats stats;
    node_stats(daemon->node, now_ns, &stats);
    if (daemon->loss_steps > 0)
        daemon->loss = daemon->loss_sum / daemon->loss_steps;
    daemon->loss_sum = 0;
    daemon->loss_steps = 0;
    report_status(&daemon->report, now_ns, &stats, daemon->loss);
    daemon->status_ns = now_ns + SECOND_NS;
}

static void on_timer(void *self)
{
    struct daemon *daemon = self;
    const uint64_t now_ns = transport_now_ns();
    node_on_time(daemon->node, now_ns);
    if (now_ns >= daemon->status_ns)
        say_status(daemon, now_ns);
    if (now_ns >= daemon->evaluate_ns) {
        daemon->evaluate_ns = UINT64_MAX;
        hatch_evaluate(daemon->hatch);
    }
    pump(daemon);
}

static uint64_t next_evaluation(const struct daemon *daemon, uint64_t now_ns)
{
    const double every_s = daemon->config->train.evaluate_s;
    return every_s > 0 ? now_ns + (uint64_t)(every_s * (double)SECOND_NS) : UINT64_MAX;
}

static void on_stepped(struct daemon *daemon, uint64_t now_ns, const struct hatch_event *event)
{
    node_on_step(daemon->node, now_ns, event->steps, event->samples);
    daemon->loss_sum += event->loss_sum;
    daemon->loss_steps += event->steps;
    if (isfinite(event->loss_sum) || daemon->diverged)
        return;
    daemon->diverged = true;
    struct note note = {.at_ns = now_ns,
                        .kind = NOTE_STATUS,
                        .level = LEVEL_ERROR,
                        .text = "training diverges here: the loss is not a number; lower "
                                "train.rate, or exchange.gain and exchange.beta"};
    report_note(&daemon->report, &note);
}

/* What the learner has said. */
static void drain(struct daemon *daemon)
{
    const uint64_t now_ns = transport_now_ns();
    struct hatch_event event;
    while (hatch_next(daemon->hatch, &event)) {
        switch (event.kind) {
        case HATCH_STEPPED:
            on_stepped(daemon, now_ns, &event);
            break;
        case HATCH_TOLD:
            node_on_told(daemon->node, now_ns, event.update);
            break;
        case HATCH_APPLIED:
            node_on_applied(daemon->node, now_ns, event.entries);
            break;
        case HATCH_EVALUATED:
            report_evaluated(&daemon->report, now_ns, &event.evaluation);
            daemon->evaluate_ns = next_evaluation(daemon, now_ns);
            break;
        }
    }
}

static void on_wake(void *self)
{
    struct daemon *daemon = self;
    drain(daemon);
    pump(daemon);
}

static void on_signal(void *self, int number)
{
    struct daemon *daemon = self;
    if (node_is_leaving(daemon->node)) {
        (void)fprintf(stderr, "hearsay: second signal (%d): ending at once\n", number);
        transport_stop(daemon->transport);
        return;
    }
    node_leave(daemon->node, transport_now_ns());
    pump(daemon);
}

static void wake(void *waker)
{
    transport_wake(waker);
}

/* Beginning and end. */

static uint64_t wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static enum status make_state_dir(const char *path, struct problem *problem)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED, "cannot make node.state_dir %s: %s", path,
                           strerror(errno));
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode) || access(path, W_OK | X_OK) != 0)
        return problem_set(problem, FAILED,
                           "node.state_dir %s is not a directory that this user may write to, and "
                           "the model could not be saved at the end; choose another",
                           path);
    return OK;
}

static enum status start_listening(struct daemon *daemon, struct problem *problem)
{
    const struct address *listen = &daemon->config->node.listen;
    if (!listen->host[0])
        return OK;
    uint16_t *port = &daemon->node_options.listen_port;
    enum status status = transport_listen(daemon->transport, listen, port, problem);
    struct address *advertise = &daemon->node_options.advertise;
    const bool any = strcmp(listen->host, "0.0.0.0") == 0 || strcmp(listen->host, "::") == 0;
    if (!advertise->host[0] && !any)
        *advertise = *listen;
    if (advertise->port == 0)
        advertise->port = *port;
    return status;
}

static void greet(struct daemon *daemon, uint64_t now_ns)
{
    char id[ID_TEXT_BYTES];
    struct note note = {.at_ns = now_ns, .kind = NOTE_STARTED, .level = LEVEL_INFO};
    identity_text(id, daemon->setup.identity.id);
    (void)snprintf(note.text, sizeof note.text,
                   "hearsay " HEARSAY_VERSION
                   " node %s in swarm \"%s\": %.160s (%llu parameters), %s",
                   id, daemon->config->node.swarm, daemon->setup.description,
                   (unsigned long long)daemon->node_options.parameters,
                   daemon->node_options.listen_port ? "listening" : "not listening, only dialling");
    struct address at = daemon->config->node.listen;
    at.port = daemon->node_options.listen_port;
    if (at.port)
        (void)address_text(&at, note.where);
    report_note(&daemon->report, &note);
    model_print(daemon->setup.model, stderr);
}

static void start(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    const uint64_t now_ns = transport_now_ns();
    const struct hatch_options hatch_options = {
        .samples_max = config->train.samples_max,
        .apply_window = SETUP_APPLY_WINDOW,
        .wake = wake,
        .waker = daemon->transport,
    };
    daemon->node_options.incarnation = wall_ms();
    arena_init(&daemon->arena,
               node_arena_bytes(&daemon->node_options) + hatch_arena_bytes(&hatch_options));
    daemon->node = node_new(&daemon->arena, &daemon->node_options, now_ns);
    greet(daemon, now_ns);
    daemon->hatch = hatch_new(&daemon->arena, daemon->setup.learner, &hatch_options);
    daemon->status_ns = now_ns + SECOND_NS;
    daemon->evaluate_ns = next_evaluation(daemon, now_ns);
}

static enum status save(struct daemon *daemon, const char *version, struct problem *problem)
{
    char path[CONFIG_PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/base.safetensors", daemon->config->node.state_dir);
    struct tensors_about about = {
        .in = model_input(daemon->setup.model),
        .classes = daemon->setup.classes,
        .mean = daemon->setup.mean,
        .scale = daemon->setup.scale,
        .digest = learner_digest(daemon->setup.learner),
        .samples = node_swarm_samples(daemon->node),
        .version = version,
    };
    (void)snprintf(about.layers, sizeof about.layers, "%s", model_line(daemon->setup.model));
    float *base = malloc(learner_parameters(daemon->setup.learner) * sizeof *base);
    CHECK(base);
    learner_read_base(daemon->setup.learner, base);
    enum status status = tensors_save(path, daemon->setup.model, &about, base, problem);
    free(base);
    if (status == OK)
        (void)fprintf(stderr, "hearsay: saved the base as %s\n", path);
    return status;
}

/* The learner's thread has ended and the learner is ours: what still waits is heard now, so that
 * the base is the one of the version it is saved with. */
static void hear_the_rest(struct daemon *daemon)
{
    struct action action;
    while (node_next(daemon->node, &action)) {
        if (action.kind == ACTION_NOTE)
            report_note(&daemon->report, &action.note);
        if (action.kind != ACTION_APPLY)
            continue;
        learner_hear(daemon->setup.learner, action.update);
        node_on_applied(daemon->node, transport_now_ns(), action.update->count);
    }
}

static void id_hex(char out[static 2 * ID_BYTES + 1], const uint8_t id[static ID_BYTES])
{
    for (int i = 0; i < ID_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
}

static int finish(struct daemon *daemon)
{
    struct rusage usage;
    struct problem problem;
    char *version = malloc(TENSORS_VERSION_MAX);
    CHECK(version);
    node_version_text(daemon->node, version, TENSORS_VERSION_MAX);
    struct final final = {
        .learner_digest = learner_digest(daemon->setup.learner),
        .version = version,
        .parameters = daemon->node_options.parameters,
    };
    int code = save(daemon, version, &problem) == OK ? 0 : 1;
    if (code != 0)
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    if (daemon->config->train.evaluate_s > 0)
        final.evaluation = learner_evaluate(daemon->setup.learner, true);
    (void)getrusage(RUSAGE_SELF, &usage);
    final.rss_bytes_max = (uint64_t)usage.ru_maxrss * 1024;
    id_hex(final.id, daemon->setup.identity.id);
    const uint64_t now_ns = transport_now_ns();
    node_stats(daemon->node, now_ns, &final.stats);
    report_final(&daemon->report, now_ns, &final);
    if (final.stats.digest != final.learner_digest) {
        (void)fprintf(stderr,
                      "hearsay: the base is not the sum of its rumors (digest %016" PRIx64
                      ", not %016" PRIx64 "): a defect or broken memory; do not use it\n",
                      final.learner_digest, final.stats.digest);
        code = 1;
    }
    free(version);
    return code;
}

int daemon_run(const struct config *config)
{
    static const struct transport_owner callbacks = {
        .on_accept = on_accept,
        .on_connected = on_connected,
        .on_bytes = on_bytes,
        .on_sent = on_sent,
        .on_closed = on_closed,
        .on_timer = on_timer,
        .on_wake = on_wake,
        .on_signal = on_signal,
    };
    struct daemon *daemon = calloc(1, sizeof *daemon);
    struct problem problem;
    CHECK(daemon);
    secret_start();
    daemon->config = config;
    struct transport_owner owner = callbacks;
    owner.self = daemon;
    daemon->transport = transport_new(&owner);
    enum status status = report_open(&daemon->report, config->node.log, config->node.verbose,
                                     transport_now_ns(), &problem);
    if (status == OK)
        status = make_state_dir(config->node.state_dir, &problem);
    if (status == OK)
        status = setup_make(&daemon->setup, config, &problem);
    if (status == OK) {
        daemon->node_options = setup_node_options(&daemon->setup, config);
        status = start_listening(daemon, &problem);
    }
    int code = 1;
    if (status == OK) {
        start(daemon);
        pump(daemon);
        transport_run(daemon->transport);
        hatch_stop(daemon->hatch);
        drain(daemon);
        hear_the_rest(daemon);
        code = finish(daemon);
        node_free(daemon->node);
    } else {
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    }
    transport_free(daemon->transport);
    report_close(&daemon->report);
    setup_free(&daemon->setup);
    arena_release(&daemon->arena);
    secret_wipe(daemon, sizeof *daemon);
    free(daemon);
    return code;
}
