#include "library/engine.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "daemon/shutdown.h"
#include "library/caller_setup.h"

#define LOSS_MAX 1e30 /* largest absolute value of a loss that is counted */

static void lock(struct engine *engine)
{
    CHECK(pthread_mutex_lock(&engine->mutex) == 0);
}

static void unlock(struct engine *engine)
{
    CHECK(pthread_mutex_unlock(&engine->mutex) == 0);
}

/* The functions below run on the loop's thread. */

static enum engine_reason end_of(const struct engine *engine)
{
    const struct host *host = &engine->host;
    return node_is_expelled(host->node)      ? ENGINE_EXPELLED
           : node_is_turned_away(host->node) ? ENGINE_TURNED_AWAY
           : host->has_clash                 ? ENGINE_CLASH
           : host->is_shut_out               ? ENGINE_SHUT_OUT
           : host->starts_again              ? ENGINE_LOST
           : host->resets.are_too_many       ? ENGINE_DIVERGED
                                             : ENGINE_LEFT;
}

/* Writes the members that the node waits for: "1a2b3c4d trains, 5e6f7a8b holds another model". */
static void say_waits(const struct node *node, uint64_t now_ns, char *text)
{
    static const char *const WHY[] = {[FINISH_JOINS] = "joins",
                                      [FINISH_TRAINS] = "trains",
                                      [FINISH_PUBLISHES] = "publishes its last",
                                      [FINISH_DIFFERS] = "holds another model"};
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 1; i < node_members(node) && length < ENGINE_WAITS_MAX - 1; i++) {
        const enum finish_wait wait = node_finish_wait(node, i);
        struct node_member member;
        char id[KEY_HEX_BYTES];
        if (wait == FINISH_HAS)
            continue;
        node_member(node, now_ns, i, &member);
        key_hex(id, member.id);
        const int more = snprintf(text + length, ENGINE_WAITS_MAX - length, "%s%.8s %s",
                                  length > 0 ? ", " : "", id, WHY[wait]);
        length += more > 0 ? (size_t)more : 0;
    }
}

static bool look_at_finish(const struct engine *engine, struct engine_standing *standing)
{
    const struct node *node = engine->host.node;
    const enum finish_state before = standing->finish;
    standing->finish = node_finish_state(node);
    if (standing->finish == FINISH_WAITING || standing->finish == FINISH_PUBLISHING)
        say_waits(node, monotonic_ns(), standing->waits_for);
    return standing->finish != before;
}

/* Updates `standing`, and returns true if a waiting caller must see the change. Runs after every
 * event, so it must be cheap. */
static bool look(struct engine *engine, struct engine_standing *standing)
{
    const struct node *node = engine->host.node;
    const struct engine_standing before = *standing;
    const struct reach *reach = &engine->host.report.reach;
    const bool is_refused = reach->peers > 0 && reach->differs && !reach->had_one;
    /* If no peer accepts this node, it will be shut out, so it does not count as running. */
    standing->is_running = node_phase(node) == NODE_RUNNING && !is_refused;
    standing->digest = node_digest(node);
    standing->waiting = node_waiting(node);
    if (standing->digest != before.digest || before.swarm_samples == 0)
        standing->swarm_samples = node_swarm_samples(node);
    standing->is_settled = engine->wishes.is_settling && node_is_settled(node);
    standing->settle_asked = engine->settle_heard;
    return before.is_running != standing->is_running || before.is_settled != standing->is_settled ||
           before.settle_asked != standing->settle_asked;
}

static void change(struct engine *engine)
{
    (void)atomic_fetch_add(&engine->changes, 1);
    learner_link_nudge(&engine->link);
}

/* Returns true if a save that the caller requested has ended. Requests an abandoned save again. */
static bool look_at_saves(struct engine *engine, struct engine_standing *standing)
{
    const struct saving *saving = &engine->host.saving;
    if (engine->saves_heard == standing->saves || saving->ended == engine->saves_before)
        return false;
    /* The save was abandoned because another base had replaced the one being saved. */
    if (!saving->last.has_checkpoint && saving->last.error == OK) {
        engine->saves_heard--;
        return false;
    }
    standing->saved = saving->last;
    standing->saves = engine->saves_heard;
    return true;
}

/* Passes new requests of the caller to the node. The mutex must be locked. Returns true if the node
 * may have actions to perform. */
