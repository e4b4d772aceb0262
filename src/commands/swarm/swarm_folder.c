#include "commands/swarm/swarm_folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/identity.h"

static enum error make_dir(const char *path, struct problem *problem)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED, "cannot make the folder %s: %s", path, strerror(errno));
    return OK;
}

static bool exists(const char *dir, const char *name)
{
    char path[2 * FOLDER_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static bool is_empty(const char *dir)
{
    DIR *folder = opendir(dir);
    bool empty = folder != NULL;
    for (struct dirent *entry; empty && (entry = readdir(folder));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (folder)
        (void)closedir(folder);
    return empty;
}

static enum error use_dir(const char *dir, struct problem *problem)
{
    enum error error = make_dir(dir, problem);
    if (error == OK && !exists(dir, "swarm.key") && !is_empty(dir))
        return problem_set(problem, FAILED,
                           "--dir %.300s: the folder has files but no swarm (no swarm.key); name a "
                           "folder that is new, empty or of a swarm",
                           dir);
    return error;
}

enum error folder_make(char dir[static FOLDER_BYTES], const char *wanted, struct problem *problem)
{
    if (wanted) {
        if (snprintf(dir, FOLDER_BYTES, "%s", wanted) >= FOLDER_BYTES)
            return problem_set(problem, TOO_BIG, "--dir: the path is too long; name a shorter one");
        return use_dir(dir, problem);
    }
    const char *base = getenv("TMPDIR");
    (void)snprintf(dir, FOLDER_BYTES, "%.400s/hearsay-swarm-XXXXXX",
                   base && base[0] ? base : "/tmp");
    if (!mkdtemp(dir))
        return problem_set(problem, FAILED, "cannot make a folder like %s: %s; set TMPDIR", dir,
                           strerror(errno));
    return OK;
}

bool folder_is_used(const char *dir)
{
    return exists(dir, "swarm.key");
}

static enum error make_swarm_key(const char *dir, struct entropy *entropy, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    char path[FOLDER_BYTES + 64];
    if (folder_is_used(dir))
        return OK;
    entropy_bytes(entropy, seed, sizeof seed);
    (void)snprintf(path, sizeof path, "%s/swarm.key", dir);
    const enum error error = swarm_key_save(seed, path, problem);
    secret_wipe(seed, sizeof seed);
    return error;
}

static enum error make_node_key(const char *dir, int i, struct entropy *entropy,
                                struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    struct identity identity;
    char path[FOLDER_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/node%d", dir, i);
    enum error error = make_dir(path, problem);
    if (error != OK || exists(path, "node.key"))
        return error;
    entropy_bytes(entropy, seed, sizeof seed);
    identity_from_seed(&identity, seed);
    (void)snprintf(path, sizeof path, "%s/node%d/node.key", dir, i);
    error = identity_save(&identity, path, problem);
    secret_wipe(&identity, sizeof identity);
    secret_wipe(seed, sizeof seed);
    return error;
}

enum error folder_make_keys(const char *dir, int nodes, struct problem *problem)
{
    struct entropy entropy;
    entropy_from_system(&entropy);
    enum error error = make_swarm_key(dir, &entropy, problem);
    for (int i = 1; i <= nodes && error == OK; i++)
        error = make_node_key(dir, i, &entropy, problem);
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

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

void folder_remove(const char *dir, int nodes)
{
    char path[FOLDER_BYTES + 32];
    for (int i = 1; i <= nodes; i++) {
        (void)snprintf(path, sizeof path, "%s/node%d", dir, i);
        (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    (void)snprintf(path, sizeof path, "%s/swarm.key", dir);
    (void)unlink(path);
    (void)rmdir(dir);
}
