#include "commands/saved_model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "state/disk.h"
#include "state/model_folder.h"
#include "state/state_dir.h"

/* Maximum number of attempts to read a file that a node replaces meanwhile. */
#define READS_MAX 100

enum error saved_model_find(char path[static BASE_PATH_BYTES], const char *state,
                            struct problem *problem)
{
    struct stat found;
    const bool is_folder = stat(state, &found) == 0 && S_ISDIR(found.st_mode);
    if (is_folder)
        export_path(path, state);
    else
        (void)snprintf(path, BASE_PATH_BYTES, "%s", state);
    const bool is_missing = is_folder && stat(path, &found) != 0 && errno == ENOENT;
    if (is_missing && model_folder_is(state)) {
        model_folder_tensors(path, state);
        return OK;
    }
    if (is_missing && state_dir_is_of_program(state))
        return problem_set(problem, MISSING,
                           "%.300s: the file does not exist; this folder belongs to the node of a "
                           "script, which never writes it: test the model in the script, or save "
                           "node.state_dict() as safetensors and name that file",
                           path);
    if (is_missing)
        return problem_set(problem, MISSING,
                           "%.300s: the file does not exist yet; a node writes it every "
                           "node.save_s, with each checkpoint, and when it leaves",
                           path);
    return OK;
}

bool saved_model_is_foreign(const char *path, const char *state)
{
    char tensors[MODEL_FOLDER_PATH_BYTES];
    model_folder_tensors(tensors, state);
    return model_folder_is(state) && strcmp(path, tensors) == 0;
}

/* A training node may replace the file between two reads. So the function reads the metadata again
 * after the weights, and repeats if the metadata has changed. */
enum error saved_model_load(const char *path, const struct model *model, float *weights,
                            struct safetensors_about *about, struct problem *problem)
{
    for (int i = 0; i < READS_MAX; i++) {
        const struct safetensors_about before = *about;
        enum error error = safetensors_load(path, model, weights, problem);
        if (error == OK)
            error = safetensors_read_about(path, about, problem);
        if (error != OK)
            return error;
        if (about->digest == before.digest && about->samples == before.samples)
            return safetensors_checksum(weights, model_parameters(model)) == about->checksum
                       ? OK
                       : problem_set(problem, FORGED,
                                     "%.300s: its weights do not match its checksum: the file was "
                                     "damaged or changed; use another copy",
                                     path);
    }
    return problem_set(
        problem, FAILED,
        "%s: the file is replaced faster than it can be read; copy it, and name the copy", path);
}
