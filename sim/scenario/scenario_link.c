#include <string.h>

#include "base/words.h"
#include "scenario/clause.h"
#include "scenario/scenario_parts.h"

/* A link line during parsing. */
struct reading {
    /* Path from the first region to the second; if `all`, path of every pair without its own link
     * line. */
    struct path path;
    struct rate back; /* rate from the second region to the first */
    bool all;         /* link = all */
    bool one_way;     /* link = west > east */
    uint32_t from;    /* index of the first region */
    uint32_t to;      /* index of the second region */
};

static enum error read_region(const struct scenario *scenario, struct clause *clause,
                              uint32_t *region, struct problem *problem)
{
    char name[SCENARIO_NAME_BYTES];
    const char *known[SCENARIO_REGIONS_MAX];
    enum error error = clause_name(clause, name, problem);
    if (error != OK)
        return error;
    for (uint32_t i = 0; i < scenario->regions_count; i++) {
        known[i] = scenario->regions[i];
        if (strcmp(known[i], name) != 0)
            continue;
        *region = i;
        return OK;
    }
    return clause_fail(clause, problem, "there is no region %s; %s", name,
                       words_hint(name, known, scenario->regions_count).text);
}

/* Reads "all", "west east" or "west > east". */
static enum error read_head(const struct scenario *scenario, struct reading *reading,
                            struct clause *clause, struct problem *problem)
{
    reading->all = clause_take(clause, "all");
    if (reading->all)
        return clause_end(clause, problem);
    enum error error = read_region(scenario, clause, &reading->from, problem);
    if (error != OK)
        return error;
    reading->one_way = clause_take_sign(clause, ">");
    if (clause_is_empty(clause))
        return clause_fail(clause, problem,
                           "a link has two regions, such as: west east, or west > east");
    error = read_region(scenario, clause, &reading->to, problem);
    return error == OK ? clause_end(clause, problem) : error;
}

static enum error read_rtt(struct reading *reading, struct clause *clause, struct problem *problem)
{
    if (reading->one_way)
        return clause_fail(clause, problem, "a one-way link takes delay instead of rtt");
    enum error error = clause_time(clause, &reading->path.delay_ns, problem);
    if (error == OK)
        reading->path.delay_ns /= 2;
    return error;
}

static enum error read_delay(struct reading *reading, struct clause *clause,
                             struct problem *problem)
{
    return clause_time(clause, &reading->path.delay_ns, problem);
}

static enum error read_jitter(struct reading *reading, struct clause *clause,
                              struct problem *problem)
{
    return clause_time(clause, &reading->path.jitter_ns, problem);
}

static enum error read_loss(struct reading *reading, struct clause *clause, struct problem *problem)
{
    enum error error = clause_percent(clause, &reading->path.loss, problem);
    if (error == OK && reading->path.loss > 0.5)
        return clause_fail(clause, problem, "more than half is lost; at most 50 %%");
    return error;
}

static enum error read_rate(struct reading *reading, struct clause *clause, struct problem *problem)
{
    const enum error error = clause_rate(clause, &reading->path.rate.bytes_per_s, problem);
    reading->back.bytes_per_s = reading->path.rate.bytes_per_s;
    return error;
}

/* Refuses up and down unless the link has two different regions and both directions. */
static enum error check_directed(const struct reading *reading, const struct clause *clause,
                                 struct problem *problem)
{
    if (!reading->all && !reading->one_way && reading->from != reading->to)
        return OK;
    return clause_fail(clause, problem,
                       "up and down are the two ways between two regions; this link has a rate");
}

static enum error read_up(struct reading *reading, struct clause *clause, struct problem *problem)
{
    const enum error error = check_directed(reading, clause, problem);
    return error == OK ? clause_rate(clause, &reading->path.rate.bytes_per_s, problem) : error;
}

static enum error read_down(struct reading *reading, struct clause *clause, struct problem *problem)
{
    const enum error error = check_directed(reading, clause, problem);
    return error == OK ? clause_rate(clause, &reading->back.bytes_per_s, problem) : error;
}

/* Reads a later change of `rate`, `up` or `down`, such as "at 60 s rate 5 Mbit/s". */
static enum error read_change(struct reading *reading, struct clause *clause,
                              struct problem *problem)
{
    uint64_t at_ns;
    uint64_t bytes_per_s = 0;
    enum error error = clause_time(clause, &at_ns, problem);
    if (error != OK)
        return error;
    const bool both = clause_take(clause, "rate");
    const bool up = both || clause_take(clause, "up");
    const bool down = both || (!up && clause_take(clause, "down"));
    if (!up && !down)
        return clause_fail(clause, problem,
                           "the change is missing, such as: at 60 s rate 5 Mbit/s");
    error = both ? OK : check_directed(reading, clause, problem);
    if (error == OK)
        error = clause_rate(clause, &bytes_per_s, problem);
    if (error == OK && up)
        error = clause_rate_change(clause, &reading->path.rate, at_ns, bytes_per_s, problem);
    if (error == OK && down)
        error = clause_rate_change(clause, &reading->back, at_ns, bytes_per_s, problem);
    return error;
}

