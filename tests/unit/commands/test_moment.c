/* The time that --since means, and how many rumors had arrived by then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "commands/operator/moment.h"

#define NOW_MS  1795617005250ull /* 2026-11-25 14:30:05.250 UTC */
#define HOUR_MS 3600000ull

static void a_moment_is_named_by_its_age_or_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ms;
    } CASES[] = {
        {"90s", NOW_MS - 90000},
        {"0s", NOW_MS},
        {"2h", NOW_MS - 2 * HOUR_MS},
        {"2h30m", NOW_MS - 5 * HOUR_MS / 2},
        {"1.5h", NOW_MS - 3 * HOUR_MS / 2},
        {"3d04h", NOW_MS - 76 * HOUR_MS},
        {"5m03s", NOW_MS - 303000},
        {"14:30", NOW_MS - 5250},
        {"14:30:05", NOW_MS - 250},
        {"14:30:05.2Z", NOW_MS - 250},
        {"04:30 UTC", NOW_MS - 5250 - 10 * HOUR_MS},
        {"14:31", NOW_MS - 5250 + 60000 - 24 * HOUR_MS}, /* 14:31 of the previous day */
        {"2026-11-25 14:30", NOW_MS - 5250},
        {"2026-11-24 14:30 UTC", NOW_MS - 5250 - 24 * HOUR_MS},
        {"2026-11-25T14:30:05Z", NOW_MS - 250},
        {"1970-01-01 00:00:01", 1000},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct problem problem = {""};
        uint64_t ms = 0;
        if (moment_parse(CASES[i].text, NOW_MS, &ms, &problem) != OK || ms != CASES[i].ms)
            fail_msg("%s: %llu, %s", CASES[i].text, (unsigned long long)ms, problem.text);
    }
}

static void rejects_an_invalid_time_with_a_sentence(void **state)
{
    (void)state;
    static const char *const BROKEN[] = {
        "",
        "now",
        "2",
        "2x",
        "h",
        "-2h",
        "2h 30m",
        "2h30",
        "30m2h",
        "2h2h",
        "nan s",
        "1e99d",
        "25:00",
        "14:60",
        "14:30x",
        "14.30",
        "2026",
        "2026-11-25",
        "2026-13-01 00:00",
        "2026-02-30 12:00",
        "1969-12-31 23:59",
        "14:30 CET",
        "2026-11-25 14:30:05.1 +01",
    };
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        struct problem problem = {""};
        uint64_t ms;
        if (moment_parse(BROKEN[i], NOW_MS, &ms, &problem) != MALFORMED)
            fail_msg("%s is taken", BROKEN[i]);
        assert_non_null(strstr(problem.text, "say how long ago"));
    }
    struct problem problem = {""};
    uint64_t ms;
    assert_int_equal(moment_parse("2026-11-25 14:31", NOW_MS, &ms, &problem), MALFORMED);
    assert_non_null(strstr(problem.text, "in the future"));
}

/* Returns how many of an origin's rumors are at least age_s old; -1 = its arrivals do not reach
 * back that far. */
static int kept(const char *row, double horizon_s, double age_s)
{
    json_t *origin = json_loads(row, 0, NULL);
    uint64_t keep;
    double origin_s;
    assert_non_null(origin);
    const bool found = moment_keep(origin, horizon_s, age_s, &keep, &origin_s);
    json_decref(origin);
    assert_true(found == (age_s <= origin_s));
    return found ? (int)keep : -1;
}

static void rumors_that_arrived_before_the_time_stay(void **state)
{
    (void)state;
    static const char *const FROM_ITS_BEGIN =
        "{\"rumors\":10,\"log_first\":0,\"arrivals\":[[9,1.5],[6,3.25],[2,8],[0,9]]}";
    assert_int_equal(kept(FROM_ITS_BEGIN, 5, 0), 10);
    assert_int_equal(kept(FROM_ITS_BEGIN, 5, 1.5), 10);
    assert_int_equal(kept(FROM_ITS_BEGIN, 5, 1.6), 7);
    assert_int_equal(kept(FROM_ITS_BEGIN, 5, 3.3), 3);
    assert_int_equal(kept(FROM_ITS_BEGIN, 5, 9), 1);
    assert_int_equal(kept(FROM_ITS_BEGIN, 5, 9.1), 0); /* before the first rumor */
}

static void the_log_may_not_reach_back(void **state)
{
    (void)state;
    static const char *const LONG_AGO =
        "{\"rumors\":10,\"log_first\":6,\"arrivals\":[[9,1.5],[7,3],[5,4]]}";
    static const char *const SILENT = "{\"rumors\":10,\"log_first\":10,\"arrivals\":[]}";
    assert_int_equal(kept(LONG_AGO, 60, 4), 6);
    /* holds even if the log reaches further back for other origins */
    assert_int_equal(kept(LONG_AGO, 60, 4.1), -1);
    assert_int_equal(kept(SILENT, 60, 60), 10);
    assert_int_equal(kept(SILENT, 60, 60.1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_named_by_its_age_or_its_time),
        cmocka_unit_test(rejects_an_invalid_time_with_a_sentence),
        cmocka_unit_test(rumors_that_arrived_before_the_time_stay),
        cmocka_unit_test(the_log_may_not_reach_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
