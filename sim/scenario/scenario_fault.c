#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/words.h"
#include "scenario/clause.h"
#include "scenario/scenario_parts.h"

/* The clauses of a fault line, as bits of a set. */
enum {
    AT = 1,
    BACK = 2,
    FOR = 4,
    FROM = 8,
    EVERY = 16,
    AWAY = 32,
    BY = 64,
    UNTIL = 128,
    DISK = 256,
    SILENTLY = 512,
    WITH = 1024
};

/* Sets of nodes in the head of a fault line: ONE: X; TWO: A B; DIVIDED: A | B; OPTIONAL: X or
 * nothing. */
enum sides { ONE, TWO, DIVIDED, OPTIONAL };

static const struct form {
    enum sides sides;
    unsigned int needs;
    unsigned int may;
    const char *written;
} forms[FAULT_KINDS] = {
    [FAULT_CRASH] = {ONE, AT, BACK | DISK | SILENTLY,
                     "crash X, at T, back at T, disk lost, silently"},
    [FAULT_PAUSE] = {ONE, FOR, AT | EVERY | FROM,
                     "pause X, at T, for D; or pause X, every D, for D to D, from T to T"},
    [FAULT_PARTITION] = {DIVIDED, FROM, EVERY, "partition A | B, from T to T, every D"},
    [FAULT_CLOG] = {ONE, FROM, 0, "clog X, from T to T"},
    [FAULT_RESET] = {TWO, AT, 0, "reset A B, at T"},
    [FAULT_HALF_OPEN] = {ONE, AT, 0, "half open X, at T"},
    [FAULT_SLOW_READER] = {ONE, FROM, 0, "slow reader X, from T to T"},
    [FAULT_FRAGMENT] = {ONE, FROM, 0, "fragment X, from T to T"},
    [FAULT_TAMPER] = {ONE, AT, 0, "tamper X, at T"},
    [FAULT_CLOCK] = {ONE, AT | BY, 0, "clock X, at T, by -30 s"},
    [FAULT_DUPLICATE] = {ONE, AT, UNTIL, "duplicate X, at T, until T"},
    [FAULT_WRONG_KEY] = {ONE, AT, 0, "wrong key X, at T"},
    [FAULT_HOSTILE] = {ONE, FROM, 0, "hostile X, from T to T"},
    [FAULT_MUTE] = {ONE, FROM, 0, "mute X, from T to T"},
    [FAULT_CHURN] = {OPTIONAL, EVERY | AWAY, FROM | DISK,
                     "churn X, every D, away D, from T to T, disk lost"},
    [FAULT_POISON] = {ONE, WITH, FROM, "poison X, with KIND N, from T to T"},
    [FAULT_RUIN] = {ONE, WITH | AT, 0, "ruin X, with KIND N, at T"},
};

/* A clause's index is the number of its bit. */
static const char *const words[] = {"at", "back at", "for",  "from",     "every", "away",
                                    "by", "until",   "disk", "silently", "with"};

#define WORDS (sizeof words / sizeof words[0])

static void add_range(struct node_set *set, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        node_set_add(set, first + i);
}

static uint32_t add_region(const struct scenario *scenario, const char *name, struct node_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scenario->groups_count; i++) {
        const struct group *group = &scenario->groups[i];
        if (strcmp(group->region, name) != 0)
            continue;
        add_range(set, group->first, group->count);
        count += group->count;
    }
    return count;
}

static const struct group *find_group(const struct scenario *scenario, const char *name)
{
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (strcmp(scenario->groups[i].name, name) == 0)
            return &scenario->groups[i];
    return NULL;
}

static enum error unknown_set(const struct scenario *scenario, const struct clause *clause,
                              const char *name, struct problem *problem)
{
    const char *known[SCENARIO_GROUPS_MAX + SCENARIO_REGIONS_MAX + 2] = {"all", "any"};
    size_t count = 2;
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        known[count++] = scenario->groups[i].name;
    for (uint32_t i = 0; i < scenario->regions_count; i++)
        if (!find_group(scenario, scenario->regions[i]))
            known[count++] = scenario->regions[i];
    return clause_fail(clause, problem, "there is no group or region %s; %s", name,
                       words_hint(name, known, count).text);
}

