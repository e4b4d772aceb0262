/* Allocations that must succeed: memory is zeroed, or the program ends with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/thread.h"
#include "support/base/child.h"

#define TOO_MUCH ((size_t)1 << 60)

/* AddressSanitizer calls this at its start. A too large allocation must return NULL instead of
 * ending the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static char said[4096]; /* standard error of the last child process */

/* Runs a function in a child process. Checks that it exits with code 1 and prints `what`. */
static void end_in_child(void (*act)(void), const char *what)
{
    const int status = child_run(act, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(said, what));
    assert_int_equal(said[strlen(said) - 1], '\n');
}

static void new_memory_is_zeroed_and_growing_keeps_its_content(void **state)
{
    (void)state;
    unsigned char *memory = memory_new(3, 2);
    const unsigned char zero[6] = {0};
    assert_memory_equal(memory, zero, 6);
    memcpy(memory, "abcdef", 6);
    memory = memory_more(memory, 500, 8);
    assert_memory_equal(memory, "abcdef", 6);
    free(memory);
    char *text = memory_text("hearsay");
    assert_string_equal(text, "hearsay");
    free(text);
    memory = memory_new(0, 8); /* zero bytes can be allocated */
    free(memory);
}

static void ask_for_too_much(void)
{
    (void)memory_new(TOO_MUCH, 1);
}

static void ask_for_more_than_there_are_addresses(void)
{
    (void)memory_new(SIZE_MAX / 2, 4);
}

static void ask_for_too_much_more(void)
{
    (void)memory_more(memory_new(1, 1), TOO_MUCH, 1);
}

static void ask_for_too_large_an_arena(void)
{
    struct arena arena;
    arena_init(&arena, TOO_MUCH);
}

static void an_allocation_failure_ends_the_program_with_a_sentence(void **state)
{
    (void)state;
    static const char sentence[] = "hearsay: out of memory: the system does not give ";
    end_in_child(ask_for_too_much, sentence);
    assert_non_null(strstr(said, "take a smaller model or batch"));
    end_in_child(ask_for_more_than_there_are_addresses, sentence);
    end_in_child(ask_for_too_much_more, sentence);
    end_in_child(ask_for_too_large_an_arena, sentence);
}

static void *double_it(void *argument)
{
    int *number = argument;
    *number *= 2;
    return NULL;
}

static void a_thread_runs(void **state)
{
    (void)state;
    pthread_t thread;
    int number = 21;
    thread_begin(&thread, double_it, &number);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(number, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zeroed_and_growing_keeps_its_content),
        cmocka_unit_test(an_allocation_failure_ends_the_program_with_a_sentence),
        cmocka_unit_test(a_thread_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
