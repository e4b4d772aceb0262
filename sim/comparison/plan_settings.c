#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "comparison/plan.h"

static void take_settings(struct plan *plan, uint32_t strategy, const json_t *settings)
{
    size_t i;
    json_t *setting;
    plan->settings_count[strategy] = 0;
    json_array_foreach(settings, i, setting)
    {
        const char *text = json_string_value(setting);
        if (text && plan->settings_count[strategy] < 2 && strlen(text) < TUNING_BYTES)
            (void)snprintf(plan->settings[strategy][plan->settings_count[strategy]++], TUNING_BYTES,
                           "%s", text);
    }
}

enum error plan_settings(struct plan *plan, const char *path, struct problem *problem)
{
    json_error_t why;
    json_t *root = json_load_file(path, 0, &why);
    const json_t *strategies = json_object_get(root, "strategies");
    size_t k;
    json_t *strategy;
    if (!root)
        return problem_set(problem, MISSING, "--settings %.200s: %.150s", path, why.text);
    json_array_foreach(strategies, k, strategy)
    {
        const char *name = json_string_value(json_object_get(strategy, "strategy"));
        for (uint32_t i = 0; name && i < plan->kinds_count; i++)
            if (strcmp(scenario_strategy_name(plan->kinds[i]), name) == 0)
                take_settings(plan, i, json_object_get(strategy, "settings"));
    }
    json_decref(root);
    if (k > 0)
        return OK;
    return problem_set(problem, MALFORMED,
                       "--settings %.200s: has no strategies; give the compare.json of a "
                       "comparison",
                       path);
}