/* Reads the number of a node such as desk/2. */
static enum error read_member(const struct group *group, struct clause *clause,
                              struct node_set *set, struct problem *problem)
{
    uint32_t k = 0;
    enum error error =
        clause_count(clause, "the number after the slash", 1, group->count, &k, problem);
    if (error == OK)
        node_set_add(set, group->first + k - 1);
    return error;
}

/* Reads a group, one node of a group, a region, or `all`. */
static enum error read_set(const struct scenario *scenario, struct clause *clause,
                           struct node_set *set, struct problem *problem)
{
    char name[SCENARIO_NAME_BYTES];
    if (clause_take(clause, "all")) {
        add_range(set, 0, scenario->nodes_count);
        return OK;
    }
    enum error error = clause_name(clause, name, problem);
    if (error != OK)
        return error;
    const struct group *group = find_group(scenario, name);
    if (clause_take_sign(clause, "/") && group)
        return read_member(group, clause, set, problem);
    uint32_t in_region = add_region(scenario, name, set);
    bool same = group && strcmp(group->region, name) == 0 && in_region == group->count;
    if (group && in_region > 0 && !same)
        return clause_fail(clause, problem,
                           "%s is a group and a region with other nodes; rename one of them", name);
    if (group)
        add_range(set, group->first, group->count);
    if (!group && in_region == 0)
        return unknown_set(scenario, clause, name, problem);
    return OK;
}

/* Reads the first set of nodes in a fault line, such as `any`, `any desk` or `desk`. */
static enum error read_first(const struct scenario *scenario, struct clause *clause,
                             struct fault *fault, struct problem *problem)
{
    fault->any = clause_take(clause, "any");
    bool of_all = fault->any && clause_is_empty(clause);
    if (of_all || (forms[fault->kind].sides == OPTIONAL && clause_is_empty(clause))) {
        add_range(&fault->a, 0, scenario->nodes_count);
        return OK;
    }
    if (clause_is_empty(clause))
        return clause_fail(clause, problem,
                           "the target is missing: a group, a node such as desk/1, a region, "
                           "all or any");
    return read_set(scenario, clause, &fault->a, problem);
}

static enum error read_second(const struct scenario *scenario, struct clause *clause,
                              struct fault *fault, struct problem *problem)
{
    const struct form *form = &forms[fault->kind];
    if (form->sides == ONE || form->sides == OPTIONAL)
        return OK;
    if (form->sides == DIVIDED) {
        fault->one_way = clause_take_sign(clause, ">");
        if (!fault->one_way && !clause_take_sign(clause, "|"))
            return clause_fail(clause, problem,
                               "| or > is missing between the sides, such as: west | east");
    }
    if (clause_is_empty(clause))
        return clause_fail(clause, problem, "the second side is missing; write: %s", form->written);
    return read_set(scenario, clause, &fault->b, problem);
}

static enum error read_head(const struct scenario *scenario, struct clause *clause,
                            struct fault *fault, struct problem *problem)
{
    const char *names[FAULT_KINDS];
    unsigned int kind = 0;
    for (unsigned int i = 0; i < FAULT_KINDS; i++)
        names[i] = fault_name((enum fault_kind)i);
    while (kind < FAULT_KINDS && !clause_take(clause, names[kind]))
        kind++;
    if (kind == FAULT_KINDS)
        return clause_unknown(clause, names, FAULT_KINDS, problem);
    fault->kind = (enum fault_kind)kind;
    enum error error = read_first(scenario, clause, fault, problem);
    if (error == OK)
        error = read_second(scenario, clause, fault, problem);
    return error == OK ? clause_end(clause, problem) : error;
}

/* Reads the duration after "for": "5 s", or "0.1 s to 30 s" for recurring faults. */
static enum error read_for(struct clause *clause, struct fault *fault, struct problem *problem)
{
    enum error error = clause_duration(clause, &fault->least_ns, problem);
    fault->most_ns = fault->least_ns;
    if (error != OK || !clause_take(clause, "to"))
        return error;
    error = clause_duration(clause, &fault->most_ns, problem);
    if (error == OK && fault->most_ns < fault->least_ns)
        return clause_fail(clause, problem, "give the shorter time first");
    return error;
}

