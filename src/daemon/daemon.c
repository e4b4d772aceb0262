#include "daemon/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/time_units.h"
#include "daemon/host.h"
#include "daemon/learner_thread.h"
#include "daemon/sandbox.h"
#include "daemon/sd_notify.h"
#include "daemon/shutdown.h"
#include "daemon/startup_notes.h"
#include "state/state_dir.h"

#define SIGNAL_ONCE_NS SECOND_NS /* signals within this time after the first have no effect */

struct daemon {
    const struct config *config;
    struct sandbox *sandbox;
    struct host host;
    struct learner_thread *learner;
    struct sd_notify sd_notify;
    uint64_t signal_ns; /* time of the first signal that made the node leave */
};

/* Returns true if the node holds the swarm's base. A node that has not joined, or that the members
 * refuse, holds its first weights or an old base, whose score would look like a loss. */
static bool holds_swarms_base(const struct node *node)
{
    return node_has_base(node) && node_phase(node) >= NODE_RUNNING && !node_is_expelled(node) &&
           !node_is_turned_away(node);
}

static uint64_t on_time(void *self, uint64_t now_ns)
{
    struct daemon *daemon = self;
    sd_notify_on_time(&daemon->sd_notify, now_ns);
    training_watch_on_time(&daemon->host.training, now_ns, holds_swarms_base(daemon->host.node));
    return sd_notify_wake_ns(&daemon->sd_notify);
}

static void on_second(void *self, uint64_t now_ns, const struct node_stats *stats)
{
    struct daemon *daemon = self;
    device_watch_on_second(&daemon->host.training.device, now_ns,
                           learner_thread_working_ns(daemon->learner));
    sd_notify_status(&daemon->sd_notify, now_ns, stats, daemon->host.training.loss,
                     &daemon->host.report.reach);
}

/* Returns on which test samples a leaving node evaluates its base. If train.evaluate_part is auto,
 * leaves out an evaluation whose duration is unknown or may exceed SHUTDOWN_EVALUATION_S. */
static enum final_evaluation final_evaluation(const struct daemon *daemon)
{
    const uint64_t most_ns = SHUTDOWN_EVALUATION_S * SECOND_NS;
    const struct setup *setup = &daemon->host.setup;
    const bool is_sequences = model_input(setup->model).length > 0;
    if (daemon->config->train.evaluate_s == 0 || learner_tests(setup->learner, false) == 0)
        return FINAL_NONE;
    if (daemon->config->train.evaluate_part.count > 0)
        return is_sequences ? FINAL_PART : FINAL_ALL;
    struct node_stats stats;
    node_stats(daemon->host.node, monotonic_ns(), &stats);
    const uint64_t sample_ns = training_watch_sample_ns(
        &daemon->host.training, learner_tests(setup->learner, false), stats.samples);
    if (sample_ns == 0 || sample_ns * learner_tests(setup->learner, false) > most_ns)
        return FINAL_TOO_LONG;
    return !is_sequences && sample_ns * learner_tests(setup->learner, true) <= most_ns ? FINAL_ALL
                                                                                       : FINAL_PART;
}

static void on_event(void *self, uint64_t now_ns, const struct learner_event *event)
{
    struct daemon *daemon = self;
    if (event->kind != LEARNER_EVALUATED) {
        sd_notify_stopping(&daemon->sd_notify); /* any other event means that the node leaves */
        return;
    }
    event_log_evaluated(&daemon->host.report, now_ns, &event->evaluation, &event->averaged);
}

static bool on_pumped(void *self)
{
    (void)self;
    return false;
}

/* A service manager and a terminal may both send a signal when the node is stopped once. So a
 * second signal ends the node at once only if it comes at least SIGNAL_ONCE_NS after the first. */
static void on_signal(void *self, int number)
{
    struct daemon *daemon = self;
    struct host *host = &daemon->host;
    const uint64_t now_ns = monotonic_ns();
    if (number == SIGHUP && members_file_is_used(&host->members)) {
        members_file_read_again(&host->members, host->node, &host->report, now_ns);
        host_pump(host);
        return;
    }
    if (daemon->signal_ns > 0) {
        if (now_ns < daemon->signal_ns + SIGNAL_ONCE_NS)
            return;
        (void)fprintf(stderr, "hearsay: second signal (%d): ending at once\n", number);
        transport_stop(host->transport);
        return;
    }
    daemon->signal_ns = now_ns;
    host_leave(host);
    sd_notify_stopping(&daemon->sd_notify);
    host_pump(host);
}