static bool grant(struct engine *engine)
{
    const struct engine_wishes *wishes = &engine->wishes;
    struct host *host = &engine->host;
    bool asked = false;
    if (wishes->settle != engine->settle_heard) {
        /* The publication must include steps that were reported before the request. */
        asked = host_drain(host);
        if (node_publish_soon(host->node, monotonic_ns())) {
            engine->settle_heard = wishes->settle;
            asked = true;
        }
    }
    if (wishes->finishes && !engine->is_finishing) {
        asked = host_drain(host) || asked;
        engine->is_finishing = node_finish(host->node, monotonic_ns());
        asked = asked || engine->is_finishing;
    }
    if (wishes->saves != engine->saves_heard && !saver_is_busy(host->saving.saver)) {
        engine->saves_heard = wishes->saves;
        engine->saves_before = host->saving.ended;
        node_save_soon(host->node, monotonic_ns());
        asked = true;
    }
    if (wishes->leaves && !engine->is_leaving) {
        engine->is_leaving = true;
        host->owner_ns = wishes->stop_ns;
        host_leave(host);
        asked = true;
    }
    return asked;
}

static void make_page(struct engine *engine)
{
    free(engine->page);
    engine->page = host_page(&engine->host, &engine->page_bytes);
    engine->pages = engine->wishes.pages;
    CHECK(pthread_cond_broadcast(&engine->told) == 0);
}

static bool on_pumped(void *self)
{
    struct engine *engine = self;
    CHECK(pthread_equal(engine->loop, pthread_self()));
    lock(engine);
    const bool asked = grant(engine);
    bool has_changed = look(engine, &engine->standing) || engine->wishes.is_settling;
    has_changed = look_at_finish(engine, &engine->standing) || has_changed;
    has_changed = look_at_saves(engine, &engine->standing) || has_changed;
    if (engine->pages != engine->wishes.pages)
        make_page(engine);
    unlock(engine);
    if (has_changed)
        change(engine);
    return asked;
}

static uint64_t on_time(void *self, uint64_t now_ns)
{
    struct engine *engine = self;
    lock(engine);
    const uint64_t stop_ns = engine->wishes.leaves ? engine->wishes.stop_ns : UINT64_MAX;
    unlock(engine);
    if (now_ns < stop_ns)
        return stop_ns;
    transport_stop(engine->host.transport);
    return UINT64_MAX;
}

static void on_second(void *self, uint64_t now_ns, const struct node_stats *stats)
{
    struct engine *engine = self;
    (void)now_ns;
    lock(engine);
    engine->standing.stats = *stats;
    unlock(engine);
}

static void on_note(void *self, const struct note *note)
{
    note_queue_put(self, note);
}

static void on_event(void *self, uint64_t now_ns, const struct learner_event *event)
{
    struct engine *engine = self;
    struct node_stats stats;
    /* The host passes on only the last reset, after which the node leaves. */
    CHECK(event->kind == LEARNER_RESET);
    node_stats(engine->host.node, now_ns, &stats);
    lock(engine);
    (void)snprintf(engine->standing.why, sizeof engine->standing.why,
                   "%s, at last by step %" PRIu64, event->resets.tensor, stats.steps);
    unlock(engine);
}

static void *run(void *argument)
{
    struct engine *engine = argument;
    struct host *host = &engine->host;
    engine->loop = pthread_self();
    host_run(host);
    lock(engine);
    struct engine_standing *standing = &engine->standing;
    (void)look(engine, standing);
    node_stats(host->node, monotonic_ns(), &standing->stats);
    standing->is_running = false;
    standing->end = end_of(engine);
    if (standing->end == ENGINE_CLASH)
        (void)snprintf(standing->why, sizeof standing->why, "%.400s (node.identity is %.80s)",
                       node_clash(host->node), engine->config.node.identity);
    else if (standing->end != ENGINE_DIVERGED)
        (void)snprintf(standing->why, sizeof standing->why, "%.500s", host->report.reach.why);
    CHECK(pthread_cond_broadcast(&engine->told) == 0);
    unlock(engine);
    change(engine);
    return NULL;
}

/* The functions below run on the caller's thread. */

struct engine *engine_new(void)
{
    struct engine *engine = memory_new(1, sizeof *engine);
    CHECK(pthread_mutex_init(&engine->mutex, NULL) == 0);
    CHECK(pthread_cond_init(&engine->told, NULL) == 0);
    atomic_init(&engine->changes, 0);
    return engine;
}

enum error engine_open(struct engine *engine, struct problem *problem)
{
    const struct host_owner owner = {.self = engine,
                                     .make = caller_setup_make,
                                     .on_time = on_time,
                                     .on_second = on_second,
                                     .on_event = on_event,
                                     .on_pumped = on_pumped};
    secret_start();
    host_init(&engine->host, &engine->config, &owner);
    enum error error = host_open(&engine->host, true, problem);
    engine->host.report.reader = on_note;
    engine->host.report.reader_self = engine->notes;
    if (error == OK)
        error = host_prepare(&engine->host, problem);
    return error == OK ? caller_setup_check_start(engine, problem) : error;
}