/* Reads the time span after "from": "60 s to 90 s". */
static enum error read_from(struct clause *clause, struct fault *fault, struct problem *problem)
{
    enum error error = clause_time(clause, &fault->from_ns, problem);
    if (error != OK)
        return error;
    if (!clause_take(clause, "to"))
        return clause_fail(clause, problem, "the end is missing, such as: from 60 s to 90 s");
    return clause_time(clause, &fault->to_ns, problem);
}

static enum error read_disk(struct clause *clause, struct fault *fault, struct problem *problem)
{
    static const char *const states[] = {
        [FAULT_DISK_KEPT] = "kept", [FAULT_DISK_ROTS] = "rots", [FAULT_DISK_LOST] = "lost"};
    const unsigned int count = sizeof states / sizeof states[0];
    unsigned int i = 0;
    while (i < count && !clause_take(clause, states[i]))
        i++;
    if (i == count)
        return clause_fail(clause, problem, "a disk is kept, rots (its newest checkpoint) or lost");
    fault->disk = (enum fault_disk)i;
    return OK;
}

/* Reads the kind of POISON or RUIN: "sign flip", or "sign flip 2". */
static enum error read_with(struct clause *clause, struct fault *fault, struct problem *problem)
{
    const bool is_poison = fault->kind == FAULT_POISON;
    const unsigned int kinds = is_poison ? (unsigned int)POISONS : (unsigned int)RUINS;
    const char *names[POISONS];
    unsigned int kind = 0;
    for (unsigned int i = 0; i < kinds; i++)
        names[i] = is_poison ? poison_name((enum poison)i) : ruin_name((enum ruin)i);
    while (kind < kinds && !clause_take(clause, names[kind]))
        kind++;
    if (kind == kinds)
        return clause_unknown(clause, names, kinds, problem);
    if (is_poison)
        fault->poison = (enum poison)kind;
    else
        fault->ruin = (enum ruin)kind;
    fault->value = is_poison ? poison_value(fault->poison) : ruin_value(fault->ruin);
    if (clause_is_empty(clause) || !(fault->value > 0))
        return OK;
    return clause_number(clause, "how much", 0.001, 1e6, &fault->value, problem);
}

static enum error read_value(struct clause *clause, unsigned int bit, struct fault *fault,
                             struct problem *problem)
{
    switch (bit) {
    case AT:
        return clause_time(clause, &fault->from_ns, problem);
    case BACK:
    case UNTIL:
        return clause_time(clause, &fault->to_ns, problem);
    case FOR:
        return read_for(clause, fault, problem);
    case EVERY:
        return clause_duration(clause, &fault->every_ns, problem);
    case AWAY:
        return clause_duration(clause, &fault->away_ns, problem);
    case BY:
        return clause_shift(clause, &fault->value, problem);
    case DISK:
        return read_disk(clause, fault, problem);
    case SILENTLY:
        fault->value = 1;
        return OK;
    case WITH:
        return read_with(clause, fault, problem);
    default:
        return read_from(clause, fault, problem);
    }
}

static enum error read_clause(struct clause *clause, struct fault *fault, unsigned int *seen,
                              struct problem *problem)
{
    const struct form *form = &forms[fault->kind];
    size_t i = 0;
    while (i < WORDS && !clause_take(clause, words[i]))
        i++;
    if (i == WORDS)
        return clause_unknown(clause, words, WORDS, problem);
    unsigned int bit = 1u << i;
    if (!((form->needs | form->may) & bit))
        return clause_fail(clause, problem, "%s has no such clause; write: %s",
                           fault_name(fault->kind), form->written);
    if (*seen & bit)
        return clause_fail(clause, problem, "%s is given twice in this line", words[i]);
    *seen |= bit;
    enum error error = read_value(clause, bit, fault, problem);
    return error == OK ? clause_end(clause, problem) : error;
}

