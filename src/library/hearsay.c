#include "hearsay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/min_max.h"
#include "library/engine.h"
#include "library/handle.h"

#define SAMPLES_MAX UINT32_MAX
#define WAIT_MAX_S  1e9 /* seconds; a longer wait has no limit */

uint32_t hearsay_abi(void)
{
    return HEARSAY_ABI;
}

const char *hearsay_version(void)
{
    return HEARSAY_VERSION;
}

/* Sets *due_ns to the time at which a wait of timeout_s ends. Returns false if timeout_s is NaN. */
static bool due_of(double timeout_s, uint64_t *due_ns)
{
    if (isnan(timeout_s))
        return false;
    *due_ns = timeout_s < 0 || timeout_s > WAIT_MAX_S
                  ? UINT64_MAX
                  : monotonic_ns() + (uint64_t)(timeout_s * 1e9);
    return true;
}

/* Returns the error of a call that waited too long or found no running node. */
static int on_end(struct hearsay *node, const struct engine_standing *standing)
{
    switch (standing->end) {
    case ENGINE_RUNS:
        return handle_fail_plainly(node, HEARSAY_TIMEOUT);
    case ENGINE_SHUT_OUT:
        return handle_fail(node, HEARSAY_REFUSED,
                           "no peer accepts this node: %.300s; make run, the tensors and all "
                           "settings marked (same) equal on all nodes",
                           standing->why);
    case ENGINE_EXPELLED:
        return handle_fail(node, HEARSAY_REFUSED,
                           "the operator, a proof or votes have expelled this node from the swarm; "
                           "the log says which");
    case ENGINE_TURNED_AWAY:
        return handle_fail(node, HEARSAY_REFUSED,
                           "no member admits this node, or none has answered; the log says which");
    case ENGINE_CLASH:
        return handle_fail(node, HEARSAY_REFUSED, "%s", standing->why);
    case ENGINE_LOST:
        return handle_fail(node, HEARSAY_ENDED,
                           "no reachable member has the rest of the base; close the node, and open "
                           "it again: it continues from its checkpoint, or without one from the "
                           "tensors");
    case ENGINE_DIVERGED:
        return handle_fail(node, HEARSAY_ENDED,
                           "the weights were NaN or infinite three times within an hour (%.120s), "
                           "and the node has left; lower the learning rate or clip gradients",
                           standing->why);
    case ENGINE_LEFT:
        break;
    }
    return handle_fail(node, HEARSAY_ENDED, "the node has left the swarm");
}

static int leave(struct hearsay *node, int error)
{
    caller_learner_leave(&node->engine->caller);
    return handle_return(node, error);
}

static bool has_joined(const struct engine *engine, const struct engine_standing *standing)
{
    return standing->is_running && (engine->may_step || !engine->config.train.enabled);
}

/* Starts the node again after it has lost the members that had the rest of its base. */
static int begin_again(struct hearsay *node)
{
    struct problem problem;
    handle_lock(node); /* other threads must not see an engine without a node */
    const enum error error = engine_begin_again(node->engine, &problem);
    handle_unlock(node);
    return error == OK ? HEARSAY_OK : handle_fail(node, HEARSAY_FAILED, "%s", problem.text);
}

static int join(struct hearsay *node, uint64_t due_ns)
{
    struct engine *engine = node->engine;
    struct engine_standing standing;
    if (engine_count(engine).has_joined)
        return HEARSAY_OK;
    while (!engine_wait(engine, due_ns, has_joined, &standing)) {
        if (standing.end != ENGINE_LOST)
            return on_end(node, &standing);
        const int error = begin_again(node);
        if (error != HEARSAY_OK)
            return error;
    }
    engine_fill(engine);
    return HEARSAY_OK;
}

