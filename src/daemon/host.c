#include "daemon/host.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/time_units.h"
#include "config/saved_config.h"
#include "daemon/listen.h"
#include "daemon/startup_notes.h"
#include "node/labels_api.h"
#include "node/settle.h"
#include "state/averaged_base.h"
#include "state/disk.h"
#include "state/incarnation.h"
#include "state/saver.h"
#include "state/state_dir.h"

/* Answers ACTION_INCARNATION: reserves further incarnations on the disk, from `first` on. Without a
 * reservation, the node must not send. */
static void reserve(struct host *host, uint64_t first)
{
    struct problem problem;
    uint64_t incarnation;
    if (incarnation_begin(disk_real(), host->config->node.state_dir, first, NODE_INCARNATIONS,
                          &incarnation, &problem) == OK)
        node_on_incarnation(host->node, monotonic_ns(), incarnation);
    else
        event_log_say(&host->report, monotonic_ns(), NOTE_RESUMED, LEVEL_ERROR, problem.text);
}

static void do_actions(struct host *host)
{
    struct action action;
    while (node_next(host->node, &action)) {
        switch (action.kind) {
        case ACTION_DIAL:
            transport_dial(host->transport, action.conn, &action.address, action.segment_bytes);
            break;
        case ACTION_SEND:
            transport_send(host->transport, action.conn, action.bytes, action.count);
            break;
        case ACTION_HANGUP:
            transport_hang_up(host->transport, action.conn);
            break;
        case ACTION_SAVE:
            saving_begin(&host->saving);
            break;
        case ACTION_APPLY:
        case ACTION_TRIAL:
        case ACTION_READ:
        case ACTION_WRITE:
        case ACTION_TRAIN:
        case ACTION_PUBLISH:
        case ACTION_PREDICT:
            learner_link_order(host->link, &action);
            break;
        case ACTION_NOTE:
            event_log_note(&host->report, &action.note);
            web_on_note(&host->web, &action.note);
            break;
        case ACTION_INCARNATION:
            reserve(host, action.first);
            break;
        case ACTION_RESTART:
        case ACTION_FINISHED:
            host->starts_again = action.kind == ACTION_RESTART;
            transport_stop(host->transport);
            break;
        }
    }
}

/* Stops the node because another process runs with the same identity. If the node went on, it would
 * train alone and overwrite the saved base, which may still equal the base of the swarm. */
static void end_clash(struct host *host)
{
    host->has_clash = true;
    host->is_shared = node_phase(host->node) == NODE_RUNNING &&
                      reach_is_shared(&host->report.reach, monotonic_ns());
    transport_stop(host->transport);
}

void host_pump(struct host *host)
{
    do
        do_actions(host);
    while (host->owner.on_pumped(host->owner.self));
    if (node_clash(host->node) && !host->has_clash)
        end_clash(host);
    learner_link_set_more(host->link, node_is_learner_full(host->node));
    if (saving_knows_model(&host->saving)) {
        operator_orders_keep(&host->orders, host->node, &host->report, monotonic_ns());
        known_proofs_keep(&host->proofs, host->node, &host->report, monotonic_ns());
        known_votes_keep(&host->votes, host->node, &host->report, monotonic_ns());
    }
    uint64_t wake_ns = node_wake_ns(host->node);
    wake_ns = u64_min(wake_ns, host->status_ns);
    if (host->owner_ns < wake_ns)
        wake_ns = host->owner_ns;
    transport_set_timer(host->transport, wake_ns);
}

static uint64_t on_accept(void *self, const struct address *from)
{
    struct host *host = self;
    const uint64_t conn = node_on_accept(host->node, monotonic_ns(), from);
    host_pump(host);
    return conn;
}

static void on_connected(void *self, uint64_t conn)
{
    struct host *host = self;
    node_on_connected(host->node, monotonic_ns(), conn);
    host_pump(host);
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct host *host = self;
    const uint64_t resume_ns = node_on_bytes(host->node, monotonic_ns(), conn, bytes, count);
    if (resume_ns > 0)
        transport_hold(host->transport, conn, resume_ns);
    host_pump(host);
}

