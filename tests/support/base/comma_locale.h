/* A locale with a decimal comma, for tests: an installed one, or one made by localedef. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_COMMA_LOCALE_H
#define HEARSAY_TESTS_SUPPORT_BASE_COMMA_LOCALE_H

#include <stdbool.h>

/* Sets the locale for the whole process. Returns false if none is installed and localedef cannot
 * make one. */
bool comma_locale_set(void);

bool comma_locale_is_set(void);

#endif
