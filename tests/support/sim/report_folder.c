#include "support/sim/report_folder.h"

char folder[] = "/tmp/hearsay-findings-XXXXXX";
char path[512];
struct outcome outcome;
struct problem problem;

const char *in_folder(const char *name)
{
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-findings-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));)
        (void)unlink(in_folder(entry->d_name));
    (void)closedir(dir);
    outcome_free(&outcome);
    return rmdir(folder);
}

const char *text_of(const char *name)
{
    static char text[1 << 20];
    FILE *in = fopen(in_folder(name), "re");
    assert_non_null(in);
    const size_t bytes = fread(text, 1, sizeof text - 1, in);
    assert_int_equal(fclose(in), 0);
    text[bytes] = 0;
    return text;
}

bool exists(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

void assert_holds(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is not in:\n%.3000s", wanted, text);
}

void assert_lacks(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted))
        fail_msg("\"%s\" is in:\n%.3000s", unwanted, strstr(text, unwanted));
}

void write_folder(void)
{
    if (report_write(folder, &outcome, NULL, &problem) != OK)
        fail_msg("%s", problem.text);
}

const char *printed(void)
{
    static char text[65536];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    report_print(out, &outcome);
    assert_int_equal(fclose(out), 0);
    return text;
}

void assert_fits_a_terminal(const char *text)
{
    while (*text) {
        char line[512];
        const size_t length = strcspn(text, "\n");
        assert_true(length < sizeof line);
        memcpy(line, text, length);
        line[length] = 0;
        if (escape_width(line) > 80)
            fail_msg("too wide: %s", line);
        text += length + (text[length] == '\n');
    }
}
