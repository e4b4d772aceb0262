#include "scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_key.h"
#include "config/config_read.h"
#include "scenario/scenario_parts.h"

#define LINES_MAX  4096
#define LINE_BYTES 1024

enum line_kind { LINE_LINK, LINE_FAULT, LINE_EXPECT, LINE_KINDS };

static const char *const line_keys[LINE_KINDS] = {"link", "fault", "expect"};

/* A line that can be read once all groups and times are known. */
struct line {
    int number;
    enum line_kind kind;
    char text[LINE_BYTES];
};

/* A scenario while it is read. */
struct atomic_file {
    const char *path;
    struct config_load load;
    struct scenario_keys keys;
    struct scenario scenario;
    struct scenario_links links;
    int group_line[SCENARIO_GROUPS_MAX];
    uint32_t lines_count;
    struct line lines[LINES_MAX];
};

static const char *const sections[] = {"scenario", "model",  "data", "train",
                                       "exchange", "limits", "node"};

#define SECTIONS (sizeof sections / sizeof sections[0])

static bool is_section(const char *name)
{
    for (size_t i = 0; i < SECTIONS; i++)
        if (strcmp(sections[i], name) == 0)
            return true;
    return false;
}

static enum error on_section(void *context, const char *section, struct problem *problem)
{
    (void)context;
    if (is_section(section))
        return OK;
    const char *nearest = config_key_nearest(section, sections, SECTIONS);
    if (nearest)
        return problem_set(problem, MALFORMED, "unknown section [%.60s]; did you mean [%s]?",
                           section, nearest);
    return problem_set(problem, MALFORMED,
                       "unknown section [%.60s]; known: scenario, model, data, train, exchange, "
                       "limits, node",
                       section);
}

/* The sentence of a line behind its key; file and line are put before it later. */
static enum error with_key(enum error error, const char *key, const struct problem *why,
                           struct problem *problem)
{
    return error == OK ? OK : problem_set(problem, error, "%s: %.480s", key, why->text);
}

static enum error keep_line(struct atomic_file *atomic_file, enum line_kind kind, const char *text,
                            int number, struct problem *problem)
{
    struct line *line = &atomic_file->lines[atomic_file->lines_count];
    if (atomic_file->lines_count == LINES_MAX)
        return problem_set(problem, MALFORMED, "more than %d lines", LINES_MAX);
    if (strlen(text) >= LINE_BYTES)
        return problem_set(problem, MALFORMED, "%s: the line is longer than %d characters",
                           line_keys[kind], LINE_BYTES - 1);
    line->number = number;
    line->kind = kind;
    memcpy(line->text, text, strlen(text) + 1);
    atomic_file->lines_count++;
    return OK;
}

static enum error on_scenario_key(struct atomic_file *atomic_file, const char *name,
                                  const char *value, int line, struct problem *problem)
{
    struct problem why;
    for (int kind = 0; kind < LINE_KINDS; kind++)
        if (strcmp(name, line_keys[kind]) == 0)
            return keep_line(atomic_file, (enum line_kind)kind, value, line, problem);
    if (strcmp(name, "nodes") != 0)
        return scenario_keys_set(&atomic_file->keys, name, value, line, problem);
    enum error error = scenario_group_add(&atomic_file->scenario, value, &why);
    if (error == OK)
        atomic_file->group_line[atomic_file->scenario.groups_count - 1] = line;
    return with_key(error, name, &why, problem);
}

static enum error on_key(void *context, const char *section, const char *name, const char *value,
                         int line, struct problem *problem)
{
    struct atomic_file *atomic_file = context;
    if (strcmp(section, "scenario") == 0)
        return on_scenario_key(atomic_file, name, value, line, problem);
    enum error error = scenario_keys_allowed(section, name, value, problem);
    if (error == OK)
        error = config_load_key(&atomic_file->load, section, name, value, line, problem);
    return error;
}

static struct group *find_group(struct scenario *scenario, const char *name)
{
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (strcmp(scenario->groups[i].name, name) == 0)
            return &scenario->groups[i];
    return NULL;
}

static enum error unknown_target(const struct atomic_file *atomic_file, const char *name,
                                 struct problem *problem)
{
    const char *known[SECTIONS + SCENARIO_GROUPS_MAX];
    for (size_t i = 0; i < SECTIONS; i++)
        known[i] = sections[i];
    for (uint32_t i = 0; i < atomic_file->scenario.groups_count; i++)
        known[SECTIONS + i] = atomic_file->scenario.groups[i].name;
    const char *nearest =
        config_key_nearest(name, known, SECTIONS + atomic_file->scenario.groups_count);
    return problem_set(problem, MALFORMED, "there is neither a section nor a group %.60s%s%s%s",
                       name, nearest ? "; did you mean " : "", nearest ? nearest : "",
                       nearest ? "?" : "");
}

static enum error set_scenario_key(struct atomic_file *atomic_file,
                                   const struct config_parts *parts, struct problem *problem)
{
    bool is_line = strcmp(parts->name, "nodes") == 0;
    for (int kind = 0; kind < LINE_KINDS; kind++)
        is_line |= strcmp(parts->name, line_keys[kind]) == 0;
    if (is_line)
        return problem_set(problem, MALFORMED,
                           "lines stand in the file; a clause of a group is set by its name, such "
                           "as: desk.up=5 Mbit/s");
    return scenario_keys_set(&atomic_file->keys, parts->name, parts->value, 0, problem);
}