static void on_sent(void *self, uint64_t conn)
{
    struct host *host = self;
    node_on_sent(host->node, monotonic_ns(), conn);
    host_pump(host);
}

static void on_closed(void *self, uint64_t conn, const char *why)
{
    struct host *host = self;
    node_on_closed(host->node, monotonic_ns(), conn, why);
    host_pump(host);
}

static void on_ready(void *self)
{
    struct host *host = self;
    web_on_ready(&host->web);
    if (host->web.is_due)
        transport_wake(host->transport); /* on_wake then calls on_ready again */
}

/* Adds the measurements of the last second to the history on the web page. */
static void show_second(struct host *host, uint64_t now_ns, const struct node_stats *stats)
{
    const struct evaluation *base = &host->training.guard.last;
    if (!host->web.server)
        return;
    double second[TRAIL_VALUES] = {
        [TRAIL_AT_S] = (double)(now_ns - host->report.start_ns) * 1e-9,
        [TRAIL_LOSS] = host->training.loss,
        [TRAIL_BASE_LOSS] = base->samples ? base->loss : (double)NAN,
        [TRAIL_ACCURACY] = evaluation_accuracy(base),
        [TRAIL_SPEED] = stats->samples_per_second,
        [TRAIL_SHARE] = stats->share,
        [TRAIL_LAG_S] = (double)stats->lag_ns * 1e-9,
        [TRAIL_KNOWN] = (double)stats->version,
        [TRAIL_WAITING] = (double)stats->waiting,
        [TRAIL_BUDGET] = stats->budget,
        [TRAIL_MEMBERS] = stats->members_live,
        [TRAIL_SENT_BYTES] = (double)stats->sent_bytes,
    };
    status_track_rates(&host->watch.total, now_ns, stats->sent_bytes, stats->received_bytes,
                       &second[TRAIL_SENT], &second[TRAIL_RECEIVED]);
    for (uint32_t i = 0; i < node_members(host->node); i++) {
        struct node_member member;
        node_member(host->node, now_ns, i, &member);
        if (!member.live)
            continue;
        second[TRAIL_ALL_SPEED] += i == 0 ? stats->samples_per_second : member.samples_per_second;
        second[TRAIL_MOST_LAG_S] =
            fmax(second[TRAIL_MOST_LAG_S], (double)(i == 0 ? stats->lag_ns : member.lag_ns) * 1e-9);
    }
    web_on_second(&host->web, second);
    /* Lets the web server send the new row to the page's clients, and close idle connections. */
    on_ready(host);
}

static void on_second(struct host *host, uint64_t now_ns)
{
    struct node_stats stats;
    node_stats(host->node, now_ns, &stats);
    node_labels_whose(host->node, host->training.guard.mislabelled);
    host->training.labels_contradict = node_labels_text(host->node) != NULL;
    event_log_status(&host->report, now_ns, &stats, training_watch_on_second(&host->training));
    host->owner.on_second(host->owner.self, now_ns, &stats);
    status_watch_look(&host->watch, host->node, now_ns);
    show_second(host, now_ns, &stats);
    operator_orders_look(&host->orders, host->node, &host->report, now_ns);
    host->status_ns = now_ns + SECOND_NS;
    host->is_shut_out = !host->stays_alone && reach_is_shut_out(&host->report.reach, now_ns);
    if (host->is_shut_out)
        transport_stop(host->transport);
}

static void on_timer(void *self)
{
    struct host *host = self;
    const uint64_t now_ns = monotonic_ns();
    node_on_time(host->node, now_ns);
    if (now_ns >= host->status_ns)
        on_second(host, now_ns);
    host->owner_ns = host->owner.on_time(host->owner.self, now_ns);
    host_pump(host);
}

static void on_stepped(struct host *host, uint64_t now_ns, const struct learner_event *event)
{
    node_on_step(host->node, now_ns, event->steps, event->samples);
    training_watch_on_step(&host->training, now_ns, event);
    event_log_batch(&host->report, now_ns, event->batch);
    if (event->is_over) {
        node_end_training(host->node);
        host->must_publish = true;
    }
}

