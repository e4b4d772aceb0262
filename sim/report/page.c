#include "report/page.h"

#include <string.h>

#include "report/escape.h"

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

void page_begin(FILE *out, const char *title, const char *heading)
{
    (void)fputs(HEAD, out);
    (void)fputs("<title>", out);
    escape_html(out, title);
    (void)fputs("</title>\n", out);
    (void)fputs(STYLE, out);
    (void)fputs("</head>\n<body>\n<h1>", out);
    escape_html(out, heading);
    (void)fputs("</h1>\n", out);
}

void page_end(FILE *out)
{
    (void)fputs("</body>\n</html>\n", out);
}

void page_paragraph(FILE *out, const char *before, const char *text)
{
    if (!text[0])
        return;
    (void)fprintf(out, "<p>%s", before);
    escape_html(out, text);
    (void)fputs("</p>\n", out);
}

/* Within a page an SVG begins at its element; the XML prolog is left out. */
void page_plot(FILE *out, const char *name, const char *title, const char *svg, const char *caption)
{
    const char *element = strstr(svg, "<svg");
    if (!element)
        return;
    (void)fprintf(out, "<h2>%s</h2>\n<figure>\n<div class=\"plot\" id=\"plot-%s\">\n", title, name);
    (void)fputs(element, out);
    (void)fprintf(out, "</div>\n<figcaption>%s</figcaption>\n</figure>\n", caption);
}
