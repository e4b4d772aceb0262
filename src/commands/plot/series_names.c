#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/plot/series_file.h"

double series_file_bytes(FILE *file)
{
    struct stat about;
    return fstat(fileno(file), &about) == 0 ? (double)about.st_size : 0;
}

static char plain(char c)
{
    return c == '-' ? '_' : c;
}

bool series_is_name(const char *asked, const char *name)
{
    for (; *asked && *name; asked++, name++)
        if (plain(*asked) != plain(*name))
            return false;
    return *asked == *name;
}

static bool has_name(const struct series_names *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names->text; (at = strstr(at, name)); at += length)
        if ((at == names->text || at[-1] == ' ') && (at[length] == 0 || at[length] == ','))
            return true;
    return false;
}

void series_names_add(struct series_names *names, const char *name)
{
    const size_t used = strlen(names->text);
    if (name[0] && used + strlen(name) + 3 < sizeof names->text && !has_name(names, name))
        (void)snprintf(names->text + used, sizeof names->text - used, "%s%s", used ? ", " : "",
                       name);
}

enum error series_lacks(const struct series_set *set, const char *path,
                        const struct series_names *names, struct problem *problem)
{
    static const char *const AXES[] = {
        [BY_TIME] = "time", [BY_SAMPLES] = "samples", [BY_BYTES] = "bytes"};
    return problem_set(problem, MISSING,
                       "%.300s has no \"%.60s\" by %s; it has: %s; choose with --what and --by",
                       path, set->what, AXES[set->by], names->text[0] ? names->text : "nothing");
}

enum error series_too_many(struct problem *problem)
{
    return problem_set(problem, TOO_BIG,
                       "more than %d curves cannot be told apart; name fewer files", SERIES_MAX);
}
