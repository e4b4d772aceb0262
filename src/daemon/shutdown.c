#include "daemon/shutdown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "node/admission.h"
#include "node/broadcast/history.h"
#include "socket/transport.h"
#include "state/averaged_base.h"
#include "state/base_version.h"
#include "state/best_base.h"
#include "state/incarnation.h"
#include "state/safetensors.h"

void shutdown_apply(struct node *node, const struct executor *executor, struct event_log *report)
{
    struct action action;
    while (node_next(node, &action)) {
        if (action.kind == ACTION_NOTE)
            event_log_note(report, &action.note);
        if (action.kind != ACTION_APPLY && action.kind != ACTION_WRITE)
            continue;
        const struct answer answer = executor_perform(executor, &action);
        executor_answer(node, monotonic_ns(), &answer);
    }
}

static size_t fill_history(void *node, uint8_t *own)
{
    return node_history(node, own);
}

enum error shutdown_save(struct node *node, struct saver *saver, struct learner *learner,
                         struct problem *problem)
{
    if (node_is_catching_up(node))
        return problem_set(problem, FAILED,
                           "the base was incomplete because its takeover had not ended; no new "
                           "checkpoint is saved");
    if (node_has_taken_first(node) || saver_model_hash(saver))
        saver_set_model_hash(saver, node_model_hash(node));
    return saver_save(saver, learner, node_incarnation(node), NULL, fill_history, node, problem);
}

static enum error save_all(const struct shutdown *closing, struct problem *problem)
{
    char path[BASE_PATH_BYTES];
    const enum error error =
        shutdown_save(closing->node, closing->saver, closing->setup->learner, problem);
    export_path(path, closing->config->node.state_dir);
    if (error == OK)
        (void)fprintf(stderr, "hearsay: saved the base as %s\n", path);
    averaged_base_path(path, closing->config->node.state_dir);
    if (error == OK && learner_average(closing->setup->learner))
        (void)fprintf(stderr, "hearsay: saved the averaged base as %s\n", path);
    return error;
}

/* The caller frees the text. */
static char *version_of(const struct shutdown *closing)
{
    char *text = memory_new(SAFETENSORS_VERSION_MAX, 1);
    const size_t bytes = node_history(closing->node, closing->history);
    base_version_text(closing->history, bytes, text, SAFETENSORS_VERSION_MAX);
    return text;
}

static void id_hex(char out[static 2 * ID_BYTES + 1], const uint8_t id[static ID_BYTES])
{
    for (int i = 0; i < ID_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
}

int shutdown_shut_out(const struct reach *reach)
{
    (void)fprintf(stderr,
                  "hearsay: no peer accepts this node: %s; make all settings marked (same) and the "
                  "version of hearsay equal on all nodes (--alone: train without peers)\n",
                  reach->why);
    return SHUTDOWN_SHUT_OUT;
}

/* Keeps the saved base as the best one if its score is the best. Returns true if it was kept. The
 * score is that of the saved base itself, because training may have spoiled the base since the last
 * evaluation. */
static bool keep_if_best(const struct shutdown *closing, const struct final *final)
{
    struct problem problem;
    const struct best_base best = {.score = final->part,
                                   .digest = final->learner_digest,
                                   .saved_s = incarnation_wall_ms() / 1000};
    if (!training_watch_is_best(closing->training, &final->part))
        return false;
    if (best_base_keep(disk_real(), closing->config->node.state_dir, &best, &problem) == OK)
        return true;
    (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    return false;
}

/* Evaluates the base on the samples of the periodic evaluations, for a comparison with them. For
 * FINAL_ALL, then also evaluates it on all test samples. */
static void evaluate_final(const struct shutdown *closing, uint64_t now_ns, bool is_saved,
                           struct final *final)
{
    struct learner *learner = closing->setup->learner;
    const struct evaluation *last = &closing->training->guard.last;
    char text[GUARD_TEXT_BYTES];
    final->evaluation = learner_evaluate(learner, false);
    final->last = final->evaluation.samples == last->samples ? *last : (struct evaluation){0};
    final->part = final->evaluation;
    final->averaged = learner_evaluate_average(learner, false);
    const bool is_kept = is_saved && keep_if_best(closing, final);
    if (training_watch_final_warning(closing->training, &final->part, &final->averaged, is_kept,
                                     text))
        event_log_say(closing->report, now_ns, NOTE_TRAINING, LEVEL_WARNING, text);
    if (closing->evaluates != FINAL_ALL)
        return;
    final->evaluation = learner_evaluate(learner, true);
    final->averaged = learner_evaluate_average(learner, true);
}

int shutdown_run(const struct shutdown *closing)
{
    struct rusage usage;
    struct problem problem;
    if (node_is_expelled(closing->node))
        return SHUTDOWN_EXPELLED;
    if (node_is_turned_away(closing->node))
        return SHUTDOWN_TURNED_AWAY;
    const struct executor executor = {.ops = &executor_learner_ops,
                                      .learner = closing->setup->learner};
    shutdown_apply(closing->node, &executor, closing->report);
    char *version = version_of(closing);
    struct final final = {
        .learner_digest = learner_digest(closing->setup->learner),
        .version = version,
        .parameters = learner_parameters(closing->setup->learner),
        .used = learner_thread_used(closing->learner),
    };
    int code = save_all(closing, &problem) == OK ? 0 : 1;
    if (code != 0)
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    if (closing->evaluates != FINAL_NONE && !node_has_base(closing->node))
        (void)fputs("hearsay: the base is not scored, because it is incomplete\n", stderr);
    else if (closing->evaluates == FINAL_TOO_LONG)
        (void)fprintf(stderr,
                      "hearsay: the base is not scored, because that may take longer than %d s; "
                      "'hearsay eval' scores it\n",
                      SHUTDOWN_EVALUATION_S);
    else if (closing->evaluates != FINAL_NONE)
        evaluate_final(closing, monotonic_ns(), code == 0, &final);
    (void)getrusage(RUSAGE_SELF, &usage);
    final.rss_bytes_max = (uint64_t)usage.ru_maxrss * 1024;
    id_hex(final.id, closing->setup->keys->identity.id);
    const uint64_t now_ns = monotonic_ns();
    node_stats(closing->node, now_ns, &final.stats);
    event_log_final(closing->report, now_ns, &final);
    if (!node_is_base(closing->node, final.learner_digest) && !node_is_catching_up(closing->node)) {
        (void)fprintf(stderr,
                      "hearsay: the base differs from the sum of its rumors (digest %016" PRIx64
                      ", not %016" PRIx64 "): a defect or broken memory; do not use this base\n",
                      final.learner_digest, final.stats.digest);
        code = 1;
    }
    free(version);
    return code;
}

int shutdown_clash(const struct shutdown *closing, bool is_shared)
{
    (void)fprintf(stderr, "hearsay: %s (node.identity is %s, node.state_dir %s)\n",
                  node_clash(closing->node), closing->config->node.identity,
                  closing->config->node.state_dir);
    if (is_shared)
        (void)shutdown_run(closing);
    else
        (void)fputs("hearsay: no new checkpoint is saved: the node had no neighbour in its last "
                    "seconds, so its base differs from the swarm's\n",
                    stderr);
    return SHUTDOWN_CLASH;
}
