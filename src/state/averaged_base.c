#include "state/averaged_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

#define AVERAGED_NAME "base-averaged.safetensors"

void averaged_base_path(char path[static BASE_PATH_BYTES], const char *folder)
{
    (void)snprintf(path, BASE_PATH_BYTES, "%s/" AVERAGED_NAME, folder);
}

enum error averaged_base_save(const struct export *base, const char *folder, const float *mean,
                              uint64_t samples, struct problem *problem)
{
    char path[BASE_PATH_BYTES];
    struct problem why;
    struct safetensors_about about = base->about;
    averaged_base_path(path, folder);
    about.digest = safetensors_checksum(mean, model_parameters(base->model));
    about.samples = samples;
    return safetensors_save(path, base->model, &about, mean, &why) == OK
               ? OK
               : problem_set(problem, FAILED,
                             "%.300s; free disk space, or set node.averaged_base = no", why.text);
}

static enum error load_mean(const char *path, const struct model *model, float *mean,
                            struct safetensors_about *about, struct problem *problem)
{
    enum error error = safetensors_read_about(path, about, problem);
    if (error == OK && strcmp(model_line(model), about->layers) != 0)
        return MISMATCH;
    if (error == OK)
        error = safetensors_load(path, model, mean, problem);
    if (error != OK)
        return error;
    return safetensors_checksum(mean, model_parameters(model)) == about->checksum
               ? OK
               : problem_set(problem, FORGED,
                             "%.300s: its weights differ from the saved ones; the average restarts "
                             "from the base",
                             path);
}

enum error averaged_base_load(const char *folder, struct learner *learner, struct problem *problem)
{
    char path[BASE_PATH_BYTES];
    struct stat found;
    struct safetensors_about about;
    const struct model *model = learner_model(learner);
    averaged_base_path(path, folder);
    if (!model || stat(path, &found) != 0)
        return OK;
    float *mean = memory_new(model_parameters(model), sizeof *mean);
    const enum error error = load_mean(path, model, mean, &about, problem);
    if (error == OK && about.samples <= learner_swarm_samples(learner))
        learner_set_average(learner, mean, about.samples);
    free(mean);
    return error == MISMATCH ? OK : error;
}
