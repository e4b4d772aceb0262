#include "config/config_address.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/config_allowed.h"

static enum error parse_address(struct address *address, const struct config_key *key,
                                const char *text, struct problem *problem)
{
    struct problem inner;
    struct address parsed;
    CHECK(key->type == CONFIG_ADDRESS || key->type == CONFIG_ADDRESSES);
    memset(&parsed, 0, sizeof parsed);
    if (address_parse(&parsed, text, &inner) != OK)
        return problem_set(problem, MALFORMED, "[%s] %s: %s", key->section, key->name, inner.text);
    if (parsed.port < key->min)
        return config_allowed_refuse(key, text, "port 0 cannot be dialled", problem);
    *address = parsed;
    return OK;
}

enum error config_address_set(void *to, const struct config_key *key, const char *text,
                              struct problem *problem)
{
    CHECK(key->words && key->bytes == sizeof(struct address));
    if (strcmp(text, key->words) != 0)
        return parse_address(to, key, text, problem);
    memset(to, 0, sizeof(struct address));
    return OK;
}

enum error config_address_set_listen(void *to, const struct config_key *key, const char *text,
                                     struct problem *problem)
{
    struct problem ignored;
    struct address parsed = {0};
    CHECK(key->words && key->bytes == sizeof parsed);
    const bool none = strcmp(text, key->words) == 0;
    const enum error error = none ? OK : address_parse(&parsed, text, &ignored);
    if (error == TOO_BIG)
        return config_allowed_refuse(key, text, "the port is larger than 65535", problem);
    if (error != OK)
        return config_allowed_refuse(key, text, "not an address with a port", problem);
    if (!none && !address_is_number(&parsed))
        return config_allowed_refuse(key, text, "a name; listening requires a numeric address",
                                     problem);
    memcpy(to, &parsed, sizeof parsed);
    return OK;
}

/* Copies the first item of a comma-separated list, without surrounding blanks. Returns the text
 * after its comma; NULL = it was the last item. */
static const char *take_item(char *item, size_t room, const char *text)
{
    text += strspn(text, " \t");
    size_t length = strcspn(text, ",");
    const char *rest = text[length] ? text + length + 1 : NULL;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    (void)snprintf(item, room, "%.*s", (int)length, text);
    return rest;
}

enum error config_address_set_all(void *to, const struct config_key *key, const char *text,
                                  struct problem *problem)
{
    struct address_list list;
    CHECK(key->bytes == sizeof list);
    memset(&list, 0, sizeof list);
    const char *rest = text[0] ? text : NULL;
    while (rest) {
        char item[128];
        rest = take_item(item, sizeof item, rest);
        if (list.count == CONFIG_PEERS_MAX)
            return config_allowed_refuse(key, text, "too many", problem);
        enum error error = parse_address(&list.item[list.count], key, item, problem);
        if (error != OK && strpbrk(item, " \t"))
            return config_allowed_refuse(key, text, "a comma is missing between two addresses",
                                         problem);
        if (error != OK)
            return error;
        list.count++;
    }
    memcpy(to, &list, sizeof list);
    return OK;
}
