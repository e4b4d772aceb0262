#include "data/file_list.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define WILDCARDS "*?["

static const char BLANKS[] = " \t";

static void append(char ***texts, size_t *count, const char *text)
{
    *texts = memory_more(*texts, *count + 1, sizeof **texts);
    (*texts)[(*count)++] = memory_text(text);
}

static void add(struct file_list *list, const char *path)
{
    append(&list->path, &list->count, path);
}

static int by_bytes(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Returns "folder/name", "/name" for the folder "/", or "name" for ""; the caller calls free(). */
static char *join(const char *folder, const char *name, size_t length)
{
    const size_t before = strlen(folder), bytes = before + length + 2;
    const bool needs_slash = before > 0 && folder[before - 1] != '/';
    char *path = memory_new(bytes, 1);
    (void)snprintf(path, bytes, "%s%s%.*s", folder, needs_slash ? "/" : "", (int)length, name);
    return path;
}

static void expand(struct file_list *list, const char *folder, const char *rest);

/* Adds all paths that match folder/part/rest, where `part` is a pattern for one name. Notes the
 * folder in list->folder. */
static void expand_pattern(struct file_list *list, const char *folder, const char *part,
                           const char *rest)
{
    const char *looked_in = folder[0] ? folder : ".";
    DIR *open = opendir(looked_in);
    append(&list->folder, &list->folders, looked_in);
    if (!open)
        return;
    for (const struct dirent *entry; (entry = readdir(open));) {
        if (fnmatch(part, entry->d_name, FNM_PERIOD) != 0)
            continue;
        char *path = join(folder, entry->d_name, strlen(entry->d_name));
        expand(list, path, rest);
        free(path);
    }
    (void)closedir(open);
}

/* Adds all paths below `folder` that match the pattern `rest`, one part of the path at a time. */
static void expand(struct file_list *list, const char *folder, const char *rest)
{
    rest += strspn(rest, "/");
    const size_t length = strcspn(rest, "/");
    if (length == 0) {
        add(list, folder);
        return;
    }
    char *part = strndup(rest, length), *path = join(folder, rest, length);
    CHECK(part);
    if (is_there(path))
        expand(list, path, rest + length);
    else if (strpbrk(part, WILDCARDS))
        expand_pattern(list, folder, part, rest + length);
    free(part);
    free(path);
}

static enum error no_match(const char *pattern, const char *key, struct problem *problem)
{
    const char *first = strpbrk(pattern, WILDCARDS), *slash = pattern;
    CHECK(first);
    for (const char *at = pattern; at < first; at++)
        slash = *at == '/' ? at : slash;
    char *folder = strndup(pattern, (size_t)(slash - pattern));
    CHECK(folder);
    const bool is_missing = folder[0] && !is_there(folder);
    free(folder);
    if (is_missing)
        return problem_set(problem, MISSING,
                           "%s: there is no folder \"%.*s\"; name files that are there", key,
                           (int)(slash - pattern < 300 ? slash - pattern : 300), pattern);
    return problem_set(problem, MISSING,
                       "%s: no file matches \"%.200s\"; name files that are there, or a pattern "
                       "such as data/*.bin",
                       key, pattern);
}

/* Adds the paths that match a pattern, sorted by bytes: readdir's order differs between machines.
 * MISSING: no path matches. */
static enum error add_matches(struct file_list *list, const char *pattern, const char *key,
                              struct problem *problem)
{
    const size_t before = list->count;
    expand(list, pattern[0] == '/' ? "/" : "", pattern);
    if (list->count == before)
        return no_match(pattern, key, problem);
    qsort(list->path + before, list->count - before, sizeof *list->path, by_bytes);
    return OK;
}

static enum error add_name(struct file_list *list, const char *name, const char *key,
                           struct problem *problem)
{
    if (name[0] == '\0')
        return problem_set(problem, MALFORMED,
                           "%s: there is no name before or after a comma; write FILE, FILE", key);
    if (strpbrk(name, WILDCARDS) && !is_there(name))
        return add_matches(list, name, key, problem);
    add(list, name);
    return OK;
}

/* Returns the first `length` bytes of the text without surrounding blanks. The caller frees it. */
static char *name_of(const char *text, size_t length)
{
    const size_t before = strspn(text, BLANKS);
    const size_t from = before < length ? before : length;
    while (length > from && strchr(BLANKS, text[length - 1]))
        length--;
    char *name = strndup(text + from, length - from);
    CHECK(name);
    return name;
}

/* Returns true if the text is one name: it has no comma, or a file or folder has this name, or a
 * folder has the path up to a slash after the last comma. */
static bool is_one_name(char *name)
{
    char *last = strrchr(name, ',');
    bool is_one = !last || is_there(name);
    for (char *slash = last ? strchr(last, '/') : NULL; slash && !is_one;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        is_one = is_there(name);
        *slash = '/';
    }
    return is_one;
}

/* Returns the longest beginning of the text that ends before a comma or at the text's end and is
 * one name (is_one_name), and its length. The caller calls free(). */
static char *next_name(const char *text, size_t *length)
{
    *length = strlen(text);
    for (;;) {
        char *name = name_of(text, *length);
        if (is_one_name(name))
            return name;
        free(name);
        while (text[--*length] != ',')
            continue;
    }
}

enum error file_list_read(struct file_list *list, const char *text, const char *key,
                          struct problem *problem)
{
    struct file_list read = {0};
    enum error error = OK;
    if (text[0] == '\0')
        return problem_set(problem, MISSING, "%s is empty; name the files of the data", key);
    for (const char *at = text; at && error == OK;) {
        size_t length;
        char *name = next_name(at, &length);
        error = add_name(&read, name, key, problem);
        free(name);
        at = at[length] ? at + length + 1 : NULL;
    }
    if (error == OK)
        *list = read;
    else
        file_list_free(&read);
    return error;
}

enum error file_list_apart(const struct file_list *train, const struct file_list *test,
                           const char *key, struct problem *problem)
{
    for (size_t i = 0; i < test->count; i++)
        for (size_t k = 0; k < train->count; k++)
            if (strcmp(test->path[i], train->path[k]) == 0)
                return problem_set(problem, MISMATCH,
                                   "%s: %.300s is among the files to learn from, too; take it out "
                                   "of one of them",
                                   key, test->path[i]);
    return OK;
}

void file_list_free(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->path[i]);
    for (size_t i = 0; i < list->folders; i++)
        free(list->folder[i]);
    free(list->path);
    free(list->folder);
    *list = (struct file_list){0};
}
