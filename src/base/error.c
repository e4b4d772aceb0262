#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
    }
    return "unknown";
}

enum error problem_set(struct problem *problem, enum error error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return error;
}

_Noreturn void check_failed(const char *file, int line, const char *condition)
{
    (void)fprintf(stderr, "hearsay: a defect: %s:%d: not (%s)\n", file, line, condition);
    abort();
}
