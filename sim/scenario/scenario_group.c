#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "config/config_read.h"
#include "scenario/clause.h"
#include "scenario/scenario_parts.h"

static enum error read_up(struct group *group, struct clause *clause, struct problem *problem)
{
    group->up.changes = 0;
    return clause_rate(clause, &group->up.bytes_per_s, problem);
}

static enum error read_down(struct group *group, struct clause *clause, struct problem *problem)
{
    group->down.changes = 0;
    return clause_rate(clause, &group->down.bytes_per_s, problem);
}

static enum error read_region(struct group *group, struct clause *clause, struct problem *problem)
{
    return clause_name(clause, group->region, problem);
}

static enum error read_from(struct group *group, struct clause *clause, struct problem *problem)
{
    return clause_time(clause, &group->start_ns, problem);
}

static enum error read_until(struct group *group, struct clause *clause, struct problem *problem)
{
    return clause_duration(clause, &group->stop_ns, problem);
}

static enum error read_stall(struct group *group, struct clause *clause, struct problem *problem)
{
    enum error error = clause_duration(clause, &group->stall_ns, problem);
    if (error != OK)
        return error;
    if (!clause_take(clause, "every"))
        return clause_fail(clause, problem, "the period is missing, such as: stall 3 s every 20 s");
    error = clause_duration(clause, &group->stall_every_ns, problem);
    if (error == OK && group->stall_ns >= group->stall_every_ns)
        return clause_fail(clause, problem, "the links would always stall");
    return error;
}

static enum error read_memory(struct group *group, struct clause *clause, struct problem *problem)
{
    return clause_size(clause, &group->memory_bytes, problem);
}

static enum error read_data(struct group *group, struct clause *clause, struct problem *problem)
{
    return clause_number(clause, "the proportion of data", 0.001, 1000, &group->data, problem);
}

static enum error read_dials(struct group *group, struct clause *clause, struct problem *problem)
{
    if (!clause_take(clause, "only"))
        return clause_fail(clause, problem, "write dials only for nodes that accept no calls");
    group->dials_only = true;
    return OK;
}

/* Reads "at 60 s up 5 Mbit/s". */
static enum error read_change(struct group *group, struct clause *clause, struct problem *problem)
{
    uint64_t at_ns;
    uint64_t bytes_per_s = 0;
    enum error error = clause_time(clause, &at_ns, problem);
    if (error != OK)
        return error;
    bool up = clause_take(clause, "up");
    if (!up && !clause_take(clause, "down"))
        return clause_fail(clause, problem, "the change is missing, such as: at 60 s up 5 Mbit/s");
    error = clause_rate(clause, &bytes_per_s, problem);
    if (error != OK)
        return error;
    return clause_rate_change(clause, up ? &group->up : &group->down, at_ns, bytes_per_s, problem);
}

/* Returns the group's set clause with this key, or a new one; NULL = the group has
 * SCENARIO_SETS_MAX set clauses. */
static char *room_for_set(struct group *group, const struct config_parts *parts)
{
    char key[sizeof parts->section + sizeof parts->name + 1];
    int length = snprintf(key, sizeof key, "%s.%s=", parts->section, parts->name);
    for (uint32_t i = 0; i < group->sets; i++)
        if (strncmp(group->set[i], key, (size_t)length) == 0)
            return group->set[i];
    return group->sets < SCENARIO_SETS_MAX ? group->set[group->sets++] : NULL;
}

static bool is_of_device(const struct config_parts *parts)
{
    return strcmp(parts->section, "train") == 0 &&
           (strcmp(parts->name, "device") == 0 || strcmp(parts->name, "precision") == 0);
}

