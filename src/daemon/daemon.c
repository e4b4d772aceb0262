#include "daemon/daemon.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/setup.h"
#include "crypto/locked_memory.h"
#include "daemon/event_log.h"
#include "daemon/known_proofs.h"
#include "daemon/known_votes.h"
#include "daemon/learner_thread.h"
#include "daemon/listen.h"
#include "daemon/members_file.h"
#include "daemon/operator_orders.h"
#include "daemon/relapses.h"
#include "daemon/sandbox.h"
#include "daemon/saving.h"
#include "daemon/sd_notify.h"
#include "daemon/shutdown.h"
#include "daemon/startup_notes.h"
#include "daemon/status_server.h"
#include "daemon/status_watch.h"
#include "socket/transport.h"
#include "state/checkpoint_owner.h"
#include "state/disk.h"
#include "state/incarnation.h"
#include "state/saver.h"
#include "state/state_dir.h"

#define SECOND_NS      1000000000ull
#define SIGNAL_ONCE_NS SECOND_NS /* signals within this time are one */

struct daemon {
    const struct config *config;
    struct sandbox *sandbox;   /* what it has given up */
    struct locked_memory keys; /* where they lie */
    struct setup setup;
    struct node_options node_options;
    struct arena arena; /* of the node and of the learner thread */
    struct node *node;
    struct learner_thread *learner;
    struct transport *transport;
    struct saving saving;             /* of checkpoints */
    char saves[CHECKPOINT_OWNER_MAX]; /* what its checkpoints are of */
    uint32_t refused;                 /* checkpoints that were passed over at the start */
    struct operator_orders orders;
    struct known_proofs proofs;
    struct known_votes votes;
    struct members_file members;
    struct event_log report;
    struct sd_notify sd_notify;
    struct status_door door;
    struct status_watch watch;

    uint64_t signal_ns;   /* when the signal came for which it leaves */
    uint64_t status_ns;   /* next status line */
    uint64_t evaluate_ns; /* next evaluation; UINT64_MAX: never, or one is under way */
    double loss_sum;      /* of the samples since the last status line */
    uint64_t loss_samples;
    double loss;
    struct relapses relapses;       /* when training diverged */
    bool stays_alone;               /* it was told to go on, even if it is shut out */
    bool is_shut_out, starts_again; /* why it ended */
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
        case ACTION_SAVE:
            saving_begin(&daemon->saving);
            break;
        case ACTION_APPLY:
        case ACTION_READ:
        case ACTION_WRITE:
        case ACTION_TRAIN:
        case ACTION_PUBLISH:
            learner_thread_order(daemon->learner, &action);
            break;
        case ACTION_NOTE:
            event_log_note(&daemon->report, &action.note);
            break;
        case ACTION_RESTART:
        case ACTION_FINISHED:
            daemon->starts_again = action.kind == ACTION_RESTART;
            transport_stop(daemon->transport);
            break;
        }
    }
    operator_orders_keep(&daemon->orders, daemon->node, &daemon->report, transport_now_ns());
    known_proofs_keep(&daemon->proofs, daemon->node, &daemon->report, transport_now_ns());
    known_votes_keep(&daemon->votes, daemon->node, &daemon->report, transport_now_ns());
    uint64_t wake_ns = node_wake_ns(daemon->node);
    if (daemon->status_ns < wake_ns)
        wake_ns = daemon->status_ns;
    if (sd_notify_wake_ns(&daemon->sd_notify) < wake_ns)
        wake_ns = sd_notify_wake_ns(&daemon->sd_notify);
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

static void on_second(struct daemon *daemon, uint64_t now_ns)
{
    struct node_stats stats;
    node_stats(daemon->node, now_ns, &stats);
    if (daemon->loss_samples > 0)
        daemon->loss = daemon->loss_sum / (double)daemon->loss_samples;
    daemon->loss_sum = 0;
    daemon->loss_samples = 0;
    event_log_status(&daemon->report, now_ns, &stats, daemon->loss);
    sd_notify_status(&daemon->sd_notify, now_ns, &stats, daemon->loss, &daemon->report.reach);
    status_watch_look(&daemon->watch, daemon->node, now_ns);
    operator_orders_look(&daemon->orders, daemon->node, &daemon->report, now_ns);
    daemon->status_ns = now_ns + SECOND_NS;
    daemon->is_shut_out = !daemon->stays_alone && reach_is_shut_out(&daemon->report.reach, now_ns);
    if (daemon->is_shut_out)
        transport_stop(daemon->transport);
}