int hearsay_stream(struct hearsay *node, void *stream)
{
    const int error = handle_enter(node);
    if (error != HEARSAY_OK)
        return error;
    const struct caller_tensors *tensors = &node->engine->tensors;
    if (tensors->device != HEARSAY_CUDA)
        return handle_return(node, handle_fail(node, HEARSAY_UNSUPPORTED,
                                               "the tensors are on the CPU, where calls follow no "
                                               "stream; remove the call of hearsay_stream"));
    if (!tensors->backend->stream->is_known(tensors->backend, stream))
        return handle_return(node, handle_fail(node, HEARSAY_ARGUMENT,
                                               "stream is not an open stream of GPU %d, which has "
                                               "the tensors; pass a cudaStream_t of that GPU",
                                               (int)tensors->device_index));
    caller_learner_follow_stream(&node->engine->caller, stream);
    return handle_return(node, HEARSAY_OK);
}

int hearsay_join(struct hearsay *node, double timeout_s)
{
    uint64_t due_ns;
    const int error = handle_enter(node);
    if (error != HEARSAY_OK)
        return error;
    if (!due_of(timeout_s, &due_ns))
        return handle_return(node, handle_fail(node, HEARSAY_ARGUMENT, "timeout_s is NaN"));
    return leave(node, join(node, due_ns));
}

/* Like handle_enter, but fails unless the node has joined and still runs. */
static int enter_joined(struct hearsay *node)
{
    struct engine_standing standing;
    const int error = handle_enter(node);
    if (error != HEARSAY_OK)
        return error;
    engine_standing(node->engine, &standing);
    if (standing.end != ENGINE_RUNS)
        return handle_return(node, on_end(node, &standing));
    if (engine_count(node->engine).has_joined)
        return HEARSAY_OK;
    return handle_return(node, handle_fail_plainly(node, HEARSAY_NOT_JOINED));
}

int hearsay_step(struct hearsay *node, uint64_t samples, double loss, int *changed)
{
    const int error = enter_joined(node);
    if (error != HEARSAY_OK)
        return error;
    struct engine *engine = node->engine;
    if (samples == 0 || samples > SAMPLES_MAX)
        return handle_return(
            node,
            handle_fail(node, HEARSAY_ARGUMENT,
                        "the samples of a step are out of range: pass 1 to %u instead of %llu",
                        (unsigned)SAMPLES_MAX, (unsigned long long)samples));
    if (engine->has_finished)
        return handle_return(
            node,
            handle_fail(
                node, HEARSAY_ENDED,
                "hearsay_finish has ended training; close the node, and open it again to train"));
    engine->has_wish = false;
    engine_step(engine, samples, loss);
    if (changed)
        *changed = engine->caller.has_changed;
    return leave(node, HEARSAY_OK);
}

static bool is_settled(const struct engine *engine, const struct engine_standing *standing)
{
    return standing->is_settled && standing->settle_asked == engine->wishes.settle;
}

static bool has_said_all(const struct engine *engine, const struct engine_standing *standing)
{
    (void)standing;
    return engine->progress.steps == 0;
}

/* Waits until the loop knows all steps, then publishes and waits until the node is settled. A retry
 * after a timeout continues to wait for the same publication, unless a step was made since. */
static int settle(struct hearsay *node, uint64_t due_ns)
{
    struct engine *engine = node->engine;
    struct engine_standing standing;
    engine_standing(engine, &standing);
    if (standing.finish == FINISH_DONE)
        return HEARSAY_OK; /* training has ended: nothing is left to publish */
    engine_wish(engine)->is_settling = true;
    engine_wished(engine);
    bool is_over = engine_wait(engine, due_ns, has_said_all, &standing);
    if (is_over && !engine->has_wish) {
        engine_wish(engine)->settle++;
        engine_wished(engine);
        engine->has_wish = true;
    }
    is_over = is_over && engine_wait(engine, due_ns, is_settled, &standing);
    engine->has_wish = engine->has_wish && !is_over;
    engine_wish(engine)->is_settling = false;
    engine_wished(engine);
    if (is_over)
        caller_learner_reset_statistics(&engine->caller);
    return is_over ? HEARSAY_OK : on_end(node, &standing);
}

int hearsay_settle(struct hearsay *node, double timeout_s)
{
    uint64_t due_ns;
    const int error = enter_joined(node);
    if (error != HEARSAY_OK)
        return error;
    if (!due_of(timeout_s, &due_ns))
        return handle_return(node, handle_fail(node, HEARSAY_ARGUMENT, "timeout_s is NaN"));
    return leave(node, settle(node, due_ns));
}

