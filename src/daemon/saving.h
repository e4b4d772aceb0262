/* Takes a checkpoint of the node, part by part; all functions run on the event loop's thread.
 *
 *   node ─ SAVE ─► saving_begin ─► saver.h
 *        ┌─► saver_next ─► order ─► learner ─► saving_on_part ────────┐
 *        └─────── saving_on_wake ◄ wake ◄─ saver's thread ◄───────────┘ the last: node_on_saved
 */
#ifndef HEARSAY_DAEMON_SAVING_H
#define HEARSAY_DAEMON_SAVING_H

#include "daemon/event_log.h"
#include "daemon/learner_link.h"
#include "daemon/training_watch.h"
#include "state/saver.h"

struct saving {
    struct saver *saver;
    struct learner_link *link;
    struct node *node;               /* provides the history of the base */
    struct training_watch *training; /* provides the score of the saved base */
    /* [node_history_max] scratch buffer for the history of the base */
    uint8_t *history;
    uint64_t saved_ns; /* time at which the last checkpoint was complete; 0 = never */
    /* model hash in the newest checkpoint; zeros = none */
    uint8_t model_hash[16];
    uint32_t ended; /* number of saves that have ended, with or without success */
    struct saver_result last;
};

/* Starts a checkpoint. Skips it if the last one is still being written, as on a slow disk. */
void saving_begin(const struct saving *saving);
/* Handles the learner's answer to the order to copy a part. entries: number of entries copied; 0 =
 * the snapshot was broken off. */
void saving_on_part(const struct saving *saving, uint64_t now_ns, size_t entries);
/* Called when the saver's thread wakes the loop: requests the next part. If the save has ended,
 * adds a note about the new checkpoint or the error. */
void saving_on_wake(struct saving *saving, struct event_log *report, uint64_t now_ns);

/* Called after a checkpoint was loaded or written; records its model hash. */
void saving_on_loaded(struct saving *saving);
/* Returns true if a restart from the newest checkpoint keeps the model hash for which orders,
 * proofs and votes are signed. Otherwise they must not be stored: the restarted node would take
 * them for records of another model. */
bool saving_knows_model(const struct saving *saving);

#endif
