/* A node's reports: lines on standard error for people, and the log, one JSON object per line.
 *
 *   {"t":12.345,"time":"2026-01-31T12:00:00.123Z","note":"neighbour","level":"info",
 *    "peer":"3f2a9c01","address":"192.0.2.7:7770","text":"is a neighbour (we called)"}
 *
 * t is seconds since the start. "status" comes once a second, "evaluated" after each evaluation,
 * "final" once, at the end. A failed write of the log (a full disk, a closed terminal) is reported
 * once on standard error, and the node continues. A failed CHECK prints the last notes, whatever
 * their level. Held by tests/process/test_log.sh, test_disk.sh, test_bad_input.sh and
 * tests/unit/daemon/test_event_log.c.
 */
#ifndef HEARSAY_DAEMON_EVENT_LOG_H
#define HEARSAY_DAEMON_EVENT_LOG_H

#include <stdio.h>

#include "daemon/learner_thread.h"
#include "daemon/reach.h"
#include "node/inspect.h"
#include "training/learner.h"

#define EVENT_LOG_LAST       16
#define EVENT_LOG_LINE_BYTES 448 /* most bytes of a note as a line */

struct event_log {
    bool is_open;  /* between event_log_open and event_log_close */
    FILE *log;     /* the file, or NULL */
    bool verbose;  /* debug notes are also printed */
    bool is_quiet; /* prints only the last notes before a failed CHECK; set by the owner */
    /* Called for every note; NULL = none; set by the owner. */
    void (*reader)(void *self, const struct note *note);
    void *reader_self; /* first argument of reader */
    /* Start of the process; times of lines count from it. */
    uint64_t start_ns;
    uint64_t printed_ns; /* time of the last status line; 0 = never */
    uint32_t batch;      /* batch size of the last line that had it; 0 = none */
    bool is_losing;      /* a failed write of the log was reported */
    struct reach reach;  /* whether the node reaches any other node */
    char last[EVENT_LOG_LAST][EVENT_LOG_LINE_BYTES]; /* last notes of any level, as lines */
    struct check_hook hook;                          /* prints these notes when a CHECK fails */
    uint32_t notes; /* notes so far; the next one goes to last[notes % 16] */
};

/* Opens the log. log: "" = none, "-" = standard output. Until it is closed, a failed CHECK prints
 * its last notes. */
enum error event_log_open(struct event_log *report, const char *log, bool verbose, uint64_t now_ns,
                          struct problem *problem) MUST_USE;

void event_log_note(struct event_log *report, const struct note *note);
void event_log_say(struct event_log *report, uint64_t now_ns, enum note_kind kind,
                   enum note_level level, const char *text);

/* Writes the status; called once a second. loss: mean over the samples since the last call. */
void event_log_status(struct event_log *report, uint64_t now_ns, const struct node_stats *stats,
                      double loss);

/* Reports the number of samples per step if it has changed; does nothing for 0. */
void event_log_batch(struct event_log *report, uint64_t now_ns, uint32_t batch);

/* Reports that training diverged before the end of this step and restarted from the base. is_last:
 * it did so too often, and the node leaves. */
void event_log_reset(struct event_log *report, uint64_t now_ns, uint64_t step,
                     const struct learner_resets *resets, bool is_last);

/* Reports weights beyond the largest value to which a publication can move a base
 * (model/exchange/error_feedback.h). */
void event_log_saturated(struct event_log *report, uint64_t now_ns,
                         const struct learner_saturation *saturation, bool companded);

void event_log_evaluated(struct event_log *report, uint64_t now_ns,
                         const struct evaluation *evaluation, const struct evaluation *averaged);

/* Values at the end of a run. */
struct final {
    char id[2 * ID_BYTES + 1]; /* id of the node */
    struct node_stats stats;   /* statistics at the end */
    /* Evaluation of the base on all test samples; samples 0 = none was made. */
    struct evaluation evaluation;
    struct evaluation averaged; /* same evaluation of the averaged base */
    /* Evaluation of the base on the samples of the evaluations before. */
    struct evaluation part;
    /* The last one of those; samples 0 = there is none to compare with. */
    struct evaluation last;
    uint64_t learner_digest;         /* digest computed from the base itself */
    const char *version;             /* version of the base as text */
    uint64_t parameters;             /* number of model parameters */
    struct learner_thread_used used; /* processor time of the learner's thread */
    uint64_t rss_bytes_max;          /* largest resident size of the process */
};
void event_log_final(struct event_log *report, uint64_t now_ns, const struct final *final);

void event_log_close(struct event_log *report);

#endif