enum { RTT, DELAY, JITTER, LOSS, RATE, UP, DOWN, CHANGE, WORDS };

static const char *const words[WORDS] = {"rtt",  "delay", "jitter", "loss",
                                         "rate", "up",    "down",   "at"};

static enum error (*const reads[WORDS])(struct reading *, struct clause *, struct problem *) = {
    read_rtt, read_delay, read_jitter, read_loss, read_rate, read_up, read_down, read_change,
};

static enum error read_clause(struct reading *reading, struct clause *clause, uint32_t *seen,
                              struct problem *problem)
{
    uint32_t i = 0;
    while (i < WORDS && !clause_take(clause, words[i]))
        i++;
    if (i == WORDS)
        return clause_unknown(clause, words, WORDS, problem);
    if (*seen >> i & 1 && i != CHANGE)
        return clause_fail(clause, problem, "%s is given twice in this line", words[i]);
    *seen |= 1u << i;
    if ((*seen >> RTT & 1) && (*seen >> DELAY & 1))
        return clause_fail(clause, problem, "rtt and delay mean the same; give one of them");
    if ((*seen >> RATE & 1) && (*seen >> UP & 1 || *seen >> DOWN & 1))
        return clause_fail(clause, problem, "rate is both up and down; give rate, or up and down");
    enum error error = reads[i](reading, clause, problem);
    return error == OK ? clause_end(clause, problem) : error;
}

static enum error check_named(int line_of, struct problem *problem)
{
    if (line_of == 0)
        return OK;
    return problem_set(problem, MALFORMED, "this link is already defined in line %d", line_of);
}

static enum error name_pair(struct scenario_links *links, const struct reading *reading, int line,
                            struct problem *problem)
{
    int *there = &links->line_of[reading->from][reading->to];
    int *back = &links->line_of[reading->to][reading->from];
    enum error error = check_named(*there, problem);
    if (error == OK && !reading->one_way)
        error = check_named(*back, problem);
    if (error != OK)
        return error;
    *there = line;
    if (!reading->one_way)
        *back = line;
    return OK;
}

static enum error check_end(const struct scenario *scenario, const struct rate *rate,
                            struct problem *problem)
{
    uint64_t last_ns = rate->changes ? rate->change[rate->changes - 1].at_ns : 0;
    if (last_ns <= scenario->span_ns)
        return OK;
    return problem_set(problem, MALFORMED,
                       "a change of rate at %.10g s comes after the end; [scenario] seconds = "
                       "%.10g",
                       (double)last_ns / 1e9, (double)scenario->span_ns / 1e9);
}

static enum error read_line(const struct scenario *scenario, struct reading *reading,
                            const char *text, struct problem *problem)
{
    struct clause clause;
    uint32_t seen = 0;
    enum error error = clause_next(&clause, &text, problem);
    if (error == OK)
        error = read_head(scenario, reading, &clause, problem);
    while (error == OK && text) {
        error = clause_next(&clause, &text, problem);
        if (error == OK)
            error = read_clause(reading, &clause, &seen, problem);
    }
    if (error == OK)
        error = check_end(scenario, &reading->path.rate, problem);
    return error == OK ? check_end(scenario, &reading->back, problem) : error;
}

enum error scenario_link_add(struct scenario *scenario, struct scenario_links *links,
                             const char *text, int line, struct problem *problem)
{
    struct reading reading = {.all = false};
    enum error error = read_line(scenario, &reading, text, problem);
    if (error != OK)
        return error;
    if (reading.all) {
        error = check_named(links->line_of_all, problem);
        if (error != OK)
            return error;
        links->line_of_all = line;
        links->all = reading.path;
        return OK;
    }
    error = name_pair(links, &reading, line, problem);
    if (error != OK)
        return error;
    scenario->paths[reading.from][reading.to] = reading.path;
    if (reading.one_way || reading.from == reading.to)
        return OK;
    struct path *back = &scenario->paths[reading.to][reading.from];
    *back = reading.path;
    back->rate = reading.back;
    return OK;
}

static void note_unlinked(struct scenario *scenario, uint32_t from, uint32_t to, bool is_both)
{
    const size_t used = strlen(scenario->unlinked);
    (void)snprintf(scenario->unlinked + used, sizeof scenario->unlinked - used, "%s%s %s%s",
                   used ? ", " : "", scenario->regions[from], is_both ? "" : "> ",
                   scenario->regions[to]);
}

void scenario_link_fill(struct scenario *scenario, const struct scenario_links *links)
{
    for (uint32_t from = 0; from < scenario->regions_count; from++)
        for (uint32_t to = 0; to < scenario->regions_count; to++) {
            const bool is_missing = links->line_of[from][to] == 0;
            const bool is_both = is_missing && links->line_of[to][from] == 0;
            if (is_missing)
                scenario->paths[from][to] = links->all;
            if (is_missing && links->line_of_all == 0 && from != to && !(is_both && from > to))
                note_unlinked(scenario, from, to, is_both);
        }
}
