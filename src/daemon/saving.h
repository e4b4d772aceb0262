/* Takes a checkpoint for the node, part by part: the work of the loop's thread.
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
    struct saver *saver;             /* writes */
    struct learner_link *link;       /* whose other side takes the parts */
    struct node *node;               /* says what they are the sum of */
    struct training_watch *training; /* knows the score of what is saved */
    uint8_t *history;                /* [node_history_max]: of what is not written */
    uint64_t saved_ns;               /* when the last checkpoint was whole; 0: never */
    uint8_t model_hash[16];   /* model hash of the newest checkpoint; zeros = its own, or none */
    uint32_t ended;           /* how many saves have ended, well or not */
    struct saver_result last; /* how the last of them did */
};

/* Starts a checkpoint that the node has requested. */
void saving_begin(const struct saving *saving);
/* Handles the learner's answer for one part. */
void saving_on_part(const struct saving *saving, uint64_t now_ns, size_t entries);
/* Handles progress of the saver's thread: a part was written, or the whole checkpoint, which adds a
 * note. */
void saving_on_wake(struct saving *saving, struct event_log *report, uint64_t now_ns);

/* The checkpoint that the node goes on from is the newest. */
void saving_on_loaded(struct saving *saving);
/* Returns true if the newest checkpoint says for which model hash this node's orders, proofs and
 * votes are signed. A restart without it would take them for those of another model. */
bool saving_knows_model(const struct saving *saving);

#endif
