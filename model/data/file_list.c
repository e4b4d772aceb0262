#include "data/file_list.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static void add(struct file_list *list, const char *path)
{
    list->path = memory_more(list->path, list->count + 1, sizeof *list->path);
    list->path[list->count++] = memory_text(path);
}

static int by_bytes(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* glob's own order is that of the language that the machine is set to: it could differ. */
static enum error add_matches(struct file_list *list, const char *pattern, const char *key,
                              struct problem *problem)
{
    glob_t matches;
    const size_t before = list->count;
    const int code = glob(pattern, GLOB_NOSORT, NULL, &matches);
    for (size_t i = 0; code == 0 && i < matches.gl_pathc; i++)
        add(list, matches.gl_pathv[i]);
    globfree(&matches);
    if (code == GLOB_NOSPACE)
        return problem_set(problem, FAILED, "%s: no memory left to look for \"%.200s\"", key,
                           pattern);
    if (list->count == before)
        return problem_set(problem, MISSING,
                           "%s: no file matches \"%.200s\"; name files that are there, or a "
                           "pattern such as data/*.bin",
                           key, pattern);
    qsort(list->path + before, list->count - before, sizeof *list->path, by_bytes);
    return OK;
}

static enum error add_name(struct file_list *list, const char *name, const char *key,
                           struct problem *problem)
{
    if (name[0] == '\0')
        return problem_set(problem, MALFORMED,
                           "%s: there is no name before or after a comma; write FILE, FILE", key);
    if (strpbrk(name, "*?[") && access(name, F_OK) != 0)
        return add_matches(list, name, key, problem);
    add(list, name);
    return OK;
}

/* The text up to the next comma, without the blanks around it. */
static char *name_of(const char *text, size_t length)
{
    static const char blanks[] = " \t";
    const size_t before = strspn(text, blanks);
    const size_t from = before < length ? before : length;
    while (length > from && strchr(blanks, text[length - 1]))
        length--;
    char *name = strndup(text + from, length - from);
    CHECK(name);
    return name;
}

enum error file_list_read(struct file_list *list, const char *text, const char *key,
                          struct problem *problem)
{
    struct file_list read = {0};
    enum error error = OK;
    if (text[0] == '\0')
        return problem_set(problem, MISSING, "%s is empty; name the files of the data", key);
    for (const char *at = text; at && error == OK;) {
        const size_t length = strcspn(at, ",");
        char *name = name_of(at, length);
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
    free(list->path);
    *list = (struct file_list){0};
}
