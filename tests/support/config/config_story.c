#include "support/config/config_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config_key.h"

void must_set(struct config *config, const char *assignment)
{
    struct problem problem = {""};
    if (config_set(config, assignment, &problem) != OK)
        fail_msg("%s: %s", assignment, problem.text);
}

void must_be_same(const struct config *a, const struct config *b)
{
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        const unsigned char *from_a = (const unsigned char *)a + key->offset;
        const unsigned char *from_b = (const unsigned char *)b + key->offset;
        if (memcmp(from_a, from_b, key->bytes) != 0)
            fail_msg("[%s] %s differs", key->section, key->name);
    }
}

void must_say(const struct problem *problem, const char *words)
{
    if (!strstr(problem->text, words))
        fail_msg("\"%s\" does not say \"%s\"", problem->text, words);
}