static bool has_finished(const struct engine *engine, const struct engine_standing *standing)
{
    (void)engine;
    return standing->finish == FINISH_DONE;
}

/* Sets the tensors to the base after this node's last publication, and again when all members have
 * finished. */
static int finish(struct hearsay *node, uint64_t due_ns)
{
    struct engine *engine = node->engine;
    struct engine_standing standing;
    engine->has_finished = true;
    bool is_over = engine_wait(engine, due_ns, has_said_all, &standing);
    if (is_over) {
        engine_wish(engine)->finishes = true;
        engine_wished(engine);
        is_over = engine_wait(engine, due_ns, has_finished, &standing);
    }
    if (standing.finish >= FINISH_WAITING && standing.finish != engine->reverted) {
        caller_learner_revert(&engine->caller);
        engine->reverted = standing.finish;
    }
    if (is_over)
        return HEARSAY_OK;
    if (standing.end == ENGINE_RUNS)
        return handle_fail(
            node, HEARSAY_TIMEOUT,
            "some members have not finished within the timeout; the node waits for %s",
            standing.waits_for[0]               ? standing.waits_for
            : standing.finish != FINISH_WAITING ? "its own last publication"
                                                : "news of the other members");
    return on_end(node, &standing);
}

int hearsay_finish(struct hearsay *node, double timeout_s)
{
    uint64_t due_ns;
    const int error = enter_joined(node);
    if (error != HEARSAY_OK)
        return error;
    if (!due_of(timeout_s, &due_ns))
        return handle_return(node, handle_fail(node, HEARSAY_ARGUMENT, "timeout_s is NaN"));
    return leave(node, finish(node, due_ns));
}

int hearsay_revert(struct hearsay *node)
{
    const int error = enter_joined(node);
    if (error != HEARSAY_OK)
        return error;
    /* gathers the tensors, then sets them to the base */
    caller_learner_revert(&node->engine->caller);
    return leave(node, HEARSAY_OK);
}

/* Returns the error for tensors that hearsay_base refused, and stores its message. */
static int refuse(struct hearsay *node, enum error error, const struct problem *problem)
{
    return handle_fail(node, error == MISMATCH ? HEARSAY_UNSUPPORTED : HEARSAY_ARGUMENT, "%s",
                       problem->text);
}

static int base(struct hearsay *node, const struct hearsay_tensor *given, uint32_t count)
{
    struct engine *engine = node->engine;
    struct caller_tensors tensors;
    struct problem problem;
    enum error error = caller_tensors_init(&tensors, given, count, &problem);
    if (error == OK && tensors.device != HEARSAY_CPU)
        error = problem_set(&problem, MISMATCH, "the base needs tensors of the CPU");
    if (error != OK) {
        caller_tensors_free(&tensors);
        return refuse(node, error, &problem);
    }
    const struct model *model = engine->host.setup.model;
    error = model ? caller_tensors_place(&tensors, model, &problem) : OK;
    if (error == OK)
        error = caller_tensors_check(&engine->tensors, &tensors, &problem);
    if (error == OK) {
        float *weights = memory_new(tensors.parameters, sizeof *weights);
        struct backend *host = backend_cpu(0);
        engine_perform(engine);
        learner_read_base(engine->caller.learner, weights);
        caller_tensors_use(&tensors, host);
        caller_tensors_scatter(&tensors, 0, tensors.parameters, weights);
        host->close(host);
        free(weights);
    }
    caller_tensors_free(&tensors);
    return error == OK ? HEARSAY_OK : refuse(node, error, &problem);
}

int hearsay_base(struct hearsay *node, const struct hearsay_tensor *tensors, uint32_t tensors_count)
{
    const int error = enter_joined(node);
    return error == HEARSAY_OK ? leave(node, base(node, tensors, tensors_count)) : error;
}