void host_leave(struct host *host)
{
    node_leave(host->node, monotonic_ns());
}

static void on_reset(struct host *host, uint64_t now_ns, const struct learner_event *event)
{
    if (host->resets.are_too_many)
        return;
    struct node_stats stats;
    node_stats(host->node, now_ns, &stats);
    resets_add(&host->resets, now_ns);
    event_log_reset(&host->report, now_ns, stats.steps, &event->resets, host->resets.are_too_many);
    if (!host->resets.are_too_many)
        return;
    host_leave(host);
    host->owner.on_event(host->owner.self, now_ns, event);
}

static void on_saturated(struct host *host, uint64_t now_ns, const struct learner_event *event)
{
    if (!host->saturation.tensor[0])
        event_log_saturated(&host->report, now_ns, &event->saturation, host->setup.companded);
    host->saturation = event->saturation;
}

bool host_drain(struct host *host)
{
    struct learner_event event;
    bool said = false;
    while (learner_link_next(host->link, &event)) {
        /* read for each event, since handling an event may take long */
        const uint64_t now_ns = monotonic_ns();
        said = true;
        switch (event.kind) {
        case LEARNER_STEPPED:
            on_stepped(host, now_ns, &event);
            break;
        case LEARNER_ANSWERED:
            if (event.answer.to == ACTION_SAVE)
                saving_on_part(&host->saving, now_ns, event.answer.entries);
            else
                executor_answer(host->node, now_ns, &event.answer);
            break;
        case LEARNER_RESET:
            on_reset(host, now_ns, &event);
            break;
        case LEARNER_SATURATED:
            on_saturated(host, now_ns, &event);
            break;
        case LEARNER_EVALUATED:
            training_watch_on_evaluation(&host->training, now_ns, &event);
            host->owner.on_event(host->owner.self, now_ns, &event);
            break;
        case LEARNER_LOOKED:
            training_watch_on_vitals(&host->training, now_ns, &event);
            break;
        }
    }
    return said;
}

static void on_wake(void *self)
{
    struct host *host = self;
    (void)host_drain(host);
    if (host->must_publish && node_publish_soon(host->node, monotonic_ns()))
        host->must_publish = false;
    if (host->web.is_due)
        on_ready(host);
    saving_on_wake(&host->saving, &host->report, monotonic_ns());
    host_pump(host);
}

static void on_signal(void *self, int number)
{
    struct host *host = self;
    host->owner.on_signal(host->owner.self, number);
}

json_t *host_status(const struct host *host)
{
    const uint64_t saved_ns = host->saving.saved_ns;
    const struct status_facts facts = {
        .options = &host->node_options,
        .reach = &host->report.reach,
        .list = host->members.list,
        .listen = host->config->node.listen,
        .start_ns = host->report.start_ns,
        .training = &host->training,
        .checkpoint_age_s = saved_ns ? (double)(monotonic_ns() - saved_ns) * 1e-9 : (double)NAN,
        .free_bytes = disk_free_bytes(host->config->node.state_dir),
        .diverged = host->resets.count,
        .saturation = &host->saturation,
    };
    return status_watch_page(&host->watch, host->node, &facts, monotonic_ns());
}

char *host_page(const struct host *host, size_t *count)
{
    json_t *status = host_status(host);
    char *text = json_dumps(status, STATUS_JSON);
    json_decref(status);
    CHECK(text);
    *count = strlen(text);
    return text;
}

static json_t *status_of(void *self)
{
    return host_status(self);
}

static enum error start_web(struct host *host, struct problem *problem)
{
    host->web.page = status_of;
    host->web.host = host;
    host->web.start_ns = host->report.start_ns;
    const enum error error = web_open(&host->web, &host->config->node, problem);
    if (error == OK && host->web.server)
        transport_watch(host->transport, web_server_file(host->web.server));
    return error;
}

static char *on_local_client(void *self, size_t *count)
{
    return host_page(self, count);
}

