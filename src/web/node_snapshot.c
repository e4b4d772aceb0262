#include "web/node_snapshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "base/error.h"
#include "page/bottleneck.h"
#include "page/page_snapshot.h"

/* the badge is also good while no live member has lacked a rumor for more seconds than this */
#define IN_STEP_S    5
#define TEXT_BYTES   160
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

void happened_add(struct happened *happened, double at_s, const char *level, const char *text)
{
    const uint32_t place = happened->count++ % HAPPENED_MAX;
    happened->event[place].at_s = at_s;
    happened->event[place].level = level;
    (void)snprintf(happened->event[place].text, HAPPENED_TEXT_BYTES, "%s", text);
}

/* NAN if the field is unknown */
static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static bool is_live(const json_t *member)
{
    return strcmp(text(member, "state"), "live") == 0;
}

/* A live member is shown as "lost" if its conversation with this node broke, with no sign of life
 * since. */
static const char *state_of(const json_t *member)
{
    return is_live(member) && json_is_true(json_object_get(member, "is_lost"))
               ? "lost"
               : text(member, "state");
}

/* Writes the member's name, if known, and the first 8 digits of its id. */
static void name_of(const json_t *member, char out[static TEXT_BYTES])
{
    const char *name = text(member, "name");
    (void)snprintf(out, TEXT_BYTES, "%.40s%s%.8s", name, name[0] ? " " : "", text(member, "id"));
}

/* The badge shows whether all live members have equal models. While nodes train, digests are out of
 * date, because each is as old as the member's last signed record. So the badge then shows how far
 * the members lag behind. */
static void put_badge(json_t *snapshot, const json_t *page)
{
    const json_t *members = json_object_get(page, "members");
    const char *digest = text(page, "digest");
    unsigned live = 0, equal = 0;
    double lag_s = number(page, "lag_s");
    char said[TEXT_BYTES];
    for (size_t i = 0; i < json_array_size(members); i++) {
        const json_t *member = json_array_get(members, i);
        if (strcmp(state_of(member), "live") != 0)
            continue;
        live++;
        equal += json_is_true(json_object_get(member, "is_self")) ||
                 strcmp(text(member, "base_digest"), digest) == 0;
        lag_s = fmax(lag_s, number(member, "lag_s"));
    }
    const bool is_equal = equal == live;
    if (live == 1)
        (void)snprintf(said, sizeof said, "one copy: digest %s", digest);
    else if (is_equal)
        (void)snprintf(said, sizeof said, "all %u copies are equal: digest %s", live, digest);
    else if (lag_s <= IN_STEP_S)
        (void)snprintf(said, sizeof said, "in step: none of %u lacks what is older than %.1f s",
                       live, lag_s);
    else
        (void)snprintf(said, sizeof said, "out of step: one of %u lacks what is %.0f s old", live,
                       lag_s);
    page_snapshot_badge(snapshot, is_equal || lag_s <= IN_STEP_S, said);
}

