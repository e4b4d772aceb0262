#include "support/base/comma_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool comma_locale_is_set(void)
{
    return localeconv()->decimal_point[0] == ',';
}

static bool is_there(void)
{
    static const char *const NAMES[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (setlocale(LC_ALL, NAMES[i]))
            return comma_locale_is_set();
    return false;
}

bool comma_locale_set(void)
{
    char folder[] = "/tmp/hearsay-locale-XXXXXX", command[256];
    if (is_there())
        return true;
    if (!mkdtemp(folder) || setenv("LOCPATH", folder, 1) != 0)
        return false;
    (void)snprintf(command, sizeof command,
                   "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    const bool is_made = system(command) == 0 && is_there();
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && is_made;
}
