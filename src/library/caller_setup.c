#include "library/caller_setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/shared_settings.h"

/* Writes the model's description and list of parts. A new run stores the digest of its initial
 * weights; a resumed one (goes_on) keeps that of its first start. */
static enum error describe(struct engine *engine, struct setup *setup, bool goes_on,
                           struct problem *problem)
{
    char list[CALLER_TENSORS_TEXT];
    enum error error = OK;
    if (!goes_on) {
        engine->file.start_digest = learner_digest(setup->learner);
        error = caller_file_save(engine->config.node.state_dir, &engine->file, problem);
    }
    caller_tensors_describe(&engine->tensors, engine->run, list);
    setup->parts = caller_tensors_list(&engine->tensors, engine->run, &setup->arena);
    (void)snprintf(setup->description, sizeof setup->description, "%s, companded; start %016llx",
                   list, (unsigned long long)engine->file.start_digest);
    return error;
}

/* Makes the model that the configuration describes, as `hearsay node` does. */
static enum error make_native(struct engine *engine, struct setup *setup, float *start,
                              struct problem *problem)
{
    struct dataset train = {0}, test = {0};
    struct setup_model made = {0};
    enum error error = setup_data(&engine->config, &train, &test, problem);
    if (error == OK)
        error =
            setup_model(&engine->config, 1, &train, &setup->arena, setup->backend, &made, problem);
    setup->model = error == OK ? made.model : NULL;
    if (error == OK) {
        error = caller_tensors_place(&engine->tensors, made.model, problem);
        if (error == OK)
            error = caller_tensors_need_float32(&engine->tensors, problem);
        engine->has_bad_tensors = error != OK;
    }
    if (error == OK) {
        memcpy(setup->description, made.description, sizeof setup->description);
        setup_name_parts(setup);
        setup->companded = made.companded;
        setup->about = (struct safetensors_about){.classes = train.classes,
                                                  .is_regression = dataset_is_regression(&train),
                                                  .mean = train.mean,
                                                  .scale = train.scale};
        if (made.start)
            memcpy(start, made.start, engine->tensors.parameters * sizeof *start);
        else
            model_init(made.model, engine->config.model.seed, start);
    }
    dataset_free(&train);
    dataset_free(&test);
    return error;
}

static void make_learner(struct engine *engine, struct setup *setup, const float *start)
{
    const size_t parameters = engine->tensors.parameters;
    uint32_t ranges;
    struct entry_range *range = caller_tensors_statistics(&engine->tensors, &ranges);
    const struct learner_options options = {
        .start = start,
        .parameters = parameters,
        .statistics = range,
        .statistics_count = ranges,
        .companded = setup->companded,
        .density_max = setup_density_max(&engine->config, parameters),
        .holds = setup_holds(&engine->config),
    };
    setup->learner = learner_new(&setup->arena, setup->backend, NULL, NULL, NULL, &options);
    free(range);
    shared_settings_text(&engine->config, NULL, setup->settings);
}

/* If the tensors are wrong and the node continues from a checkpoint, uses zeros, because the
 * checkpoint replaces them. */
static enum error read_start(struct engine *engine, bool goes_on, float *start,
                             struct problem *problem)
{
    const enum error error = caller_tensors_read(&engine->tensors, start, problem);
    if (error == OK)
        return OK;
    engine->has_bad_tensors = !goes_on;
    memset(start, 0, engine->tensors.parameters * sizeof *start);
    return goes_on ? OK : error;
}

enum error caller_setup_make(void *self, struct setup *setup, struct problem *problem)
{
    struct engine *engine = self;
    const size_t parameters = engine->tensors.parameters;
    const char *folder = engine->config.node.state_dir;
    const bool is_native = engine->run[0] == '\0';
    bool goes_on = false;
    enum error error = caller_file_load(folder, &engine->file, problem);
    const bool is_new = error == MISSING;
    if (error == OK || is_new)
        error = caller_file_has_checkpoint(folder, &goes_on, problem);
    if (error != OK)
        return error;
    goes_on = goes_on && !is_new;
    arena_init_growing(&setup->arena);
    setup->backend = engine->tensors.backend;
    memcpy(setup->device, engine->device, sizeof setup->device);
    setup->companded = true;
    float *start = memory_new(parameters, sizeof *start);
    error = is_native ? make_native(engine, setup, start, problem)
                      : read_start(engine, goes_on, start, problem);
    if (error == OK)
        make_learner(engine, setup, start);
    free(start);
    if (error == OK && !is_native)
        error = describe(engine, setup, goes_on, problem);
    return error;
}

enum error caller_setup_check_start(const struct engine *engine, struct problem *problem)
{
    const struct host *host = &engine->host;
    if (engine->run[0] == '\0' || saver_generation(host->saving.saver) > 0 ||
        learner_digest(host->setup.learner) == engine->file.start_digest)
        return OK;
    return problem_set(problem, FAILED,
                       "%.300s has no checkpoint, and the tensors differ from the initial weights; "
                       "pass the initial weights, or set another node.state_dir",
                       engine->config.node.state_dir);
}