static enum error apply_set(struct atomic_file *atomic_file, const char *assignment,
                            struct problem *problem)
{
    struct config_parts parts;
    enum error error = config_split(&parts, assignment, problem);
    if (error != OK)
        return error;
    struct group *group = find_group(&atomic_file->scenario, parts.section);
    if (group)
        return scenario_group_set(group, parts.name, parts.value, problem);
    if (strcmp(parts.section, "scenario") == 0)
        return set_scenario_key(atomic_file, &parts, problem);
    if (!is_section(parts.section))
        return unknown_target(atomic_file, parts.section, problem);
    error = scenario_keys_allowed(parts.section, parts.name, parts.value, problem);
    if (error == OK)
        error = config_set(&atomic_file->load.config, assignment, problem);
    return error;
}

static enum error apply_sets(struct atomic_file *atomic_file, const char *const *sets, int count,
                             struct problem *problem)
{
    struct problem why;
    for (int i = 0; i < count; i++) {
        enum error error = apply_set(atomic_file, sets[i], &why);
        if (error != OK)
            return problem_set(problem, error, "--set %.80s: %.400s", sets[i], why.text);
    }
    return OK;
}

static enum error read_line(struct atomic_file *atomic_file, const struct line *line,
                            struct problem *problem)
{
    switch (line->kind) {
    case LINE_LINK:
        return scenario_link_add(&atomic_file->scenario, &atomic_file->links, line->text,
                                 line->number, problem);
    case LINE_FAULT:
        return scenario_fault_add(&atomic_file->scenario, line->text, problem);
    default:
        return scenario_expect_add(&atomic_file->scenario, line->text, problem);
    }
}

static enum error read_lines(struct atomic_file *atomic_file, struct problem *problem)
{
    struct problem why;
    for (uint32_t i = 0; i < atomic_file->lines_count; i++) {
        const struct line *line = &atomic_file->lines[i];
        enum error error = read_line(atomic_file, line, &why);
        if (error != OK)
            return problem_set(problem, error, "%.200s:%d: %s: %.280s", atomic_file->path,
                               line->number, line_keys[line->kind], why.text);
    }
    scenario_link_fill(&atomic_file->scenario, &atomic_file->links);
    return OK;
}

static enum error check_groups(const struct atomic_file *atomic_file, struct problem *problem)
{
    struct problem why;
    for (uint32_t i = 0; i < atomic_file->scenario.groups_count; i++) {
        enum error error =
            scenario_group_check(&atomic_file->scenario, &atomic_file->scenario.groups[i], &why);
        if (error != OK)
            return problem_set(problem, error, "%.200s:%d: nodes: %.280s", atomic_file->path,
                               atomic_file->group_line[i], why.text);
    }
    return OK;
}

/* "configs/sim-home.conf": sim-home */
static void name_after(char *name, size_t room, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    (void)snprintf(name, room, "%.*s", (int)(length < room ? length : room - 1), file);
}

/* All that follows from what file and assignments say. */
static enum error complete(struct atomic_file *atomic_file, struct problem *problem)
{
    struct problem why;
    struct scenario *scenario = &atomic_file->scenario;
    name_after(scenario->name, sizeof scenario->name, atomic_file->path);
    scenario_keys_apply(&atomic_file->keys, scenario);
    scenario->config = atomic_file->load.config;
    enum error error = scenario_group_place(scenario, &why);
    if (error != OK)
        return problem_set(problem, error, "%.200s: %.300s", atomic_file->path, why.text);
    error = check_groups(atomic_file, problem);
    if (error == OK)
        error = read_lines(atomic_file, problem);
    if (error != OK)
        return error;
    error = scenario_check(scenario, &why);
    if (error != OK)
        return problem_set(problem, error, "%.200s: %.300s", atomic_file->path, why.text);
    return OK;
}

enum error scenario_load(struct scenario *scenario, const char *path, const char *const *sets,
                         int sets_count, struct problem *problem)
{
    struct atomic_file *atomic_file = calloc(1, sizeof *atomic_file);
    if (!atomic_file)
        return problem_set(problem, FAILED, "%.200s: no memory to read it", path);
    struct config_reader reader = {on_section, on_key, atomic_file};
    atomic_file->path = path;
    config_defaults(&atomic_file->load.config);
    scenario_keys_defaults(&atomic_file->keys);
    enum error error = config_read(path, &reader, problem);
    if (error == OK)
        error = apply_sets(atomic_file, sets, sets_count, problem);
    if (error == OK)
        error = complete(atomic_file, problem);
    if (error == OK)
        *scenario = atomic_file->scenario;
    free(atomic_file);
    return error;
}

void scenario_node_config(const struct scenario *scenario, uint32_t i, struct config *config)
{
    const struct group *group = scenario_group(scenario, i);
    struct problem problem;
    *config = scenario->config;
    for (uint32_t k = 0; k < group->sets; k++)
        CHECK(config_set(config, group->set[k], &problem) == OK);
}

uint32_t scenario_region(const struct scenario *scenario, uint32_t i)
{
    const char *name = scenario_group(scenario, i)->region;
    uint32_t region = 0;
    while (strcmp(scenario->regions[region], name) != 0)
        region++;
    return region;
}

void scenario_node_name(const struct scenario *scenario, uint32_t i, char *out, size_t bytes)
{
    const struct group *group = scenario_group(scenario, i);
    (void)snprintf(out, bytes, "%s/%u", group->name, i - group->first + 1);
}

uint64_t rate_at(const struct rate *rate, uint64_t now_ns)
{
    uint64_t bytes_per_s = rate->bytes_per_s;
    for (uint32_t i = 0; i < rate->changes && rate->change[i].at_ns <= now_ns; i++)
        bytes_per_s = rate->change[i].bytes_per_s;
    return bytes_per_s;
}
