#include "state_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_file.h"
#include "status_text.h"

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

enum status state_dir_make(const char *path, struct problem *problem)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return problem_set(problem, FAILED,
                           "cannot make node.state_dir %s: %s; choose another, in a folder that is "
                           "there and that this user may write to",
                           path, strerror(errno));
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

static double age_s(const char *file)
{
    struct stat about;
    struct timespec now;
    if (stat(file, &about) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return (double)NAN;
    return fmax(0, difftime(now.tv_sec, about.st_mtim.tv_sec) +
                       (double)(now.tv_nsec - about.st_mtim.tv_nsec) * 1e-9);
}

struct state_dir_checkpoint state_dir_checkpoint(const char *path, uint64_t generation)
{
    struct state_dir_checkpoint said;
    const int length =
        snprintf(said.text, sizeof said.text, "%s/checkpoint-%" PRIu64, path, generation);
    (void)snprintf(said.text + length, sizeof said.text - (size_t)length, ", %s old",
                   status_span(age_s(said.text)).text);
    return said;
}

enum status state_dir_check_history(const char *path, const struct node_options *options,
                                    struct problem *problem)
{
    if (node_can_restore(options))
        return OK;
    return problem_set(problem, TOO_BIG,
                       "the checkpoint in %s knows more lives than limits.lives allows: raise it",
                       path);
}

/* node ID in swarm "NAME": INPUT: LAYERS; START */
#define BEFORE_ID    "node "
#define BEFORE_SWARM " in swarm \""
#define BEFORE_MODEL "\": "
#define BEFORE_START "; "

void state_dir_describe(const struct identity *identity, const char *swarm, const char *model,
                        char text[STATE_DIR_MODEL_MAX])
{
    char id[ID_TEXT_BYTES];
    identity_text(id, identity->id);
    (void)snprintf(text, STATE_DIR_MODEL_MAX, BEFORE_ID "%s" BEFORE_SWARM "%s" BEFORE_MODEL "%s",
                   id, swarm, model);
}

struct part {
    const char *text;
    int length;
};

struct parts {
    struct part id, swarm, model, start;
};

static bool are_equal(struct part a, struct part b)
{
    return a.length == b.length && memcmp(a.text, b.text, (size_t)a.length) == 0;
}

static const char *last_of(const char *text, const char *word)
{
    const char *found = NULL;
    for (const char *next = text; (next = strstr(next, word)); next++)
        found = next;
    return found;
}

static struct part between(const char *from, const char *to)
{
    return (struct part){from, (int)(to - from)};
}

/* False: it is no such text. */
static bool take_apart(struct parts *parts, const char *text)
{
    const char *id = text + strlen(BEFORE_ID);
    if (strncmp(text, BEFORE_ID, strlen(BEFORE_ID)) != 0)
        return false;
    const char *id_end = strstr(id, BEFORE_SWARM);
    const char *swarm_end = last_of(text, BEFORE_MODEL);
    const char *model_end = last_of(text, BEFORE_START);
    if (!id_end || !swarm_end || !model_end)
        return false;
    const char *swarm = id_end + strlen(BEFORE_SWARM);
    const char *model = swarm_end + strlen(BEFORE_MODEL);
    const char *start = model_end + strlen(BEFORE_START);
    if (swarm > swarm_end || model > model_end)
        return false;
    *parts = (struct parts){between(id, id_end), between(swarm, swarm_end),
                            between(model, model_end), between(start, start + strlen(start))};
    return true;
}

#define OWN_FOLDER "a folder of its own (node.state_dir)"
#define PART(part) (part).length, (part).text

void state_dir_tell_apart(char out[CHECKPOINT_APART_MAX], const char *theirs, const char *ours)
{
    struct parts a, b;
    const bool is_known = take_apart(&a, theirs) && take_apart(&b, ours);
    if (is_known && !are_equal(a.id, b.id))
        (void)snprintf(out, CHECKPOINT_APART_MAX,
                       "node %.*s, and this is node %.*s: name the key of that one as "
                       "node.identity, or give each node " OWN_FOLDER,
                       PART(a.id), PART(b.id));
    else if (is_known && !are_equal(a.swarm, b.swarm))
        (void)snprintf(out, CHECKPOINT_APART_MAX,
                       "swarm \"%.*s\", and this is swarm \"%.*s\": name that one as node.swarm, "
                       "or give each swarm " OWN_FOLDER,
                       PART(a.swarm), PART(b.swarm));
    else if (is_known && are_equal(a.model, b.model))
        (void)snprintf(out, CHECKPOINT_APART_MAX,
                       "a swarm that began from %.*s, and this one begins from %.*s: set "
                       "model.seed or model.start as it was, or give each swarm " OWN_FOLDER,
                       PART(a.start), PART(b.start));
    else
        (void)snprintf(out, CHECKPOINT_APART_MAX,
                       "another model (%.160s); give each model " OWN_FOLDER,
                       is_known ? a.model.text : theirs);
}
