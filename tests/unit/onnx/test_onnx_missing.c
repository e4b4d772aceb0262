/* A build without ONNX says so, and how to get ONNX. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "onnx/onnx_file.h"

static void test_it_says_what_to_install(void **state)
{
    (void)state;
    struct problem problem = {""};
    assert_int_equal(onnx_file_save("m.onnx", NULL, NULL, NULL, &problem), MISSING);
    assert_non_null(strstr(problem.text, "m.onnx: this hearsay was built without ONNX"));
    assert_non_null(strstr(problem.text, "install protobuf-c-compiler"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_says_what_to_install)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