static void wake(void *waker)
{
    transport_wake(waker);
}

/* Clients of the status socket can connect from now on, and get an answer when the node runs. */
static enum error start_answering(struct host *host, struct problem *problem)
{
    int made;
    const enum error error = status_endpoint_socket(&host->endpoint, &made, problem);
    if (error == OK)
        transport_serve_local(host->transport, made);
    return error;
}

static void on_refused(void *context, const struct problem *problem)
{
    struct host *host = context;
    host->refused++;
    event_log_say(&host->report, monotonic_ns(), NOTE_RESUMED, LEVEL_WARNING, problem->text);
}

/* Loads the checkpoint of an earlier run, if there is one, into the learner. Begins an
 * incarnation. */
static enum error resume(struct host *host, struct problem *problem)
{
    const char *folder = host->config->node.state_dir;
    struct node_options *options = &host->node_options;
    checkpoint_owner_describe(&host->setup.keys->identity, host->config->node.swarm,
                              host->setup.description, host->saves);
    struct saver_options saver_options = setup_saver_options(host->config, options->parameters,
                                                             learner_moments(host->setup.learner));
    saver_options.model = host->saves;
    saver_options.wake = wake;
    saver_options.waker = host->transport;
    saver_options.base = (struct export){
        .model = host->setup.model, .companded = host->setup.companded, .about = host->setup.about};
    export_path(saver_options.base.path, folder);
    host->saving.saver = saver_new(&saver_options);
    const struct checkpoint_refusal refusal = {.context = host, .refused = on_refused};
    enum error error = saver_load(host->saving.saver, host->setup.learner, &refusal,
                                  &options->history, &options->history_bytes, problem);
    if (error == MISSING)
        error = OK;
    else if (error == OK)
        error = state_dir_check_history(folder, options, problem);
    if (error == OK && averaged_base_load(folder, host->setup.learner, problem) != OK)
        event_log_say(&host->report, monotonic_ns(), NOTE_RESUMED, LEVEL_WARNING, problem->text);
    options->model_hash = saver_model_hash(host->saving.saver);
    saving_on_loaded(&host->saving);
    options->digest = learner_digest(host->setup.learner);
    options->kept.swarm_samples = learner_swarm_samples(host->setup.learner);
    return error == OK ? incarnation_begin(disk_real(), folder, incarnation_wall_ms(),
                                           NODE_INCARNATIONS, &options->incarnation, problem)
                       : error;
}

void host_init(struct host *host, const struct config *config, const struct host_owner *owner)
{
    const struct transport_owner transport_owner = {
        .self = host,
        .on_accept = on_accept,
        .on_connected = on_connected,
        .on_bytes = on_bytes,
        .on_sent = on_sent,
        .on_closed = on_closed,
        .on_timer = on_timer,
        .on_wake = on_wake,
        .on_signal = owner->on_signal ? on_signal : NULL,
        .on_local_client = on_local_client,
        .on_ready = on_ready,
    };
    CHECK(!host->transport);
    host->config = config;
    host->owner = *owner;
    host->transport = transport_try_new(&transport_owner);
}

enum error host_open(struct host *host, bool is_quiet, struct problem *problem)
{
    const struct config *config = host->config;
    if (!host->transport)
        return problem_set(problem, FAILED,
                           "cannot start the event loop: the process has too many open files; "
                           "close some, or raise the limit (ulimit -n)");
    enum error error = event_log_open(&host->report, config->node.log, config->node.verbose,
                                      monotonic_ns(), problem);
    host->report.is_quiet = is_quiet;
    locked_memory_init(&host->keys, setup_keys_bytes(config));
    if (error == OK)
        error = setup_keys(&host->setup, config, &host->keys.arena, problem);
    return error == OK ? state_dir_make(config->node.state_dir, problem) : error;
}

static enum error load_known(struct host *host, struct problem *problem)
{
    const char *folder = host->config->node.state_dir;
    struct node_options *options = &host->node_options;
    enum error error = operator_orders_load(&host->orders, folder, options, problem);
    if (error == OK)
        error = known_proofs_load(&host->proofs, folder, options, problem);
    if (error == OK)
        error = known_votes_load(&host->votes, folder, options, problem);
    if (error == OK)
        error = members_file_load(&host->members, host->config->node.members, problem);
    return error;
}

