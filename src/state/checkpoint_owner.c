#include "state/checkpoint_owner.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Texts between the parts of an owner's text: node ID in swarm "NAME": INPUT, layout N: LAYERS;
 * START */
#define BEFORE_ID    "node "
#define BEFORE_SWARM " in swarm \""
#define BEFORE_MODEL "\": "
#define BEFORE_START "; "
#define OF_SWARM     "swarm "

void checkpoint_owner_describe(const struct identity *identity, const char *swarm,
                               const char *model, char text[CHECKPOINT_OWNER_MAX])
{
    char id[ID_TEXT_BYTES];
    identity_text(id, identity->id);
    const int length =
        snprintf(text, CHECKPOINT_OWNER_MAX, BEFORE_ID "%s" BEFORE_SWARM "%s" BEFORE_MODEL "%s", id,
                 swarm, model);
    CHECK(length > 0 && length < CHECKPOINT_OWNER_MAX);
}

/* Returns the number of bytes before START in an owner's text, or all bytes if it has no START. */
static size_t before_start(const char *text)
{
    size_t bytes = 0;
    for (const char *at = text; (at = strstr(at, BEFORE_START)); at++)
        bytes = (size_t)(at - text) + strlen(BEFORE_START);
    return bytes > 0 ? bytes : strlen(text);
}

void checkpoint_owner_of_swarm(char text[CHECKPOINT_OWNER_MAX], const char *own,
                               const uint8_t model_hash[static 16])
{
    char hex[2 * 16 + 1];
    for (int i = 0; i < 16; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", model_hash[i]);
    const int length = snprintf(text, CHECKPOINT_OWNER_MAX, "%.*s" OF_SWARM "%s",
                                (int)before_start(own), own, hex);
    CHECK(length > 0 && length < CHECKPOINT_OWNER_MAX);
}

bool checkpoint_owner_is_of_swarm(const char *theirs, const char *own,
                                  uint8_t model_hash[static 16])
{
    const size_t before = before_start(own);
    if (strncmp(theirs, own, before) != 0 ||
        strncmp(theirs + before, OF_SWARM, strlen(OF_SWARM)) != 0)
        return false;
    const char *at = theirs + before + strlen(OF_SWARM);
    if (strspn(at, "0123456789abcdef") != 2 * 16 || at[2 * 16])
        return false;
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        CHECK(sscanf(at + (size_t)2 * (size_t)i, "%2x", &byte) == 1);
        model_hash[i] = (uint8_t)byte;
    }
    return true;
}

/* A part of an owner's text; not terminated by zero. */
struct part {
    const char *text;
    int length;
};

struct parts {
    struct part id, swarm, model, start;
};

static bool are_equal(struct part a, struct part b)
{
    return a.length == b.length && memcmp(a.text, b.text, (size_t)a.length) == 0;
}

static const char *last_of(const char *text, const char *word)
{
    const char *found = NULL;
    for (const char *next = text; (next = strstr(next, word)); next++)
        found = next;
    return found;
}

static struct part between(const char *from, const char *to)
{
    CHECK(from <= to && to - from <= INT_MAX);
    return (struct part){from, (int)(to - from)};
}

/* Returns false if the text has another form. */
static bool split(struct parts *parts, const char *text)
{
    const char *id = text + strlen(BEFORE_ID);
    if (strncmp(text, BEFORE_ID, strlen(BEFORE_ID)) != 0)
        return false;
    const char *id_end = strstr(id, BEFORE_SWARM);
    const char *swarm_end = last_of(text, BEFORE_MODEL);
    const char *model_end = last_of(text, BEFORE_START);
    if (!id_end || !swarm_end || !model_end)
        return false;
    const char *swarm = id_end + strlen(BEFORE_SWARM);
    const char *model = swarm_end + strlen(BEFORE_MODEL);
    const char *start = model_end + strlen(BEFORE_START);
    if (swarm > swarm_end || model > model_end)
        return false;
    *parts = (struct parts){between(id, id_end), between(swarm, swarm_end),
                            between(model, model_end), between(start, start + strlen(start))};
    return true;
}

#define OWN_FOLDER "its own folder (node.state_dir)"
#define PART(part) (part).length, (part).text

void checkpoint_owner_difference(char out[CHECKPOINT_DIFFERENCE_MAX], const char *theirs,
                                 const char *ours)
{
    struct parts a, b;
    const bool is_known = split(&a, theirs) && split(&b, ours);
    CHECK(strcmp(theirs, ours) != 0);
    if (is_known && !are_equal(a.id, b.id))
        (void)snprintf(out, CHECKPOINT_DIFFERENCE_MAX,
                       "node %.*s, but this is node %.*s; set node.identity to that node's key, or "
                       "give each node " OWN_FOLDER,
                       PART(a.id), PART(b.id));
    else if (is_known && !are_equal(a.swarm, b.swarm))
        (void)snprintf(out, CHECKPOINT_DIFFERENCE_MAX,
                       "swarm \"%.*s\", but this is swarm \"%.*s\"; set node.swarm to that name, "
                       "or give each swarm " OWN_FOLDER,
                       PART(a.swarm), PART(b.swarm));
    else if (is_known && are_equal(a.model, b.model))
        (void)snprintf(out, CHECKPOINT_DIFFERENCE_MAX,
                       "a swarm that started from %.*s, but this swarm starts from %.*s; restore "
                       "model.seed or model.start, or give each swarm " OWN_FOLDER,
                       PART(a.start), PART(b.start));
    else
        (void)snprintf(out, CHECKPOINT_DIFFERENCE_MAX,
                       "another model (%.160s); give each model " OWN_FOLDER,
                       is_known ? a.model.text : theirs);
}
