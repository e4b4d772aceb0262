#include "commands/status/status.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/amount.h"
#include "commands/config_options.h"
#include "daemon/status_server.h"

#define WAIT_MS     5000
#define LONG_NUMBER 10000000000 /* this and larger numbers are shown rounded, as in 12.3 G */
#define OLD_S       60.0        /* age in seconds above which a capacity may be outdated */
#define INDENT      13          /* columns of a line about the node that come before its text */

enum { EXIT_HEALTHY = 0, EXIT_NO_ANSWER = 1, EXIT_USAGE = 2, EXIT_NOT_READY = 3 };

/* A value of the status page, as text. */
struct shown {
    char text[64];
};

/* Returns a text of the page, cut to `columns` with ".." at its end. Other nodes may have sent it,
 * so characters that are not printable ASCII become "?". "" = absent. */
static struct shown text_of(const json_t *row, const char *key, size_t columns)
{
    struct shown out;
    const char *text = json_string_value(json_object_get(row, key));
    const size_t length = text ? strlen(text) : 0;
    size_t i = 0;
    for (; i < length && i < columns && i < sizeof out.text - 1; i++)
        out.text[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    if (i < length && i > 1)
        out.text[i - 1] = out.text[i - 2] = '.';
    out.text[i] = 0;
    return out;
}

/* Returns a number of the page; NaN if unknown. */
static double real_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool flag_of(const json_t *row, const char *key)
{
    return json_is_true(json_object_get(row, key));
}

static struct amount amount(const json_t *row, const char *key, const char *unit)
{
    return amount_of(real_of(row, key), unit);
}

static struct amount span(const json_t *row, const char *key)
{
    return amount_span(real_of(row, key));
}

static struct shown whole(const json_t *row, const char *key)
{
    struct shown out;
    char digits[24];
    const json_int_t number = json_integer_value(json_object_get(row, key));
    if (number < 0 || number >= LONG_NUMBER) {
        (void)snprintf(out.text, sizeof out.text, "%s", amount_of((double)number, "").text);
        return out;
    }
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)number);
    int used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[used++] = ',';
        out.text[used++] = digits[i];
    }
    out.text[used] = 0;
    return out;
}

static struct shown real(const json_t *row, const char *key)
{
    struct shown out = {"-"};
    if (isfinite(real_of(row, key)))
        (void)snprintf(out.text, sizeof out.text, "%.4f", real_of(row, key));
    return out;
}

/* Prints a long text in as many lines as needed, broken at blanks if possible, with the label
 * before the first. Other nodes may have sent the text, so characters that are not printable ASCII
 * become "?". */
