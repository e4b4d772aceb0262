#include "daemon/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/min_max.h"

#define STATUS_LINE_NS 10000000000ull

/* Prints the last notes, oldest first, when a CHECK fails. */
static void print_last(void *context)
{
    const struct event_log *report = context;
    CHECK(report->is_open);
    static const char heading[] = "the last notes:\n";
    const uint32_t kept = u32_min(report->notes, EVENT_LOG_LAST);
    bool is_written = write(STDERR_FILENO, heading, sizeof heading - 1) > 0;
    for (uint32_t i = report->notes - kept; is_written && i != report->notes; i++) {
        const char *line = report->last[i % EVENT_LOG_LAST];
        is_written = write(STDERR_FILENO, line, strnlen(line, EVENT_LOG_LINE_BYTES)) > 0;
    }
}

/* Opens a file for appending. Creates it if it is missing; its group may then read it. Returns NULL
 * on failure. */
static FILE *open_log(const char *path)
{
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    FILE *log = file >= 0 ? fdopen(file, "a") : NULL;
    if (file >= 0 && !log)
        memory_missing(BUFSIZ);
    return log;
}

enum error event_log_open(struct event_log *report, const char *log, bool verbose, uint64_t now_ns,
                          struct problem *problem)
{
    CHECK(log && !report->is_open);
    *report = (struct event_log){.verbose = verbose, .start_ns = now_ns};
    if (strcmp(log, "-") == 0)
        report->log = stdout;
    else if (log[0] && !(report->log = open_log(log)))
        return problem_set(problem, FAILED, "cannot write the log %s: %s; choose another node.log",
                           log, strerror(errno));
    report->hook = (struct check_hook){.run = print_last, .context = report};
    check_on_failure(&report->hook);
    report->is_open = true;
    return OK;
}

static void wall_text(char out[static 32])
{
    struct timespec now;
    struct tm utc;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    char seconds[24];
    (void)strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out, 32, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

static double seconds_since(const struct event_log *report, uint64_t at_ns)
{
    return at_ns > report->start_ns ? (double)(at_ns - report->start_ns) * 1e-9 : 0;
}

static json_t *line_begin(const struct event_log *report, uint64_t at_ns, const char *note)
{
    char wall[32];
    CHECK(report->log);
    wall_text(wall);
    json_t *line = json_object();
    (void)json_object_set_new(line, "t", json_real(seconds_since(report, at_ns)));
    (void)json_object_set_new(line, "time", json_string(wall));
    (void)json_object_set_new(line, "note", json_string(note));
    return line;
}

static void put_number(json_t *line, const char *key, uint64_t value)
{
    CHECK(json_object_set_new(line, key, json_integer((json_int_t)value)) == 0);
}

static void put_real(json_t *line, const char *key, double value)
{
    CHECK(json_object_set_new(line, key, isfinite(value) ? json_real(value) : json_null()) == 0);
}

static void put_text(json_t *line, const char *key, const char *value)
{
    (void)json_object_set_new(line, key, json_string(value));
}

static void put_digest(json_t *line, const char *key, uint64_t digest)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, digest);
    put_text(line, key, text);
}

static void say_losing(struct event_log *report, int error)
{
    if (!report->is_losing && !report->is_quiet)
        (void)fprintf(
            stderr,
            "hearsay: the log cannot be written: %s; lines are lost, and the node continues\n",
            strerror(error));
    report->is_losing = true;
}

static void say_written_again(struct event_log *report)
{
    if (!report->is_quiet)
        (void)fputs("hearsay: the log can be written again; some lines are missing\n", stderr);
    report->is_losing = false;
}

static void line_end(struct event_log *report, json_t *line)
{
    CHECK(report->log && line);
    (void)json_dumpf(line, report->log, JSON_COMPACT | JSON_REAL_PRECISION(9));
    (void)fputc('\n', report->log);
    if (fflush(report->log) != 0 || ferror(report->log))
        say_losing(report, errno);
    else if (report->is_losing)
        say_written_again(report);
    clearerr(report->log);
    json_decref(line);
}

static const char *const LEVELS[] = {
    [LEVEL_DEBUG] = "debug",
    [LEVEL_INFO] = "info",
    [LEVEL_WARNING] = "warning",
    [LEVEL_ERROR] = "error",
};