enum error host_prepare(struct host *host, struct problem *problem)
{
    const struct config *config = host->config;
    enum error error = status_endpoint_open(&host->endpoint, config->node.state_dir, problem);
    if (error == OK)
        error = host->owner.make(host->owner.self, &host->setup, problem);
    struct node_options *options = &host->node_options;
    if (error == OK)
        *options = setup_node_options(&host->setup, config);
    if (error == OK && config->node.answers)
        error = inference_words_form(host->setup.learner, host->about_samples,
                                     &options->limits.answers, problem);
    options->keys.memory = &host->keys.arena;
    if (error == OK)
        error = listen_begin(host->transport, &config->node.listen, options, problem);
    if (error == OK)
        error = start_answering(host, problem);
    if (error == OK)
        error = start_web(host, problem);
    if (error == OK)
        error = resume(host, problem);
    if (error == OK)
        /* after resume: orders, proofs and votes are signed for the swarm of the loaded base */
        error = load_known(host, problem);
    return error == OK ? saved_config_write(config, problem) : error;
}

void host_begin(struct host *host, size_t link_bytes)
{
    const struct config *config = host->config;
    const uint64_t now_ns = monotonic_ns();
    arena_init(&host->arena, node_arena_bytes(&host->node_options) + link_bytes);
    host->node = node_new(&host->arena, &host->node_options, now_ns);
    members_file_begin(&host->members, host->node, now_ns);
    host->saving.history = memory_new(node_history_max(&host->node_options), 1);
    host->saving.node = host->node;
    startup_notes_say(&host->report, now_ns, config, &host->setup, &host->node_options);
    startup_notes_keys(&host->report, now_ns, &host->keys);
    if (host->web.server)
        startup_notes_web(&host->report, now_ns, &config->node.http,
                          web_server_port(host->web.server));
    startup_notes_resumed(&host->report, now_ns, config, saver_generation(host->saving.saver),
                          host->refused > 0, host->node);
    startup_notes_swarm_key(&host->report, now_ns, config, &host->setup, host->node);
    /* The node has copied the keys, so these copies are no longer needed. */
    secret_wipe(host->setup.keys->swarm_key, KEY_BYTES);
    secret_wipe(&host->setup.keys->entropy, sizeof host->setup.keys->entropy);
    host->status_ns = now_ns + SECOND_NS;
}

struct learner_link_options host_link_options(struct host *host, const struct executor_ops *ops,
                                              void *learner)
{
    CHECK(host->node);
    return (struct learner_link_options){
        .apply_window = host->node_options.limits.apply_window,
        .ops = ops,
        .learner = learner,
        .snapshot = saver_queue(host->saving.saver),
        .wake = wake,
        .waker = host->transport,
    };
}

void host_run(struct host *host)
{
    CHECK(host->node && host->link);
    training_watch_begin(&host->training, host->config, &host->setup, &host->report, host->link);
    host->saving.link = host->link;
    host->saving.training = &host->training;
    host->owner_ns = host->owner.on_time(host->owner.self, monotonic_ns());
    host_pump(host);
    transport_run(host->transport);
    training_watch_end(&host->training);
    learner_link_set_more(host->link, false);
    status_endpoint_shut(&host->endpoint);
}

void host_free(struct host *host)
{
    if (host->node)
        node_free(host->node);
    saver_free(host->saving.saver);
    if (host->transport)
        transport_free(host->transport);
    web_close(&host->web);
    free(host->saving.history);
    operator_orders_free(&host->orders);
    known_proofs_free(&host->proofs);
    known_votes_free(&host->votes);
    members_file_free(&host->members);
    event_log_close(&host->report);
    status_endpoint_close(&host->endpoint);
    setup_free(&host->setup);
    arena_release(&host->arena);
    locked_memory_free(&host->keys);
}
