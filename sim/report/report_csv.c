/* Writes the CSV files (RFC 4180). Unknown values are empty fields. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/escape.h"
#include "report/report_private.h"

static void write_real(FILE *out, double value)
{
    (void)fputc(',', out);
    if (isfinite(value))
        (void)fprintf(out, "%.7g", value);
}

static void write_count(FILE *out, uint64_t value)
{
    (void)fprintf(out, ",%" PRIu64, value);
}

/* Writes two fields: median and maximum of a figure over the nodes for which it is known. */
static void write_spread(FILE *out, const struct outcome *outcome, uint32_t at, enum figure figure)
{
    double values[SCENARIO_CURVES_MAX];
    const uint32_t nodes = outcome->node_moments ? outcome->scenario->nodes_count : 0;
    CHECK(nodes <= SCENARIO_CURVES_MAX);
    for (uint32_t i = 0; i < nodes; i++)
        values[i] = report_figure(outcome, at, i, figure);
    write_real(out, report_quantile(values, nodes, 0.5));
    write_real(out, report_quantile(values, nodes, 1));
}

/* Writes two fields: bytes per second of rumors, and of other data, that all nodes have sent since
 * the previous moment. */
static void write_rates(FILE *out, const struct outcome *outcome, uint32_t at)
{
    const struct moment none = {.at_s = 0}, *now = &outcome->moments[at];
    const struct moment *before = at > 0 ? now - 1 : &none;
    const double passed_s = now->at_s - before->at_s;
    const double control = (double)(now->control_bytes - before->control_bytes);
    const double sent = (double)(now->sent_bytes - before->sent_bytes);
    write_real(out, passed_s > 0 ? (sent - control) / passed_s : NAN);
    write_real(out, passed_s > 0 ? control / passed_s : NAN);
}

void report_series_csv(FILE *out, const struct outcome *outcome)
{
    (void)fputs("at_s,accuracy,loss,samples,rumors,rumor_bytes_published,sent_bytes,control_bytes,"
                "rumor_bytes_per_s,control_bytes_per_s,behind,in_flight_bytes,running,members,"
                "share_median,share_max,lag_s_median,lag_s_max,up_use_median,up_use_max,"
                "down_use_median,down_use_max,distance\n",
                out);
    for (uint32_t at = 0; at < outcome->moments_count; at++) {
        const struct moment *moment = &outcome->moments[at];
        (void)fprintf(out, "%.7g", moment->at_s);
        write_real(out, moment->accuracy);
        write_real(out, moment->loss);
        write_count(out, moment->samples);
        write_count(out, moment->rumors);
        write_count(out, moment->rumor_bytes_published);
        write_count(out, moment->sent_bytes);
        write_count(out, moment->control_bytes);
        write_rates(out, outcome, at);
        write_count(out, moment->behind);
        write_count(out, moment->in_flight);
        write_count(out, moment->running);
        write_count(out, moment->members);
        write_spread(out, outcome, at, FIGURE_SHARE);
        write_spread(out, outcome, at, FIGURE_LAG);
        write_spread(out, outcome, at, FIGURE_UP);
        write_spread(out, outcome, at, FIGURE_DOWN);
        write_real(out, moment->distance);
        (void)fputc('\n', out);
    }
}

void report_nodes_csv(FILE *out, const struct outcome *outcome)
{
    (void)fputs("at_s,node,samples_per_s,share,lag_s,behind,up_use,down_use\n", out);
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++)
        for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
            (void)fprintf(out, "%.7g,", outcome->moments[at].at_s);
            escape_csv(out, outcome->nodes[i].name);
            for (enum figure figure = FIGURE_SPEED; figure <= FIGURE_DOWN; figure++)
                write_real(out, report_figure(outcome, at, i, figure));
            (void)fputc('\n', out);
        }
}

void report_use_csv(FILE *out, const struct outcome *outcome)
{
    uint32_t count;
    struct link_use *uses = outcome_uses(outcome, &count);
    (void)fputs("link,use,rate_bytes_per_s\n", out);
    for (uint32_t i = 0; i < count; i++) {
        escape_csv(out, uses[i].name);
        write_real(out, uses[i].use);
        write_real(out, uses[i].rate_bytes_per_s);
        (void)fputc('\n', out);
    }
    free(uses);
}
