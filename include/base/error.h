/* How functions report failures.
 *
 *   our mistake          CHECK(cond): always on; prints where and what, runs the hooks, aborts
 *   the world's fault    enum error: outputs are valid only on OK
 *   a person must act    struct problem: one sentence saying what is wrong and what to do
 *   nothing can be done  fatal(sentence): for example, the system has no memory left
 *
 * Tests: tests/unit/base/test_error.c.
 */
#ifndef HEARSAY_BASE_ERROR_H
#define HEARSAY_BASE_ERROR_H

#include <stdbool.h>

#define MUST_USE __attribute__((warn_unused_result))

enum error {
    OK = 0,
    MALFORMED, /* bytes or text do not have their format */
    TOO_BIG,   /* a limit or a buffer is exceeded */
    FORGED,    /* an authentication tag or a signature is invalid */
    MISMATCH, /* content of another swarm, model or protocol, or parts that do not fit each other */
    MISSING,  /* the requested file, key or thing does not exist */
    FAILED,   /* the operating system refused a request, or an operation went wrong */
    /* a setting is wrong, by itself or for the data */
    WRONG_SETTING
};

const char *error_name(enum error error);

/* A message for a person, of at most 511 bytes. */
struct problem {
    char text[512];
};

/* Writes the message (printf format) to *problem, with a question mark for each control character.
 * Returns `error`, for `return problem_set(…);`. */
enum error problem_set(struct problem *problem, enum error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "hearsay: SENTENCE" (printf format) on standard error and ends the program with exit code
 * 1, at once and from any thread. Uses no heap memory and no lock; buffered stdio output is
 * lost. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints file, line, condition and a backtrace to standard error, runs the hooks and aborts. If
 * several threads fail, only the first one does this, and the others wait for the abort. If a hook
 * fails a CHECK, the program aborts at once. */
_Noreturn void check_failed(const char *file, int line, const char *condition);

/* An action for the case that a CHECK fails. The owner keeps the struct in place until
 * check_forget. Hooks run once, the latest first, on the thread that failed. They may not allocate
 * memory, take a lock or use stdio streams. Any thread may register and remove them. */
struct check_hook {
    void (*run)(void *context); /* the action */
    void *context;
    struct check_hook *before; /* hook registered before this one; set by check_on_failure */
};
void check_on_failure(struct check_hook *hook);

void check_forget(struct check_hook *hook);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, #condition);                                          \
    } while (0)

#endif
