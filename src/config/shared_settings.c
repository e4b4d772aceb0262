#include "config/shared_settings.h"

#include <string.h>

#include "base/memory.h"
#include "config/config_key.h"
#include "config/config_value.h"
#include "node/connection/settings.h"

static bool matters(const struct config *config, const struct config_key *key)
{
    if (key->shared == CONFIG_OWN)
        return false;
    if (key->shared == CONFIG_UNLIKE && config->data.shard.count == 1)
        return false;
    return config->train.enabled ||
           (strcmp(key->section, "data") != 0 && strcmp(key->section, "train") != 0);
}

/* Writes how the node reads bytes, mean and deviation of inputs and targets, and the range of its
 * labels. */
static void print_data(FILE *text, const struct dataset *train)
{
    if (train->pixels)
        (void)fprintf(text, SETTINGS_MEAN "=%.6g\n" SETTINGS_DEVIATION "=%.6g\n",
                      (double)train->mean, (double)(1 / train->scale));
    if (train->input_deviation > 0)
        (void)fprintf(text, SETTINGS_INPUTS "=mean %.4g and deviation %.4g of %s\n",
                      (double)train->input_mean, (double)train->input_deviation,
                      train->pixels ? "normalised bytes" : "floats");
    if (train->target_deviation > 0)
        (void)fprintf(text, SETTINGS_TARGETS "=mean %.4g and deviation %.4g of targets\n",
                      (double)train->target_mean, (double)train->target_deviation);
    if (train->labels)
        (void)fprintf(text, SETTINGS_LABELS "=%d .. %d\n", train->lowest_label,
                      train->highest_label);
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
    if (train && config->train.enabled)
        print_data(text, train);
    (void)fputc('\0', text);
    CHECK(fclose(text) == 0);
    /* the text was not cut off: values of these keys are short */
    CHECK(memchr(out, '\0', SETTINGS_MAX + 1));
}
