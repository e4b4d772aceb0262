/* Rumors, head and body: an accepted rumor is within all limits, decodes twice to equal entries,
 * and its entries can be encoded again. */
#include "fuzz/believe.h"
#include "fuzz/fuzz.h"
#include "support/base/updates.h"
#include "wire/rumor.h"

#define PARAMETERS 100000

static const uint8_t context[CONTEXT_BYTES] = {7};
static struct identity identity;
static uint32_t index_[RUMOR_ENTRIES_MAX], index_again[RUMOR_ENTRIES_MAX];
static int8_t level_[RUMOR_ENTRIES_MAX], level_again[RUMOR_ENTRIES_MAX];

void fuzz_begin(void)
{
    const uint8_t seed[SEED_BYTES] = {1};
    secret_start();
    identity_from_seed(&identity, seed);
    believe_signatures();
}

static void same_update(const struct update *a, const struct update *b)
{
    CHECK(a->tau == b->tau && a->amount == b->amount && a->count == b->count);
    CHECK(memcmp(a->index, b->index, a->count * sizeof *a->index) == 0);
    CHECK(memcmp(a->level, b->level, a->count * sizeof *a->level) == 0);
}

/* Checks that our encoder turns the entries into rumors that decode to these entries. */
static void comes_back(const struct rumor_head *head, const struct update *update)
{
    static uint8_t out[RUMOR_MAX];
    struct rumor_head ours = *head;
    memcpy(ours.origin, identity.id, ID_BYTES);
    for (uint32_t from = 0, taken; from < update->count; from += taken) {
        struct update again = {.index = index_again, .level = level_again};
        size_t bytes;
        rumor_encode(&ours, update, from, RUMOR_MAX, &identity, context, out, &taken, &bytes);
        CHECK(rumor_decode(out, bytes, context, PARAMETERS, RUMOR_ENTRIES_MAX, &again) == OK);
        const struct update part = {.tau = update->tau,
                                    .amount = update->amount,
                                    .count = taken,
                                    .index = update->index + from,
                                    .level = update->level + from};
        same_update(&again, &part);
    }
}

/* For two of three inputs the harness corrects the hash of the body and the signature. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    static uint8_t rumor[RUMOR_MAX];
    struct rumor_head head;
    struct update update = {.index = index_, .level = level_};
    if (bytes > sizeof rumor)
        return;
    memcpy(rumor, data, bytes);
    if (bytes >= RUMOR_MIN && rumor[HEAD_BODY_AT] % 3 != 0)
        (void)rumor_seal(rumor, bytes - HEAD_BYTES - SIGNATURE_BYTES, &identity, context);
    const enum error peeked = rumor_peek(rumor, bytes, &head);
    const enum error error =
        rumor_decode(rumor, bytes, context, PARAMETERS, RUMOR_ENTRIES_MAX, &update);
    CHECK(error != OK || peeked == OK);
    if (error != OK)
        return;
    CHECK(head.count == update.count && update_is_valid(&update, PARAMETERS));
    struct update again = {.index = index_again, .level = level_again};
    rumor_decode_again(rumor, bytes, PARAMETERS, &again);
    same_update(&again, &update);
    comes_back(&head, &update);
}
