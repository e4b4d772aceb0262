#include "base/memory.h"
#include "scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "config/config_key.h"
#include "config/config_read.h"
#include "config/config_resolve.h"
#include "scenario/scenario_parts.h"
#include "scenario/strategy_keys.h"

#define LINES_MAX  4096
#define LINE_BYTES 1024

enum line_kind { LINE_LINK, LINE_FAULT, LINE_EXPECT, LINE_KINDS };

static const char *const line_keys[LINE_KINDS] = {"link", "fault", "expect"};

/* A line that can be parsed only when all groups and times are known. */
struct line {
    int number; /* number of the line in the file */
    enum line_kind kind;
    char text[LINE_BYTES]; /* text to the right of the equals sign */
};

struct loader {
    const char *path;
    /* a node's configuration as read until now, with the line of each key */
    struct config_load load;
    struct scenario_keys keys;
    struct strategy_lines lines_of_keys;
    struct scenario scenario; /* the scenario as read until now */
    struct scenario_links links;
    int group_line[SCENARIO_GROUPS_MAX]; /* [group] line of the file that defines the group */
    uint32_t lines_count;
    struct line lines[LINES_MAX]; /* the lines, in the order of the file */
};

static const char *const sections[] = {"scenario", "model",  "data", "train",
                                       "exchange", "limits", "node", "strategy"};

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
    return problem_set(problem, MALFORMED, "unknown section [%.60s]; %s", section,
                       words_hint(section, sections, SECTIONS).text);
}

/* Puts the key before the sentence of an error. The caller adds file and line. */
static enum error with_key(enum error error, const char *key, const struct problem *why,
                           struct problem *problem)
{
    return error == OK ? OK : problem_set(problem, error, "%s: %.480s", key, why->text);
}

static enum error keep_line(struct loader *loader, enum line_kind kind, const char *text,
                            int number, struct problem *problem)
{
    struct line *line = &loader->lines[loader->lines_count];
    if (loader->lines_count == LINES_MAX)
        return problem_set(problem, MALFORMED, "more than %d lines", LINES_MAX);
    if (strlen(text) >= LINE_BYTES)
        return problem_set(problem, MALFORMED, "%s: the line is longer than %d characters",
                           line_keys[kind], LINE_BYTES - 1);
    line->number = number;
    line->kind = kind;
    memcpy(line->text, text, strlen(text) + 1);
    loader->lines_count++;
    return OK;
}

static enum error on_scenario_key(struct loader *loader, const char *name, const char *value,
                                  int line, struct problem *problem)
{
    struct problem why;
    for (int kind = 0; kind < LINE_KINDS; kind++)
        if (strcmp(name, line_keys[kind]) == 0)
            return keep_line(loader, (enum line_kind)kind, value, line, problem);
    if (strcmp(name, "nodes") != 0)
        return scenario_keys_set(&loader->keys, name, value, line, problem);
    enum error error = scenario_group_add(&loader->scenario, value, &why);
    if (error == OK)
        loader->group_line[loader->scenario.groups_count - 1] = line;
    return with_key(error, name, &why, problem);
}

static enum error on_key(void *context, const char *section, const char *name, const char *value,
                         int line, struct problem *problem)
{
    struct loader *loader = context;
    if (strcmp(section, "scenario") == 0)
        return on_scenario_key(loader, name, value, line, problem);
    if (strcmp(section, "strategy") == 0)
        return strategy_keys_set(&loader->scenario.settings, &loader->lines_of_keys, name, value,
                                 line, problem);
    enum error error = scenario_keys_allowed(section, name, value, problem);
    if (error == OK)
        error = config_load_key(&loader->load, section, name, value, line, problem);
    return error;
}

static struct group *find_group(struct scenario *scenario, const char *name)
{
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (strcmp(scenario->groups[i].name, name) == 0)
            return &scenario->groups[i];
    return NULL;
}

static enum error unknown_target(const struct loader *loader, const char *name,
                                 struct problem *problem)
{
    const char *known[SECTIONS + SCENARIO_GROUPS_MAX];
    for (size_t i = 0; i < SECTIONS; i++)
        known[i] = sections[i];
    for (uint32_t i = 0; i < loader->scenario.groups_count; i++)
        known[SECTIONS + i] = loader->scenario.groups[i].name;
    return problem_set(problem, MALFORMED, "there is neither a section nor a group %.60s; %s", name,
                       words_hint(name, known, SECTIONS + loader->scenario.groups_count).text);
}

static enum error set_scenario_key(struct loader *loader, const struct config_parts *parts,
                                   struct problem *problem)
{
    bool is_line = strcmp(parts->name, "nodes") == 0;
    for (int kind = 0; kind < LINE_KINDS; kind++)
        is_line |= strcmp(parts->name, line_keys[kind]) == 0;
    if (is_line)
        return problem_set(problem, MALFORMED,
                           "lines stand in the file; a clause of a group is set by its name, such "
                           "as: desk.up=5 Mbit/s");
    return scenario_keys_set(&loader->keys, parts->name, parts->value, 0, problem);
}