/* Reads "set exchange.bytes_per_s=5000". */
static enum error read_set(struct group *group, struct clause *clause, struct problem *problem)
{
    struct problem why;
    struct config_parts parts;
    struct config scratch;
    const char *assignment = clause->text + clause->at;
    config_defaults(&scratch);
    enum error error = config_split(&parts, assignment, &why);
    if (error == OK)
        error = scenario_keys_allowed(parts.section, parts.name, parts.value, &why);
    if (error == OK)
        error = config_set(&scratch, assignment, &why);
    if (error != OK)
        return clause_fail(clause, problem, "%.300s", why.text);
    if (strcmp(parts.section, "model") == 0 || strcmp(parts.section, "data") == 0)
        return clause_fail(clause, problem, "[%s] is the same for all nodes; give it a section",
                           parts.section);
    if (is_of_device(&parts))
        return clause_fail(clause, problem,
                           "all nodes share one device; write %s in the section [train]",
                           parts.name);
    char text[sizeof group->set[0]];
    int length = snprintf(text, sizeof text, "%s.%s=%s", parts.section, parts.name, parts.value);
    if (length >= (int)sizeof text)
        return clause_fail(clause, problem, "longer than %zu characters", sizeof text - 1);
    char *room = room_for_set(group, &parts);
    if (!room)
        return clause_fail(clause, problem, "more than %d keys are set", SCENARIO_SETS_MAX);
    memcpy(room, text, sizeof text);
    clause->at = strlen(clause->text);
    return OK;
}

static enum error read_speed(struct group *group, struct clause *clause, struct problem *problem)
{
    return clause_speed(clause, &group->samples_per_s, problem);
}

static const struct {
    const char *word;
    enum error (*read)(struct group *group, struct clause *clause, struct problem *problem);
    bool again; /* a nodes line may contain this clause more than once */
} words[] = {
    /* The first entry stands for a clause that begins with a number. Each other entry stands for a
     * clause that begins with its word. */
    {"samples/s", read_speed, false}, {"up", read_up, false},         {"down", read_down, false},
    {"region", read_region, false},   {"from", read_from, false},     {"until", read_until, false},
    {"stall", read_stall, false},     {"memory", read_memory, false}, {"data", read_data, false},
    {"dials", read_dials, false},     {"at", read_change, true},      {"set", read_set, true},
};

#define WORDS (sizeof words / sizeof words[0])

/* *seen has a bit for each word that the line has used so far. */
static enum error read_clause(struct group *group, struct clause *clause, uint32_t *seen,
                              struct problem *problem)
{
    const char *known[WORDS];
    size_t i = 0;
    for (size_t k = 0; k < WORDS; k++)
        known[k] = words[k].word;
    bool begins_with_number = isdigit((unsigned char)clause->text[0]);
    while (i < WORDS && !(i == 0 ? begins_with_number : clause_take(clause, words[i].word)))
        i++;
    if (i == WORDS)
        return clause_unknown(clause, known, WORDS, problem);
    if (*seen >> i & 1 && !words[i].again)
        return clause_fail(clause, problem, "%s is given twice in this line", words[i].word);
    *seen |= 1u << i;
    enum error error = words[i].read(group, clause, problem);
    return error == OK ? clause_end(clause, problem) : error;
}

/* Reads "2 desk". */
static enum error read_head(struct group *group, struct clause *clause, struct problem *problem)
{
    if (!isdigit((unsigned char)clause->text[0]))
        return clause_fail(clause, problem,
                           "a nodes line begins with a count and a name, such as: 2 desk");
    enum error error =
        clause_count(clause, "the count of nodes", 1, SCENARIO_NODES_MAX, &group->count, problem);
    if (error == OK)
        error = clause_name(clause, group->name, problem);
    return error == OK ? clause_end(clause, problem) : error;
}

