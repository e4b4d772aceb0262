#include "wire/model_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define SHOWN 72 /* capacity for one part as the sentence shows it, with the final zero */

/* A line of text without its newline or a final zero. */
struct line {
    const uint8_t *at;
    size_t bytes;
};

size_t model_parts_bytes(const char *ours)
{
    size_t bytes = strlen(ours);
    if (bytes <= MODEL_PARTS_MAX)
        return bytes;
    for (bytes = MODEL_PARTS_MAX; bytes > 0 && ours[bytes - 1] != '\n';)
        bytes--;
    return bytes;
}

void model_parts_of(char *out, const char *description)
{
    size_t start = strlen(description), length = 0;
    for (const char *at = description; (at = strstr(at, "; ")); at++)
        start = (size_t)(at - description);
    for (size_t i = 0; i < start; i++) {
        const bool is_end = strchr(",:", description[i]) && description[i + 1] == ' ';
        out[length++] = is_end ? '\n' : description[i];
        i += is_end;
    }
    out[length] = '\0';
}

/* Returns the line at *at and moves *at behind it; empty at the end of the text. */
static struct line next_line(const uint8_t **at, const uint8_t *end)
{
    struct line line = {*at, 0};
    CHECK(*at <= end);
    while (*at < end && **at != '\n')
        ++*at;
    line.bytes = (size_t)(*at - line.at);
    *at += *at < end;
    return line;
}

static bool are_equal(struct line a, struct line b)
{
    return a.bytes == b.bytes && memcmp(a.at, b.at, a.bytes) == 0;
}

/* Copies a line with `?` for each unprintable character, or "nothing" for an empty line. */
static void show(char out[static SHOWN], struct line line)
{
    size_t length = 0;
    for (size_t i = 0; i < line.bytes && length < SHOWN - 1; i++)
        out[length++] = line.at[i] >= ' ' && line.at[i] < 127 ? (char)line.at[i] : '?';
    out[length] = '\0';
    if (length == 0)
        (void)snprintf(out, SHOWN, "nothing");
}

/* Returns true if `longer` is `shorter` behind a prefix that ends with a dot. */
static bool has_prefix(struct line longer, struct line shorter)
{
    const size_t prefix = longer.bytes - shorter.bytes;
    return longer.bytes > shorter.bytes && shorter.bytes > 0 && longer.at[prefix - 1] == '.' &&
           memcmp(longer.at + prefix, shorter.at, shorter.bytes) == 0;
}

/* Returns true if both lines are dense layers and the last of their lists: the models probably
 * differ only in their number of classes. */
static bool are_classes(struct line a, bool a_is_last, struct line b, bool b_is_last)
{
    static const char dense[] = "dense ";
    const size_t bytes = sizeof dense - 1;
    return a_is_last && b_is_last && a.bytes > bytes && b.bytes > bytes &&
           memcmp(a.at, dense, bytes) == 0 && memcmp(b.at, dense, bytes) == 0;
}

static bool is_regression(struct line line)
{
    static const char regression[] = "regression";
    return line.bytes == sizeof regression - 1 && memcmp(line.at, regression, line.bytes) == 0;
}

bool model_parts_difference(char out[static MODEL_PARTS_DIFFERENCE], const uint8_t *theirs,
                            size_t theirs_bytes, const char *ours)
{
    const uint8_t *our_at = (const uint8_t *)ours, *their_at = theirs;
    const uint8_t *our_end = our_at + model_parts_bytes(ours), *their_end = theirs + theirs_bytes;
    while (our_at < our_end || their_at < their_end) {
        const struct line a = next_line(&their_at, their_end), b = next_line(&our_at, our_end);
        char a_text[SHOWN], b_text[SHOWN];
        if (are_equal(a, b))
            continue;
        show(a_text, a);
        show(b_text, b);
        const char *remedy = "give all nodes the same model";
        if (is_regression(a) || is_regression(b)) {
            (void)snprintf(a_text, SHOWN, is_regression(a) ? "regression" : "classes");
            (void)snprintf(b_text, SHOWN, is_regression(b) ? "regression" : "classes");
            remedy = "check the numbers in data.y, and set the same data.task on all nodes";
        } else if (has_prefix(a, b) || has_prefix(b, a)) {
            remedy = "give the model inside the wrapper on both";
        } else if (are_classes(a, their_at == their_end, b, our_at == our_end)) {
            remedy = "give all nodes the same model, and data.classes if their labels differ";
        }
        (void)snprintf(out, MODEL_PARTS_DIFFERENCE, "other model: theirs %s, ours %s; %s", a_text,
                       b_text, remedy);
        return true;
    }
    return false;
}