static void on_timer(void *self)
{
    struct daemon *daemon = self;
    const uint64_t now_ns = transport_now_ns();
    node_on_time(daemon->node, now_ns);
    sd_notify_on_time(&daemon->sd_notify, now_ns);
    if (now_ns >= daemon->status_ns)
        on_second(daemon, now_ns);
    if (now_ns >= daemon->evaluate_ns) {
        daemon->evaluate_ns = UINT64_MAX;
        learner_thread_evaluate(daemon->learner);
    }
    pump(daemon);
}

static uint64_t next_evaluation(const struct daemon *daemon, uint64_t now_ns)
{
    const double every_s = daemon->config->train.evaluate_s;
    return every_s > 0 ? now_ns + (uint64_t)(every_s * (double)SECOND_NS) : UINT64_MAX;
}

static void on_stepped(struct daemon *daemon, uint64_t now_ns,
                       const struct learner_thread_event *event)
{
    node_on_step(daemon->node, now_ns, event->steps, event->samples);
    daemon->loss_sum += event->loss_sum;
    daemon->loss_samples += event->samples;
    event_log_batch(&daemon->report, now_ns, event->batch);
}

static void leave(struct daemon *daemon)
{
    node_leave(daemon->node, transport_now_ns());
    sd_notify_stopping(&daemon->sd_notify);
}

static void on_relapsed(struct daemon *daemon, uint64_t now_ns,
                        const struct learner_relapses *found)
{
    if (daemon->relapses.are_too_many)
        return;
    relapses_add(&daemon->relapses, now_ns);
    event_log_relapsed(&daemon->report, now_ns, found, daemon->relapses.are_too_many);
    if (daemon->relapses.are_too_many)
        leave(daemon);
}

/* What the learner has said. */
static void drain(struct daemon *daemon)
{
    const uint64_t now_ns = transport_now_ns();
    struct learner_thread_event event;
    while (learner_thread_next(daemon->learner, &event)) {
        switch (event.kind) {
        case LEARNER_THREAD_STEPPED:
            on_stepped(daemon, now_ns, &event);
            break;
        case LEARNER_THREAD_ANSWERED:
            if (event.answer.to == ACTION_SAVE)
                saving_on_part(&daemon->saving, now_ns, event.answer.entries);
            else
                executor_answer(daemon->node, now_ns, &event.answer);
            break;
        case LEARNER_THREAD_RELAPSED:
            on_relapsed(daemon, now_ns, &event.relapses);
            break;
        case LEARNER_THREAD_EVALUATED:
            event_log_evaluated(&daemon->report, now_ns, &event.evaluation);
            daemon->evaluate_ns = next_evaluation(daemon, now_ns);
            break;
        }
    }
}

static void on_wake(void *self)
{
    struct daemon *daemon = self;
    drain(daemon);
    saving_on_wake(&daemon->saving, &daemon->report, transport_now_ns());
    pump(daemon);
}

/* A service manager and a terminal may both send one: a second counts if it comes clearly later. */
static void on_signal(void *self, int number)
{
    struct daemon *daemon = self;
    const uint64_t now_ns = transport_now_ns();
    if (number == SIGHUP) {
        members_file_read_again(&daemon->members, daemon->node, &daemon->report, now_ns);
        pump(daemon);
        return;
    }
    if (node_is_leaving(daemon->node)) {
        if (now_ns < daemon->signal_ns + SIGNAL_ONCE_NS)
            return;
        (void)fprintf(stderr, "hearsay: second signal (%d): ending at once\n", number);
        transport_stop(daemon->transport);
        return;
    }
    daemon->signal_ns = now_ns;
    leave(daemon);
    pump(daemon);
}

