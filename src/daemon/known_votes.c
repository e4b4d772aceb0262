#include "daemon/known_votes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "state/order_files.h"

#define SAVE_NS ((uint64_t)1000000000)

enum error known_votes_load(struct known_votes *votes, const char *folder,
                            struct node_options *options, struct problem *problem)
{
    struct problem why;
    if (!options->limits.quarantines)
        return OK;
    votes->folder = folder;
    votes->known = memory_new(NODE_VOTES_MAX, 1);
    enum error error = order_files_load_votes(disk_real(), folder, votes->known,
                                              &options->kept.votes.bytes, problem);
    if (error != OK)
        return error;
    options->kept.votes.at = votes->known;
    error = node_votes_check(options, &why);
    if (error == OK)
        return OK;
    return problem_set(
        problem, error,
        "%.300s/" VOTES_FILE
        ": %s; if this is intended, remove the file, and the node fetches it from other nodes",
        folder, why.text);
}

void known_votes_free(struct known_votes *votes)
{
    free(votes->known);
    votes->known = NULL;
}

void known_votes_keep(struct known_votes *votes, const struct node *node, struct event_log *report,
                      uint64_t now_ns)
{
    struct problem problem;
    const uint32_t changes = node_votes_changes(node);
    if (!votes->known || changes == votes->saved || now_ns < votes->save_ns ||
        !unsaved_may_try(&votes->unsaved, now_ns))
        return;
    votes->save_ns = now_ns + SAVE_NS;
    const size_t bytes = node_votes(node, votes->known);
    const enum error error =
        order_files_save_votes(disk_real(), votes->folder, votes->known, bytes, &problem);
    if (unsaved_on_tried(&votes->unsaved, error, &problem, NOTE_HARM, VOTES_FILE, report, now_ns))
        votes->saved = changes;
}
