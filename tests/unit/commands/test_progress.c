/* The progress line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/progress.h"

static char shown[512];

/* Returns the output at now_s seconds after the start, when `part` of the work is done. */
static const char *at(struct progress *progress, double now_s, double part)
{
    memset(shown, 0, sizeof shown);
    progress->out = fmemopen(shown, sizeof shown, "w");
    assert_non_null(progress->out);
    progress_at_time(progress, now_s, part);
    assert_int_equal(fclose(progress->out), 0);
    return shown;
}

static struct progress on(int rows, int columns)
{
    return (struct progress){
        .what = "evaluating", .terminal = {.rows = rows, .columns = columns}, .begin_s = 100};
}

static void quick_work_prints_no_progress(void **state)
{
    (void)state;
    struct progress progress = on(24, 80);
    assert_string_equal(at(&progress, 101.9, 0.9), "");
}

static void slow_work_prints_its_remaining_time(void **state)
{
    (void)state;
    struct progress progress = on(24, 80);
    assert_string_equal(at(&progress, 110, 0.5),
                        "\r\033[Kevaluating  ###############...............  50 %, 10.0 s left");
    assert_string_equal(at(&progress, 110.1, 0.6), ""); /* too soon after the last output */
    assert_string_equal(at(&progress, 220, 0.5),
                        "\r\033[Kevaluating  ###############...............  50 %, 2m00s left");
    assert_string_equal(at(&progress, 230, 0), ""); /* without progress there is no estimate */
}

static void only_a_terminal_is_told(void **state)
{
    (void)state;
    struct progress progress = on(0, 0);
    assert_string_equal(at(&progress, 110, 0.5), "");
    progress = on(24, 30);
    assert_string_equal(at(&progress, 110, 0.5), "\r\033[Kevaluating    50 %, 10.0 s left");
}

static void nothing_stays_at_the_end(void **state)
{
    (void)state;
    struct progress progress = on(24, 80);
    (void)at(&progress, 110, 0.5);
    memset(shown, 0, sizeof shown);
    progress.out = fmemopen(shown, sizeof shown, "w");
    progress_end(&progress);
    progress_end(&progress);
    assert_int_equal(fclose(progress.out), 0);
    assert_string_equal(shown, "\r\033[K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_work_prints_no_progress),
        cmocka_unit_test(slow_work_prints_its_remaining_time),
        cmocka_unit_test(only_a_terminal_is_told),
        cmocka_unit_test(nothing_stays_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