static void print_labelled(FILE *out, const char *label, const char *text)
{
    const size_t room = STATUS_COLUMNS - INDENT;
    CHECK(strlen(label) < INDENT - 2);
    for (; *text; label = "") {
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ')
                length--;
            length = length > 0 ? length : room;
        }
        (void)fprintf(out, "  %-*s", INDENT - 2, label);
        for (size_t i = 0; i < length; i++)
            (void)fputc(text[i] >= ' ' && text[i] < 127 ? text[i] : '?', out);
        (void)fputc('\n', out);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_folded(FILE *out, const char *text)
{
    print_labelled(out, "", text);
}

static void print_alone(FILE *out, const json_t *page)
{
    const char *reason = json_string_value(json_object_get(page, "alone_reason"));
    if (!reason)
        return;
    (void)fprintf(out, "  alone:     no neighbour for %s:\n", span(page, "alone_s").text);
    print_folded(out, reason);
}

/* Prints the last warning of the training guard. */
static void print_alarm(FILE *out, const json_t *page)
{
    const json_t *training = json_object_get(page, "training");
    const char *alarm = json_string_value(json_object_get(training, "alarm"));
    if (!alarm)
        return;
    (void)fprintf(out, "  alarm:     training has a problem\n");
    print_folded(out, alarm);
}

static void print_training(FILE *out, const json_t *page)
{
    if (!flag_of(page, "trains")) {
        if (real_of(page, "samples") > 0)
            (void)fprintf(out, "  training   off after %s samples: this node relays only\n",
                          whole(page, "samples").text);
        else
            (void)fprintf(out, "  training   off: this node relays only\n");
        return;
    }
    (void)fprintf(out, "  training   %s samples, %s samples/s, loss %s, share %s\n",
                  whole(page, "samples").text, amount(page, "samples_per_second", "").text,
                  real(page, "loss").text, real(page, "share").text);
    (void)fprintf(out, "  exchange   publishes every %s, gain %s, beta %s, withheld %s\n",
                  span(page, "interval_s").text, real(page, "gain").text, real(page, "beta").text,
                  real(page, "withheld").text);
}

static void print_model(FILE *out, const json_t *page)
{
    const bool is_behind = real_of(page, "lag_s") > 0;
    (void)fprintf(out, "  model      %s parameters, digest %s\n", whole(page, "parameters").text,
                  text_of(page, "digest", 16).text);
    (void)fprintf(out, "  rumors     %s known, %s waiting, %s%s\n",
                  whole(page, "rumors_known").text, whole(page, "waiting").text,
                  is_behind ? "lag " : "no lag", is_behind ? span(page, "lag_s").text : "");
    (void)fprintf(out, "             %s published, %s received, %s duplicates\n",
                  whole(page, "rumors_published").text, whole(page, "rumors_received").text,
                  whole(page, "duplicates").text);
}

static void print_traffic(FILE *out, const json_t *page)
{
    (void)fprintf(out, "  sent       %s in total, now %s; publish budget %s\n",
                  amount(page, "sent_bytes", "B").text,
                  amount(page, "sent_bytes_per_s", "B/s").text,
                  amount(page, "budget_bytes_per_s", "B/s").text);
    (void)fprintf(out, "  received   %s in total, now %s\n",
                  amount(page, "received_bytes", "B").text,
                  amount(page, "received_bytes_per_s", "B/s").text);
    const bool has_checkpoint = isfinite(real_of(page, "checkpoint_age_s"));
    (void)fprintf(out, "  memory     %s, rumor log %s; checkpoint %s%s\n",
                  amount(page, "rss_bytes", "B").text, amount(page, "log_bytes", "B").text,
                  has_checkpoint ? span(page, "checkpoint_age_s").text : "none",
                  has_checkpoint ? " old" : "");
}

static void print_saturated(FILE *out, const json_t *page)
{
    char text[128];
    (void)snprintf(text, sizeof text, "%.0f weights, first in %s: the rest of each is withheld",
                   real_of(page, "saturated"), text_of(page, "saturated_tensor", 64).text);
    if (real_of(page, "saturated") > 0)
        print_labelled(out, "saturated", text);
}

static void print_device(FILE *out, const json_t *page)
{
    const json_t *device = json_object_get(page, "device");
    const double part = real_of(device, "peak_part"), flops = real_of(device, "model_flops_per_s");
    if (!isfinite(real_of(device, "memory_bytes")))
        return;
    (void)fprintf(out, "  GPU        %s of %s free", amount(device, "memory_free_bytes", "B").text,
                  amount(device, "memory_bytes", "B").text);
    if (flag_of(device, "is_hung"))
        (void)fprintf(out, "; it does not answer");
    else if (isfinite(flops))
        (void)fprintf(out, "; model %s", amount_of(flops, "FLOP/s").text);
    if (!flag_of(device, "is_hung") && isfinite(part))
        (void)fprintf(out, ", %.2g %% of the peak", 100 * part);
    (void)fputc('\n', out);
}

/* Returns true if a later order is about the same member as order i. */
static bool is_ordered_later(const json_t *orders, size_t i)
{
    const struct shown id = text_of(json_array_get(orders, i), "id", 60);
    for (size_t k = i + 1; k < json_array_size(orders); k++)
        if (strcmp(id.text, text_of(json_array_get(orders, k), "id", 60).text) == 0)
            return true;
    return false;
}

/* Prints which swarm key the node uses, if the operator has ordered a new one. */
static void print_swarm_key(FILE *out, const json_t *page)
{
    const json_t *key = json_object_get(json_object_get(page, "operator"), "swarm_key");
    const double order = real_of(key, "order"), missing = real_of(key, "missing"),
                 older = real_of(key, "older");
    if (missing > 0)
        (void)fprintf(out, "  swarm key  key of order %.0f has not arrived yet\n", missing);
    else if (order > 0 && older > 0)
        (void)fprintf(out, "  swarm key  key of order %.0f; older keys accepted until %s\n", order,
                      amount_moment((uint64_t)fmax(real_of(key, "until_ms"), 0)).text);
    else if (order > 0)
        (void)fprintf(out, "  swarm key  key of order %.0f; no older key is accepted\n", order);
}

static void print_expelled(FILE *out, const json_t *page)
{
    const json_t *orders = json_object_get(json_object_get(page, "operator"), "orders");
    for (size_t i = 0; i < json_array_size(orders); i++) {
        const json_t *order = json_array_get(orders, i);
        if (flag_of(order, "admits") || flag_of(order, "rekeys") || is_ordered_later(orders, i))
            continue;
        (void)fprintf(out, "  expelled   %.8s: %s\n", text_of(order, "id", 60).text,
                      text_of(order, "reason", 57).text);
    }
}

/* Prints, each once, the ids that other members have admitted and this node has not. */
static void print_strangers(FILE *out, const json_t *page)
{
    const json_t *strangers = json_object_get(page, "strangers");
    for (size_t i = 0; i < json_array_size(strangers); i++) {
        const struct shown id = text_of(json_array_get(strangers, i), "id", 60);
        bool was_shown = false;
        for (size_t k = 0; k < i && !was_shown; k++)
            was_shown = strcmp(id.text, text_of(json_array_get(strangers, k), "id", 60).text) == 0;
        if (!was_shown)
            (void)fprintf(out,
                          "  strangers  %.8s: other nodes have admitted it, this node has not\n",
                          id.text);
    }
}

/* Text about the node, before it is broken into lines. */
struct line {
    char text[320];
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    const size_t used = strlen(line->text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line->text + used, sizeof line->text - used, format, arguments);
    va_end(arguments);
}

/* Adds what this node knows of a member that it finds harmful. */
static void add_evidence(struct line *line, const json_t *harm)
{
    const double agreement = real_of(harm, "agreement"); /* NAN = unknown, as below */
    const double typical = real_of(harm, "typical_agreement"), length = real_of(harm, "length");
    if (!flag_of(harm, "harms"))
        return;
    if (isfinite(agreement))
        add(line, "agreement %.2f", agreement);
    if (isfinite(agreement) && isfinite(typical))
        add(line, " (typical %.2f)", typical);
    if (isfinite(length))
        add(line, "%spublications %.1f times the median length", isfinite(agreement) ? ", " : "",
            length);
}

/* Prints the members that this node finds harmful, that have votes against them, or whose rumors
 * are withheld. */
static void print_harms(FILE *out, const json_t *page)
{
    const json_t *harms = json_object_get(page, "harms");
    for (size_t i = 0; i < json_array_size(harms); i++) {
        const json_t *harm = json_array_get(harms, i);
        struct line line = {""};
        add(&line, "%.8s: ", text_of(harm, "id", 60).text);
        add_evidence(&line, harm);
        if (!flag_of(harm, "harms"))
            add(&line, "no harm seen here%s",
                real_of(harm, "votes") > 0 ? ", but other members voted" : "");
        if (real_of(harm, "votes_needed") > 0)
            add(&line, "; %s of %s votes", whole(harm, "votes").text,
                whole(harm, "votes_needed").text);
        if (flag_of(harm, "suspended"))
            add(&line, "; suspended: its rumors are too long");
        print_labelled(out, "harms", line.text);
    }
}

/* Prints the members that were expelled because of a proof or of votes. */
static void print_proven(FILE *out, const json_t *page)
{
    const json_t *proofs = json_object_get(page, "proofs");
    for (size_t i = 0; i < json_array_size(proofs); i++) {
        const json_t *proof = json_array_get(proofs, i);
        struct line line = {""};
        add(&line, "%.8s: %s%s", text_of(proof, "id", 60).text,
            flag_of(proof, "is_voted") ? "most members voted that it harms"
                                       : "signed two rumors under one number",
            flag_of(proof, "is_suspended") ? ", too old to retract" : "");
        print_labelled(out, "expelled", line.text);
    }
}

void status_print_node(FILE *out, const json_t *page)
{
    const struct shown address = text_of(page, "address", 55);
    (void)fprintf(out, "node %.8s in swarm \"%s\", up %s: %s\n", text_of(page, "id", 60).text,
                  text_of(page, "swarm", 30).text, span(page, "uptime_s").text,
                  text_of(page, "stage", 12).text);
    print_alone(out, page);
    print_alarm(out, page);
    (void)fprintf(out, "  address    %s%s\n", address.text[0] ? "listens on " : "only dials",
                  address.text);
    print_training(out, page);
    print_model(out, page);
    print_traffic(out, page);
    print_saturated(out, page);
    print_device(out, page);
    print_swarm_key(out, page);
    print_expelled(out, page);
    print_proven(out, page);
    print_harms(out, page);
    print_strangers(out, page);
}

struct column {
    const char *heading;
    int width;           /* width in columns; < 0 = aligned to the left */
    const char *key;     /* name of the value in the status page */
    const char *unit;    /* unit of a number; "s" = a time span; NULL = the value is a text */
    const char *unknown; /* text shown if the value is null */
};

static const struct column LINK_COLUMNS[] = {
    {"LINK TO", -8, "id", NULL, "-"},
    {"ADDRESS", -21, "address", NULL, "-"},
    {"OPEN", 6, "open_s", "s", "not"},
    {"RTT", 7, "rtt_s", "s", "-"},
    {"CAPACITY", 10, "rate_bytes_per_s", "B/s", "-"},
    {"SENT", 9, "sent_bytes_per_s", "B/s", "-"},
    {"RECEIVED", 9, "received_bytes_per_s", "B/s", "-"},
};

static const struct column MEMBER_COLUMNS[] = {
    {"MEMBER", -8, "id", NULL, "-"},
    {"ADDRESS", -24, "address", NULL, "only dials"},
    {"STATE", -5, "state", NULL, "-"},
    {"SAMPLES", 10, "samples", "", "-"},
    {"SAMPLES/S", 10, "samples_per_second", "/s", "-"},
    {"SEEN", 8, "age_s", "s", "-"},
    {"LAG", 8, "lag_s", "s", "-"},
};

static const struct column CONTRIBUTION_COLUMNS[] = {
    {"NAME", -12, "name", NULL, "-"},      {"MEMBER", -8, "id", NULL, "-"},
    {"STATE", -5, "state", NULL, "-"},     {"BY", -9, "admitted_by", NULL, "-"},
    {"MET", 6, "known_s", "s", "-"},       {"SEEN", 6, "age_s", "s", "-"},
    {"RUMORS", 6, "base_rumors", "", "-"}, {"SAMPLES", 7, "base_samples", "", "-"},
    {"BYTES", 7, "rumor_bytes", "B", "-"}, {"SHARE", 5, "base_share", "%", "-"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Returns the sign before a link's capacity: "~" if traffic last tested it long ago; otherwise ">"
 * if it is a lower bound, since no traffic has filled the link; else "". */
static const char *capacity_sign(const json_t *row)
{
    if (real_of(row, "rate_age_s") > OLD_S)
        return "~";
    return flag_of(row, "is_measured") ? "" : ">";
}

/* number_cell and text_cell return the text of a table cell; "" = unknown. */

static struct shown number_cell(const json_t *row, const struct column *column)
{
    struct shown out;
    const bool is_capacity = strcmp(column->heading, "CAPACITY") == 0;
    if (!isfinite(real_of(row, column->key)))
        return (struct shown){""};
    if (strcmp(column->unit, "%") == 0) {
        (void)snprintf(out.text, sizeof out.text, "%.0f %%", 100 * real_of(row, column->key));
        return out;
    }
    const struct amount number = strcmp(column->unit, "s") == 0
                                     ? span(row, column->key)
                                     : amount(row, column->key, column->unit);
    (void)snprintf(out.text, sizeof out.text, "%s%s", is_capacity ? capacity_sign(row) : "",
                   number.text);
    return out;
}

static struct shown text_cell(const json_t *row, const struct column *column)
{
    if (strcmp(column->key, "state") == 0 && flag_of(row, "is_self"))
        return (struct shown){"this"};
    /* An id longer than the column is cut: its first digits identify it. */
    if (strcmp(column->key, "id") == 0)
        return text_of(row, column->key, 60);
    return text_of(row, column->key, (size_t)abs(column->width));
}

static void print_row(FILE *out, const struct column *columns, size_t count, const json_t *row)
{
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &columns[i];
        struct shown cell = {""};
        const char *text = column->heading;
        if (row) {
            cell = column->unit ? number_cell(row, column) : text_cell(row, column);
            text = cell.text[0] ? cell.text : column->unknown;
        }
        (void)fprintf(out, "%s%*.*s", i ? " " : "", column->width, abs(column->width), text);
    }
    (void)fputc('\n', out);
}

static void print_table(FILE *out, const struct column *columns, size_t count, const json_t *rows)
{
    print_row(out, columns, count, NULL);
    for (size_t i = 0; i < json_array_size(rows); i++)
        print_row(out, columns, count, json_array_get(rows, i));
}

void status_print_links(FILE *out, const json_t *page)
{
    const json_t *links = json_object_get(page, "links");
    if (json_array_size(links) == 0)
        (void)fprintf(out, "no connection to any other node\n");
    else
        print_table(out, LINK_COLUMNS, COUNT(LINK_COLUMNS), links);
}

void status_print_members(FILE *out, const json_t *page)
{
    print_table(out, MEMBER_COLUMNS, COUNT(MEMBER_COLUMNS), json_object_get(page, "members"));
}

void status_print_contributions(FILE *out, const json_t *page)
{
    const json_t *members = json_object_get(page, "members");
    print_table(out, CONTRIBUTION_COLUMNS, COUNT(CONTRIBUTION_COLUMNS), members);
}

static void print_page(FILE *out, const json_t *page)
{
    status_print_node(out, page);
    (void)fputc('\n', out);
    status_print_links(out, page);
    (void)fputc('\n', out);
    status_print_members(out, page);
}

static int run(int argc, char **argv)
{
    struct config_options options = {0};
    struct config config;
    struct problem problem;
    json_t *page;
    int code = command_read(&status_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (config_options_read(&config, &options, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    if (status_ask(config.node.state_dir, WAIT_MS, &page, &problem) != OK)
        return command_complain(&problem, EXIT_NO_ANSWER);
    if (options.json && json_dumpf(page, stdout, STATUS_JSON) == 0)
        (void)fputc('\n', stdout);
    else if (!options.json)
        print_page(stdout, page);
    code = flag_of(page, "healthy") ? EXIT_HEALTHY : EXIT_NOT_READY;
    json_decref(page);
    return code;
}

const struct command status_command = {
    .name = "status",
    .summary = "show the state of this machine's node; a health probe",
    .forms = {{"hearsay status [options]", "show the state of this machine's node"}},
    .options = (const struct command_option[]){CONFIG_OPTIONS_OF_NODE,
                                               CONFIG_OPTION_JSON(
                                                   "print one JSON object, with everything"),
                                               {0}},
    .column = 26,
    .notes = "The exit codes are for health probes.",
    .exit_codes =
        "0 the node trains or relays, 1 no node answers,\n"
        "2 wrong usage, 3 the node is not ready: it joins, catches up, or reaches none of its\n"
        "peers (it trains on, so do not restart it).",
    .finish = config_options_check,
    .run = run,
};
