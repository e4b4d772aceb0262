#include "commands/operator/moment.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_MS 1000ull
#define DAY_MS    (86400 * SECOND_MS)
#define AGO_MAX   (36500 * DAY_MS) /* longest age: a century */

/* Parses an age such as "2h30m": numbers with units, the larger unit first. */
static bool parse_ago(const char *text, uint64_t *ago_ms)
{
    static const struct {
        char letter;
        uint64_t ms;
    } UNITS[] = {{'d', DAY_MS}, {'h', 3600 * SECOND_MS}, {'m', 60 * SECOND_MS}, {'s', SECOND_MS}};
    size_t unit = 0;
    *ago_ms = 0;
    while (isdigit((unsigned char)*text)) {
        char *end;
        const double number = strtod(text, &end);
        while (unit < sizeof UNITS / sizeof *UNITS && UNITS[unit].letter != *end)
            unit++;
        if (unit == sizeof UNITS / sizeof *UNITS ||
            !(number * (double)UNITS[unit].ms <= (double)AGO_MAX))
            return false;
        *ago_ms += (uint64_t)(number * (double)UNITS[unit++].ms);
        text = end + 1;
        if (*text == '\0')
            return true;
    }
    return false;
}

/* Returns true if `rest`, the text after a time of day, is valid: optional fractions of a second,
 * then nothing, "Z" or " UTC". */
static bool is_over(const char *rest)
{
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    return *rest == '\0' || strcmp(rest, "Z") == 0 || strcmp(rest, " UTC") == 0;
}

/* Converts a date to milliseconds since 1970. Returns false if the day does not exist; timegm would
 * turn February 30 into a day of March. */
static bool to_ms(const struct tm *named, uint64_t *ms)
{
    struct tm moment = *named;
    const time_t seconds = timegm(&moment);
    if (seconds < 0 || moment.tm_mday != named->tm_mday || moment.tm_sec != named->tm_sec)
        return false;
    *ms = (uint64_t)seconds * SECOND_MS;
    return true;
}

static bool parse_moment(const char *text, const char *const forms[static 4], struct tm *moment)
{
    const struct tm as_given = *moment;
    for (int i = 0; i < 4; i++) {
        *moment = as_given;
        const char *rest = forms[i] ? strptime(text, forms[i], moment) : NULL;
        if (rest && is_over(rest))
            return true;
    }
    return false;
}

static bool parse_day(const char *text, uint64_t *ms)
{
    static const char *const FORMS[4] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
                                         "%Y-%m-%dT%H:%M"};
    struct tm moment = {0};
    return parse_moment(text, FORMS, &moment) && to_ms(&moment, ms);
}

/* Parses a time of day and returns its latest occurrence, today or yesterday. */
static bool parse_time_of_day(const char *text, uint64_t now_ms, uint64_t *ms)
{
    static const char *const FORMS[4] = {"%H:%M:%S", "%H:%M"};
    const time_t now = (time_t)(now_ms / SECOND_MS);
    struct tm moment;
    if (!gmtime_r(&now, &moment))
        return false;
    moment.tm_sec = 0;
    if (!parse_moment(text, FORMS, &moment) || !to_ms(&moment, ms))
        return false;
    if (*ms > now_ms && *ms >= DAY_MS)
        *ms -= DAY_MS;
    return true;
}

enum error moment_parse(const char *text, uint64_t now_ms, uint64_t *moment_ms,
                        struct problem *problem)
{
    uint64_t ms, ago_ms;
    if (parse_ago(text, &ago_ms))
        ms = ago_ms < now_ms ? now_ms - ago_ms : 0;
    else if (!parse_time_of_day(text, now_ms, &ms) && !parse_day(text, &ms))
        return problem_set(problem, MALFORMED,
                           "--since %.40s: say how long ago, such as 90s, 2h30m or 3d, or when, "
                           "in UTC, such as 14:30 or \"2026-11-25 14:30\"",
                           text);
    if (ms > now_ms)
        return problem_set(problem, MALFORMED,
                           "--since %.40s: this time is in the future; times are UTC", text);
    *moment_ms = ms;
    return OK;
}

static double age_of(const json_t *mark)
{
    return json_number_value(json_array_get(mark, 1));
}

bool moment_keep(const json_t *row, double horizon_s, double age_s, uint64_t *keep,
                 double *origin_s)
{
    const json_t *arrivals = json_object_get(row, "arrivals");
    const size_t count = json_array_size(arrivals);
    const bool has_all = json_integer_value(json_object_get(row, "log_first")) == 0;
    CHECK(age_s >= 0);
    *origin_s = has_all     ? (double)INFINITY
                : count > 0 ? age_of(json_array_get(arrivals, count - 1))
                            : horizon_s;
    if (!(age_s <= *origin_s))
        return false;
    size_t i = 0;
    while (i < count && age_of(json_array_get(arrivals, i)) < age_s)
        i++;
    /* If no arrival is listed, the log has lost all rumors of the origin. So they are older than
     * horizon_s and than age_s, and stay. */
    if (count == 0 && !has_all)
        *keep = (uint64_t)json_integer_value(json_object_get(row, "rumors"));
    else if (i == count)
        *keep = 0;
    else
        *keep = (uint64_t)json_integer_value(json_array_get(json_array_get(arrivals, i), 0)) + 1;
    return true;
}
