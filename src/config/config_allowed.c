#include "config/config_allowed.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"

struct config_size config_allowed_size(uint64_t bytes)
{
    static const char *const suffix[] = {"", "K", "M", "G"};
    struct config_size size;
    int power = 0;
    while (power < 3 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        power++;
    }
    (void)snprintf(size.text, sizeof size.text, "%llu%s", (unsigned long long)bytes, suffix[power]);
    return size;
}

static struct config_size bound_text(const struct config_key *key, double bound)
{
    struct config_size size;
    if (key->type == CONFIG_SIZE)
        return config_allowed_size((uint64_t)bound);
    (void)snprintf(size.text, sizeof size.text, "%.10g", bound);
    return size;
}

static struct config_allowed number_allowed(const struct config_key *key)
{
    struct config_allowed allowed;
    const char *unit = key->unit ? key->unit : "";
    const char *blank = key->unit ? " " : "";
    const char * or = key->words ? ", or " : "";
    const char *word = key->words ? key->words : "";
    const struct config_size min = bound_text(key, key->min);
    const struct config_size max = bound_text(key, key->max);
    CHECK(key->min <= key->max);
    if (key->max >= CONFIG_NO_MAX)
        (void)snprintf(allowed.text, sizeof allowed.text, "%s%s%s or more%s%s", min.text, blank,
                       unit, or, word);
    else
        (void)snprintf(allowed.text, sizeof allowed.text, "%s to %s%s%s%s%s", min.text, max.text,
                       blank, unit, or, word);
    return allowed;
}

static struct config_allowed address_allowed(const struct config_key *key)
{
    struct config_allowed allowed;
    CHECK(key->words);
    (void)snprintf(allowed.text, sizeof allowed.text, "host:port, [IPv6]:port or %s",
                   key->words[0] ? key->words : "empty");
    return allowed;
}

struct config_allowed config_allowed_of(const struct config_key *key)
{
    struct config_allowed allowed;
    switch (key->type) {
    case CONFIG_U32:
    case CONFIG_U64:
    case CONFIG_SIZE:
    case CONFIG_REAL:
        return number_allowed(key);
    case CONFIG_ADDRESS:
        return address_allowed(key);
    case CONFIG_LISTEN:
        return (struct config_allowed){"IPv4:port or [IPv6]:port, such as 0.0.0.0:7770, or none"};
    case CONFIG_BOOL:
        return (struct config_allowed){"yes or no"};
    case CONFIG_CHOICE:
        (void)snprintf(allowed.text, sizeof allowed.text, "%s%s",
                       strchr(key->words, '|') ? "one of " : "", key->words);
        return allowed;
    case CONFIG_TEXT:
    case CONFIG_PATH:
        (void)snprintf(allowed.text, sizeof allowed.text, "%.0f to %zu characters", key->min,
                       key->bytes - 1);
        return allowed;
    case CONFIG_ADDRESSES:
        (void)snprintf(allowed.text, sizeof allowed.text,
                       "up to %d of host:port or [IPv6]:port, separated by commas",
                       CONFIG_PEERS_MAX);
        return allowed;
    case CONFIG_SLICE:
        (void)snprintf(allowed.text, sizeof allowed.text, "i/n with 1 <= i <= n <= %d%s%s",
                       CONFIG_SLICES_MAX, key->words ? ", or " : "", key->words ? key->words : "");
        return allowed;
    case CONFIG_DEVICE:
        return (struct config_allowed){DEVICE_WORDS};
    }
    check_failed(__FILE__, __LINE__, "every type has its bounds");
}

enum error config_allowed_refuse(const struct config_key *key, const char *text, const char *why,
                                 struct problem *problem)
{
    CHECK(why[0]);
    struct config_allowed allowed = config_allowed_of(key);
    return problem_set(problem, MALFORMED, "[%s] %s = %.80s%s: %.120s; allowed: %s", key->section,
                       key->name, text, strlen(text) > 80 ? "..." : "", why, allowed.text);
}
