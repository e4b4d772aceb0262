/* Reads and prints numbers with a decimal point, whatever locale the host program has set.
 *
 * strtod, printf and the libraries that use them follow LC_NUMERIC. A program that embeds a node
 * may have set a locale with a decimal comma. So hearsay's own threads, hearsay_open, and the calls
 * of hearsay.h that can return HEARSAY_BUSY use the C locale. Other threads keep their locale.
 * Tests: tests/unit/base/test_c_locale.c and tests/unit/library/test_locale.c.
 */
#ifndef HEARSAY_BASE_C_LOCALE_H
#define HEARSAY_BASE_C_LOCALE_H

/* Switches this thread to the C locale until the matching c_locale_leave. Calls may be nested. */
void c_locale_enter(void);

/* Ends one c_locale_enter. The outermost call restores the locale that this thread had before. */
void c_locale_leave(void);

/* Calls a function of the host program in the locale that this thread had before c_locale_enter. */
void c_locale_call(void (*function)(void *self), void *self);

#endif
