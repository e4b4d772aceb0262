/* How functions say that something went wrong.
 *
 *   our mistake          CHECK(cond): always on; prints where and what, runs the hooks, aborts
 *   the world's fault    enum error: outputs are written only on OK
 *   a person must act    struct problem: one sentence saying what is wrong and what to do
 *   nothing can be done  fatal(sentence): the system lacks what no program can do without
 *
 * Held by tests/unit/base/test_error.c.
 */
#ifndef HEARSAY_BASE_ERROR_H
#define HEARSAY_BASE_ERROR_H

#include <stdbool.h>

#define MUST_USE __attribute__((warn_unused_result))

enum error {
    OK = 0,
    MALFORMED, /* the bytes break their format */
    TOO_BIG,   /* a limit or a buffer is exceeded */
    FORGED,    /* a tag or a signature does not hold */
    MISMATCH,  /* well-formed, but of another swarm, model or protocol */
    MISSING,   /* the file, key or thing asked for is not there */
    FAILED     /* the operating system refused */
};

const char *error_name(enum error error);

/* A sentence for a person. Room for one message of two lines. */
struct problem {
    char text[512];
};

/* Write the sentence (printf format) and return error: `return problem_set(…);` */
enum error problem_set(struct problem *problem, enum error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print "hearsay: SENTENCE" (printf format) on standard error and end with exit code 1, at once and
 * from any thread: it takes no memory and no lock, and what stdio holds back stays unwritten. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print file, line, condition and a backtrace to standard error, run the hooks, abort. The first
 * thread that comes here does so; another one waits for the end, and a hook that fails ends it. */
_Noreturn void check_failed(const char *file, int line, const char *condition);

/* Something to be done when a CHECK fails: whoever registers it keeps it where it is until it is
 * removed. Hooks run once, the latest first, on whatever thread failed: they may not allocate, lock
 * or use stdio streams. Any thread may register and remove them. */
struct check_hook {
    void (*run)(void *context); /* what is done */
    void *context;              /* passed to it */
    struct check_hook *before;  /* registered before it; check_on_failure's */
};
void check_on_failure(struct check_hook *hook);

/* Removes it; it must be there. */
void check_forget(struct check_hook *hook);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, #condition);                                          \
    } while (0)

#endif