/* Saves the caller's bytes in the state folder. */
static int keep(struct hearsay *node, const void *extra, size_t bytes)
{
    struct caller_file *file = &node->engine->file;
    struct caller_file next = {.start_digest = file->start_digest, .bytes = bytes};
    struct problem problem;
    next.extra = bytes > 0 ? malloc(bytes) : NULL;
    if (bytes > 0 && !next.extra)
        return handle_fail(node, HEARSAY_FAILED, "cannot allocate %zu bytes", bytes);
    if (bytes > 0)
        memcpy(next.extra, extra, bytes);
    if (caller_file_save(node->engine->config.node.state_dir, &next, &problem) != OK) {
        free(next.extra);
        return handle_fail(node, HEARSAY_FAILED, "%s", problem.text);
    }
    free(file->extra);
    *file = next;
    return HEARSAY_OK;
}

static bool has_saved(const struct engine *engine, const struct engine_standing *standing)
{
    return standing->saves == engine->wishes.saves;
}

static int save(struct hearsay *node)
{
    struct engine *engine = node->engine;
    struct engine_standing standing;
    engine_wish(engine)->saves++;
    engine_wished(engine);
    if (!engine_wait(engine, UINT64_MAX, has_saved, &standing))
        return on_end(node, &standing);
    if (standing.saved.error != OK)
        return handle_fail(node, HEARSAY_FAILED, "%s", standing.saved.problem.text);
    return HEARSAY_OK;
}

int hearsay_save(struct hearsay *node, const void *extra, size_t bytes)
{
    int error = enter_joined(node);
    if (error != HEARSAY_OK)
        return error;
    if (!extra && bytes > 0)
        return handle_return(
            node, handle_fail(node, HEARSAY_ARGUMENT, "extra is NULL; pass %zu bytes", bytes));
    if (extra)
        error = keep(node, extra, bytes);
    return leave(node, error == HEARSAY_OK ? save(node) : error);
}

/* Copies from[bytes] to the caller's buffer of *room bytes if it is large enough. Sets *room to
 * `bytes` in any case. */
static int give(struct hearsay *node, void *to, size_t *room, const void *from, size_t bytes)
{
    const size_t given = *room;
    *room = bytes;
    if (bytes > 0 && (!to || given < bytes))
        return handle_fail(node, HEARSAY_TOO_SMALL, "the buffer has %zu bytes; pass %zu bytes",
                           to ? given : 0, bytes);
    if (bytes > 0)
        memcpy(to, from, bytes);
    return HEARSAY_OK;
}

int hearsay_extra(struct hearsay *node, void *extra, size_t *bytes)
{
    const int error = handle_enter(node);
    if (error != HEARSAY_OK)
        return error;
    if (!bytes)
        return handle_return(node, handle_fail(node, HEARSAY_ARGUMENT, "bytes is NULL"));
    const struct caller_file *file = &node->engine->file;
    return handle_return(node, give(node, extra, bytes, file->extra, file->bytes));
}

static struct hearsay_info info_of(struct engine *engine)
{
    struct engine_standing standing;
    engine_standing(engine, &standing);
    const struct engine_count count = engine_count(engine);
    return (struct hearsay_info){
        .abi = HEARSAY_ABI,
        .joined = count.has_joined,
        .neighbours = standing.stats.neighbours,
        .members = standing.stats.members_live,
        .parameters = engine->tensors.parameters,
        .steps = count.steps,
        .samples = count.samples,
        .swarm_samples = u64_max(standing.swarm_samples, count.swarm_samples),
        .digest = standing.digest,
        .rumors = standing.stats.version,
        .waiting = standing.waiting,
        .sent_bytes = standing.stats.sent_bytes,
        .received_bytes = standing.stats.received_bytes,
        .resets = count.resets,
        .saturated = count.saturated,
    };
}

/* Checks the handle in calls that any thread may make at any time. */
static int check_any(const struct hearsay *node)
{
    if (!node)
        return HEARSAY_ARGUMENT;
    return node->process == getpid() ? HEARSAY_OK : HEARSAY_FORKED;
}

