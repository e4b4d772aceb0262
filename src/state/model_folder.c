#include "state/model_folder.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/atomic_file.h"
#include "state/names/name_family.h"

#define CONFIG_NAME     "config.json"
#define TENSORS_NAME    "model.safetensors"
#define CONFIG_TEXT_MAX ((size_t)1 << 20)

static void path_in(char path[static MODEL_FOLDER_PATH_BYTES], const char *folder, const char *name)
{
    (void)snprintf(path, MODEL_FOLDER_PATH_BYTES, "%s/%s", folder, name);
}

static bool is_there(const char *folder, const char *name)
{
    char path[MODEL_FOLDER_PATH_BYTES];
    path_in(path, folder, name);
    return access(path, F_OK) == 0;
}

bool model_folder_is(const char *path)
{
    return path[0] != '\0' && is_there(path, CONFIG_NAME);
}

void model_folder_tensors(char file[static MODEL_FOLDER_PATH_BYTES], const char *path)
{
    if (model_folder_is(path))
        path_in(file, path, TENSORS_NAME);
    else
        (void)snprintf(file, MODEL_FOLDER_PATH_BYTES, "%s", path);
}

/* MISMATCH: the tensors are in several files. MISSING: model.safetensors is missing. */
static enum error check_tensors(const char *folder, struct problem *problem)
{
    if (is_there(folder, TENSORS_NAME))
        return OK;
    if (is_there(folder, TENSORS_NAME ".index.json"))
        return problem_set(problem, MISMATCH,
                           "%.300s: its tensors are in several files; save them in one: "
                           "model.save_pretrained(DIR, max_shard_size='1TB')",
                           folder);
    return problem_set(problem, MISSING,
                       "%.300s: there is a " CONFIG_NAME " and no " TENSORS_NAME
                       "; save the model there with model.save_pretrained(DIR)",
                       folder);
}

/* The caller releases the JSON object. */
static enum error load_config(const char *path, json_t **config, struct problem *problem)
{
    json_error_t why;
    struct stat about;
    if (stat(path, &about) == 0 && (size_t)about.st_size > CONFIG_TEXT_MAX)
        return problem_set(problem, TOO_BIG, "%.300s: is too large for a " CONFIG_NAME, path);
    *config = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(*config))
        return OK;
    if (*config) {
        json_decref(*config);
        return problem_set(problem, MALFORMED,
                           "%.300s: is not a JSON object; use another copy of the file", path);
    }
    return problem_set(
        problem, MALFORMED,
        "%.300s: is not a JSON object that can be read (line %d: %.80s); use another "
        "copy of the file",
        path, why.line, why.text);
}

static enum error read_config(const char *folder, const struct name_family **family,
                              struct transformer *transformer, struct problem *problem)
{
    char path[MODEL_FOLDER_PATH_BYTES];
    json_t *config = NULL;
    path_in(path, folder, CONFIG_NAME);
    const enum error error = load_config(path, &config, problem);
    if (error != OK)
        return error;
    const char *type = json_string_value(json_object_get(config, "model_type"));
    struct config_reader reader = {.config = config, .path = path, .problem = problem};
    *family = type ? name_family_find(type) : NULL;
    if (*family)
        (*family)->read(&reader, transformer);
    else
        reader.error =
            problem_set(problem, MISMATCH,
                        "%.300s: model_type is \"%.40s\", but hearsay supports only gpt2 and llama",
                        path, type ? type : "");
    json_decref(config);
    return reader.error;
}

enum error model_folder_read(const char *folder, struct model_folder_about *about,
                             struct problem *problem)
{
    const struct name_family *family = NULL;
    struct transformer transformer = {0};
    enum error error = check_tensors(folder, problem);
    if (error == OK)
        error = read_config(folder, &family, &transformer, problem);
    if (error != OK)
        return error;
    family->line(&transformer, about->layers);
    about->positions = transformer.positions;
    about->tokens = transformer.tokens;
    return OK;
}

/* Returns true if two transformers have equal dimensions. Ignores the number of positions, which
 * depends on the data. The last layers `logits` and `dense` count as equal, because their tensors
 * are equal. */
static bool same_numbers(const struct transformer *a, const struct transformer *b)
{
    return a->tokens == b->tokens && a->width == b->width && a->blocks == b->blocks &&
           a->heads == b->heads && a->kv_heads == b->kv_heads && a->inner == b->inner &&
           (a->head == HEAD_TIED) == (b->head == HEAD_TIED);
}

enum error model_folder_check(const char *folder, const struct model *model,
                              struct problem *problem)
{
    const struct name_family *family = NULL;
    struct transformer said = {0}, is = {0};
    char line[MODEL_LINE_MAX];
    const enum error error = read_config(folder, &family, &said, problem);
    if (error != OK)
        return error;
    if (name_family_matches(family, model, &is) && same_numbers(&said, &is))
        return OK;
    family->line(&said, line);
    return problem_set(problem, MISMATCH,
                       "%.120s/" CONFIG_NAME " says '%.230s', and the model is another; leave "
                       "model.layers out",
                       folder, line);
}

static enum error save_config(const char *folder, const struct name_family *family,
                              const struct transformer *transformer, struct problem *problem)
{
    json_t *config = family->config(transformer);
    char *text = config ? json_dumps(config, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    struct atomic_file file;
    CHECK(text);
    atomic_file_begin(&file, disk_real(), folder, CONFIG_NAME, ATOMIC_FILE_SHARED);
    atomic_file_write(&file, text, strlen(text));
    atomic_file_write(&file, "\n", 1);
    const int error = atomic_file_end(&file);
    free(text);
    json_decref(config);
    if (error == 0)
        return OK;
    return problem_set(problem, FAILED, "%.300s/" CONFIG_NAME ": cannot be written: %s", folder,
                       strerror(-error));
}

/* Returns true if the folder has the config.json of another model, or one that cannot be read. */
static bool has_other_config(const char *folder, const struct model *model)
{
    struct problem problem;
    return model_folder_is(folder) && model_folder_check(folder, model, &problem) != OK;
}

/* Checks that the model can be saved in the folder, and creates the folder if it is missing. */
static enum error check_save(const char *folder, const struct model *model, struct problem *problem)
{
    struct tensor_names names;
    const enum error error = tensor_names_family(&names, model, problem);
    if (error != OK)
        return error;
    tensor_names_free(&names);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED,
                           "%.300s: cannot create the folder: %s; name another one", folder,
                           strerror(errno));
    if (has_other_config(folder, model))
        return problem_set(problem, MISMATCH,
                           "%.300s: has the " CONFIG_NAME " of another model; name another folder",
                           folder);
    return OK;
}

enum error model_folder_save(const char *folder, const struct model *model,
                             const struct safetensors_about *about, const float *host_weights,
                             struct problem *problem)
{
    char path[MODEL_FOLDER_PATH_BYTES];
    struct transformer transformer;
    const struct name_family *family = name_family_of(model, &transformer);
    enum error error = check_save(folder, model, problem);
    if (error != OK)
        return error;
    path_in(path, folder, TENSORS_NAME);
    error = safetensors_save_foreign(path, model, about, host_weights, problem);
    return error == OK && family ? save_config(folder, family, &transformer, problem) : error;
}