/* Stores the note as a line in report->last, and returns the line. */
static const char *keep(struct event_log *report, const struct note *note)
{
    char *line = report->last[report->notes++ % EVENT_LOG_LAST];
    const bool is_bad = note->level >= LEVEL_WARNING;
    const int length = snprintf(
        line, EVENT_LOG_LINE_BYTES - 1, "%9.3f %s%s%s%s%s%s%s", seconds_since(report, note->at_ns),
        is_bad ? LEVELS[note->level] : "", is_bad ? ": " : "", note->who, note->who[0] ? " " : "",
        note->where, note->where[0] ? " " : "", note->text);
    CHECK(length > 0);
    (void)strcat(line, "\n");
    return line;
}

void event_log_note(struct event_log *report, const struct note *note)
{
    CHECK(note->level <= LEVEL_ERROR);
    const char *text = keep(report, note);
    reach_on_note(&report->reach, note);
    if (report->reader)
        report->reader(report->reader_self, note);
    if (!report->is_quiet && (note->level > LEVEL_DEBUG || report->verbose))
        (void)fputs(text, stderr);
    if (!report->log)
        return;
    json_t *line = line_begin(report, note->at_ns, note_kind_name(note->kind));
    put_text(line, "level", LEVELS[note->level]);
    if (note->who[0])
        put_text(line, "peer", note->who);
    if (note->where[0])
        put_text(line, "address", note->where);
    put_text(line, "text", note->text);
    line_end(report, line);
}

static void put_stats(json_t *line, const struct node_stats *stats)
{
    put_number(line, "steps", stats->steps);
    put_number(line, "samples", stats->samples);
    put_real(line, "samples_per_second", stats->samples_per_second);
    put_real(line, "share", stats->share);
    put_number(line, "neighbours", stats->neighbours);
    put_number(line, "members", stats->members_live);
    put_number(line, "rumors_published", stats->rumors_published);
    put_number(line, "rumors_received", stats->rumors_received);
    put_number(line, "duplicates", stats->duplicates);
    put_number(line, "rumor_bytes_published", stats->rumor_bytes_published);
    put_number(line, "rumor_bytes_received", stats->rumor_bytes_received);
    put_number(line, "bytes_sent", stats->sent_bytes);
    put_number(line, "bytes_received", stats->received_bytes);
    put_number(line, "rumors_known", stats->version);
    put_number(line, "waiting", stats->waiting);
    put_digest(line, "digest", stats->digest);
}

/* A leaving node has fewer and fewer neighbours, which is no fault. */
static bool is_alone(const struct event_log *report, uint64_t now_ns,
                     const struct node_stats *stats)
{
    return stats->phase != NODE_LEAVING && reach_is_alone(&report->reach, now_ns);
}

static void print_status(const struct event_log *report, uint64_t now_ns,
                         const struct node_stats *stats, double loss)
{
    (void)fprintf(stderr, "%9.3f ", seconds_since(report, now_ns));
    if (is_alone(report, now_ns, stats))
        (void)fprintf(stderr, "alone: no neighbour for %.0f s (%s); ",
                      reach_alone_s(&report->reach, now_ns), report->reach.why);
    if (stats->phase == NODE_LEAVING)
        (void)fprintf(stderr, "%" PRIu64 " steps, leaving, ", stats->steps);
    else if (!stats->trains)
        (void)fprintf(stderr, "%" PRIu64 " steps, only relaying, ", stats->steps);
    else if (stats->steps == 0)
        (void)fprintf(stderr, "not training, %s, ",
                      stats->phase == NODE_EXPELLED ? "expelled by an order"
                      : stats->neighbours           ? "receiving the swarm's base"
                                                    : "no neighbour");
    else
        (void)fprintf(stderr, "%" PRIu64 " steps, %.0f samples/s, loss %.4f, ", stats->steps,
                      stats->samples_per_second, loss);
    (void)fprintf(stderr,
                  "neighbours %u, members %u, published %" PRIu64 ", received %" PRIu64
                  ", sent %.2f MB, received %.2f MB\n",
                  stats->neighbours, stats->members_live, stats->rumors_published,
                  stats->rumors_received, (double)stats->sent_bytes * 1e-6,
                  (double)stats->received_bytes * 1e-6);
}

