#include "base/c_locale.h"

#include <locale.h>
#include <pthread.h>

#include "base/error.h"

/* created once; 0 = the system could not create it, and the host's locale stays */
static locale_t c_locale;
static _Thread_local locale_t outside; /* locale of this thread before it entered the C locale */
/* number of c_locale_enter calls on this thread that c_locale_leave has not ended yet */
static _Thread_local unsigned depth;

static void make(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void c_locale_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(pthread_once(&once, make) == 0);
    if (depth++ == 0)
        outside = uselocale(c_locale);
}

void c_locale_leave(void)
{
    CHECK(depth > 0);
    if (--depth == 0)
        (void)uselocale(outside);
}

void c_locale_call(void (*function)(void *self), void *self)
{
    const unsigned before = depth;
    CHECK(before > 0);
    depth = 0; /* so that calls of hearsay.h inside the function enter the C locale again */
    (void)uselocale(outside);
    function(self);
    outside = uselocale(c_locale); /* the function may have changed its locale */
    depth = before;
}