static enum error apply_set(struct loader *loader, const char *assignment, struct problem *problem)
{
    struct config_parts parts;
    enum error error = config_split(&parts, assignment, problem);
    if (error != OK)
        return error;
    struct group *group = find_group(&loader->scenario, parts.section);
    if (group)
        return scenario_group_set(group, parts.name, parts.value, problem);
    if (strcmp(parts.section, "scenario") == 0)
        return set_scenario_key(loader, &parts, problem);
    if (strcmp(parts.section, "strategy") == 0)
        return strategy_keys_set(&loader->scenario.settings, &loader->lines_of_keys, parts.name,
                                 parts.value, 0, problem);
    if (!is_section(parts.section))
        return unknown_target(loader, parts.section, problem);
    error = scenario_keys_allowed(parts.section, parts.name, parts.value, problem);
    if (error == OK)
        error = config_set(&loader->load.config, assignment, problem);
    return error;
}

static enum error apply_sets(struct loader *loader, const char *const *sets, int count,
                             struct problem *problem)
{
    struct problem why;
    for (int i = 0; i < count; i++) {
        enum error error = apply_set(loader, sets[i], &why);
        if (error != OK)
            return problem_set(problem, error, "--set %.80s: %.400s", sets[i], why.text);
    }
    return OK;
}

static enum error read_line(struct loader *loader, const struct line *line, struct problem *problem)
{
    switch (line->kind) {
    case LINE_LINK:
        return scenario_link_add(&loader->scenario, &loader->links, line->text, line->number,
                                 problem);
    case LINE_FAULT:
        return scenario_fault_add(&loader->scenario, line->text, problem);
    default:
        return scenario_expect_add(&loader->scenario, line->text, problem);
    }
}

static enum error read_lines(struct loader *loader, struct problem *problem)
{
    struct problem why;
    for (uint32_t i = 0; i < loader->lines_count; i++) {
        const struct line *line = &loader->lines[i];
        enum error error = read_line(loader, line, &why);
        if (error != OK)
            return problem_set(problem, error, "%.200s:%d: %s: %.280s", loader->path, line->number,
                               line_keys[line->kind], why.text);
    }
    scenario_link_fill(&loader->scenario, &loader->links);
    return OK;
}

static enum error check_groups(const struct loader *loader, struct problem *problem)
{
    struct problem why;
    for (uint32_t i = 0; i < loader->scenario.groups_count; i++) {
        enum error error =
            scenario_group_check(&loader->scenario, &loader->scenario.groups[i], &why);
        if (error != OK)
            return problem_set(problem, error, "%.200s:%d: nodes: %.280s", loader->path,
                               loader->group_line[i], why.text);
    }
    return OK;
}

/* "configs/sim-home.conf" gives "sim-home". */
static void name_after(char *name, size_t room, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    (void)snprintf(name, room, "%.*s", (int)(length < room ? length : room - 1), file);
}

/* Numbers the nodes, parses the lines that refer to them, and checks the whole scenario. */
static enum error finish_scenario(struct loader *loader, struct problem *problem)
{
    struct problem why;
    struct scenario *scenario = &loader->scenario;
    name_after(scenario->name, sizeof scenario->name, loader->path);
    scenario_keys_apply(&loader->keys, scenario);
    scenario->config = loader->load.config;
    config_resolve(&scenario->config);
    enum error error = scenario_group_place(scenario, &why);
    if (error != OK)
        return problem_set(problem, error, "%.200s: %.300s", loader->path, why.text);
    error = check_groups(loader, problem);
    if (error == OK)
        error = read_lines(loader, problem);
    if (error != OK)
        return error;
    error = scenario_check(scenario, &why);
    if (error != OK)
        return problem_set(problem, error, "%.200s: %.300s", loader->path, why.text);
    return OK;
}

enum error scenario_load(struct scenario *scenario, const char *path, const char *const *sets,
                         int sets_count, struct problem *problem)
{
    struct loader *loader = memory_new(1, sizeof *loader);
    struct config_reader reader = {on_section, on_key, loader};
    loader->path = path;
    config_defaults(&loader->load.config);
    scenario_keys_defaults(&loader->keys);
    strategy_keys_defaults(&loader->scenario.settings);
    enum error error = config_read(path, &reader, problem);
    if (error == OK)
        error = apply_sets(loader, sets, sets_count, problem);
    if (error == OK)
        error = finish_scenario(loader, problem);
    if (error == OK)
        *scenario = loader->scenario;
    free(loader);
    return error;
}
