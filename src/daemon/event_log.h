/* What a node tells its person: lines on standard error, and the log, one JSON object per line.
 *
 *   {"t":12.345,"time":"2026-01-31T12:00:00.123Z","note":"neighbour","level":"info",
 *    "peer":"3f2a9c01","address":"192.0.2.7:7770","text":"is a neighbour (we called)"}
 *
 * t is seconds since the start. "status" comes once a second, "evaluated" after each evaluation,
 * "final" once, at the end. When the log cannot be written (a full disk), that is said once on
 * standard error, and the node goes on. Held by tests/process/test_bad_input.sh.
 */
#ifndef HEARSAY_DAEMON_EVENT_LOG_H
#define HEARSAY_DAEMON_EVENT_LOG_H

#include <stdio.h>

#include "daemon/learner_thread.h"
#include "training/learner.h"
#include "node/inspect.h"

struct event_log {
    FILE *log; /* or NULL */
    bool verbose;
    uint64_t start_ns;
    uint64_t printed_ns; /* the last status line for a person */
    uint32_t batch;      /* said last; 0: never */
    bool is_losing;      /* said that the log cannot be written */
};

/* log: "" none, "-" standard output. */
enum error event_log_open(struct event_log *report, const char *log, bool verbose, uint64_t now_ns,
                          struct problem *problem) MUST_USE;

void event_log_note(struct event_log *report, const struct note *note);
void event_log_say(struct event_log *report, uint64_t now_ns, enum note_kind kind,
                   enum note_level level, const char *text);

void event_log_status(struct event_log *report, uint64_t now_ns, const struct node_stats *stats,
                      double loss);

/* Notes that a step has so many samples, when that is news; 0: nothing to say. */
void event_log_batch(struct event_log *report, uint64_t now_ns, uint32_t batch);

void event_log_evaluated(struct event_log *report, uint64_t now_ns,
                         const struct evaluation *evaluation);

/* The end of the run. */
struct final {
    char id[2 * ID_BYTES + 1];
    struct node_stats stats;
    struct evaluation evaluation; /* of the base, on all test samples */
    uint64_t learner_digest;      /* computed from the base itself */
    const char *version;
    uint64_t parameters;
    struct learner_thread_used used;
    uint64_t rss_bytes_max;
};
void event_log_final(struct event_log *report, uint64_t now_ns, const struct final *final);

void event_log_close(struct event_log *report);

#endif
