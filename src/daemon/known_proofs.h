/* Proofs that members lie, and the disk: those that are known are loaded at the start, so
 * that a node obeys them from its first moment, and saved as soon as there is a new one.
 *
 *   state_dir/proofs ─► node ─ learns another ─► state_dir/proofs
 */
#ifndef HEARSAY_DAEMON_KNOWN_PROOFS_H
#define HEARSAY_DAEMON_KNOWN_PROOFS_H

#include "daemon/unsaved.h"

struct known_proofs {
    const char *folder;     /* the state folder; the caller's */
    uint8_t *known;         /* [NODE_PROOFS_MAX] as they are on the disk; NULL: not loaded */
    uint32_t saved;         /* changes (node_proofs_changes) that the disk has */
    struct unsaved unsaved; /* those that it could not be given yet */
};

/* Load those of the folder, and show them to the node that is to be made; MALFORMED, MISMATCH: they
 * are not for it. folder must stay. */
enum error known_proofs_load(struct known_proofs *proofs, const char *folder,
                             struct node_options *options, struct problem *problem) MUST_USE;
void known_proofs_free(struct known_proofs *proofs);

/* Save what is new, if anything is: cheap enough for every event. */
void known_proofs_keep(struct known_proofs *proofs, const struct node *node,
                       struct event_log *report, uint64_t now_ns);

#endif