static enum error check_complete(const struct fault *fault, unsigned int seen,
                                 struct problem *problem)
{
    const struct form *form = &forms[fault->kind];
    unsigned int missing = form->needs & ~seen;
    for (size_t i = 0; i < WORDS; i++)
        if (missing >> i & 1)
            return problem_set(problem, MALFORMED, "%s is missing; write: %s", words[i],
                               form->written);
    return OK;
}

/* Refuses flipped labels with a `from` clause: the data of a running node cannot change. */
static enum error check_poison(const struct fault *fault, unsigned int seen,
                               struct problem *problem)
{
    if (fault->kind == FAULT_POISON && fault->poison == POISON_LABELS && (seen & FROM))
        return problem_set(problem, MALFORMED,
                           "labels are flipped during the whole run; "
                           "leave out from");
    return OK;
}

/* Checks that a pause has either a time (at), or a period and a time span (every, from). */
static enum error check_pause(const struct fault *fault, unsigned int seen, struct problem *problem)
{
    const bool again = (seen & EVERY) != 0;
    if (fault->kind != FAULT_PAUSE)
        return OK;
    if ((seen & (AT | EVERY | FROM)) != (again ? EVERY | FROM : AT))
        return problem_set(problem, MALFORMED, "write: %s", forms[FAULT_PAUSE].written);
    if (!again && fault->most_ns > fault->least_ns)
        return problem_set(problem, MALFORMED,
                           "only recurring pauses have a random length: "
                           "%s",
                           forms[FAULT_PAUSE].written);
    return OK;
}

/* Sets the times of a fault that the fault's line does not give. */
static void derive_times(const struct scenario *scenario, struct fault *fault, unsigned int seen)
{
    if (seen & FOR && seen & AT)
        fault->to_ns = fault->from_ns + fault->least_ns;
    else if ((fault->kind == FAULT_CHURN || fault->kind == FAULT_POISON) && !(seen & FROM))
        fault->to_ns = scenario->span_ns;
    else if (!(seen & (FROM | BACK | UNTIL)))
        fault->to_ns = fault->from_ns;
}

static enum error check_times(const struct scenario *scenario, const struct fault *fault,
                              unsigned int seen, struct problem *problem)
{
    uint64_t last_ns = u64_max(fault->to_ns, fault->from_ns);
    if (last_ns > scenario->span_ns)
        return problem_set(problem, MALFORMED,
                           "%.10g s comes after the end; [scenario] seconds = %.10g",
                           (double)last_ns / 1e9, (double)scenario->span_ns / 1e9);
    if ((seen & (FROM | BACK | UNTIL)) && fault->to_ns <= fault->from_ns)
        return problem_set(problem, MALFORMED, "it ends at %.10g s and begins at %.10g s",
                           (double)fault->to_ns / 1e9, (double)fault->from_ns / 1e9);
    return OK;
}

static enum error read_line(const struct scenario *scenario, const char *text, struct fault *fault,
                            struct problem *problem)
{
    struct clause clause;
    unsigned int seen = 0;
    enum error error = clause_next(&clause, &text, problem);
    if (error == OK)
        error = read_head(scenario, &clause, fault, problem);
    while (error == OK && text) {
        error = clause_next(&clause, &text, problem);
        if (error == OK)
            error = read_clause(&clause, fault, &seen, problem);
    }
    if (error == OK)
        error = check_complete(fault, seen, problem);
    if (error == OK)
        error = check_pause(fault, seen, problem);
    if (error == OK)
        error = check_poison(fault, seen, problem);
    if (error != OK)
        return error;
    derive_times(scenario, fault, seen);
    return check_times(scenario, fault, seen, problem);
}

enum error scenario_fault_add(struct scenario *scenario, const char *text, struct problem *problem)
{
    struct fault fault = {.any = false};
    if (scenario->faults_count == SCENARIO_FAULTS_MAX)
        return problem_set(problem, MALFORMED, "more than %d faults", SCENARIO_FAULTS_MAX);
    enum error error = read_line(scenario, text, &fault, problem);
    if (error != OK)
        return error;
    fault.seed = rng_mix(scenario->seed + 0x9E3779B97F4A7C15u * (scenario->faults_count + 1));
    scenario->faults[scenario->faults_count++] = fault;
    return OK;
}
