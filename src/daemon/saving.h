/* Takes a checkpoint of the node, part by part; all functions run on the loop's thread.
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
    struct saver *saver;             /* writes the checkpoints on its own thread */
    struct learner_link *link;       /* passes orders to the thread that copies the parts */
    struct node *node;               /* the node; provides the history of the base */
    struct training_watch *training; /* provides the score of the saved base */
    /* [node_history_max] bytes: scratch buffer for the history of the base. */
    uint8_t *history;
    uint64_t saved_ns; /* time at which the last checkpoint was complete; 0 = never */
    /* Model hash that the newest checkpoint records; zeros = it records none, or there is
     * none. */
    uint8_t model_hash[16];
    uint32_t ended;           /* number of saves that have ended, with or without success */
    struct saver_result last; /* result of the last save */
};

/* Starts a checkpoint that the node has requested. */
void saving_begin(const struct saving *saving);
/* Handles the learner's answer to the order to copy a part. entries: number of entries copied; 0 =
 * the snapshot was broken off. */
void saving_on_part(const struct saving *saving, uint64_t now_ns, size_t entries);
/* Handles a wake-up by the saver's thread: requests the next part, or takes the result of the save
 * and reports it as a note. */
void saving_on_wake(struct saving *saving, struct event_log *report, uint64_t now_ns);

/* Records the model hash of the newest checkpoint, after one was loaded or written. */
void saving_on_loaded(struct saving *saving);
/* Returns true if the newest checkpoint records the model hash for which the orders, proofs and
 * votes of this node are signed. Otherwise they must not be stored: a restarted node would take
 * them for records of another model. */
bool saving_knows_model(const struct saving *saving);

#endif
