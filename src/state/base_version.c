#include "state/base_version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/min_max.h"
#include "node/broadcast/history.h"

/* an entry: id, two numbers, separators and a blank */
#define ENTRY_TEXT_BYTES (ID_TEXT_BYTES + 40)

static int by_name(const void *a, const void *b)
{
    const struct history_entry *left = a, *right = b;
    const int by_id = memcmp(left->id, right->id, ID_BYTES);
    if (by_id != 0)
        return by_id;
    return (left->incarnation > right->incarnation) - (left->incarnation < right->incarnation);
}

/* The highest incarnation, which is the newest, comes first. */
static int by_age(const void *a, const void *b)
{
    const struct history_entry *left = a, *right = b;
    if (left->incarnation != right->incarnation)
        return left->incarnation < right->incarnation ? 1 : -1;
    return by_name(a, b);
}

/* The origins are sorted by `order`; the caller frees them. */
static struct history_entry *origins_new(const uint8_t *history, size_t count,
                                         int (*order)(const void *, const void *))
{
    struct history_entry *origins = memory_new(count + 1, sizeof *origins);
    for (size_t i = 0; i < count; i++)
        origins[i] = history_entry_at(history + i * HISTORY_ENTRY_BYTES);
    qsort(origins, count, sizeof *origins, order);
    return origins;
}

static size_t entry_text(const struct history_entry *entry, char text[static ENTRY_TEXT_BYTES])
{
    char id[ID_TEXT_BYTES];
    identity_text(id, entry->id);
    const int length = snprintf(text, ENTRY_TEXT_BYTES, "%s/%" PRIu64 ":%" PRIu32 " ", id,
                                entry->incarnation, entry->next);
    CHECK(length > 0 && length < ENTRY_TEXT_BYTES);
    return (size_t)length;
}

/* Returns how many origins, from the first one on, have texts that fit in `room` bytes together.
 * Each text ends with a blank, and the last blank becomes the terminating zero. */
static size_t count_fitting(const struct history_entry *origins, size_t count, size_t room)
{
    char text[ENTRY_TEXT_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used += entry_text(&origins[i], text);
        if (used > room)
            return i;
    }
    return count;
}

void base_version_text(const uint8_t *history, size_t history_bytes, char *out, size_t room)
{
    CHECK(room > 0 && history_bytes % HISTORY_ENTRY_BYTES == 0);
    const size_t count = history_bytes / HISTORY_ENTRY_BYTES;
    struct history_entry *origins = origins_new(history, count, by_age);
    const size_t listed = count_fitting(origins, count, room);
    size_t used = 0;
    qsort(origins, listed, sizeof *origins, by_name);
    for (size_t i = 0; i < listed; i++) {
        char text[ENTRY_TEXT_BYTES];
        const size_t bytes = entry_text(&origins[i], text);
        memcpy(out + used, text, bytes);
        used += bytes;
    }
    out[used > 0 ? used - 1 : 0] = '\0';
    free(origins);
}

static bool is_continued(const struct history_entry *entry, const struct history_entry *next)
{
    return memcmp(entry->id, next->id, ID_BYTES) == 0 &&
           next->incarnation == entry->incarnation + 1 && next->samples >= entry->samples;
}

uint64_t base_version_samples(const uint8_t *history, size_t history_bytes)
{
    CHECK(history_bytes % HISTORY_ENTRY_BYTES == 0);
    const size_t count = history_bytes / HISTORY_ENTRY_BYTES;
    struct history_entry *origins = origins_new(history, count, by_name);
    uint64_t samples = 0;
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || !is_continued(&origins[i], &origins[i + 1]))
            samples += origins[i].samples;
    free(origins);
    return samples;
}

struct base_summary base_version_summary(const char *text, const char *id)
{
    const size_t digits = size_min(strlen(id), ID_TEXT_BYTES - 1);
    struct base_summary summary = {0};
    const char *last = NULL;
    for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        char *end;
        const size_t name = strcspn(at, "/ ");
        if (at[name] != '/')
            continue; /* this part of the text is no entry */
        (void)strtoull(at + name + 1, &end, 10);
        const uint64_t rumors = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
        if (rumors > 0 && !(last && strncmp(last, at, name + 1) == 0))
            summary.members++;
        if (rumors > 0)
            last = at;
        summary.rumors += rumors;
        if (digits > 0 && name >= digits && strncasecmp(at, id, digits) == 0)
            summary.of += rumors;
    }
    return summary;
}
