/* Stores equivocation proofs on disk.
 *
 *   state_dir/proofs ─► node ─ new proofs ─► state_dir/proofs
 */
#ifndef HEARSAY_DAEMON_KNOWN_PROOFS_H
#define HEARSAY_DAEMON_KNOWN_PROOFS_H

#include "daemon/unsaved.h"

struct known_proofs {
    const char *folder; /* borrowed */
    uint8_t *known;     /* [NODE_PROOFS_MAX] bytes: proofs on the disk; NULL = not loaded */
    uint32_t saved;     /* value of node_proofs_changes when the file was last written */
    struct unsaved unsaved;
};

/* Loads the proofs in the state folder into the node's options. MALFORMED, MISMATCH: the proofs are
 * invalid, or for another swarm. folder must stay valid. */
enum error known_proofs_load(struct known_proofs *proofs, const char *folder,
                             struct node_options *options, struct problem *problem) MUST_USE;
void known_proofs_free(struct known_proofs *proofs);

/* Saves the node's proofs if there is a new one. Cheap enough to be called after every event. */
void known_proofs_keep(struct known_proofs *proofs, const struct node *node,
                       struct event_log *report, uint64_t now_ns);

#endif
