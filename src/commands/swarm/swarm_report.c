/* Reads the nodes' log lines, and sums up their results. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/swarm/swarm_goal.h"
#include "commands/swarm/swarm_score.h"

static uint64_t number(const json_t *line, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(line, key));
}

static double real(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void text(char *out, size_t bytes, const json_t *line, const char *key)
{
    const char *value = json_string_value(json_object_get(line, key));
    (void)snprintf(out, bytes, "%s", value ? value : "");
}

static void read_stats(struct swarm_node *node, const json_t *line)
{
    node->steps = number(line, "steps");
    node->samples = number(line, "samples");
    node->samples_per_second = real(line, "samples_per_second");
    node->neighbours = number(line, "neighbours");
    node->rumors_published = number(line, "rumors_published");
    node->rumors_received = number(line, "rumors_received");
    node->duplicates = number(line, "duplicates");
    node->bytes_sent = number(line, "bytes_sent");
    node->bytes_received = number(line, "bytes_received");
}

/* Returns the test accuracy, or R² for regression. */
static double part_of(const json_t *line)
{
    return real(line, json_object_get(line, "r2") ? "r2" : "accuracy");
}

static void read_final(struct swarm_node *node, const json_t *line)
{
    const char *version = json_string_value(json_object_get(line, "version"));
    read_stats(node, line);
    text(node->id, sizeof node->id, line, "id");
    text(node->digest, sizeof node->digest, line, "digest");
    text(node->base_digest, sizeof node->base_digest, line, "base_digest");
    node->version = version ? memory_text(version) : NULL;
    node->accuracy = part_of(line);
    node->test_loss = real(line, "loss");
    node->seconds = real(line, "seconds");
    node->parameters = number(line, "parameters");
    node->rumors_known = number(line, "rumors_known");
    node->rss_bytes_max = number(line, "rss_bytes_max");
    node->has_final = true;
}

