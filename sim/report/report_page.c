/* report.html of a play. */
#include <stdlib.h>

#include "base/memory.h"
#include "config/config.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/report_private.h"

static void write_verdicts(FILE *out, const struct outcome *outcome)
{
    (void)fputs("<ul class=\"verdicts\">\n", out);
    for (uint32_t i = 0; i < outcome->scenario->expects_count; i++) {
        const struct verdict *verdict = &outcome->verdicts[i];
        const char *class = verdict->met ? "met" : "missed";
        (void)fprintf(out, "<li class=\"%s\"><b>%s</b> ",
                      outcome_is_stopped(outcome) ? "note" : class, report_verdict(outcome, i));
        escape_html(out, verdict->text);
        (void)fputs("</li>\n", out);
    }
    if (outcome->violation[0]) {
        (void)fputs("<li class=\"missed\"><b>BROKEN</b> ", out);
        escape_html(out, outcome->violation);
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n", out);
}

static void write_facts(FILE *out, const struct outcome *outcome)
{
    struct table facts;
    report_facts(&facts, outcome);
    (void)fputs("<dl>\n", out);
    for (uint32_t row = 0; row < table_rows(&facts); row++) {
        (void)fputs("<dt>", out);
        escape_html(out, table_cell(&facts, row, 0));
        (void)fputs("</dt><dd>", out);
        escape_html(out, table_cell(&facts, row, 1));
        (void)fputs("</dd>\n", out);
    }
    (void)fputs("</dl>\n", out);
    table_free(&facts);
}

static void write_plots(FILE *out, const struct outcome *outcome,
                        char *const drawings[static REPORT_PLOTS])
{
    for (uint32_t i = 0; i < REPORT_PLOTS; i++)
        if (drawings[i])
            page_plot(out, report_plot(i)->name, report_plot(i)->title, drawings[i],
                      report_plot(i)->about);
    if (outcome->scenario->faults_count > 0)
        (void)fputs("<p class=\"note\">Shaded: faults, as listed below.</p>\n", out);
    if (!outcome->node_moments && outcome->moments_count > 0)
        (void)fprintf(out,
                      "<p class=\"note\">No curves per node: they are kept for up to %d "
                      "nodes.</p>\n",
                      OUTCOME_CURVES_MAX);
}

static void write_settings(FILE *out, const struct outcome *outcome)
{
    char command[CONFIG_LINE_BYTES], *text = NULL;
    size_t bytes;
    report_command(outcome, command, sizeof command);
    (void)fputs("<h2>To repeat it</h2>\n<pre>", out);
    escape_html(out, command);
    (void)fputs("</pre>\n<p class=\"note\">hearsay " HEARSAY_VERSION
                ". The same seed gives the same figures.</p>\n"
                "<details><summary>All settings of a node</summary>\n<pre>",
                out);
    FILE *settings = open_memstream(&text, &bytes);
    if (!settings)
        memory_missing(BUFSIZ);
    config_print(&outcome->scenario->config, settings);
    CHECK(fclose(settings) == 0);
    escape_html(out, text);
    free(text);
    (void)fputs("</pre>\n</details>\n", out);
}

static void write_head(FILE *out, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    char title[128];
    (void)snprintf(title, sizeof title, "%s, %s", scenario->name,
                   scenario_strategy_name(outcome->scenario->strategy));
    page_begin(out, title, scenario->about[0] ? scenario->about : scenario->name);
    page_paragraph(out, "<span class=\"note\">Scenario:</span> ", scenario->name);
    page_paragraph(out, "<span class=\"note\">Figures from:</span> ", scenario->source);
}

void report_page(FILE *out, const struct outcome *outcome,
                 char *const drawings[static REPORT_PLOTS])
{
    write_head(out, outcome);
    write_verdicts(out, outcome);
    write_facts(out, outcome);
    write_plots(out, outcome, drawings);
    report_tables(out, outcome, table_html);
    write_settings(out, outcome);
    page_end(out);
}
