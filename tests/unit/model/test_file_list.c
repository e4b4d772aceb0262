/* The files that a list with patterns names, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "data/file_list.h"
#include "support/model/data_folder.h"

/* Reads a list in which % stands for the folder. Returns its paths without the folder, separated by
 * blanks. */
static const char *names_of(const char *text)
{
    static char line[1024], names[1024];
    const char *folder = data_path("").text;
    struct file_list list;
    struct problem problem = {""};
    line[0] = names[0] = '\0';
    for (; *text; text++)
        (void)snprintf(line + strlen(line), sizeof line - strlen(line),
                       *text == '%' ? "%s" : "%.1s", *text == '%' ? folder : text);
    if (file_list_read(&list, line, "data.tokens", &problem) != OK)
        fail_msg("%s", problem.text);
    for (size_t i = 0; i < list.count; i++) {
        const size_t skipped =
            strncmp(list.path[i], folder, strlen(folder)) == 0 ? strlen(folder) : 0;
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                       i > 0 ? " " : "", list.path[i] + skipped);
    }
    file_list_free(&list);
    assert_int_equal(list.count, 0);
    return names;
}

static void write_some(void)
{
    static const char *const files[] = {"b10.bin", "b2.bin", "B1.bin",
                                        "a.bin",   "c.txt",  "d[1].txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_data(files[i], "x", 1);
}

static void a_name_is_a_file_whether_it_is_there_or_not(void **state)
{
    (void)state;
    assert_string_equal(names_of("nowhere.txt"), "nowhere.txt");
    assert_string_equal(names_of("one.txt,two three.txt , four"), "one.txt two three.txt four");
}

static void a_pattern_is_its_files_in_the_order_of_their_bytes(void **state)
{
    (void)state;
    write_some();
    assert_string_equal(names_of("%*.bin"), "B1.bin a.bin b10.bin b2.bin");
    assert_string_equal(names_of("%b*, %a.bin, %[Bc]*"), "b10.bin b2.bin a.bin B1.bin c.txt");
}

static void a_file_that_is_called_like_a_pattern_is_that_file(void **state)
{
    (void)state;
    write_some();
    assert_string_equal(names_of("%d[1].txt"), "d[1].txt");
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(data_path(name).text, 0700), 0);
}

/* Makes folders with unusual names, like those of real data. */
static void write_odd_folders(void)
{
    static const char *const folders[] = {"[2024] brain", "T1, final", "what?", "T1, final/[a]"};
    static const char *const files[] = {"x1.npy", "x2.npy", "y, z.npy"};
    char name[128];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        make_folder(folders[i]);
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            (void)snprintf(name, sizeof name, "%s/%s", folders[i], files[k]);
            write_data(name, "x", 1);
        }
    }
    write_data("a, b.npy", "x", 1);
    write_data("a", "x", 1);
}

static void a_folder_may_have_brackets_and_blanks(void **state)
{
    (void)state;
    write_odd_folders();
    assert_string_equal(names_of("%[2024] brain/x1.npy"), "[2024] brain/x1.npy");
    assert_string_equal(names_of("%[2024] brain/x*.npy"),
                        "[2024] brain/x1.npy [2024] brain/x2.npy");
    assert_string_equal(names_of("%what?/x[2].npy, %[2024] brain/x?.npy"),
                        "what?/x2.npy [2024] brain/x1.npy [2024] brain/x2.npy");
}

static void a_folder_or_a_file_may_have_commas(void **state)
{
    (void)state;
    write_odd_folders();
    assert_string_equal(names_of("%T1, final/x1.npy"), "T1, final/x1.npy");
    assert_string_equal(names_of("%T1, final/x*.npy,%T1, final/[a]/x*.npy , nowhere"),
                        "T1, final/x1.npy T1, final/x2.npy "
                        "T1, final/[a]/x1.npy T1, final/[a]/x2.npy nowhere");
    assert_string_equal(names_of("%a, b.npy, %a"), "a, b.npy a");
    assert_string_equal(names_of("%T1, final/y, z.npy"), "T1, final/y, z.npy");
    assert_string_equal(names_of("%T1, final/nowhere.npy"), "T1, final/nowhere.npy");
}

static void a_pattern_may_be_of_folders(void **state)
{
    (void)state;
    write_odd_folders();
    assert_string_equal(names_of("%*/x1.npy"), "T1, final/x1.npy [2024] brain/x1.npy what?/x1.npy");
    assert_string_equal(names_of("%T1*/[a]/x1.npy"), "T1, final/[a]/x1.npy");
    assert_string_equal(names_of("%w*"), "what?");
}

static void the_folders_of_patterns_are_listed(void **state)
{
    struct file_list list;
    struct problem problem;
    char text[512];
    (void)state;
    write_odd_folders();
    (void)snprintf(text, sizeof text, "%s*/x1.npy, nowhere.npy", data_path("").text);
    assert_int_equal(file_list_read(&list, text, "data.x", &problem), OK);
    /* x1.npy is no pattern */
    assert_int_equal(list.folders, 1);
    file_list_free(&list);
    (void)snprintf(text, sizeof text, "%s/x*.npy", data_path("[2024] brain").text);
    assert_int_equal(file_list_read(&list, text, "data.x", &problem), OK);
    assert_int_equal(list.folders, 1);
    assert_string_equal(list.folder[0], data_path("[2024] brain").text);
    file_list_free(&list);
}

static enum error read_list(const char *text, struct problem *problem)
{
    struct file_list list = {.count = 77};
    const enum error error = file_list_read(&list, text, "data.tokens", problem);
    assert_int_equal(list.count, 77); /* the list is only written on OK */
    return error;
}

static void rejects_a_pattern_without_files(void **state)
{
    (void)state;
    struct problem problem;
    char expected[512];
    const struct data_path pattern = data_path("*.bin");
    assert_int_equal(read_list(pattern.text, &problem), MISSING);
    (void)snprintf(expected, sizeof expected,
                   "data.tokens: no file matches \"%s\"; name files that are there, or a pattern "
                   "such as data/*.bin",
                   pattern.text);
    assert_string_equal(problem.text, expected);
    assert_int_equal(read_list("", &problem), MISSING);
    assert_string_equal(problem.text, "data.tokens is empty; name the files of the data");
    const struct data_path missing = data_path("no, where/x*.npy");
    assert_int_equal(read_list(strchr(missing.text, ',') + 1, &problem), MISSING);
    assert_string_equal(problem.text, "data.tokens: there is no folder \"where\"; name files that "
                                      "are there");
    static const char *const gaps[] = {" ", ",", "a,", "a,,b", " , a"};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        assert_int_equal(read_list(gaps[i], &problem), MALFORMED);
        assert_non_null(strstr(problem.text, "no name before or after a comma"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DATA_FOLDER(a_name_is_a_file_whether_it_is_there_or_not),
        IN_DATA_FOLDER(a_pattern_is_its_files_in_the_order_of_their_bytes),
        IN_DATA_FOLDER(a_file_that_is_called_like_a_pattern_is_that_file),
        IN_DATA_FOLDER(a_folder_may_have_brackets_and_blanks),
        IN_DATA_FOLDER(a_folder_or_a_file_may_have_commas),
        IN_DATA_FOLDER(a_pattern_may_be_of_folders),
        IN_DATA_FOLDER(the_folders_of_patterns_are_listed),
        IN_DATA_FOLDER(rejects_a_pattern_without_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
