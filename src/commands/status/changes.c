#include "commands/status/changes.h"

#include <stdbool.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Writes the first 8 digits of the member's id to out. The id comes from other nodes, so
 * characters that are not printable ASCII become "?". */
static void name_of(char out[static 9], const json_t *member)
{
    const char *id = text_of(member, "id");
    size_t i = 0;
    for (; i < 8 && id[i]; i++)
        out[i] = id[i] > ' ' && id[i] < 127 ? id[i] : '?';
    out[i] = 0;
}

static const json_t *find_member(const json_t *page, const char *id)
{
    const json_t *members = json_object_get(page, "members");
    for (size_t i = 0; i < json_array_size(members); i++)
        if (strcmp(text_of(json_array_get(members, i), "id"), id) == 0)
            return json_array_get(members, i);
    return NULL;
}

/* Returns words for the change of a member's state since `before`; NULL if there is nothing to
 * show. */
static const char *what_changed(const json_t *member, const json_t *before)
{
    const char *now = text_of(member, "state"), *then = text_of(before, "state");
    if (json_is_true(json_object_get(member, "is_self")))
        return NULL;
    if (!before)
        return strcmp(now, "live") == 0 ? "joined" : NULL;
    if (strcmp(now, then) == 0)
        return NULL;
    if (strcmp(now, "live") == 0)
        return "is back";
    return strcmp(now, "left") == 0 ? "left" : "fell silent";
}

static void see_members(struct changes *changes, const json_t *page, double now_s)
{
    const json_t *members = json_object_get(page, "members");
    for (size_t i = 0; i < json_array_size(members); i++) {
        const json_t *member = json_array_get(members, i);
        const json_t *before = find_member(changes->before, text_of(member, "id"));
        const char *what = what_changed(member, before);
        char name[9];
        name_of(name, member);
        if (what)
            lately_note(&changes->lately, now_s, "%s %s", name, what);
    }
}

static void see_stage(struct changes *changes, const json_t *page, double now_s)
{
    const char *now = text_of(page, "stage"), *then = text_of(changes->before, "stage");
    const bool is_alone = json_is_string(json_object_get(page, "alone_reason"));
    const bool was_alone = json_is_string(json_object_get(changes->before, "alone_reason"));
    if (strcmp(text_of(page, "id"), text_of(changes->before, "id")) != 0)
        lately_note(&changes->lately, now_s, "another node runs here");
    if (strcmp(now, then) != 0)
        lately_note(&changes->lately, now_s, "this node was %.20s and is now %.20s", then, now);
    if (is_alone != was_alone)
        lately_note(&changes->lately, now_s, "this node reaches %s of its peers",
                    is_alone ? "none" : "one");
}

void changes_see(struct changes *changes, json_t *page, double now_s)
{
    if (changes->before) {
        see_stage(changes, page, now_s);
        see_members(changes, page, now_s);
        json_decref(changes->before);
    }
    changes->before = json_incref(page);
}

void changes_free(struct changes *changes)
{
    json_decref(changes->before);
    changes->before = NULL;
}