int hearsay_info(struct hearsay *node, struct hearsay_info *info)
{
    const int error = check_any(node);
    if (error != HEARSAY_OK)
        return error;
    if (!info)
        return handle_fail(node, HEARSAY_ARGUMENT, "info is NULL");
    if (info->abi != HEARSAY_ABI)
        return handle_fail(node, HEARSAY_ABI_UNKNOWN,
                           "info->abi is %u, but this library has %d; compile the program again",
                           (unsigned)info->abi, HEARSAY_ABI);
    handle_lock(node);
    *info = node->engine ? info_of(node->engine) : node->last;
    handle_unlock(node);
    return HEARSAY_OK;
}

int hearsay_status(struct hearsay *node, char *json, size_t *bytes)
{
    int error = check_any(node);
    size_t length = 0;
    if (error != HEARSAY_OK)
        return error;
    if (!bytes)
        return handle_fail(node, HEARSAY_ARGUMENT, "bytes is NULL");
    handle_lock(node); /* so that the engine is not freed during the call */
    struct engine_standing standing = {.end = ENGINE_RUNS};
    char *page = node->engine ? engine_page(node->engine, &length) : NULL;
    if (node->engine && !page)
        engine_standing(node->engine, &standing);
    handle_unlock(node);
    if (!page)
        return standing.end == ENGINE_RUNS ? handle_fail_plainly(node, HEARSAY_CLOSED)
                                           : on_end(node, &standing);
    error = give(node, json, bytes, page, length + 1);
    free(page);
    return error;
}

int hearsay_note(struct hearsay *node, int *level, char *text, size_t bytes)
{
    struct queued_note note = {0};
    const int error = check_any(node);
    if (error != HEARSAY_OK)
        return error;
    if (!level || !text || bytes == 0)
        return handle_fail(node, HEARSAY_ARGUMENT, "level or text is NULL, or text has no bytes");
    *level = note_queue_take(&node->notes, &note) ? (int)note.level : HEARSAY_NONE;
    (void)snprintf(text, bytes, "%s", note.text);
    return HEARSAY_OK;
}

static bool never(const struct engine *engine, const struct engine_standing *standing)
{
    (void)engine;
    (void)standing;
    return false;
}

static int close_it(struct hearsay *node, uint64_t stop_ns)
{
    struct engine *engine = node->engine;
    struct engine_standing standing;
    struct problem problem;
    struct engine_wishes *wishes = engine_wish(engine);
    wishes->leaves = true;
    wishes->stop_ns = stop_ns;
    engine_wished(engine);
    (void)engine_wait(engine, UINT64_MAX, never, &standing);
    const enum error error = engine_end(engine, &problem);
    caller_learner_leave(&engine->caller);
    handle_lock(node);
    node->last = info_of(engine);
    node->engine = NULL;
    handle_unlock(node);
    engine_free(engine);
    return error == OK ? HEARSAY_OK : handle_fail(node, HEARSAY_FAILED, "%s", problem.text);
}

int hearsay_close(struct hearsay *node, double grace_s)
{
    uint64_t stop_ns;
    const int error = handle_enter(node);
    if (error != HEARSAY_OK)
        return error;
    if (!due_of(grace_s, &stop_ns))
        (void)due_of(0, &stop_ns); /* grace_s is NaN: closes without grace time */
    return handle_return(node, close_it(node, stop_ns));
}

int hearsay_free(struct hearsay *node)
{
    uint64_t now_ns = 0;
    if (!node)
        return HEARSAY_OK;
    int error = handle_enter_any(node);
    if (error != HEARSAY_OK)
        return error;
    (void)due_of(0, &now_ns);
    if (node->engine)
        error = close_it(node, now_ns);
    handle_leave(node);
    handle_free(node);
    return error;
}

int hearsay_error_text(struct hearsay *node, int error, char *text, size_t bytes)
{
    const bool is_ours = check_any(node) == HEARSAY_OK && error > 0 && error < HANDLE_ERRORS;
    if (!text || bytes == 0)
        return HEARSAY_ARGUMENT;
    if (is_ours)
        handle_lock(node);
    const char *ours = is_ours ? node->sentences[error].text : "";
    (void)snprintf(text, bytes, "%s", ours[0] ? ours : handle_meaning(error));
    if (is_ours)
        handle_unlock(node);
    return HEARSAY_OK;
}
