#include "base/c_locale.h"

#include <locale.h>
#include <pthread.h>

#include "base/error.h"

static locale_t c_locale; /* made once; 0: the system gave none, and the host's is kept */
static _Thread_local locale_t outside; /* of this thread before it entered */
static _Thread_local unsigned depth;   /* calls of c_locale_enter that were not left */

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
    depth = 0; /* the function may call hearsay.h */
    (void)uselocale(outside);
    function(self);
    outside = uselocale(c_locale); /* it may have changed its locale */
    depth = before;
}
