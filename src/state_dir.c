#include "state_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "tensors.h"

enum status state_dir_make(const char *path, struct problem *problem)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED, "cannot make node.state_dir %s: %s", path,
                           strerror(errno));
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode) || access(path, W_OK | X_OK) != 0)
        return problem_set(problem, FAILED,
                           "node.state_dir %s is not a directory that this user may write to, and "
                           "nothing could be saved; choose another",
                           path);
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
    char file[CONFIG_PATH_BYTES + 32];
    (void)snprintf(file, sizeof file, "%s/base.safetensors", path);
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
