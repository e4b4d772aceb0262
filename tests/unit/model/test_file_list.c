/* Which files a list names, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/file_list.h"
#include "support/model/data_folder.h"

/* The list with % for the folder, read; its paths without the folder, separated by blanks. */
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

static enum error read_list(const char *text, struct problem *problem)
{
    struct file_list list = {.count = 77};
    const enum error error = file_list_read(&list, text, "data.tokens", problem);
    assert_int_equal(list.count, 77); /* written only on OK */
    return error;
}

static void what_names_nothing_is_refused(void **state)
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
        IN_DATA_FOLDER(what_names_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
