#include "base/error.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 64

static struct check_hook *latest;
/* protects `latest` in check_on_failure and check_forget */
static pthread_mutex_t hooks = PTHREAD_MUTEX_INITIALIZER;

const char *error_name(enum error error)
{
    switch (error) {
    case OK:
        return "ok";
    case MALFORMED:
        return "malformed";
    case TOO_BIG:
        return "too big";
    case FORGED:
        return "forged";
    case MISMATCH:
        return "mismatch";
    case MISSING:
        return "missing";
    case FAILED:
        return "failed";
    case WRONG_SETTING:
        return "wrong setting";
    }
    return "unknown";
}

/* The message may contain text from files, so control characters become question marks. */
static void write_problem(struct problem *problem, const char *format, va_list arguments)
{
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    for (char *at = problem->text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

enum error problem_set(struct problem *problem, enum error error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_problem(problem, format, arguments);
    va_end(arguments);
    return error;
}

void check_on_failure(struct check_hook *hook)
{
    void *frame;
    CHECK(hook && hook->run);
    /* Makes the C library load its unwinder now, because after a failure it may be too late. */
    (void)backtrace(&frame, 1);
    CHECK(pthread_mutex_lock(&hooks) == 0);
    hook->before = latest;
    latest = hook;
    CHECK(pthread_mutex_unlock(&hooks) == 0);
}

void check_forget(struct check_hook *hook)
{
    CHECK(pthread_mutex_lock(&hooks) == 0);
    struct check_hook **at = &latest;
    while (*at && *at != hook)
        at = &(*at)->before;
    CHECK(*at == hook);
    *at = hook->before;
    CHECK(pthread_mutex_unlock(&hooks) == 0);
}

/* Writes without stdio, whose locks and buffers may be broken. */
static void print(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* standard error does not work */
}

_Noreturn void fatal(const char *format, ...)
{
    struct problem problem;
    va_list arguments;
    va_start(arguments, format);
    write_problem(&problem, format, arguments);
    va_end(arguments);
    print("hearsay: ");
    print(problem.text);
    print("\n");
    _exit(EXIT_FAILURE);
}

static void print_failure(const char *file, int line, const char *condition)
{
    void *frames[FRAMES_MAX];
    char where[256];
    (void)snprintf(where, sizeof where, "hearsay: a defect: %.200s:%d: not (", file, line);
    print(where);
    print(condition);
    print(")\nbacktrace:\n");
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), STDERR_FILENO);
}

_Noreturn void check_failed(const char *file, int line, const char *condition)
{
    static atomic_flag has_failed = ATOMIC_FLAG_INIT;
    static _Thread_local bool is_failing;
    const bool is_first = !atomic_flag_test_and_set(&has_failed);
    while (!is_first && !is_failing)
        (void)pause();
    if (is_first) {
        is_failing = true;
        print_failure(file, line, condition);
        for (struct check_hook *hook; (hook = latest);) {
            latest = hook->before;
            hook->run(hook->context);
        }
    }
    abort();
}
