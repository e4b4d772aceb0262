/* report.html: one file without scripts, whose policy allows no fetch. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "report/escape.h"
#include "report/report_private.h"

static const char HEAD[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

static const char STYLE[] =
    "<style>\n"
    ":root { --ink: #1b1f24; --soft: #5b6570; --line: #d9dee3; --paper: #fff; --good: #1a7f37;\n"
    "  --bad: #b3261e; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e3e7eb; --soft: #9aa5b1;\n"
    "  --line: #3a424b; --paper: #16191d; --good: #4cc26a; --bad: #ff7b72; } }\n"
    "body { margin: 0 auto; padding: 1rem; max-width: 58rem; color: var(--ink);\n"
    "  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.5rem; line-height: 1.25; margin: 1rem 0 .5rem; }\n"
    "h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }\n"
    "p { margin: .3rem 0; }\n"
    ".note, figcaption { color: var(--soft); font-size: .92rem; }\n"
    ".verdicts { list-style: none; padding: 0; }\n"
    ".verdicts li { padding: .35rem .7rem; margin: .3rem 0; border-left: .3rem solid; }\n"
    ".met { border-color: var(--good) !important; }\n"
    ".missed { border-color: var(--bad) !important; }\n"
    ".met b { color: var(--good); }\n"
    ".missed b { color: var(--bad); }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }\n"
    "dt { color: var(--soft); }\n"
    "dd { margin: 0; overflow-wrap: anywhere; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left;\n"
    "  white-space: nowrap; }\n"
    "th { color: var(--soft); font-weight: 600; }\n"
    ".figure { text-align: right; }\n"
    "figure { margin: 0; }\n"
    ".plot { overflow-x: auto; border-radius: .4rem; background: #fff; color: #000; }\n"
    ".plot svg { display: block; width: 100%; min-width: 38rem; height: auto; }\n"
    "pre { overflow-x: auto; padding: .7rem; border: 1px solid var(--line); border-radius: .4rem;\n"
    "  font-size: .85rem; }\n"
    "summary { cursor: pointer; }\n"
    "</style>\n";

static void paragraph(FILE *out, const char *before, const char *text)
{
    if (!text[0])
        return;
    (void)fprintf(out, "<p>%s", before);
    escape_html(out, text);
    (void)fputs("</p>\n", out);
}

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

/* Within a page an SVG begins at its element; the XML prolog is left out. */
static void write_plot(FILE *out, const struct plot *plot, const char *drawing)
{
    const char *svg = strstr(drawing, "<svg");
    if (!svg)
        return;
    (void)fprintf(out, "<h2>%s</h2>\n<figure>\n<div class=\"plot\" id=\"plot-%s\">\n", plot->title,
                  plot->name);
    (void)fputs(svg, out);
    (void)fprintf(out, "</div>\n<figcaption>%s</figcaption>\n</figure>\n", plot->about);
}

static void write_plots(FILE *out, const struct outcome *outcome,
                        char *const drawings[static REPORT_PLOTS])
{
    for (uint32_t i = 0; i < REPORT_PLOTS; i++)
        if (drawings[i])
            write_plot(out, report_plot(i), drawings[i]);
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
    (void)fputs(HEAD, out);
    (void)fputs("<title>", out);
    escape_html(out, scenario->name);
    (void)fprintf(out, ", %s</title>\n", scenario_strategy_name(outcome->scenario->strategy));
    (void)fputs(STYLE, out);
    (void)fputs("</head>\n<body>\n<h1>", out);
    escape_html(out, scenario->about[0] ? scenario->about : scenario->name);
    (void)fputs("</h1>\n", out);
    paragraph(out, "<span class=\"note\">Scenario:</span> ", scenario->name);
    paragraph(out, "<span class=\"note\">Figures from:</span> ", scenario->source);
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
    (void)fputs("</body>\n</html>\n", out);
}
