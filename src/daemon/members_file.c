#include "daemon/members_file.h"

#include <stdlib.h>

#include "base/memory.h"

/* Returns NULL if the list cannot be used. The caller frees the list. */
static struct member_list *read_list(const char *path, enum error *error, struct problem *problem)
{
    struct member_list *list = memory_new(1, sizeof *list);
    *error = member_list_load(list, disk_real(), path, problem);
    if (*error == OK)
        return list;
    free(list);
    return NULL;
}

enum error members_file_load(struct members_file *file, const char *path, struct problem *problem)
{
    enum error error = OK;
    file->path = path;
    if (path[0])
        file->list = read_list(path, &error, problem);
    return error;
}

void members_file_free(struct members_file *file)
{
    free(file->list);
    file->list = NULL;
}

void members_file_begin(const struct members_file *file, struct node *node, uint64_t now_ns)
{
    if (file->list)
        node_on_members(node, now_ns, file->list->ids[0], file->list->count);
}

bool members_file_is_used(const struct members_file *file)
{
    return file->list != NULL;
}

void members_file_read_again(struct members_file *file, struct node *node, struct event_log *report,
                             uint64_t now_ns)
{
    struct problem problem;
    enum error error;
    char text[600];
    CHECK(file->list);
    struct member_list *list = read_list(file->path, &error, &problem);
    if (list) {
        free(file->list);
        file->list = list;
        node_on_members(node, now_ns, list->ids[0], list->count);
        (void)snprintf(text, sizeof text, "the list of members was reloaded: %u",
                       (unsigned)list->count);
    } else {
        (void)snprintf(text, sizeof text, "%s; the previous list stays in force", problem.text);
    }
    event_log_say(report, now_ns, NOTE_ADMISSION, list ? LEVEL_INFO : LEVEL_ERROR, text);
}
