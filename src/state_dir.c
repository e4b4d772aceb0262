#include "state_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "tensors.h"

#define BASE_PATH_BYTES (CONFIG_PATH_BYTES + 32)

static void base_path(char path[static BASE_PATH_BYTES], const char *folder)
{
    (void)snprintf(path, BASE_PATH_BYTES, "%s/base.safetensors", folder);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

enum status state_dir_make(const struct config *config, struct problem *problem)
{
    const char *path = config->node.state_dir;
    char base[BASE_PATH_BYTES];
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED, "cannot make node.state_dir %s: %s", path,
                           strerror(errno));
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode) || access(path, W_OK | X_OK) != 0)
        return problem_set(problem, FAILED,
                           "node.state_dir %s is not a directory that this user may write to, and "
                           "nothing could be saved; choose another",
                           path);
    base_path(base, path);
    if (is_same_file(config->model.start, base))
        return problem_set(problem, MALFORMED,
                           "[model] start: %s is where this node saves its base, and the next time "
                           "it would start from something else; copy the file, and name the copy",
                           config->model.start);
    return OK;
}

void state_dir_describe(const struct setup *setup, const char *swarm,
                        char text[STATE_DIR_MODEL_MAX])
{
    char id[ID_TEXT_BYTES];
    identity_text(id, setup->identity.id);
    (void)snprintf(text, STATE_DIR_MODEL_MAX, "node %s in swarm \"%s\": %s", id, swarm,
                   setup->description);
}

enum status state_dir_save_base(const char *path, const struct setup *setup,
                                const struct node *node, const char *version,
                                struct problem *problem)
{
    char file[BASE_PATH_BYTES];
    base_path(file, path);
    struct tensors_about about = {
        .in = model_input(setup->model),
        .classes = setup->classes,
        .mean = setup->mean,
        .scale = setup->scale,
        .digest = learner_digest(setup->learner),
        .samples = node_swarm_samples(node),
        .version = version,
    };
    (void)snprintf(about.layers, sizeof about.layers, "%s", model_line(setup->model));
    float *base = malloc(learner_parameters(setup->learner) * sizeof *base);
    CHECK(base);
    learner_read_base(setup->learner, base);
    enum status status = tensors_save(file, setup->model, &about, base, problem);
    free(base);
    if (status == OK)
        (void)fprintf(stderr, "hearsay: saved the base as %s\n", file);
    return status;
}
