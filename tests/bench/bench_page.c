/* Measures what a watched status page costs its node: bench_page [MEMBERS]
 *
 * The swarm has MEMBERS members (256), 32 of them neighbours. Prints the median times of an update
 * for watchers, once a second, and of a request for the metrics, as parts of a second's CPU time.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "web/metrics.h"
#include "web/node_snapshot.h"

#define ROUNDS 101
#define LINKS  32

static json_t *member(int i)
{
    char id[65], address[32];
    (void)snprintf(id, sizeof id, "%064x", (unsigned)i * 2654435761u);
    (void)snprintf(address, sizeof address, "192.0.2.%d:7770", i % 250);
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:f, s:i, s:f, s:f, s:f, s:f}", "id", id, "address",
                     address, "state", "live", "is_self", i == 0, "base_digest", "0123456789abcdef",
                     "base_share", 0.004, "samples", 123456 + i, "samples_per_second", 200.5,
                     "uplink_bytes_per_s", 1.25e6, "lag_s", 0.25, "age_s", 3.5);
}

static json_t *page_of(int members)
{
    json_t *page =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:i, s:{s:f, s:f}, s:[], s:[], s:[]}", "id",
                  "00", "program", "0", "swarm", "hearsay", "stage", "running", "digest",
                  "0123456789abcdef", "uptime_s", 1e5, "lag_s", 0.0, "samples", 1234567, "spent",
                  "steps_s", 9e4, "exchange_s", 1e3, "members", "links", "step_seconds");
    CHECK(page);
    for (int i = 0; i < members; i++)
        CHECK(json_array_append_new(json_object_get(page, "members"), member(i)) == 0);
    for (int i = 1; i <= LINKS && i < members; i++) {
        json_t *link = member(i);
        CHECK(json_object_update_new(link, json_pack("{s:b, s:f, s:f}", "open", 1, "rtt_s", 0.04,
                                                     "rate_bytes_per_s", 1e6)) == 0);
        CHECK(json_array_append_new(json_object_get(page, "links"), link) == 0);
    }
    return page;
}

static void report(const char *what, uint64_t *took_ns, size_t bytes)
{
    const double median_ns = (double)u64_median_high(took_ns, ROUNDS);
    (void)printf("%-28s %8.0f us, %.3f %% of a second; %zu bytes\n", what, median_ns * 1e-3,
                 median_ns * 1e-7, bytes);
}

int main(int argc, char **argv)
{
    static struct trail trail;
    static struct happened happened;
    static uint64_t took_ns[ROUNDS];
    const int members = argc > 1 ? atoi(argv[1]) : 256;
    json_t *page = page_of(members);
    const double second[TRAIL_VALUES] = {0};
    size_t bytes = 0;
    trail_init(&trail);
    (void)trail_add(&trail, second);
    (void)printf("%d members, %d neighbours\n", members, LINKS);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t from_ns = system_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        json_t *snapshot = node_snapshot_update(page, &trail, true, &happened, 0);
        char *text = json_dumps(snapshot, JSON_COMPACT | JSON_REAL_PRECISION(9));
        json_decref(snapshot);
        took_ns[i] = system_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from_ns;
        bytes = strlen(text);
        free(text);
    }
    report("an update for those who watch", took_ns, bytes);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t from_ns = system_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        free(metrics_text(page, 0, &bytes));
        took_ns[i] = system_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from_ns;
    }
    report("a scrape", took_ns, bytes);
    json_decref(page);
    return 0;
}
