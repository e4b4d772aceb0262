/* A locale with a decimal comma, for tests: one of the machine, or one that localedef makes. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_COMMA_LOCALE_H
#define HEARSAY_TESTS_SUPPORT_BASE_COMMA_LOCALE_H

#include <stdbool.h>

/* Sets the locale for the whole process. Returns false if there is none and none can be made. */
bool comma_locale_set(void);

/* Returns true if numbers of this thread have a decimal comma now. */
bool comma_locale_is_set(void);

#endif
