#include "commands/data/data_statistics.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "commands/json_output.h"

#define LINES_MAX 20 /* the table lists every class up to this number of classes */
/* with more classes, the table lists this many of the rarest and of the most frequent */
#define NAMED 5

void moments_add(struct moments *moments, double number)
{
    const double apart = number - moments->mean;
    if (moments->count == 0)
        moments->least = moments->most = number;
    moments->count++;
    moments->mean += apart / (double)moments->count;
    moments->squares += apart * (number - moments->mean);
    moments->least = number < moments->least ? number : moments->least;
    moments->most = number > moments->most ? number : moments->most;
}

double moments_deviation(const struct moments *moments)
{
    return moments->count > 0 ? sqrt(moments->squares / (double)moments->count) : 0;
}

void moments_print(FILE *out, const struct moments *moments)
{
    (void)fprintf(out, "mean %.6g, deviation %.6g, from %.6g to %.6g", moments->mean,
                  moments_deviation(moments), moments->least, moments->most);
}

size_t counts_present(const uint64_t *counts, size_t classes)
{
    size_t present = 0;
    for (size_t i = 0; i < classes; i++)
        present += counts[i] > 0;
    return present;
}

double counts_bits(const uint64_t *counts, size_t classes)
{
    double all = 0, bits = 0;
    for (size_t i = 0; i < classes; i++)
        all += (double)counts[i];
    for (size_t i = 0; i < classes; i++)
        if (counts[i] > 0)
            bits -= (double)counts[i] / all * log2((double)counts[i] / all);
    return bits;
}

static void print_lines(FILE *out, const uint64_t *train, const uint64_t *test, size_t classes)
{
    (void)fprintf(out, "  %10s %12s%s\n", "class", "samples", test ? "         test" : "");
    for (size_t i = 0; i < classes; i++) {
        (void)fprintf(out, "  %10zu %12" PRIu64, i, train[i]);
        if (test)
            (void)fprintf(out, " %12" PRIu64, test[i]);
        (void)fputc('\n', out);
    }
}

/* Returns the class that follows `last` when classes are sorted by frequency, rarest or most
 * frequent first. last = classes: returns the first class. Returns `classes` if none follows. */
static size_t next_of(const uint64_t *counts, size_t classes, size_t last, bool rarest)
{
    size_t best = classes;
    for (size_t i = 0; i < classes; i++) {
        const bool is_behind = last == classes ||
                               (rarest ? counts[i] > counts[last] : counts[i] < counts[last]) ||
                               (counts[i] == counts[last] && i > last);
        const bool is_before =
            best == classes || (rarest ? counts[i] < counts[best] : counts[i] > counts[best]);
        if (is_behind && is_before)
            best = i;
    }
    return best;
}

static void print_ends(FILE *out, const uint64_t *counts, size_t classes, bool rarest)
{
    size_t last = classes;
    (void)fprintf(out, "  %-10s", rarest ? "rarest" : "frequent");
    for (int i = 0; i < NAMED; i++) {
        last = next_of(counts, classes, last, rarest);
        CHECK(last < classes);
        (void)fprintf(out, "%s %zu (%" PRIu64 ")", i > 0 ? "," : "", last, counts[last]);
    }
    (void)fputc('\n', out);
}

void counts_print(FILE *out, const uint64_t *train, const uint64_t *test, size_t classes)
{
    if (classes <= LINES_MAX) {
        print_lines(out, train, test, classes);
        return;
    }
    print_ends(out, train, classes, false);
    print_ends(out, train, classes, true);
}

json_t *moments_json(const struct moments *moments)
{
    if (moments->count == 0)
        return NULL;
    json_t *object = json_object();
    json_output_put(object, "mean", json_output_real(moments->mean));
    json_output_put(object, "deviation", json_output_real(moments_deviation(moments)));
    json_output_put(object, "least", json_output_real(moments->least));
    json_output_put(object, "most", json_output_real(moments->most));
    return object;
}

json_t *counts_json(const uint64_t *counts, size_t classes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < classes; i++)
        CHECK(json_array_append_new(list, json_integer((json_int_t)counts[i])) == 0);
    return list;
}