static double part_of(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

/* Returns the used part of the rate, at most 1; NAN if an argument is unknown (NAN) or the rate is
 * 0. Does not use fmin, because fmin(NAN, 1) is 1. */
static double use_of(double bytes_per_s, double rate_bytes_per_s)
{
    const double use = part_of(bytes_per_s, rate_bytes_per_s);
    return use > 1 ? 1 : use;
}

/* Returns the used fraction of the summed rates of this node's open links. *is_bound: true if no
 * rate was measured. Then the rates are lower bounds, and the result is an upper bound. */
static double link_use(const json_t *page, bool *is_bound)
{
    const json_t *links = json_object_get(page, "links");
    double rate = 0;
    *is_bound = true;
    for (size_t i = 0; i < json_array_size(links); i++) {
        const json_t *link = json_array_get(links, i);
        if (!json_is_true(json_object_get(link, "open")))
            continue;
        rate += fmax(number(link, "rate_bytes_per_s"), 0);
        if (json_is_true(json_object_get(link, "is_measured")))
            *is_bound = false;
    }
    return use_of(number(page, "sent_bytes_per_s"), rate);
}

static void put_limit(json_t *snapshot, const json_t *page)
{
    char sentence[BOTTLENECK_BYTES];
    const json_t *spent = json_object_get(page, "spent");
    const double uptime_s = number(page, "uptime_s");
    struct bottleneck found = {
        .stage = text(page, "stage"),
        .fetched = part_of(number(page, "blocks_held"), number(page, "blocks")),
        .alone_s = number(page, "alone_s"),
        .lag_s = number(page, "lag_s"),
        .computing = part_of(number(spent, "steps_s"), uptime_s),
        .exchange = part_of(number(spent, "exchange_s"), uptime_s),
        .trains = json_is_true(json_object_get(page, "trains")),
    };
    found.link_use = link_use(page, &found.is_bound);
    bottleneck_sentence(&found, sentence);
    page_snapshot_text(snapshot, "limit", sentence);
}

static void put_spent(json_t *snapshot, const json_t *page)
{
    const json_t *spent = json_object_get(page, "spent");
    const double uptime_s = number(page, "uptime_s");
    const double steps = part_of(number(spent, "steps_s"), uptime_s);
    const double exchange = part_of(number(spent, "exchange_s"), uptime_s);
    if (!(steps > 0))
        return;
    page_snapshot_spent(snapshot, "computing", steps);
    page_snapshot_spent(snapshot, "exchange", exchange);
    page_snapshot_spent(snapshot, "waiting, starting, evaluating", fmax(0, 1 - steps - exchange));
}

static void put_fact(json_t *snapshot, const char *name, const char *format, double value)
{
    char said[TEXT_BYTES];
    if (isnan(value))
        return;
    (void)snprintf(said, sizeof said, format, value);
    page_snapshot_fact(snapshot, name, said);
}

static void put_bytes(json_t *snapshot, const char *name, double bytes, const char *unit)
{
    if (!isnan(bytes))
        page_snapshot_fact(snapshot, name, amount_of(bytes, unit).text);
}

static void put_facts(json_t *snapshot, const json_t *page)
{
    const json_t *evaluation = json_object_get(page, "evaluation");
    const json_t *training = json_object_get(page, "training");
    const json_t *best = json_object_get(training, "best");
    const char *alarm = text(training, "alarm");
    page_snapshot_fact(snapshot, "stage", text(page, "stage"));
    page_snapshot_fact(snapshot, "address",
                       text(page, "address")[0] ? text(page, "address") : "it only dials");
    page_snapshot_fact(snapshot, "up for", amount_span(number(page, "uptime_s")).text);
    put_fact(snapshot, "parameters", "%.0f", number(page, "parameters"));
    put_fact(snapshot, "steps", "%.0f", number(page, "steps"));
    put_fact(snapshot, "samples", "%.0f", number(page, "samples"));
    put_fact(snapshot, "samples of all", "%.0f", number(page, "swarm_samples"));
    put_fact(snapshot, "speed", "%.4g samples/s", number(page, "samples_per_second"));
    put_fact(snapshot, "loss", "%.4g", number(page, "loss"));
    put_fact(snapshot, "loss of the base", "%.4g", number(evaluation, "loss"));
    put_fact(snapshot, "accuracy of the base", "%.2f %%", 100 * number(evaluation, "accuracy"));
    put_fact(snapshot, "accuracy of the averaged base", "%.2f %%",
             100 * number(json_object_get(page, "averaged"), "accuracy"));
    put_fact(snapshot, "best accuracy", "%.2f %%", 100 * number(best, "accuracy"));
    if (alarm[0])
        page_snapshot_fact(snapshot, "alarm", alarm);
    put_fact(snapshot, "share", "%.1f %%", 100 * number(page, "share"));
    put_fact(snapshot, "rumors known", "%.0f", number(page, "rumors_known"));
    put_bytes(snapshot, "sent", number(page, "sent_bytes"), "B");
    put_bytes(snapshot, "received", number(page, "received_bytes"), "B");
    put_bytes(snapshot, "may publish", number(page, "budget_bytes_per_s"), "B/s");
    put_fact(snapshot, "last checkpoint", "%.0f s ago", number(page, "checkpoint_age_s"));
    put_bytes(snapshot, "memory", number(page, "rss_bytes"), "B");
    page_snapshot_fact(snapshot, "digest", text(page, "digest"));
}

/* Returns the number of members if none has this id. */
static size_t place_of(const json_t *members, const char *id)
{
    size_t i = 0;
    while (i < json_array_size(members) && strcmp(text(json_array_get(members, i), "id"), id) != 0)
        i++;
    return i;
}

static void put_links(json_t *snapshot, const json_t *page)
{
    const json_t *links = json_object_get(page, "links");
    const json_t *members = json_object_get(page, "members");
    for (size_t i = 0; i < json_array_size(links); i++) {
        const json_t *link = json_array_get(links, i);
        const size_t other = place_of(members, text(link, "id"));
        if (!json_is_true(json_object_get(link, "open")) || other == json_array_size(members))
            continue;
        const double rate = number(link, "rate_bytes_per_s");
        page_snapshot_link(snapshot, &(struct page_snapshot_link){
                                         .from = 0, /* index 0 stands for this node */
                                         .to = (uint32_t)other,
                                         .rate_bytes_per_s = rate,
                                         .use = use_of(number(link, "sent_bytes_per_s"), rate),
                                         .trip_s = number(link, "rtt_s")});
    }
}

static void put_swarm(json_t *snapshot, const json_t *page)
{
    const json_t *members = json_object_get(page, "members");
    char name[TEXT_BYTES];
    for (size_t i = 0; i < json_array_size(members); i++) {
        const json_t *member = json_array_get(members, i);
        name_of(member, name);
        page_snapshot_node(snapshot,
                           &(struct page_snapshot_node){
                               .name = name,
                               .state = state_of(member),
                               .share = number(member, "base_share"),
                               .is_self = json_is_true(json_object_get(member, "is_self")),
                               .dials_only = !text(member, "address")[0]});
    }
    put_links(snapshot, page);
}

static void put_cell(json_t *table, const char *format, double value, double factor)
{
    char said[TEXT_BYTES];
    if (isnan(value))
        (void)snprintf(said, sizeof said, "-");
    else
        (void)snprintf(said, sizeof said, format, value * factor);
    page_snapshot_cell(table, said);
}

static void put_members(json_t *snapshot, const json_t *page)
{
    static const char *const HEADS[] = {"node",         "state",   "address",  "samples",
                                        "samples/s",    "share %", "up, kB/s", "lag, s",
                                        "heard, s ago", NULL};
    const json_t *members = json_object_get(page, "members");
    json_t *table =
        page_snapshot_table(snapshot, "Members", "Values that each member reports.", HEADS, 3);
    char name[TEXT_BYTES];
    for (size_t i = 0; i < json_array_size(members); i++) {
        const json_t *member = json_array_get(members, i);
        const bool is_self = json_is_true(json_object_get(member, "is_self"));
        name_of(member, name);
        page_snapshot_cell(table, name);
        page_snapshot_cell(table, is_self ? "this node" : state_of(member));
        page_snapshot_cell(table,
                           text(member, "address")[0] ? text(member, "address") : "dials only");
        put_cell(table, "%.0f", number(is_self ? page : member, "samples"), 1);
        put_cell(table, "%.4g", number(is_self ? page : member, "samples_per_second"), 1);
        put_cell(table, "%.1f", number(member, "base_share"), 100);
        put_cell(table, "%.0f", number(member, "uplink_bytes_per_s"), 1e-3);
        put_cell(table, "%.1f", number(is_self ? page : member, "lag_s"), 1);
        put_cell(table, "%.1f", is_self ? 0 : number(member, "age_s"), 1);
    }
}

static void put_neighbours(json_t *snapshot, const json_t *page)
{
    static const char *const HEADS[] = {"neighbour",     "address",    "round trip, ms",
                                        "carries, kB/s", "sent, kB/s", "received, kB/s",
                                        "waits, ms",     NULL};
    const json_t *links = json_object_get(page, "links");
    json_t *table =
        page_snapshot_table(snapshot, "Neighbours", "Capacities are lower bounds.", HEADS, 2);
    char id[TEXT_BYTES];
    for (size_t i = 0; i < json_array_size(links); i++) {
        const json_t *link = json_array_get(links, i);
        if (!json_is_true(json_object_get(link, "open")))
            continue;
        (void)snprintf(id, sizeof id, "%.8s", text(link, "id"));
        page_snapshot_cell(table, id);
        page_snapshot_cell(table, text(link, "address"));
        put_cell(table, "%.1f", number(link, "rtt_s"), 1e3);
        put_cell(table, "%.0f", number(link, "rate_bytes_per_s"), 1e-3);
        put_cell(table, "%.1f", number(link, "sent_bytes_per_s"), 1e-3);
        put_cell(table, "%.1f", number(link, "received_bytes_per_s"), 1e-3);
        put_cell(table, "%.0f", number(link, "backlog_s"), 1e3);
    }
}

/* Plots one column of the trail over another one. */
struct curve {
    enum trail_value x, y;
    double x_factor, y_factor;
    const char *name, *style;
};

struct drawn {
    struct page_snapshot_figure figure;
    struct curve curves[2];
};

#define BY_TIME .x = TRAIL_AT_S, .x_factor = 1

static const struct drawn DRAWN[] = {
    {{"loss", "Loss", "Training loss of this node, and loss of the shared model on the test set.",
      "time (s)", "loss", false, false},
     {{BY_TIME, .y = TRAIL_LOSS, .y_factor = 1, .name = "learned here", .style = "line"},
      {BY_TIME, .y = TRAIL_BASE_LOSS, .y_factor = 1, .name = "shared model", .style = "bold"}}},
    {{"accuracy", "Accuracy",
      "Accuracy of the shared model on the test set at its last evaluation.", "time (s)",
      "accuracy (%)", false, false},
     {{BY_TIME, .y = TRAIL_ACCURACY, .y_factor = 100, .name = "shared model", .style = "bold"}}},
    {{"bytes", "Loss against bytes", "Loss over all bytes that this node sent.", "sent (MB)",
      "loss", false, false},
     {{.x = TRAIL_SENT_BYTES,
       .x_factor = 1e-6,
       .y = TRAIL_LOSS,
       .y_factor = 1,
       .name = "learned here",
       .style = "line"},
      {.x = TRAIL_SENT_BYTES,
       .x_factor = 1e-6,
       .y = TRAIL_BASE_LOSS,
       .y_factor = 1,
       .name = "shared model",
       .style = "bold"}}},
    {{"speed", "Speed", "Samples learned per second, here and by all live members.", "time (s)",
      "samples/s", false, true},
     {{BY_TIME, .y = TRAIL_SPEED, .y_factor = 1, .name = "this node", .style = "line"},
      {BY_TIME, .y = TRAIL_ALL_SPEED, .y_factor = 1, .name = "all", .style = "bold"}}},
    {{"traffic", "Traffic", "All traffic of this node, sent and received.", "time (s)", "kB/s",
      false, true},
     {{BY_TIME, .y = TRAIL_SENT, .y_factor = 1e-3, .name = "sent", .style = "line"},
      {BY_TIME, .y = TRAIL_RECEIVED, .y_factor = 1e-3, .name = "received", .style = "line"}}},
    {{"lag", "Lag", "Time for which a rumor has been missing on this node.", "time (s)", "lag (s)",
      false, true},
     {{BY_TIME, .y = TRAIL_LAG_S, .y_factor = 1, .name = "this node", .style = "line"},
      {BY_TIME, .y = TRAIL_MOST_LAG_S, .y_factor = 1, .name = "the last of all", .style = "line"}}},
    {{"rumors", "Rumors", "Rumors that this node has received, and those not yet applied.",
      "time (s)", "rumors", false, true},
     {{BY_TIME, .y = TRAIL_KNOWN, .y_factor = 1, .name = "known", .style = "line"},
      {BY_TIME, .y = TRAIL_WAITING, .y_factor = 1, .name = "waiting", .style = "line"}}},
    {{"share", "Share", "Weight of this node's progress among all nodes.", "time (s)", "share (%)",
      false, true},
     {{BY_TIME, .y = TRAIL_SHARE, .y_factor = 100, .name = "this node", .style = "line"}}},
    {{"members", "Members", "Live members that this node knows.", "time (s)", "members", false,
      true},
     {{BY_TIME, .y = TRAIL_MEMBERS, .y_factor = 1, .name = "live", .style = "bold"}}},
};

static void put_figures(json_t *snapshot, const struct trail *trail, uint32_t from)
{
    for (size_t f = 0; f < COUNT(DRAWN); f++) {
        json_t *figure = page_snapshot_figure(snapshot, &DRAWN[f].figure);
        for (size_t c = 0; c < 2 && DRAWN[f].curves[c].name; c++) {
            const struct curve *curve = &DRAWN[f].curves[c];
            json_t *series = page_snapshot_series(figure, curve->name, curve->style);
            for (uint32_t i = from; i < trail->count; i++)
                page_snapshot_point(series, trail->rows[i][curve->x] * curve->x_factor,
                                    trail->rows[i][curve->y] * curve->y_factor);
        }
    }
}

static void put_happened(json_t *snapshot, const struct happened *happened, uint32_t from)
{
    const uint32_t oldest = happened->count > HAPPENED_MAX ? happened->count - HAPPENED_MAX : 0;
    for (uint32_t n = from > oldest ? from : oldest; n < happened->count; n++)
        page_snapshot_happened(snapshot, happened->event[n % HAPPENED_MAX].at_s,
                               happened->event[n % HAPPENED_MAX].level,
                               happened->event[n % HAPPENED_MAX].text);
}

static json_t *snapshot_of(const json_t *page)
{
    char title[TEXT_BYTES], about[TEXT_BYTES];
    (void)snprintf(title, sizeof title, "node %.8s", text(page, "id"));
    (void)snprintf(about, sizeof about, "Swarm %.100s", text(page, "swarm"));
    json_t *snapshot = page_snapshot_new("node", title, about);
    put_badge(snapshot, page);
    put_limit(snapshot, page);
    put_spent(snapshot, page);
    put_facts(snapshot, page);
    put_swarm(snapshot, page);
    put_members(snapshot, page);
    put_neighbours(snapshot, page);
    return snapshot;
}

json_t *node_snapshot_whole(const json_t *page, const struct trail *trail,
                            const struct happened *happened)
{
    json_t *snapshot = snapshot_of(page);
    put_figures(snapshot, trail, 0);
    put_happened(snapshot, happened, 0);
    return snapshot;
}

json_t *node_snapshot_update(const json_t *page, const struct trail *trail, bool has_moment,
                             const struct happened *happened, uint32_t from)
{
    json_t *snapshot = snapshot_of(page);
    if (has_moment && trail->count > 0)
        put_figures(snapshot, trail, trail->count - 1);
    put_happened(snapshot, happened, from);
    return snapshot;
}