/* Blocks all signals in the new thread: signals are for the host program's threads. */
static void begin_thread(struct engine *engine)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    thread_begin(&engine->thread, run, engine);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    engine->has_begun = true;
}

void engine_begin(struct engine *engine)
{
    struct host *host = &engine->host;
    engine->caller.learner = host->setup.learner;
    engine->caller.tensors = &engine->tensors;
    caller_learner_enter(&engine->caller);
    engine->progress.kind = LEARNER_STEPPED;
    host_begin(host, learner_link_arena_bytes(host->node_options.limits.apply_window));
    const struct learner_link_options options =
        host_link_options(host, &caller_learner_ops, &engine->caller);
    learner_link_init(&engine->link, &host->arena, &options);
    host->link = &engine->link;
    begin_thread(engine);
}

static void end_thread(struct engine *engine)
{
    CHECK(engine->has_begun);
    CHECK(pthread_join(engine->thread, NULL) == 0);
    engine->has_begun = false;
}

enum error engine_begin_again(struct engine *engine, struct problem *problem)
{
    CHECK(engine->standing.end == ENGINE_LOST && !engine->caller.is_filled);
    end_thread(engine);
    learner_link_end(&engine->link);
    engine->host.setup.backend = NULL; /* stays open, because the tensors use it */
    host_free(&engine->host);
    memset(&engine->host, 0, sizeof engine->host);
    engine->may_step = false;
    const enum error error = engine_open(engine, problem);
    if (error != OK)
        return error;
    engine->standing.end = ENGINE_RUNS;
    engine_begin(engine);
    return OK;
}

static void say_progress(struct engine *engine)
{
    if (engine->progress.steps > 0 && learner_link_say_progress(&engine->link, &engine->progress))
        engine->progress = (struct learner_event){.kind = LEARNER_STEPPED};
}

/* Stores the swarm's samples from the order, because `standing` may not have them yet. */
static void permit_steps(struct engine *engine, uint64_t swarm_samples)
{
    engine->may_step = true;
    lock(engine);
    engine->count.swarm_samples = swarm_samples;
    unlock(engine);
}

static void perform(struct engine *engine, const struct action *order)
{
    if (order->kind == ACTION_PUBLISH)
        /* The node needs the number of learned samples for its next rumor. */
        say_progress(engine);
    (void)learner_link_perform(&engine->link, order);
    if (order->kind == ACTION_TRAIN)
        permit_steps(engine, order->swarm_samples);
    if (order->kind != ACTION_PUBLISH)
        return;
    struct learner_resets resets = *learner_resets(engine->caller.learner);
    if (resets.count > 0)
        (void)snprintf(resets.tensor, sizeof resets.tensor, "%s",
                       caller_tensors_name(&engine->tensors, resets.entry));
    learner_link_report_reset(&engine->link, &resets);
    struct learner_saturation saturation = *learner_saturation(engine->caller.learner);
    if (saturation.tensor[0])
        (void)snprintf(saturation.tensor, sizeof saturation.tensor, "%s",
                       caller_tensors_name(&engine->tensors, saturation.first));
    learner_link_say_saturation(&engine->link, &saturation);
    lock(engine);
    engine->count.resets = resets.count;
    engine->count.saturated = saturation.entries;
    unlock(engine);
}

void engine_perform(struct engine *engine)
{
    const struct learner_request *request;
    if (!engine->has_begun)
        return;
    say_progress(engine);
    while ((request = learner_link_peek(&engine->link))) {
        CHECK(request->kind == LEARNER_ORDER);
        perform(engine, request->order);
        learner_link_done(&engine->link);
    }
}

void engine_step(struct engine *engine, uint64_t samples, double loss)
{
    const uint64_t from_ns = monotonic_ns();
    learner_count(engine->caller.learner, samples);
    lock(engine);
    engine->count.steps++;
    engine->count.samples += samples;
    unlock(engine);
    if (engine->config.train.enabled) { /* a node that does not train has nothing to publish */
        engine->progress.steps++;
        engine->progress.samples += samples;
        if (fabs(loss) <= LOSS_MAX)
            engine->progress.loss_sum += loss * (double)samples;
        else
            engine->progress.broken_loss_step = engine->count.steps;
        if (engine->left_ns > 0)
            time_spent_step(&engine->progress.spent, from_ns - engine->left_ns);
    }
    engine_perform(engine);
    engine->left_ns = monotonic_ns();
    time_spent_exchange(&engine->progress.spent, engine->left_ns - from_ns);
}

