#include "config/shared_settings.h"

#include <string.h>

#include "base/memory.h"
#include "config/config_key.h"
#include "config/config_value.h"

static bool matters(const struct config *config, const struct config_key *key)
{
    if (key->shared == CONFIG_OWN)
        return false;
    if (key->shared == CONFIG_UNLIKE && config->data.shard.count == 1)
        return false;
    return config->train.enabled ||
           (strcmp(key->section, "data") != 0 && strcmp(key->section, "train") != 0);
}

static void add_scale(char text[static SETTINGS_MAX + 1], float mean, float scale)
{
    const size_t used = strlen(text);
    const int bytes =
        snprintf(text + used, SETTINGS_MAX + 1 - used, "data.mean=%.6g\ndata.deviation=%.6g\n",
                 (double)mean, (double)(1 / scale));
    CHECK(bytes > 0 && used + (size_t)bytes <= SETTINGS_MAX);
}

void shared_settings_text(const struct config *config, const struct dataset *train,
                          char out[static SETTINGS_MAX + 1])
{
    FILE *text = fmemopen(out, SETTINGS_MAX + 1, "w");
    if (!text)
        memory_missing(SETTINGS_MAX);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        if (!matters(config, key))
            continue;
        (void)fprintf(text, "%s.%s%c", key->section, key->name,
                      key->shared == CONFIG_SAME ? '=' : '!');
        config_value_print(config, key, text);
        (void)fputc('\n', text);
    }
    (void)fputc('\0', text);
    CHECK(fclose(text) == 0);
    /* not cut off: values of these keys are short */
    CHECK(memchr(out, '\0', SETTINGS_MAX + 1));
    if (train && train->pixels && config->train.enabled)
        add_scale(out, train->mean, train->scale);
}