/* A node that trains gets its first status line only when its speed was measured. */
static bool is_line_due(const struct event_log *report, uint64_t now_ns,
                        const struct node_stats *stats)
{
    CHECK(now_ns >= report->printed_ns);
    if (report->is_quiet)
        return false;
    if (report->printed_ns)
        return now_ns - report->printed_ns >= STATUS_LINE_NS;
    return !stats->trains || stats->steps == 0 || stats->samples_per_second > 0;
}

void event_log_status(struct event_log *report, uint64_t now_ns, const struct node_stats *stats,
                      double loss)
{
    reach_on_neighbours(&report->reach, now_ns, stats->neighbours);
    if (is_line_due(report, now_ns, stats)) {
        report->printed_ns = now_ns;
        print_status(report, now_ns, stats, loss);
    }
    if (!report->log)
        return;
    json_t *line = line_begin(report, now_ns, note_kind_name(NOTE_STATUS));
    put_stats(line, stats);
    put_real(line, "loss", stats->steps ? loss : NAN);
    if (is_alone(report, now_ns, stats))
        put_text(line, "alone", report->reach.why);
    line_end(report, line);
}

void event_log_say(struct event_log *report, uint64_t now_ns, enum note_kind kind,
                   enum note_level level, const char *text)
{
    struct note note = {.at_ns = now_ns, .kind = kind, .level = level};
    CHECK(text[0]);
    (void)snprintf(note.text, sizeof note.text, "%.*s", (int)sizeof note.text - 1, text);
    event_log_note(report, &note);
}

void event_log_batch(struct event_log *report, uint64_t now_ns, uint32_t batch)
{
    if (batch == 0 || batch == report->batch)
        return;
    char text[64];
    (void)snprintf(text, sizeof text, "the batch is now %u samples (train.step_ms)",
                   (unsigned)batch);
    report->batch = batch;
    event_log_say(report, now_ns, NOTE_BATCH, LEVEL_INFO, text);
}

static void say_evaluation(const struct evaluation *evaluation)
{
    if (evaluation->is_regression)
        (void)fprintf(stderr, "error %.6g (root mean square), R² %.4f on %u test samples",
                      sqrt(evaluation->loss), evaluation_r2(evaluation),
                      (unsigned)evaluation->samples);
    else
        (void)fprintf(stderr, "accuracy %.2f %%, loss %.4f on %u test samples",
                      100 * evaluation_accuracy(evaluation), evaluation->loss,
                      (unsigned)evaluation->samples);
}

static void put_evaluation(json_t *line, const struct evaluation *evaluation)
{
    put_number(line, "tested", evaluation->samples);
    if (evaluation->is_regression) {
        put_real(line, "rmse", sqrt(evaluation->loss));
        put_real(line, "r2", evaluation_r2(evaluation));
    } else {
        put_number(line, "correct", evaluation->correct);
        put_real(line, "accuracy", evaluation_accuracy(evaluation));
    }
    put_real(line, "loss", evaluation->loss);
}

static void say_averaged(const struct evaluation *averaged)
{
    if (averaged->samples > 0 && averaged->is_regression)
        (void)fprintf(stderr, "; averaged: R² %.4f", evaluation_r2(averaged));
    else if (averaged->samples > 0)
        (void)fprintf(stderr, "; averaged: accuracy %.2f %%, loss %.4f",
                      100 * evaluation_accuracy(averaged), averaged->loss);
}

static void put_averaged(json_t *line, const struct evaluation *averaged)
{
    json_t *object = averaged->samples > 0 ? json_object() : NULL;
    if (!object)
        return;
    put_evaluation(object, averaged);
    CHECK(json_object_set_new(line, "averaged", object) == 0);
}

void event_log_evaluated(struct event_log *report, uint64_t now_ns,
                         const struct evaluation *evaluation, const struct evaluation *averaged)
{
    (void)fprintf(stderr, "%9.3f the base: ", seconds_since(report, now_ns));
    say_evaluation(evaluation);
    say_averaged(averaged);
    (void)fputc('\n', stderr);
    if (!report->log)
        return;
    json_t *line = line_begin(report, now_ns, note_kind_name(NOTE_EVALUATED));
    put_evaluation(line, evaluation);
    put_averaged(line, averaged);
    line_end(report, line);
}