void engine_fill(struct engine *engine)
{
    caller_learner_fill(&engine->caller);
    lock(engine);
    engine->count.has_joined = true;
    unlock(engine);
}

/* `changes`: engine->changes before the thread checked whether to sleep. */
struct sleeper {
    struct engine *engine;
    uint64_t changes;
};

static bool has_changed(void *context)
{
    const struct sleeper *sleeper = context;
    return atomic_load(&sleeper->engine->changes) != sleeper->changes;
}

bool engine_wait(struct engine *engine, uint64_t due_ns,
                 bool (*is_over)(const struct engine *engine,
                                 const struct engine_standing *standing),
                 struct engine_standing *standing)
{
    for (;;) {
        struct sleeper sleeper = {engine, atomic_load(&engine->changes)};
        engine_perform(engine);
        engine_standing(engine, standing);
        if (is_over(engine, standing))
            return true;
        if (standing->end != ENGINE_RUNS || monotonic_ns() >= due_ns)
            return false;
        learner_link_sleep(&engine->link, due_ns, has_changed, &sleeper);
    }
}

/* The functions below may run on any thread. */

void engine_standing(struct engine *engine, struct engine_standing *standing)
{
    lock(engine);
    *standing = engine->standing;
    unlock(engine);
}

struct engine_count engine_count(struct engine *engine)
{
    lock(engine);
    const struct engine_count count = engine->count;
    unlock(engine);
    return count;
}

struct engine_wishes *engine_wish(struct engine *engine)
{
    lock(engine);
    return &engine->wishes;
}

void engine_wished(struct engine *engine)
{
    unlock(engine);
    if (engine->host.transport) /* NULL only if engine_begin_again has failed */
        transport_wake(engine->host.transport);
}

char *engine_page(struct engine *engine, size_t *bytes)
{
    const uint64_t wish = ++engine_wish(engine)->pages;
    engine_wished(engine);
    char *page = NULL;
    lock(engine);
    while (engine->pages < wish && engine->standing.end == ENGINE_RUNS)
        CHECK(pthread_cond_wait(&engine->told, &engine->mutex) == 0);
    if (engine->pages >= wish) {
        page = memory_new(engine->page_bytes + 1, 1);
        memcpy(page, engine->page, engine->page_bytes);
        *bytes = engine->page_bytes;
    }
    unlock(engine);
    return page;
}

/* The functions below end the node, on the caller's thread. */

static enum error save(struct engine *engine, struct problem *problem)
{
    struct host *host = &engine->host;
    const struct executor executor = {.ops = &caller_learner_ops, .learner = &engine->caller};
    (void)host_drain(host);
    shutdown_apply(host->node, &executor, &host->report);
    caller_learner_gather(&engine->caller);
    const uint64_t digest = learner_digest(host->setup.learner);
    const enum error error =
        shutdown_save(host->node, host->saving.saver, host->setup.learner, problem);
    if (error == OK && !node_is_base(host->node, digest))
        return problem_set(problem, FAILED,
                           "the base differs from the sum of its rumors: a defect or broken "
                           "memory; do not use this base");
    return error;
}

enum error engine_end(struct engine *engine, struct problem *problem)
{
    sigset_t all, before;
    if (engine->has_begun)
        end_thread(engine);
    const enum engine_reason end = engine->standing.end;
    const bool is_shared = end == ENGINE_CLASH && engine->host.is_shared;
    if (end != ENGINE_LEFT && end != ENGINE_DIVERGED && !is_shared)
        return problem_set(problem, FAILED,
                           "the node had already ended and saved no new checkpoint");
    (void)sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    const enum error error = save(engine, problem);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    return error;
}

void engine_free(struct engine *engine)
{
    CHECK(!engine->has_begun);
    /* If hearsay_open failed early, the host does not own the backend yet. */
    if (engine->tensors.backend && !engine->host.setup.backend)
        engine->tensors.backend->close(engine->tensors.backend);
    if (engine->host.link)
        learner_link_end(&engine->link);
    caller_learner_free(&engine->caller);
    if (engine->host.transport)
        host_free(&engine->host);
    caller_tensors_free(&engine->tensors);
    free(engine->file.extra);
    free(engine->page);
    CHECK(pthread_mutex_destroy(&engine->mutex) == 0);
    CHECK(pthread_cond_destroy(&engine->told) == 0);
    free(engine);
}
