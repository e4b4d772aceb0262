#include "commands/swarm/swarm_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/identity.h"

static enum error make_dir(const char *path, struct problem *problem)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED, "cannot make the folder %s: %s", path, strerror(errno));
    return OK;
}

enum error folder_make(char dir[static FOLDER_BYTES], const char *wanted, struct problem *problem)
{
    if (wanted) {
        if (snprintf(dir, FOLDER_BYTES, "%s", wanted) >= FOLDER_BYTES)
            return problem_set(problem, TOO_BIG, "--dir: the path is too long");
        return make_dir(dir, problem);
    }
    const char *base = getenv("TMPDIR");
    (void)snprintf(dir, FOLDER_BYTES, "%.400s/hearsay-swarm-XXXXXX",
                   base && base[0] ? base : "/tmp");
    if (!mkdtemp(dir))
        return problem_set(problem, FAILED, "cannot make a folder like %s: %s; set TMPDIR", dir,
                           strerror(errno));
    return OK;
}

enum error folder_make_keys(const char *dir, int nodes, struct problem *problem)
{
    struct entropy entropy;
    uint8_t seed[SEED_BYTES];
    char path[FOLDER_BYTES + 64];
    entropy_from_system(&entropy);
    entropy_bytes(&entropy, seed, sizeof seed);
    (void)snprintf(path, sizeof path, "%s/swarm.key", dir);
    enum error error = swarm_key_save(seed, path, problem);
    for (int i = 1; i <= nodes && error == OK; i++) {
        struct identity identity;
        entropy_bytes(&entropy, seed, sizeof seed);
        identity_from_seed(&identity, seed);
        (void)snprintf(path, sizeof path, "%s/node%d", dir, i);
        error = make_dir(path, problem);
        (void)snprintf(path, sizeof path, "%s/node%d/node.key", dir, i);
        if (error == OK)
            error = identity_save(&identity, path, problem);
        secret_wipe(&identity, sizeof identity);
    }
    secret_wipe(seed, sizeof seed);
    secret_wipe(&entropy, sizeof entropy);
    return error;
}

void folder_fill_config(const char *dir, int i, struct config *config)
{
    struct config_node *node = &config->node;
    (void)snprintf(node->identity, sizeof node->identity, "%s/node%d/node.key", dir, i);
    (void)snprintf(node->swarm_key, sizeof node->swarm_key, "%s/swarm.key", dir);
    (void)snprintf(node->state_dir, sizeof node->state_dir, "%s/node%d", dir, i);
}

enum error folder_write_config(const char *dir, int i, const struct config *config,
                               struct problem *problem)
{
    char path[FOLDER_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/node%d/node.conf", dir, i);
    FILE *file = fopen(path, "we");
    if (!file)
        return problem_set(problem, FAILED, "cannot write %s: %s", path, strerror(errno));
    config_print(config, file);
    if (fclose(file) != 0)
        return problem_set(problem, FAILED, "cannot write %s: %s", path, strerror(errno));
    return OK;
}

/* Of a node's folder all is the node's: keys, configuration, checkpoints and what else it saves. */
static void remove_node(const char *own)
{
    DIR *folder = opendir(own);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    (void)rmdir(own);
}

void folder_remove(const char *dir, int nodes)
{
    char path[FOLDER_BYTES + 32];
    for (int i = 1; i <= nodes; i++) {
        (void)snprintf(path, sizeof path, "%s/node%d", dir, i);
        remove_node(path);
    }
    (void)snprintf(path, sizeof path, "%s/swarm.key", dir);
    (void)unlink(path);
    (void)rmdir(dir);
}