static enum error make(void *self, struct setup *setup, struct problem *problem)
{
    struct daemon *daemon = self;
    startup_notes_reading(&daemon->host.report, monotonic_ns(), daemon->config);
    return setup_make(setup, daemon->config, problem);
}

static enum error prepare(struct daemon *daemon, struct problem *problem)
{
    const struct config *config = daemon->config;
    enum error error = host_open(&daemon->host, false, problem);
    if (error == OK) {
        sandbox_keep_kernels(config);
        /* Landlock restricts only this thread and threads that it creates later. */
        error = sandbox_enter(config, daemon->sandbox, problem);
    }
    if (error == OK)
        error = state_dir_check_start(config->node.state_dir, config->model.start, problem);
    return error == OK ? host_prepare(&daemon->host, problem) : error;
}

/* If there is a member list, SIGHUP makes the node read it again. Otherwise SIGHUP ends the node
 * like SIGTERM, for example when its terminal is closed. If SIGHUP was ignored at the start (nohup)
 * and there is no member list, it stays ignored. */
static void take_hangups(const struct host *host)
{
    struct sigaction before;
    const bool is_ignored = sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
    if (!is_ignored || members_file_is_used(&host->members))
        transport_take_hangups(host->transport);
}

static void start(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    struct host *host = &daemon->host;
    const uint64_t now_ns = monotonic_ns();
    struct learner_thread_options options = {
        .batch_size = setup_batch_size(config, host->setup.model),
        .samples_max = config->train.samples_max,
        .step_ns_min = setup_step_ns_min(config),
        .apply_window = host->node_options.limits.apply_window,
    };
    host_begin(host, learner_thread_arena_bytes(&options));
    take_hangups(host);
    startup_notes_sandbox(&host->report, now_ns, config, daemon->sandbox);
    const struct learner_link_options link =
        host_link_options(host, &executor_learner_ops, host->setup.learner);
    options.snapshot = link.snapshot;
    options.wake = link.wake;
    options.waker = link.waker;
    daemon->learner = learner_thread_new(&host->arena, host->setup.learner, &options);
    host->link = learner_thread_link(daemon->learner);
}

static int run(struct daemon *daemon)
{
    struct host *host = &daemon->host;
    start(daemon);
    host_run(host);
    learner_thread_stop(daemon->learner);
    (void)host_drain(host);
    const struct shutdown closing = {.config = daemon->config,
                                     .setup = &host->setup,
                                     .learner = daemon->learner,
                                     .node = host->node,
                                     .saver = host->saving.saver,
                                     .history = host->saving.history,
                                     .report = &host->report,
                                     .training = &host->training,
                                     .evaluates = final_evaluation(daemon)};
    const int code = host->starts_again  ? 0
                     : host->has_clash   ? shutdown_clash(&closing, host->is_shared)
                     : host->is_shut_out ? shutdown_shut_out(&host->report.reach)
                                         : shutdown_run(&closing);
    return code == 0 && host->resets.are_too_many ? 1 : code;
}

/* Runs a node once, from loading its state to saving it. Sets *again: whether the node must
 * restart. */
static int live(const struct config *config, struct sandbox *sandbox, bool stays_alone, bool *again)
{
    struct daemon *daemon = memory_new(1, sizeof *daemon);
    struct problem problem;
    const struct host_owner owner = {.self = daemon,
                                     .make = make,
                                     .on_time = on_time,
                                     .on_second = on_second,
                                     .on_event = on_event,
                                     .on_pumped = on_pumped,
                                     .on_signal = on_signal};
    daemon->config = config;
    daemon->sandbox = sandbox;
    daemon->host.stays_alone = stays_alone;
    sd_notify_open(&daemon->sd_notify);
    host_init(&daemon->host, config, &owner);
    const enum error error = prepare(daemon, &problem);
    const int code = error == OK ? run(daemon) : error == WRONG_SETTING ? 2 : 1;
    if (error != OK)
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    *again = daemon->host.starts_again;
    host_free(&daemon->host);
    sd_notify_close(&daemon->sd_notify);
    free(daemon);
    return code;
}

int daemon_run(const struct config *config, bool stays_alone)
{
    struct sandbox sandbox = {0};
    bool again = true;
    int code = 0;
    secret_start();
    while (again)
        code = live(config, &sandbox, stays_alone, &again);
    return code;
}
