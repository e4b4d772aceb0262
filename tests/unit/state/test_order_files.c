/* Operator's orders on disk: complete or absent, and given to the node only once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/expulsion_api.h"
#include "state/order_files.h"
#include "support/state/memory_disk.h"

static struct memory_disk disk, crashed;
static struct problem problem;
static uint8_t got[NODE_ORDERS_MAX];
static const uint8_t first[] = "the first order", both[] = "the first order, and another one";

static int begin(void **state)
{
    (void)state;
    memory_disk_init(&disk);
    return 0;
}

static void a_folder_without_a_file_holds_no_orders(void **state)
{
    (void)state;
    size_t bytes = 7;
    assert_int_equal(order_files_load(&disk.table, FOLDER, got, &bytes, &problem), OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(order_files_handed(&disk.table, FOLDER, got, &bytes, &problem), MISSING);
}

static void saved_files_load_unchanged(void **state)
{
    (void)state;
    size_t bytes;
    assert_int_equal(order_files_save(&disk.table, FOLDER, first, sizeof first, &problem), OK);
    assert_int_equal(order_files_save(&disk.table, FOLDER, both, sizeof both, &problem), OK);
    assert_int_equal(order_files_load(&disk.table, FOLDER, got, &bytes, &problem), OK);
    assert_int_equal(bytes, sizeof both);
    assert_memory_equal(got, both, bytes);
}

static void saved_files_survive_a_crash(void **state)
{
    (void)state;
    assert_int_equal(order_files_save(&disk.table, FOLDER, first, sizeof first, &problem), OK);
    assert_int_equal(order_files_save(&disk.table, FOLDER, both, sizeof both, &problem), OK);
    for (int kind = 0; kind < CRASH_KINDS; kind++) {
        size_t bytes;
        memory_disk_crash(&crashed, &disk, kind, 0);
        assert_int_equal(order_files_load(&crashed.table, FOLDER, got, &bytes, &problem), OK);
        assert_int_equal(bytes, sizeof both); /* the save was reported as durable */
        assert_memory_equal(got, both, bytes);
    }
}

static void an_order_stays_until_the_node_has_saved_it(void **state)
{
    (void)state;
    size_t bytes;
    assert_int_equal(order_files_hand_over(&disk.table, FOLDER, first, sizeof first, &problem), OK);
    for (int looks = 0; looks < 2; looks++) {
        assert_int_equal(order_files_handed(&disk.table, FOLDER, got, &bytes, &problem), OK);
        assert_int_equal(bytes, sizeof first);
        assert_memory_equal(got, first, bytes);
    }
    order_files_taken(&disk.table, FOLDER);
    assert_int_equal(order_files_handed(&disk.table, FOLDER, got, &bytes, &problem), MISSING);
}

static void refuses_a_file_too_large_for_orders(void **state)
{
    (void)state;
    static const uint8_t large[ORDERS_HANDED_MAX + 1];
    size_t bytes;
    memory_disk_put(&disk, ORDER_FILE, large, sizeof large);
    assert_int_equal(order_files_handed(&disk.table, FOLDER, got, &bytes, &problem), TOO_BIG);
    assert_non_null(strstr(problem.text, "state/order: is larger"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_folder_without_a_file_holds_no_orders, begin),
        cmocka_unit_test_setup(saved_files_load_unchanged, begin),
        cmocka_unit_test_setup(saved_files_survive_a_crash, begin),
        cmocka_unit_test_setup(an_order_stays_until_the_node_has_saved_it, begin),
        cmocka_unit_test_setup(refuses_a_file_too_large_for_orders, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
