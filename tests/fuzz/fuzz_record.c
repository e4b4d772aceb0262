/* Member records: an accepted record is encoded again with equal fields, and its host is a
 * terminated text. */
#include "fuzz/believe.h"
#include "fuzz/fuzz.h"
#include "wire/record.h"

static const uint8_t context[CONTEXT_BYTES] = {7};
static struct identity identity;

void fuzz_begin(void)
{
    const uint8_t seed[SEED_BYTES] = {1};
    secret_start();
    identity_from_seed(&identity, seed);
    believe_signatures();
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct record record, again;
    uint8_t in[RECORD_BYTES] = {0}, out[RECORD_BYTES];
    memcpy(in, data, bytes < sizeof in ? bytes : sizeof in);
    if (record_parse(in, &record) != OK)
        return;
    CHECK(memchr(record.address.host, 0, sizeof record.address.host));
    CHECK(record.renew_ms <= RENEW_MS_MAX && record.stage < STAGES);
    record_create(&record, &identity, context, out);
    CHECK(record_verify(out, context) == OK && record_parse(out, &again) == OK);
    /* all fields except the host, which may have any bytes behind its end */
    CHECK(memcmp(in, out, 96) == 0);
    CHECK(strcmp(again.address.host, record.address.host) == 0);
}