bool swarm_read_line(struct swarm_node *node, const char *bytes)
{
    json_t *line = json_loads(bytes, 0, NULL);
    const char *note = json_string_value(json_object_get(line, "note"));
    if (!note) {
        json_decref(line);
        return false;
    }
    if (strcmp(note, "started") == 0) {
        text(node->address, sizeof node->address, line, "address");
    } else if (strcmp(note, "status") == 0) {
        read_stats(node, line);
        node->loss = real(line, "loss");
    } else if (strcmp(note, "evaluated") == 0) {
        node->tested = number(line, "tested");
        node->correct = number(line, "correct");
        node->tested_r2 = real(line, "r2");
        node->tested_loss = real(line, "loss");
        node->evaluations++;
    } else if (strcmp(note, "final") == 0 && !node->has_final) {
        read_final(node, line);
    }
    json_decref(line);
    return true;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the words sorted, so that versions compare equal whatever their order. */
static char *sorted_words(const char *words)
{
    const size_t bytes = strlen(words) + 1;
    char *copy = memory_text(words);
    char **word = memory_new(bytes / 2 + 1, sizeof *word);
    char *out = memory_new(bytes + 1, 1);
    size_t count = 0;
    char *rest = NULL;
    for (char *at = strtok_r(copy, " ", &rest); at; at = strtok_r(NULL, " ", &rest))
        word[count++] = at;
    qsort(word, count, sizeof *word, compare_words);
    for (size_t i = 0; i < count; i++) {
        strcat(out, word[i]);
        strcat(out, " ");
    }
    free(word);
    free(copy);
    return out;
}

static bool same_version(const struct swarm_node *a, const struct swarm_node *b)
{
    if (!a->version || !b->version)
        return false;
    char *first = sorted_words(a->version), *second = sorted_words(b->version);
    const bool same = strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

bool swarm_node_finished(const struct swarm_node *node)
{
    return node->pid == 0 && node->has_final && WIFEXITED(node->exit_status) &&
           WEXITSTATUS(node->exit_status) == 0;
}

double swarm_node_score(const struct swarm_node *node, enum score_kind kind)
{
    const double accuracy = (double)node->correct / (double)node->tested;
    return swarm_score(kind, kind == SCORE_OF_NUMBERS ? node->tested_r2 : accuracy,
                       node->tested_loss);
}

static double final_score(const struct swarm_node *node, enum score_kind kind)
{
    return swarm_score(kind, node->accuracy, node->test_loss);
}

struct swarm_verdict swarm_judge(const struct swarm_node *nodes, int count, enum score_kind kind)
{
    double scores = 0;
    struct swarm_verdict verdict = {.same_model = true, .score = NAN};
    const struct swarm_node *first = NULL;
    for (int i = 0; i < count; i++) {
        const struct swarm_node *node = &nodes[i];
        verdict.sent_bytes += node->bytes_sent;
        verdict.dense_bytes += swarm_dense_bytes(node, count);
        if (!swarm_node_finished(node))
            continue;
        verdict.finished++;
        verdict.rumors = node->rumors_known;
        scores += final_score(node, kind);
        verdict.score = fmin(final_score(node, kind), verdict.score);
        if (!first)
            first = node;
        verdict.same_model &= strcmp(node->digest, first->digest) == 0 &&
                              strcmp(node->base_digest, node->digest) == 0 &&
                              same_version(node, first);
    }
    verdict.same_model &= verdict.finished > 0;
    if (kind == SCORE_OF_TEXT && verdict.finished > 0)
        /* Each node tested another part of the text, so the score is the mean. */
        verdict.score = scores / verdict.finished;
    return verdict;
}

uint64_t swarm_dense_bytes(const struct swarm_node *node, int count)
{
    return node->steps * node->parameters * 4 * (uint64_t)(count - 1);
}

const char *swarm_amount(double bytes, char out[static 16])
{
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    (void)snprintf(out, 16, unit ? "%.1f %s" : "%.0f %s", bytes, UNITS[unit]);
    return out;
}

static void describe_end(const struct swarm_node *node, char *out, size_t bytes)
{
    if (WIFSIGNALED(node->exit_status))
        (void)snprintf(
            out, bytes, "killed by signal %d (%s)%s", WTERMSIG(node->exit_status),
            strsignal(WTERMSIG(node->exit_status)),
            WTERMSIG(node->exit_status) == SIGKILL ? ": perhaps memory ran out (see dmesg)" : "");
    else
        (void)snprintf(out, bytes, "ended with exit code %d", WEXITSTATUS(node->exit_status));
}

void swarm_print_table(FILE *out, const struct swarm_node *nodes, int count, enum score_kind kind)
{
    (void)fprintf(out, "\n%4s  %-8s  %*s  %-16s  %7s  %7s  %8s  %8s\n", "node", "id",
                  kind == SCORE_OF_TEXT ? 15 : 8, swarm_score_name(kind), "digest", "samples",
                  "per s", "sent", "received");
    for (int i = 0; i < count; i++) {
        const struct swarm_node *node = &nodes[i];
        char sent[16], received[16], end[128], score[SCORE_TEXT];
        if (!node->has_final) {
            describe_end(node, end, sizeof end);
            (void)fprintf(out, "%4d  %s\n", i + 1, end);
            continue;
        }
        (void)fprintf(out, "%4d  %-8.8s  %8s  %-16s  %7" PRIu64 "  %7.0f  %8s  %8s\n", i + 1,
                      node->id, swarm_score_text(score, kind, final_score(node, kind)),
                      node->base_digest, node->samples, (double)node->samples / node->seconds,
                      swarm_amount((double)node->bytes_sent, sent),
                      swarm_amount((double)node->bytes_received, received));
    }
}

void swarm_print_traffic(FILE *out, const struct swarm_verdict *verdict)
{
    char sent[16], dense[16];
    if (verdict->dense_bytes == 0)
        return;
    (void)fprintf(out,
                  "The nodes sent %s in all: %.3f %% of the %s that sending every step's gradient\n"
                  "to every other node would have taken.\n",
                  swarm_amount((double)verdict->sent_bytes, sent),
                  100 * (double)verdict->sent_bytes / (double)verdict->dense_bytes,
                  swarm_amount((double)verdict->dense_bytes, dense));
}

static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static const char *json_key(enum score_kind kind)
{
    return kind == SCORE_OF_TEXT ? "bits_per_byte" : kind == SCORE_OF_NUMBERS ? "r2" : "accuracy";
}

static json_t *node_json(const struct swarm_node *node, int count, enum score_kind kind)
{
    return json_pack("{s:s, s:o, s:o, s:s, s:s, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, "
                     "s:I, s:b}",
                     "id", node->id, kind == SCORE_OF_NUMBERS ? "r2" : "accuracy",
                     real_json(node->has_final ? node->accuracy : NAN), "loss",
                     real_json(node->has_final ? node->test_loss : NAN), "version",
                     node->version ? node->version : "", "digest", node->base_digest, "samples",
                     (json_int_t)node->samples, "samples_per_second",
                     node->seconds > 0 ? (double)node->samples / node->seconds : 0.0, "bytes_sent",
                     (json_int_t)node->bytes_sent, "bytes_received",
                     (json_int_t)node->bytes_received, "dense_bytes",
                     (json_int_t)swarm_dense_bytes(node, count), "rumors_published",
                     (json_int_t)node->rumors_published, "rumors_received",
                     (json_int_t)node->rumors_received, "duplicates", (json_int_t)node->duplicates,
                     "seconds", node->seconds, "rss_bytes_max", (json_int_t)node->rss_bytes_max,
                     "steps", (json_int_t)node->steps, "finished", (int)swarm_node_finished(node));
}

bool swarm_write_json(FILE *out, const struct swarm_node *nodes, int count,
                      const struct swarm_goal *goal, bool ok)
{
    const enum score_kind kind = goal->kind;
    const struct swarm_verdict verdict = swarm_judge(nodes, count, kind);
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        (void)json_array_append_new(list, node_json(&nodes[i], count, kind));
    json_t *root = json_pack(
        "{s:b, s:b, s:i, s:f, s:o, s:I, s:I, s:o}", "ok", (int)ok, "same_model",
        (int)verdict.same_model, "finished", verdict.finished, "target",
        kind == SCORE_OF_TEXT ? swarm_score_bits(goal->target) : goal->target, json_key(kind),
        real_json(kind == SCORE_OF_TEXT ? swarm_score_bits(verdict.score) : verdict.score),
        "bytes_sent", (json_int_t)verdict.sent_bytes, "dense_bytes",
        (json_int_t)verdict.dense_bytes, "nodes", list);
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(9);
    const bool written = root && json_dumpf(root, out, flags) == 0 && fputc('\n', out) != EOF;
    json_decref(root);
    return written;
}

/* Keeps standard output for the results: everything printed later goes to standard error. Returns
 * the stream for the results. */
static FILE *take_output(void)
{
    const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    return output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 ? fdopen(output, "w") : NULL;
}

enum error swarm_open_json(FILE **json, const char *path, struct problem *problem)
{
    *json = strcmp(path, "-") == 0 ? take_output() : fopen(path, "we");
    if (!*json)
        return problem_set(problem, FAILED, "--json %s: cannot be written: %s; name another file",
                           path, strerror(errno));
    return OK;
}
