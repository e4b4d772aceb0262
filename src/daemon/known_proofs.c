#include "daemon/known_proofs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "state/order_files.h"

enum error known_proofs_load(struct known_proofs *proofs, const char *folder,
                             struct node_options *options, struct problem *problem)
{
    struct problem why;
    proofs->folder = folder;
    proofs->known = memory_new(NODE_PROOFS_MAX, 1);
    enum error error = order_files_load_proofs(disk_real(), folder, proofs->known,
                                               &options->kept.proofs.bytes, problem);
    if (error != OK)
        return error;
    options->kept.proofs.at = proofs->known;
    error = node_proofs_check(options, &why);
    if (error == OK)
        return OK;
    return problem_set(
        problem, error,
        "%.300s/" PROOFS_FILE
        ": %s; if this is intended, remove the file, and the node fetches it from other nodes",
        folder, why.text);
}

void known_proofs_free(struct known_proofs *proofs)
{
    free(proofs->known);
    proofs->known = NULL;
}

void known_proofs_keep(struct known_proofs *proofs, const struct node *node,
                       struct event_log *report, uint64_t now_ns)
{
    struct problem problem;
    const uint32_t changes = node_proofs_changes(node);
    if (changes == proofs->saved || !unsaved_may_try(&proofs->unsaved, now_ns))
        return;
    const size_t bytes = node_proofs(node, proofs->known);
    const enum error error =
        order_files_save_proofs(disk_real(), proofs->folder, proofs->known, bytes, &problem);
    if (unsaved_on_tried(&proofs->unsaved, error, &problem, NOTE_EXPELLED, PROOFS_FILE, report,
                         now_ns))
        proofs->saved = changes;
}