static char *on_asked(void *self, size_t *count)
{
    const struct daemon *daemon = self;
    const uint64_t saved_ns = daemon->saving.saved_ns;
    const struct status_facts facts = {
        .options = &daemon->node_options,
        .reach = &daemon->report.reach,
        .list = daemon->members.list,
        .listen = daemon->config->node.listen,
        .start_ns = daemon->report.start_ns,
        .loss = daemon->loss,
        .checkpoint_age_s = saved_ns ? (double)(transport_now_ns() - saved_ns) * 1e-9 : (double)NAN,
    };
    return status_watch_page(&daemon->watch, daemon->node, &facts, transport_now_ns(), count);
}

static void wake(void *waker)
{
    transport_wake(waker);
}

/* Whoever asks from now on waits until we run. */
static enum error start_answering(struct daemon *daemon, struct problem *problem)
{
    int made;
    const enum error error = status_door_socket(&daemon->door, &made, problem);
    if (error == OK)
        transport_answer(daemon->transport, made);
    return error;
}

static void on_refused(void *context, const struct problem *problem)
{
    struct daemon *daemon = context;
    daemon->refused++;
    event_log_say(&daemon->report, transport_now_ns(), NOTE_RESUMED, LEVEL_WARNING, problem->text);
}

/* Go on where an earlier life was, if it left something to go on from. */
static enum error resume(struct daemon *daemon, struct problem *problem)
{
    const char *folder = daemon->config->node.state_dir;
    struct node_options *options = &daemon->node_options;
    checkpoint_owner_describe(&daemon->setup.keys->identity, daemon->config->node.swarm,
                              daemon->setup.description, daemon->saves);
    struct saver_options saver_options = setup_saver_options(
        daemon->config, options->parameters, learner_moments(daemon->setup.learner));
    saver_options.model = daemon->saves;
    saver_options.wake = wake;
    saver_options.waker = daemon->transport;
    saver_options.base =
        (struct export){.model = daemon->setup.model, .about = daemon->setup.about};
    export_path(saver_options.base.path, folder);
    daemon->saving.saver = saver_new(&saver_options);
    const struct checkpoint_refusal refusal = {.context = daemon, .refused = on_refused};
    enum error error = saver_load(daemon->saving.saver, daemon->setup.learner, &refusal,
                                  &options->history, &options->history_bytes, problem);
    if (error == MISSING)
        error = OK;
    else if (error == OK)
        error = state_dir_check_history(folder, options, problem);
    options->digest = learner_digest(daemon->setup.learner);
    return error == OK ? incarnation_begin(disk_real(), folder, incarnation_wall_ms(),
                                           NODE_INCARNATIONS, &options->incarnation, problem)
                       : error;
}

static void start(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    const uint64_t now_ns = transport_now_ns();
    const struct learner_thread_options learner_thread_options = {
        .batch_size = setup_batch_size(config, daemon->setup.model),
        .samples_max = config->train.samples_max,
        .step_ns_min = setup_step_ns_min(config),
        .apply_window = daemon->node_options.limits.apply_window,
        .snapshot = saver_queue(daemon->saving.saver),
        .wake = wake,
        .waker = daemon->transport};
    arena_init(&daemon->arena, node_arena_bytes(&daemon->node_options) +
                                   learner_thread_arena_bytes(&learner_thread_options));
    daemon->node = node_new(&daemon->arena, &daemon->node_options, now_ns);
    members_file_begin(&daemon->members, daemon->node, daemon->transport, now_ns);
    daemon->saving.history = memory_new(node_history_max(&daemon->node_options), 1);
    startup_notes_say(&daemon->report, now_ns, config, &daemon->setup, &daemon->node_options);
    startup_notes_sandbox(&daemon->report, now_ns, config, daemon->sandbox);
    startup_notes_keys(&daemon->report, now_ns, &daemon->keys);
    startup_notes_resumed(&daemon->report, now_ns, config, saver_generation(daemon->saving.saver),
                          daemon->refused > 0, daemon->node);
    startup_notes_swarm_key(&daemon->report, now_ns, config, &daemon->setup, daemon->node);
    /* The node has them, and may give them up. */
    secret_wipe(daemon->setup.keys->swarm_key, KEY_BYTES);
    secret_wipe(&daemon->setup.keys->entropy, sizeof daemon->setup.keys->entropy);
    daemon->learner =
        learner_thread_new(&daemon->arena, daemon->setup.learner, &learner_thread_options);
    daemon->saving.learner = daemon->learner;
    daemon->saving.node = daemon->node;
    daemon->status_ns = now_ns + SECOND_NS;
    daemon->evaluate_ns = next_evaluation(daemon, now_ns);
}

