#include "state_dir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_file.h"

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

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

enum status state_dir_check_start(const struct config *config, struct problem *problem)
{
    char base[BASE_PATH_BYTES];
    base_file_path(base, config->node.state_dir);
    if (!is_same_file(config->model.start, base))
        return OK;
    return problem_set(problem, MALFORMED,
                       "[model] start: %s is where this node saves its base, and the next time it "
                       "would start from something else; copy the file, and name the copy",
                       config->model.start);
}

void state_dir_describe(const struct setup *setup, const char *swarm,
                        char text[STATE_DIR_MODEL_MAX])
{
    char id[ID_TEXT_BYTES];
    identity_text(id, setup->identity.id);
    (void)snprintf(text, STATE_DIR_MODEL_MAX, "node %s in swarm \"%s\": %s", id, swarm,
                   setup->description);
}
