/* A locale with a decimal comma, for tests: the machine's, or one that localedef makes. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_COMMA_LOCALE_H
#define HEARSAY_TESTS_SUPPORT_BASE_COMMA_LOCALE_H

#include <stdbool.h>

/* Sets it for the whole process. False: there is none, and none can be made. */
bool comma_locale_set(void);

/* Do numbers of this thread have a comma now? */
bool comma_locale_is_set(void);

#endif
