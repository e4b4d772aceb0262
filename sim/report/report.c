#include "report/report.h"

#include "page/page.h"
#include "report/report_folder.h"
#include "report/report_private.h"

#define LABEL_WIDTH 14

static void print_facts(FILE *out, const struct outcome *outcome)
{
    struct table facts;
    report_facts(&facts, outcome);
    for (uint32_t row = 0; row < table_rows(&facts); row++) {
        (void)fprintf(out, "%-*s", LABEL_WIDTH, table_cell(&facts, row, 0));
        table_print_words(out, table_cell(&facts, row, 1), LABEL_WIDTH);
    }
    table_free(&facts);
}

static void print_verdicts(FILE *out, const struct outcome *outcome)
{
    const uint32_t count = outcome->scenario->expects_count;
    if (count > 0)
        (void)fputc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        const struct verdict *verdict = &outcome->verdicts[i];
        (void)fprintf(out, "%-9s", report_verdict(outcome, i));
        table_print_words(out, verdict->text, 9);
    }
}

void report_print(FILE *out, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    table_print_words(out, scenario->about[0] ? scenario->about : scenario->name, 0);
    (void)fputc('\n', out);
    print_facts(out, outcome);
    report_tables(outcome, table_print, out);
    print_verdicts(out, outcome);
}

static const struct {
    const char *name;
    void (*write)(FILE *out, const struct outcome *outcome);
} FILES[] = {
    {"series.csv", report_series_csv},
    {"nodes.csv", report_nodes_csv},
    {"use.csv", report_use_csv},
    {"summary.json", report_json},
};

struct file_of {
    const struct outcome *outcome;
    size_t i; /* index in FILES */
};

static void write_file(FILE *out, const void *context)
{
    const struct file_of *file = context;
    FILES[file->i].write(out, file->outcome);
}

static enum error write_files(const char *dir, const struct outcome *outcome,
                              struct problem *problem)
{
    enum error error = OK;
    for (size_t i = 0; error == OK && i < sizeof FILES / sizeof FILES[0]; i++)
        error = report_folder_write(dir, FILES[i].name, write_file, &(struct file_of){outcome, i},
                                    problem);
    return error;
}

static void write_page(FILE *out, const void *snapshot)
{
    page_write(out, snapshot);
}

enum error report_ready(const char *dir, bool *made, struct problem *problem)
{
    return report_folder_make(dir, made, problem);
}

enum error report_write(const char *dir, const struct outcome *outcome,
                        const struct report_beside *beside, struct problem *problem)
{
    bool made;
    enum error error = report_folder_make(dir, &made, problem);
    if (error == OK)
        error = write_files(dir, outcome, problem);
    if (error != OK)
        return error;
    json_t *snapshot = report_snapshot(outcome, beside);
    error = report_folder_write(dir, "report.html", write_page, snapshot, problem);
    json_decref(snapshot);
    return error;
}
