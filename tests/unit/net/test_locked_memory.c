/* Locked memory for keys: its properties, and wiping after a failed CHECK. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "crypto/locked_memory.h"
#include "crypto/secret.h"

#define BYTES 10000

#if defined(__has_feature) /* clang */
#define IS_SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__) /* gcc */
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

static struct locked_memory memory;

static int start(void **state)
{
    (void)state;
    secret_start();
    return 0;
}

static int take(void **state)
{
    (void)state;
    locked_memory_init(&memory, BYTES);
    return 0;
}

static int give_back(void **state)
{
    (void)state;
    locked_memory_free(&memory);
    return 0;
}

/* Returns true if the kernel lists this flag for the address's mapping (proc(5), smaps). */
static bool has_flag(const void *address, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool is_here = false, has = false;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_here = (uintptr_t)address >= from && (uintptr_t)address < to;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            has = strstr(line, flag) != NULL;
    }
    (void)fclose(file);
    return has;
}

static void locked_memory_is_zeroed_and_of_the_requested_size(void **state)
{
    (void)state;
    const uint8_t *all = arena_alloc(&memory.arena, BYTES, 1);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(all[i], 0);
    assert_int_equal((uintptr_t)all % 64, 0);
}

static void core_dumps_exclude_locked_memory(void **state)
{
    (void)state;
    int own = 0;
    assert_true(has_flag(memory.arena.start, " dd"));
    assert_true(has_flag(memory.arena.start + BYTES - 1, " dd"));
    assert_false(has_flag(&own, " dd"));
}

static void memory_is_locked_or_the_reason_is_reported(void **state)
{
    (void)state;
    char text[LOCKED_MEMORY_TEXT_BYTES];
    if (IS_SANITIZED)
        skip(); /* AddressSanitizer's mlock succeeds without locking */
    locked_memory_text(&memory, text);
    assert_true(has_flag(memory.arena.start, " lo") == (memory.refusal == 0));
    assert_non_null(strstr(text, memory.refusal == 0 ? "10 KiB for keys are locked" : "ulimit -l"));
}

static void a_failed_lock_is_reported_with_a_remedy(void **state)
{
    (void)state;
    char text[LOCKED_MEMORY_TEXT_BYTES];
    const struct locked_memory refused = {.arena.size_bytes = 65537, .refusal = ENOMEM};
    locked_memory_text(&refused, text);
    assert_string_equal(text, "keys may be swapped out: 65 KiB cannot be locked in memory: Cannot "
                              "allocate memory; allow it (ulimit -l, or LimitMEMLOCK= of a unit)");
}

/* Runs a function in a child process and returns its status (waitpid(2)). */
static int end_of(void (*what)(void))
{
    int end;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        what();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &end, 0), child);
    return end;
}

static void read_behind_it(void)
{
    volatile const uint8_t *all = memory.arena.start;
    (void)all[memory.arena.size_bytes];
}

static void read_its_end(void)
{
    volatile const uint8_t *all = memory.arena.start;
    (void)all[memory.arena.size_bytes - 1];
}

static void reading_beyond_locked_memory_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(end_of(read_its_end), 0);
    assert_int_not_equal(end_of(read_behind_it), 0);
}

static uint8_t *shown; /* copy of the child's locked memory, shared with the parent */

/* Runs after the hook that wipes keys, because that hook was registered later. */
static void show(void *context)
{
    const struct locked_memory *own = context;
    memcpy(shown, own->arena.start, BYTES);
}

static void fail_with_a_key(void)
{
    static struct locked_memory own;
    static struct check_hook hook = {.run = show, .context = &own};
    check_on_failure(&hook);
    locked_memory_init(&own, BYTES);
    memset(own.arena.start, 0x5A, BYTES);
    memset(shown, 0xFF, BYTES);
    CHECK(shown == NULL);
}

static void a_failed_check_wipes_locked_memory(void **state)
{
    (void)state;
    static const uint8_t nothing[BYTES];
    shown = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shown, MAP_FAILED);
    assert_int_not_equal(end_of(fail_with_a_key), 0);
    assert_memory_equal(shown, nothing, BYTES);
    assert_int_equal(munmap(shown, BYTES), 0);
}

static void refuse_dumps(void)
{
    locked_memory_refuse_dumps();
    _exit(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) + 10);
}

static void a_process_can_refuse_core_dumps(void **state)
{
    (void)state;
    const int end = end_of(refuse_dumps);
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer's leak check would fail */
    assert_int_equal(WEXITSTATUS(end), 10);
#else
    assert_int_equal(WEXITSTATUS(end), 11);
#endif
}

static void locked_memory_can_be_allocated_again(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        locked_memory_free(&memory);
        locked_memory_free(&memory);
        locked_memory_init(&memory, BYTES);
    }
    assert_int_equal(*memory.arena.start, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, take, give_back)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(locked_memory_is_zeroed_and_of_the_requested_size),
        TEST(core_dumps_exclude_locked_memory),
        TEST(memory_is_locked_or_the_reason_is_reported),
        cmocka_unit_test(a_failed_lock_is_reported_with_a_remedy),
        TEST(reading_beyond_locked_memory_ends_the_process),
        cmocka_unit_test(a_failed_check_wipes_locked_memory),
        cmocka_unit_test(a_process_can_refuse_core_dumps),
        TEST(locked_memory_can_be_allocated_again),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
