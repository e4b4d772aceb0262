#include "state/checkpoint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "state/atomic_file.h"
#include "state/checkpoint_file.h"

/* maximum digits of a generation in a file name, so that the next generation always fits in 64
 * bits */
#define GENERATION_DIGITS 18

/* Returns 0 if the name is neither that of a checkpoint nor of an unfinished one. */
static uint64_t generation_of(const char *name, bool *is_unfinished)
{
    const size_t prefix = strlen(CHECKPOINT_NAME);
    if (strncmp(name, CHECKPOINT_NAME, prefix) != 0)
        return 0;
    const char *digits = name + prefix;
    const size_t count = strspn(digits, "0123456789");
    *is_unfinished = strcmp(digits + count, ATOMIC_FILE_SUFFIX) == 0;
    if (count == 0 || count > GENERATION_DIGITS || digits[0] == '0')
        return 0;
    return *is_unfinished || digits[count] == '\0' ? strtoull(digits, NULL, 10) : 0;
}

/* Request and result of a search for generations in the folder. */
struct look {
    uint64_t below;       /* considers only lower generations */
    bool with_unfinished; /* also considers unfinished files */
    uint64_t newest;      /* largest generation that was considered; 0 = none */
    uint64_t highest;     /* largest generation in the folder, including unfinished files */
};

static void look_at(void *context, const char *name)
{
    struct look *look = context;
    bool is_unfinished;
    const uint64_t generation = generation_of(name, &is_unfinished);
    look->highest = u64_max(look->highest, generation);
    if (generation == 0 || (is_unfinished && !look->with_unfinished))
        return;
    if (generation < look->below && generation > look->newest)
        look->newest = generation;
}

static void remove_generation(const struct disk *disk, const char *folder, uint64_t generation)
{
    static const char *const SUFFIXES[] = {"", ATOMIC_FILE_SUFFIX};
    char name[CHECKPOINT_NAME_MAX], path[DISK_PATH_MAX];
    CHECK(generation > 0);
    checkpoint_name(name, generation);
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (disk_path(path, folder, name, SUFFIXES[i]) == 0)
            (void)disk->remove(disk->self, path);
}

/* Lists the folder again for each removal, because the folder must not change while it is
 * listed. */
static void remove_before(const struct disk *disk, const char *folder, uint64_t end)
{
    struct look look = {.with_unfinished = true};
    for (look.below = end;; look.below = look.newest) {
        look.newest = 0;
        if (disk->list(disk->self, folder, look_at, &look) != 0 || look.newest == 0)
            return;
        remove_generation(disk, folder, look.newest);
    }
}

enum error checkpoint_end(struct checkpoint_writer *writer, struct checkpoint *checkpoint,
                          struct checkpoint_series *series, struct problem *problem)
{
    CHECK(series->good < writer->generation && writer->generation < series->next);
    const enum error error = checkpoint_write_end(writer, checkpoint, problem);
    if (error != OK)
        return error;
    remove_before(writer->disk, writer->folder, series->good);
    series->good = writer->generation;
    return OK;
}

static enum error none_of_use(const char *folder, int count, const struct problem *newest,
                              struct problem *problem)
{
    CHECK(count > 0);
    return problem_set(problem, FAILED,
                       "%.100s: none of the %d checkpoints is usable; the newest: %.160s; to start "
                       "without them, move the files %s* away; the node then fetches the base from "
                       "the swarm and loses its unpublished progress",
                       folder, count, newest->text, CHECKPOINT_NAME);
}

enum error checkpoint_load(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, const struct checkpoint_target *target,
                           struct checkpoint_series *series,
                           const struct checkpoint_refusal *refusal, struct problem *problem)
{
    struct look look = {.below = UINT64_MAX};
    struct problem newest = {.text = ""};
    for (int refused = 0;; refused++) {
        look.newest = 0;
        const int error = disk->list(disk->self, folder, look_at, &look);
        if (error != 0)
            return problem_set(problem, FAILED,
                               "%.300s: cannot read the folder of the checkpoints: %s; create it, "
                               "or check its permissions",
                               folder, strerror(-error));
        if (look.newest == 0 && refused > 0)
            return none_of_use(folder, refused, &newest, problem);
        struct problem why;
        const bool found = look.newest != 0;
        if (!found || checkpoint_read(disk, folder, checkpoint, target, look.newest, &why) == OK) {
            CHECK(look.newest <= look.highest);
            *series = (struct checkpoint_series){.next = look.highest + 1, .good = look.newest};
            return found ? OK : problem_set(problem, MISSING, "%.300s: no checkpoint yet", folder);
        }
        refusal->refused(refusal->context, &why);
        newest = refused == 0 ? why : newest;
        look.below = look.newest;
    }
}
