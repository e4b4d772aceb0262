#include "base/words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/min_max.h"

/* Levenshtein distance (1966). */
static size_t edits(const char *typed, const char *known)
{
    size_t row[WORDS_BYTES];
    size_t width = strlen(known);
    CHECK(width < WORDS_BYTES);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; typed[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = diagonal + (typed[i] != known[j - 1]);
            diagonal = row[j];
            row[j] = size_min(replaced, size_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[width];
}

/* Returns the Levenshtein distance, but at most 1 if one name begins with the other, and at most 2
 * if one contains the other, as learning_rate contains rate. For this, the shorter name must have
 * at least 3 or 4 letters, respectively. */
static size_t distance(const char *typed, const char *known)
{
    const size_t common = size_min(strlen(typed), strlen(known));
    if (common >= 3 && strncmp(typed, known, common) == 0)
        return typed[common] == known[common] ? 0 : 1;
    const size_t far = edits(typed, known);
    return common >= 4 && (strstr(typed, known) || strstr(known, typed)) ? size_min(far, 2) : far;
}

static bool is_near(const char *typed, size_t far)
{
    return far <= 1 + strlen(typed) / 4;
}

const char *words_nearest(const char *typed, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    CHECK(typed && words);
    for (size_t i = 0; i < count; i++)
        if (!nearest || distance(typed, words[i]) < distance(typed, nearest))
            nearest = words[i];
    return nearest && is_near(typed, distance(typed, nearest)) ? nearest : NULL;
}

bool words_nearest_of(const char *typed, const char *choices, char nearest[static WORDS_BYTES])
{
    size_t least = SIZE_MAX;
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        char word[WORDS_BYTES];
        const size_t length = strcspn(at, "|");
        CHECK(length < sizeof word);
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (distance(typed, word) >= least)
            continue;
        least = distance(typed, word);
        memcpy(nearest, word, sizeof word);
    }
    return is_near(typed, least);
}

/* Appends all words to the hint, separated by commas, the most similar to `typed` first. "..."
 * stands for words that do not fit. */
static void rank(const char *typed, const char *const *words, size_t count, struct words_hint *hint)
{
    size_t used = strlen(hint->text), most = 0;
    const char *comma = "";
    for (size_t i = 0; i < count; i++)
        most = size_max(distance(typed, words[i]), most);
    for (size_t far = 0; far <= most; far++)
        for (size_t i = 0; i < count; i++) {
            if (distance(typed, words[i]) != far)
                continue;
            const bool fits = used + strlen(words[i]) + sizeof ", , ..." <= sizeof hint->text;
            used += (size_t)snprintf(hint->text + used, sizeof hint->text - used, "%s%s", comma,
                                     fits ? words[i] : "...");
            if (!fits)
                return;
            comma = ", ";
        }
}

struct words_hint words_hint(const char *typed, const char *const *words, size_t count)
{
    struct words_hint hint = {"known: "};
    const char *nearest = words_nearest(typed, words, count);
    if (nearest)
        (void)snprintf(hint.text, sizeof hint.text, "did you mean %s?", nearest);
    else
        rank(typed, words, count, &hint);
    return hint;
}
