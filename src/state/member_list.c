#include "state/member_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A line of the list without its comment and without surrounding blanks. */
struct line {
    const char *at;
    size_t length;
    int number; /* number of the line, from 1 */
};

static struct line trim(const char *at, size_t length, int number)
{
    const char *comment = memchr(at, '#', length);
    if (comment)
        length = (size_t)(comment - at);
    for (; length > 0 && is_blank(*at); length--)
        at++;
    while (length > 0 && is_blank(at[length - 1]))
        length--;
    return (struct line){.at = at, .length = length, .number = number};
}

static enum error wrong(const struct line *line, const char *what, struct problem *problem)
{
    return problem_set(problem, MALFORMED, "line %d: %s", line->number, what);
}

static bool read_id(const struct line *line, uint8_t id[static ID_BYTES])
{
    char hex[KEY_HEX_BYTES];
    if (line->length < KEY_HEX_BYTES - 1)
        return false;
    memcpy(hex, line->at, KEY_HEX_BYTES - 1);
    hex[KEY_HEX_BYTES - 1] = '\0';
    return key_from_hex(id, hex) == OK;
}

static enum error read_name(const struct line *line, char out[static MEMBER_NAME_MAX + 1],
                            struct problem *problem)
{
    const char *at = line->at + KEY_HEX_BYTES - 1;
    size_t length = line->length - (KEY_HEX_BYTES - 1);
    if (length > 0 && !is_blank(*at))
        return wrong(line, "the line must be an id of 64 hex digits, a blank and a name", problem);
    for (; length > 0 && is_blank(*at); length--)
        at++;
    if (length > MEMBER_NAME_MAX)
        return wrong(line, "the name is longer than 48 characters", problem);
    for (size_t i = 0; i < length; i++)
        if (at[i] < ' ' || at[i] > '~')
            return wrong(line, "the name has characters that are not printable ASCII", problem);
    memcpy(out, at, length);
    out[length] = '\0';
    return OK;
}

static enum error add(struct member_list *list, const struct line *line, struct problem *problem)
{
    if (list->count == NODE_LISTED_MAX)
        return wrong(line, "the list has more than 1024 members", problem);
    uint8_t *id = list->ids[list->count];
    if (!read_id(line, id))
        return wrong(
            line,
            "the line does not begin with an id, the 64 hex digits that hearsay keygen prints",
            problem);
    if (member_list_name(list, id))
        return wrong(line, "this id is already in an earlier line", problem);
    const enum error error = read_name(line, list->names[list->count], problem);
    list->count += error == OK;
    return error;
}

enum error member_list_parse(struct member_list *list, const char *text, size_t bytes,
                             struct problem *problem)
{
    list->count = 0;
    int number = 1;
    for (size_t at = 0, length; at < bytes; at += length + 1, number++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        length = end ? (size_t)(end - (text + at)) : bytes - at;
        const struct line line = trim(text + at, length, number);
        const enum error error = line.length > 0 ? add(list, &line, problem) : OK;
        if (error != OK)
            return error;
    }
    return list->count > 0 ? OK : problem_set(problem, MALFORMED, "the list is empty");
}

static enum error read_all(const struct disk *disk, const char *path, char *out, size_t *bytes,
                           struct problem *problem)
{
    const int handle = disk->open(disk->self, path);
    int64_t got = handle;
    if (handle >= 0) {
        got = disk_read_all(disk, handle, out, MEMBER_LIST_MAX + 1);
        (void)disk->close(disk->self, handle);
    }
    if (got == -ENOENT)
        return problem_set(problem, MISSING,
                           "%.300s: not found; create it with the ids of the members, one a line",
                           path);
    if (got < 0)
        return problem_set(problem, FAILED, "%.300s: cannot be read: %s; check its permissions",
                           path, strerror((int)-got));
    if (got > MEMBER_LIST_MAX)
        return problem_set(problem, TOO_BIG, "%.300s: is too large for a list of members", path);
    *bytes = (size_t)got;
    return OK;
}

enum error member_list_load(struct member_list *list, const struct disk *disk, const char *path,
                            struct problem *problem)
{
    char *text = memory_new(MEMBER_LIST_MAX + 1, 1);
    struct problem why;
    size_t bytes = 0;
    enum error error = read_all(disk, path, text, &bytes, problem);
    if (error == OK) {
        error = member_list_parse(list, text, bytes, &why);
        if (error != OK)
            (void)problem_set(problem, error, "%.300s: %s", path, why.text);
    }
    free(text);
    return error;
}

const char *member_list_name(const struct member_list *list, const uint8_t id[static ID_BYTES])
{
    CHECK(list->count <= NODE_LISTED_MAX);
    for (uint32_t i = 0; i < list->count; i++)
        if (memcmp(list->ids[i], id, ID_BYTES) == 0)
            return list->names[i];
    return NULL;
}