/* All that can fail before the node runs. */
static enum error prepare(struct daemon *daemon, struct problem *problem)
{
    const struct config *config = daemon->config;
    enum error error = event_log_open(&daemon->report, config->node.log, config->node.verbose,
                                      transport_now_ns(), problem);
    locked_memory_init(&daemon->keys, setup_keys_bytes(config));
    if (error == OK)
        error = setup_keys(&daemon->setup, config, &daemon->keys.arena, problem);
    if (error == OK)
        error = state_dir_make(config->node.state_dir, problem);
    if (error == OK)
        error = sandbox_enter(config, daemon->sandbox, problem); /* before there are threads */
    if (error == OK)
        error = state_dir_check_start(config->node.state_dir, config->model.start, problem);
    if (error == OK)
        error = status_door_open(&daemon->door, config->node.state_dir, problem);
    if (error == OK)
        error = setup_make(&daemon->setup, config, problem);
    struct node_options *options = &daemon->node_options;
    if (error == OK)
        *options = setup_node_options(&daemon->setup, config);
    options->keys.memory = &daemon->keys.arena;
    if (error == OK)
        error = operator_orders_load(&daemon->orders, config->node.state_dir, options, problem);
    if (error == OK)
        error = known_proofs_load(&daemon->proofs, config->node.state_dir, options, problem);
    if (error == OK)
        error = known_votes_load(&daemon->votes, config->node.state_dir, options, problem);
    if (error == OK)
        error = members_file_load(&daemon->members, config->node.members, problem);
    if (error == OK)
        error = listen_begin(daemon->transport, &config->node.listen, options, problem);
    if (error == OK)
        error = start_answering(daemon, problem);
    return error == OK ? resume(daemon, problem) : error;
}

static int run(struct daemon *daemon)
{
    start(daemon);
    pump(daemon);
    transport_run(daemon->transport);
    status_door_shut(&daemon->door);
    learner_thread_stop(daemon->learner);
    drain(daemon);
    const struct shutdown closing = {.config = daemon->config,
                                     .setup = &daemon->setup,
                                     .learner = daemon->learner,
                                     .node = daemon->node,
                                     .saver = daemon->saving.saver,
                                     .history = daemon->saving.history,
                                     .report = &daemon->report};
    const int code = daemon->starts_again  ? 0
                     : daemon->is_shut_out ? shutdown_shut_out(&daemon->report.reach)
                                           : shutdown_run(&closing);
    node_free(daemon->node);
    return code == 0 && daemon->relapses.are_too_many ? 1 : code;
}

static void clean_up(struct daemon *daemon)
{
    saver_free(daemon->saving.saver);
    transport_free(daemon->transport);
    free(daemon->saving.history);
    operator_orders_free(&daemon->orders);
    known_proofs_free(&daemon->proofs);
    known_votes_free(&daemon->votes);
    members_file_free(&daemon->members);
    event_log_close(&daemon->report);
    status_door_close(&daemon->door);
    sd_notify_close(&daemon->sd_notify);
    setup_free(&daemon->setup);
    arena_release(&daemon->arena);
    locked_memory_free(&daemon->keys);
    free(daemon);
}

/* One life, from the disk to the disk. */
static int live(const struct config *config, struct sandbox *sandbox, bool stays_alone, bool *again)
{
    struct daemon *daemon = memory_new(1, sizeof *daemon);
    struct problem problem;
    daemon->config = config;
    daemon->sandbox = sandbox;
    daemon->stays_alone = stays_alone;
    sd_notify_open(&daemon->sd_notify);
    const struct transport_owner owner = {.self = daemon,
                                          .on_accept = on_accept,
                                          .on_connected = on_connected,
                                          .on_bytes = on_bytes,
                                          .on_sent = on_sent,
                                          .on_closed = on_closed,
                                          .on_timer = on_timer,
                                          .on_wake = on_wake,
                                          .on_signal = on_signal,
                                          .on_asked = on_asked};
    daemon->transport = transport_new(&owner);
    int code = 1;
    if (prepare(daemon, &problem) == OK)
        code = run(daemon);
    else
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    *again = daemon->starts_again;
    clean_up(daemon);
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
