/* Lists of members: the reader and a plain one accept the same lists, with equal ids and names. An
 * accepted list that is written again reads back equal. A refusal names the line that is wrong. */
#include <stdio.h>

#include "fuzz/file.h"
#include "fuzz/fuzz.h"
#include "state/member_list.h"

#define DIGITS     (KEY_HEX_BYTES - 1)
#define LINE_BYTES (KEY_HEX_BYTES + MEMBER_NAME_MAX + 3)

static struct file file;
static struct member_list list, expected, again;

void fuzz_begin(void)
{
    file_init(&file);
}

/* Reads one line plainly, without its end and comment. Adds its member, if any, to `expected`.
 * Returns false if the line is wrong. */
static bool take_line(const char *line, size_t length)
{
    static const char blanks[] = " \t\r";
    uint8_t *id = expected.ids[expected.count % NODE_LISTED_MAX];
    char *name = expected.names[expected.count % NODE_LISTED_MAX];
    while (length > 0 && memchr(blanks, line[0], 3))
        line++, length--;
    while (length > 0 && memchr(blanks, line[length - 1], 3))
        length--;
    if (length == 0)
        return true;
    if (length < DIGITS || expected.count == NODE_LISTED_MAX)
        return false;
    memset(id, 0, ID_BYTES);
    for (size_t i = 0; i < DIGITS; i++) {
        const char *digit = memchr("0123456789abcdefABCDEF", line[i], 22);
        if (!digit)
            return false;
        id[i / 2] = (uint8_t)(16 * id[i / 2] + (line[i] <= '9' ? line[i] - '0' : line[i] % 32 + 9));
    }
    size_t at = DIGITS;
    while (at < length && memchr(blanks, line[at], 3))
        at++;
    if ((length > DIGITS && at == DIGITS) || length - at > MEMBER_NAME_MAX)
        return false;
    memcpy(name, line + at, length - at);
    name[length - at] = 0;
    for (size_t i = at; i < length; i++)
        if (line[i] < 0x20 || line[i] > 0x7e)
            return false;
    for (uint32_t i = 0; i < expected.count; i++)
        if (memcmp(expected.ids[i], id, ID_BYTES) == 0)
            return false;
    expected.count++;
    return true;
}

/* Reads the list plainly. Returns false if it must be refused. */
static bool read_plainly(const char *text, size_t bytes)
{
    expected.count = 0;
    for (size_t at = 0, end; at < bytes; at = end + 1) {
        size_t length = 0;
        for (end = at; end < bytes && text[end] != '\n'; end++)
            if (length == end - at && text[end] != '#')
                length++;
        if (!take_line(text + at, length))
            return false;
    }
    return expected.count > 0 && bytes <= MEMBER_LIST_MAX;
}

static void same_list(const struct member_list *a, const struct member_list *b)
{
    CHECK(a->count == b->count && memcmp(a->ids, b->ids, a->count * sizeof a->ids[0]) == 0);
    for (uint32_t i = 0; i < a->count; i++)
        CHECK(strcmp(a->names[i], b->names[i]) == 0);
}

static void comes_back(void)
{
    static char text[NODE_LISTED_MAX * LINE_BYTES];
    struct problem problem = {""};
    size_t used = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        char hex[KEY_HEX_BYTES];
        key_hex(hex, list.ids[i]);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s\n", hex, list.names[i]);
    }
    file_put(&file, text, used);
    CHECK(member_list_load(&again, disk_real(), file.path, &problem) == OK);
    same_list(&list, &again);
}

/* The sentence of a wrong line begins with the file and the line's number. */
static void is_explained(enum error error, const struct problem *problem, size_t bytes)
{
    const size_t length = strlen(file.path);
    int number = 0;
    CHECK(error == MALFORMED || (error == TOO_BIG && bytes > MEMBER_LIST_MAX));
    CHECK(strncmp(problem->text, file.path, length) == 0);
    if (sscanf(problem->text + length, ": line %d: ", &number) == 1)
        CHECK(number >= 1 && (size_t)number <= bytes);
    else
        CHECK(error == TOO_BIG || strcmp(problem->text + length, ": the list is empty") == 0);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct problem problem = {""};
    file_put(&file, data, bytes);
    const enum error error = member_list_load(&list, disk_real(), file.path, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    CHECK((error == OK) == read_plainly((const char *)data, bytes));
    if (error != OK) {
        is_explained(error, &problem, bytes);
        return;
    }
    same_list(&list, &expected);
    comes_back();
    for (uint32_t i = 0; i < list.count; i++)
        CHECK(member_list_name(&list, list.ids[i]) == list.names[i]);
}
