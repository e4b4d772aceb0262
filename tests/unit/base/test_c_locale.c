/* Inside the library, numbers have decimal points. The host's thread keeps its own locale. */
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/c_locale.h"
#include "base/thread.h"
#include "support/base/comma_locale.h"

static bool has_comma;

static int begin(void **state)
{
    (void)state;
    has_comma = comma_locale_set();
    return 0;
}

static void need_comma(void)
{
    if (!has_comma)
        skip(); /* the machine has no locale with a decimal comma and cannot make one */
    assert_true(comma_locale_is_set());
}

static void assert_points(void)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0.5");
    assert_true(strtod("0.25", NULL) > 0.2);
    assert_false(comma_locale_is_set());
}

static void numbers_have_points_until_the_last_leave(void **state)
{
    (void)state;
    need_comma();
    c_locale_enter();
    assert_points();
    c_locale_enter();
    assert_points();
    c_locale_leave();
    assert_points();
    c_locale_leave();
    assert_true(comma_locale_is_set());
}

static void enter_again(void *self)
{
    bool *was_comma = self;
    *was_comma = comma_locale_is_set();
    c_locale_enter();
    assert_points();
    c_locale_leave();
    assert_true(comma_locale_is_set());
}

static void a_callback_has_the_locale_of_the_host(void **state)
{
    bool was_comma = false;
    (void)state;
    need_comma();
    c_locale_enter();
    c_locale_call(enter_again, &was_comma);
    assert_true(was_comma);
    assert_points();
    c_locale_leave();
    assert_true(comma_locale_is_set());
}

static void change_locale(void *self)
{
    (void)uselocale(*(const locale_t *)self);
}

static void a_callback_may_change_the_locale_of_its_thread(void **state)
{
    locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    (void)state;
    need_comma();
    c_locale_enter();
    c_locale_call(change_locale, &own);
    assert_points();
    c_locale_leave();
    assert_ptr_equal(uselocale(LC_GLOBAL_LOCALE), own);
    freelocale(own);
    assert_true(comma_locale_is_set());
}

static void *look(void *argument)
{
    assert_points();
    return argument;
}

static void threads_begin_with_points(void **state)
{
    pthread_t thread;
    void *result;
    int mark;
    (void)state;
    need_comma();
    thread_begin(&thread, look, &mark);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &mark);
    assert_true(comma_locale_is_set());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_points_until_the_last_leave),
        cmocka_unit_test(a_callback_has_the_locale_of_the_host),
        cmocka_unit_test(a_callback_may_change_the_locale_of_its_thread),
        cmocka_unit_test(threads_begin_with_points),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
