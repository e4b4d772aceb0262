/* A node's reports: lines on standard error for people, and a log file with one JSON object per
 * line.
 *
 *   {"t":12.345,"time":"2026-01-31T12:00:00.123Z","note":"neighbour","level":"info",
 *    "peer":"3f2a9c01","address":"192.0.2.7:7770","text":"is a neighbour (we called)"}
 *
 * t is seconds since the start. A "status" line is written once a second, "evaluated" after each
 * evaluation, "final" once at the end. A failed write of the log (a full disk, a closed terminal)
 * is reported once on standard error, and the node continues. Tests: tests/process/test_log.sh,
 * test_disk.sh, test_bad_input.sh and tests/unit/daemon/test_event_log.c.
 */
#ifndef HEARSAY_DAEMON_EVENT_LOG_H
#define HEARSAY_DAEMON_EVENT_LOG_H

#include <stdio.h>

#include "daemon/learner_thread.h"
#include "daemon/reach.h"
#include "node/inspect.h"
#include "training/learner.h"

#define EVENT_LOG_LAST       16
#define EVENT_LOG_LINE_BYTES 448 /* size of a line in `last` */

struct event_log {
    bool is_open;
    FILE *log; /* NULL = none */
    bool verbose;
    bool is_quiet; /* prints no notes and no status lines; set by the owner */
    /* Called with every note; NULL = no reader; set by the owner. */
    void (*reader)(void *self, const struct note *note);
    void *reader_self;
    /* time of event_log_open, from which lines count their seconds */
    uint64_t start_ns;
    uint64_t printed_ns; /* time of the last status line; 0 = never */
    uint32_t batch;      /* batch size that was reported last; 0 = none yet */
    bool is_losing;      /* the last write failed */
    struct reach reach;
    /* ring buffer: the last notes of any level, as lines */
    char last[EVENT_LOG_LAST][EVENT_LOG_LINE_BYTES];
    struct check_hook hook;
    uint32_t notes; /* the next note goes to last[notes % EVENT_LOG_LAST] */
};

/* log: path of the log file; "" = none, "-" = standard output. From now until event_log_close, a
 * failed CHECK prints the last notes, whatever their level. */
enum error event_log_open(struct event_log *report, const char *log, bool verbose, uint64_t now_ns,
                          struct problem *problem) MUST_USE;

void event_log_note(struct event_log *report, const struct note *note);
void event_log_say(struct event_log *report, uint64_t now_ns, enum note_kind kind,
                   enum note_level level, const char *text);

/* Writes the status to the log and, if a status line is due, to standard error. Called once a
 * second. loss: mean loss of the last second with steps. */
void event_log_status(struct event_log *report, uint64_t now_ns, const struct node_stats *stats,
                      double loss);

/* Reports a new number of samples per step. Does nothing if `batch` is 0 or unchanged. */
void event_log_batch(struct event_log *report, uint64_t now_ns, uint32_t batch);

/* Warns that the loss of a step was NaN, infinite or too large. step: number of the latest such
 * step. */
void event_log_broken_loss(struct event_log *report, uint64_t now_ns, uint64_t step);

/* Reports that training on this node had diverged by this step and was reset to the base. is_last:
 * training has diverged too often, and the node leaves. */
void event_log_reset(struct event_log *report, uint64_t now_ns, uint64_t step,
                     const struct learner_resets *resets, bool is_last);

/* Warns of a saturated weight: its base entry has reached 64, the largest value that may be
 * published (model/backend/error_feedback.h). companded: the base is companded, so the value 64
 * is a weight of 2^63. */
void event_log_saturated(struct event_log *report, uint64_t now_ns,
                         const struct learner_saturation *saturation, bool companded);

void event_log_evaluated(struct event_log *report, uint64_t now_ns,
                         const struct evaluation *evaluation, const struct evaluation *averaged);

/* Input of event_log_final. */
struct final {
    char id[2 * ID_BYTES + 1];
    struct node_stats stats;
    /* Evaluation of the final base, on all test samples if possible; samples 0 = none was made. */
    struct evaluation evaluation;
    /* Evaluation of the averaged base, on the samples of `evaluation`. */
    struct evaluation averaged;
    /* Evaluation of the final base, on the samples of the periodic evaluations. */
    struct evaluation part;
    /* last periodic evaluation, on the samples of `part`; samples 0 = none */
    struct evaluation last;
    /* computed from the learner's base; must equal the digest in `stats` */
    uint64_t learner_digest;
    const char *version; /* version of the base as text */
    uint64_t parameters;
    struct learner_thread_used used;
    uint64_t rss_bytes_max;
};
void event_log_final(struct event_log *report, uint64_t now_ns, const struct final *final);

void event_log_close(struct event_log *report);

#endif