static void say_score(const char *of, const struct evaluation *evaluation)
{
    if (evaluation->is_regression)
        (void)fprintf(stderr, "%s R² %.4f", of, evaluation_r2(evaluation));
    else
        (void)fprintf(stderr, "%s %.2f %%, loss %.4f", of, 100 * evaluation_accuracy(evaluation),
                      evaluation->loss);
}

/* Prints the final score beside that of the last periodic evaluation, both on the same test
 * samples. */
static void say_last(const struct final *final, double at_s)
{
    if (final->last.samples == 0)
        return;
    (void)fprintf(stderr, "%9.3f compared on the %u test samples of the evaluations: ", at_s,
                  (unsigned) final->part.samples);
    say_score("at the end", &final->part);
    say_score("; in the last evaluation", &final->last);
    (void)fputc('\n', stderr);
}

void event_log_final(struct event_log *report, uint64_t now_ns, const struct final *final)
{
    CHECK(final->version && final->parameters > 0);
    (void)fprintf(stderr,
                  "%9.3f the base at the end: digest %016" PRIx64 ", the sum of %" PRIu64 " rumors",
                  seconds_since(report, now_ns), final->learner_digest,
                  final->stats.version - u64_min(final->stats.waiting, final->stats.version));
    if (final->evaluation.samples) {
        (void)fputs("; ", stderr);
        say_evaluation(&final->evaluation);
        say_averaged(&final->averaged);
    }
    (void)fputc('\n', stderr);
    say_last(final, seconds_since(report, now_ns));
    if (!report->log)
        return;
    json_t *line = line_begin(report, now_ns, "final");
    put_text(line, "id", final->id);
    put_stats(line, &final->stats);
    put_evaluation(line, &final->evaluation);
    put_averaged(line, &final->averaged);
    put_digest(line, "base_digest", final->learner_digest);
    put_text(line, "version", final->version);
    put_number(line, "parameters", final->parameters);
    put_real(line, "seconds", seconds_since(report, now_ns));
    put_real(line, "cpu_steps_s", (double) final->used.steps_ns * 1e-9);
    put_real(line, "cpu_exchange_s", (double) final->used.exchange_ns * 1e-9);
    put_number(line, "rss_bytes_max", final->rss_bytes_max);
    line_end(report, line);
}

void event_log_close(struct event_log *report)
{
    if (report->is_open)
        check_forget(&report->hook);
    if (report->log && report->log != stdout)
        (void)fclose(report->log);
    report->is_open = false;
    report->log = NULL;
}

static const char *divergence_remedy(const struct event_log *report)
{
    return report->is_quiet
               ? "Lower the learning rate, clip gradients, or check the data for very large numbers"
               : "Lower train.rate, set train.clip, or check the data for very large numbers";
}

void event_log_broken_loss(struct event_log *report, uint64_t now_ns, uint64_t step)
{
    char text[sizeof((struct note *)0)->text];
    (void)snprintf(text, sizeof text,
                   "the loss on this node was NaN or infinite by step %" PRIu64
                   ", and is not counted. %s",
                   step, divergence_remedy(report));
    event_log_say(report, now_ns, NOTE_TRAINING, LEVEL_WARNING, text);
}

void event_log_reset(struct event_log *report, uint64_t now_ns, uint64_t step,
                     const struct learner_resets *resets, bool is_last)
{
    char text[sizeof((struct note *)0)->text];
    (void)snprintf(text, sizeof text,
                   "training diverged on this node by step %" PRIu64
                   ": %.64s has weights that are NaN or infinite; %s. %s",
                   step, resets->tensor,
                   is_last
                       ? "this is the third reset within an hour, so the node leaves the swarm"
                       : "these weights were not published, and training restarts from the base",
                   divergence_remedy(report));
    event_log_say(report, now_ns, NOTE_DIVERGED, LEVEL_ERROR, text);
}

void event_log_saturated(struct event_log *report, uint64_t now_ns,
                         const struct learner_saturation *saturation, bool companded)
{
    char text[sizeof((struct note *)0)->text];
    (void)snprintf(text, sizeof text,
                   "%s has a weight beyond %.8s, the largest that this swarm shares; other nodes "
                   "have the largest, and the excess stays on this node. Normalise the data, lower "
                   "train.rate or set train.weight_decay",
                   saturation->tensor, companded ? "9.2e18" : "64");
    event_log_say(report, now_ns, NOTE_SATURATED, LEVEL_WARNING, text);
}
