/* A node's reports: lines on standard error for people, and a log file with one JSON object per
 * line.
 *
 *   {"t":12.345,"time":"2026-01-31T12:00:00.123Z","note":"neighbour","level":"info",
 *    "peer":"3f2a9c01","address":"192.0.2.7:7770","text":"is a neighbour (we called)"}
 *
 * t is seconds since the start. A "status" line is written once a second, "evaluated" after each
 * evaluation, "final" once at the end. A failed write of the log (a full disk, a closed terminal)
 * is reported once on standard error, and the node continues. A failed CHECK prints the last notes,
 * whatever their level. Tests: tests/process/test_log.sh, test_disk.sh, test_bad_input.sh and
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
#define EVENT_LOG_LINE_BYTES 448 /* maximum size of a line in `last`, in bytes */

struct event_log {
    bool is_open;  /* event_log_open was called, and event_log_close not yet */
    FILE *log;     /* the log file; NULL = none */
    bool verbose;  /* prints debug notes also */
    bool is_quiet; /* prints nothing, except the last notes if a CHECK fails; set by the owner */
    /* Called with every note; NULL = no reader; set by the owner. */
    void (*reader)(void *self, const struct note *note);
    void *reader_self; /* first argument of reader */
    /* Start of the process; the times of lines are relative to it. */
    uint64_t start_ns;
    uint64_t printed_ns; /* time of the last status line; 0 = never */
    uint32_t batch;      /* batch size that was reported last; 0 = none yet */
    bool is_losing;      /* a failed write of the log was already reported */
    struct reach reach;  /* whether the node reaches any other node */
    /* The last notes of any level, as lines, in a ring buffer. */
    char last[EVENT_LOG_LAST][EVENT_LOG_LINE_BYTES];
    struct check_hook hook; /* prints the lines of `last` when a CHECK fails */
    uint32_t notes; /* number of notes so far; the next one goes to last[notes % EVENT_LOG_LAST] */
};

/* Opens the log file. log: its path; "" = none, "-" = standard output. From now until
 * event_log_close, a failed CHECK prints the last notes. */
enum error event_log_open(struct event_log *report, const char *log, bool verbose, uint64_t now_ns,
                          struct problem *problem) MUST_USE;

void event_log_note(struct event_log *report, const struct note *note);
void event_log_say(struct event_log *report, uint64_t now_ns, enum note_kind kind,
                   enum note_level level, const char *text);

/* Prints a status line if one is due, and writes the status to the log. Called once a second. loss:
 * mean loss of the last second with steps. */
void event_log_status(struct event_log *report, uint64_t now_ns, const struct node_stats *stats,
                      double loss);

/* Reports a new number of samples per step. Does nothing if `batch` is 0 or was reported last. */
void event_log_batch(struct event_log *report, uint64_t now_ns, uint32_t batch);

/* Reports that training had diverged by this step and was reset to the base. is_last: it has
 * diverged too often, and the node leaves. */
void event_log_reset(struct event_log *report, uint64_t now_ns, uint64_t step,
                     const struct learner_resets *resets, bool is_last);

/* Reports weights at the largest value that the base can store: publications cannot increase
 * them further (model/exchange/error_feedback.h). */
void event_log_saturated(struct event_log *report, uint64_t now_ns,
                         const struct learner_saturation *saturation, bool companded);

void event_log_evaluated(struct event_log *report, uint64_t now_ns,
                         const struct evaluation *evaluation, const struct evaluation *averaged);

/* Facts that event_log_final reports when a node ends. */
struct final {
    char id[2 * ID_BYTES + 1]; /* id of the node */
    struct node_stats stats;   /* statistics at the end */
    /* Final evaluation of the base, on all test samples if possible; samples 0 = none was
     * made. */
    struct evaluation evaluation;
    /* Evaluation of the averaged base on the samples of `evaluation`. */
    struct evaluation averaged;
    /* Final evaluation of the base on the samples of the periodic evaluations. */
    struct evaluation part;
    /* Last periodic evaluation, on the same samples as `part`; samples 0 = there is none. */
    struct evaluation last;
    /* Digest computed from the learner's base; must equal the digest in `stats`. */
    uint64_t learner_digest;
    const char *version;             /* version of the base as text */
    uint64_t parameters;             /* number of model parameters */
    struct learner_thread_used used; /* processor time of the learner's thread */
    uint64_t rss_bytes_max;          /* largest resident memory of the process, in bytes */
};
void event_log_final(struct event_log *report, uint64_t now_ns, const struct final *final);

void event_log_close(struct event_log *report);

#endif
