#include "daemon/shutdown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "state/safetensors.h"
#include "socket/transport.h"
#include "node/broadcast/version.h"

static void hear(const struct ending *ending, const struct action *action)
{
    if (action->own)
        learner_hear_own(ending->setup->learner, action->update);
    else
        learner_hear(ending->setup->learner, action->update);
    node_on_applied(ending->node, transport_now_ns(), action->update->count);
}

static void write_part(const struct ending *ending, const struct action *action)
{
    learner_write_block(ending->setup->learner, action->first, action->entries, action->units,
                        action->keep_weights);
    node_on_applied(ending->node, transport_now_ns(), action->entries);
}

/* The learner's thread has ended and the learner is ours: what still waits is heard now, so that
 * the base is the one of the version it is saved with. */
static void hear_the_rest(const struct ending *ending)
{
    struct action action;
    while (node_next(ending->node, &action)) {
        if (action.kind == ACTION_NOTE)
            report_note(ending->report, &action.note);
        if (action.kind == ACTION_APPLY)
            hear(ending, &action);
        if (action.kind == ACTION_WRITE)
            write_part(ending, &action);
    }
}

/* What the next life goes on from. */
static enum status save_all(const struct ending *ending, struct problem *problem)
{
    if (node_is_catching_up(ending->node))
        return problem_set(problem, FAILED,
                           "the base was still being taken over from others and is of no use: "
                           "nothing new is saved");
    (void)saver_wait(ending->saver, problem);
    learner_save(ending->setup->learner, saver_state(ending->saver));
    const size_t bytes = node_history(ending->node, saver_own(ending->saver));
    saver_write(ending->saver, bytes, node_incarnation(ending->node),
                node_swarm_samples(ending->node));
    const enum status status = saver_wait(ending->saver, problem);
    char path[BASE_PATH_BYTES];
    base_file_path(path, ending->config->node.state_dir);
    if (status == OK)
        (void)fprintf(stderr, "hearsay: saved the base as %s\n", path);
    return status;
}

/* What the base is the sum of, as text; the caller frees it. */
static char *version_of(const struct ending *ending)
{
    char *text = malloc(TENSORS_VERSION_MAX);
    CHECK(text);
    const size_t bytes = node_history(ending->node, ending->history);
    history_text(ending->history, bytes, text, TENSORS_VERSION_MAX);
    return text;
}

static void id_hex(char out[static 2 * ID_BYTES + 1], const uint8_t id[static ID_BYTES])
{
    for (int i = 0; i < ID_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
}

int ending_run(const struct ending *ending)
{
    struct rusage usage;
    struct problem problem;
    hear_the_rest(ending);
    char *version = version_of(ending);
    struct final final = {
        .learner_digest = learner_digest(ending->setup->learner),
        .version = version,
        .parameters = learner_parameters(ending->setup->learner),
        .used = hatch_used(ending->hatch),
    };
    int code = save_all(ending, &problem) == OK ? 0 : 1;
    if (code != 0)
        (void)fprintf(stderr, "hearsay: %s\n", problem.text);
    if (ending->config->train.evaluate_s > 0)
        final.evaluation = learner_evaluate(ending->setup->learner, true);
    (void)getrusage(RUSAGE_SELF, &usage);
    final.rss_bytes_max = (uint64_t)usage.ru_maxrss * 1024;
    id_hex(final.id, ending->setup->identity.id);
    const uint64_t now_ns = transport_now_ns();
    node_stats(ending->node, now_ns, &final.stats);
    report_final(ending->report, now_ns, &final);
    if (final.stats.digest != final.learner_digest && !node_is_catching_up(ending->node)) {
        (void)fprintf(stderr,
                      "hearsay: the base is not the sum of its rumors (digest %016" PRIx64
                      ", not %016" PRIx64 "): a defect or broken memory; do not use it\n",
                      final.learner_digest, final.stats.digest);
        code = 1;
    }
    free(version);
    return code;
}