/* Returns true if a name has another meaning in a scenario, so no group or region may have it. */
static bool is_reserved(const char *name)
{
    static const char *const reserved[] = {"all",  "any",   "scenario", "node",   "model",
                                           "data", "train", "exchange", "limits", "strategy"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    return false;
}

static enum error check_name(const struct scenario *scenario, const char *name,
                             struct problem *problem)
{
    if (is_reserved(name))
        return problem_set(problem, MALFORMED, "a group cannot be called %s; give another name",
                           name);
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (strcmp(scenario->groups[i].name, name) == 0)
            return problem_set(problem, MALFORMED, "there is already a group %s; give another name",
                               name);
    return OK;
}

enum error scenario_group_add(struct scenario *scenario, const char *text, struct problem *problem)
{
    struct clause clause;
    struct group group = {.data = 1};
    uint32_t seen = 0;
    if (scenario->groups_count == SCENARIO_GROUPS_MAX)
        return problem_set(problem, MALFORMED, "more than %d groups", SCENARIO_GROUPS_MAX);
    enum error error = clause_next(&clause, &text, problem);
    if (error == OK)
        error = read_head(&group, &clause, problem);
    if (error == OK)
        error = check_name(scenario, group.name, problem);
    while (error == OK && text) {
        error = clause_next(&clause, &text, problem);
        if (error == OK)
            error = read_clause(&group, &clause, &seen, problem);
    }
    if (error == OK && !group.region[0])
        memcpy(group.region, group.name, sizeof group.region);
    if (error == OK && is_reserved(group.region))
        return problem_set(problem, MALFORMED, "a region cannot be called %s; give another name",
                           group.region);
    if (error == OK)
        scenario->groups[scenario->groups_count++] = group;
    return error;
}

enum error scenario_group_set(struct group *group, const char *name, const char *value,
                              struct problem *problem)
{
    char text[2 * CLAUSE_BYTES];
    struct clause clause;
    struct group changed = *group;
    uint32_t seen = 0;
    const char *line = text;
    bool count = strcmp(name, "count") == 0;
    bool speed = strcmp(name, "samples/s") == 0;
    if (count || speed)
        (void)snprintf(text, sizeof text, "%.150s %s", value, count ? group->name : name);
    else
        (void)snprintf(text, sizeof text, "%s %.200s", name, value);
    enum error error = clause_next(&clause, &line, problem);
    if (error == OK && line)
        return problem_set(problem, MALFORMED, "one clause at a time, without commas");
    if (error == OK)
        error = count ? read_head(&changed, &clause, problem)
                      : read_clause(&changed, &clause, &seen, problem);
    if (error == OK)
        *group = changed;
    return error;
}

/* Adds a region if it is new. */
static void note_region(struct scenario *scenario, const char *name)
{
    uint32_t i = 0;
    while (i < scenario->regions_count && strcmp(scenario->regions[i], name) != 0)
        i++;
    CHECK(i < SCENARIO_REGIONS_MAX);
    if (i == scenario->regions_count)
        memcpy(scenario->regions[scenario->regions_count++], name, SCENARIO_NAME_BYTES);
}

enum error scenario_group_place(struct scenario *scenario, struct problem *problem)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < scenario->groups_count; i++) {
        struct group *group = &scenario->groups[i];
        group->first = next;
        next += group->count;
        note_region(scenario, group->region);
    }
    if (next == 0)
        return problem_set(problem, MALFORMED,
                           "there are no nodes; [scenario] needs a line such as: nodes = 2 desk, "
                           "400 samples/s");
    if (next > SCENARIO_NODES_MAX)
        return problem_set(problem, MALFORMED, "there are %u nodes; at most %d are possible", next,
                           SCENARIO_NODES_MAX);
    scenario->nodes_count = next;
    return OK;
}

static enum error check_end(const struct scenario *scenario, const struct group *group,
                            const char *what, uint64_t at_ns, struct problem *problem)
{
    if (at_ns <= scenario->span_ns)
        return OK;
    return problem_set(problem, MALFORMED,
                       "%s of %s at %.10g s comes after the end; [scenario] seconds = %.10g", what,
                       group->name, (double)at_ns / 1e9, (double)scenario->span_ns / 1e9);
}

static enum error check_rate(const struct scenario *scenario, const struct group *group,
                             const char *what, const struct rate *rate, struct problem *problem)
{
    uint64_t last_ns = rate->changes ? rate->change[rate->changes - 1].at_ns : 0;
    return check_end(scenario, group, what, last_ns, problem);
}

enum error scenario_group_check(const struct scenario *scenario, const struct group *group,
                                struct problem *problem)
{
    enum error error = check_end(scenario, group, "the start", group->start_ns, problem);
    if (error == OK)
        error = check_end(scenario, group, "the leaving", group->stop_ns, problem);
    if (error == OK)
        error = check_rate(scenario, group, "a change of up", &group->up, problem);
    if (error == OK)
        error = check_rate(scenario, group, "a change of down", &group->down, problem);
    if (error == OK && group->stop_ns > 0 && group->stop_ns <= group->start_ns)
        return problem_set(problem, MALFORMED, "%s leaves at %.10g s, before it starts at %.10g s",
                           group->name, (double)group->stop_ns / 1e9,
                           (double)group->start_ns / 1e9);
    return error;
}
