#include "support/net/stream.h"
#include "support/sim/takeover_story.h"

void must_go_on_with_its_own_base(void)
{
    assert_false(puppet.closed);
    assert_false(is_catching_up(0));
    assert_int_equal(bases_of(0), 0);
    must_have_the_base_it_had();
    assert_one_version();
}

void say_knows(uint32_t rumors)
{
    uint8_t slice[VERSION_ENTRY_BYTES];
    puppet_entry(&puppet, rumors, slice);
    uint8_t learned[LEARNED_BYTES];
    learned_put(learned, &(struct learned){.samples = LEARNED});
    puppet_say(&puppet, &(struct message){.kind = VERSION,
                                          .hash = entries_hash(slice, 1),
                                          .rumors = MANY,
                                          .base = 1,
                                          .whole = 1,
                                          .learned = {learned, sizeof learned},
                                          .bulk = {slice, sizeof slice}});
}

void say_ahead(void)
{
    say_knows(MANY);
}

void must_ask_within(uint64_t within_ns)
{
    const uint32_t heard = puppet.heard[TAKE];
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (puppet.heard[TAKE] == heard) {
        assert_true(world_now_ns(&world) < end_ns);
        run(10 * MS_NS);
    }
}

void start_talk_of_much_more(void)
{
    start_talk_at_rest();
    world.check.outsiders_publish = true; /* histories contain rumors of outsiders */
    say_ahead();
    must_ask_within(5 * SECOND_NS);
}

/* Maximum size of a part in which say_whole_history sends a history. */
#define PART_BYTES ((size_t)300 * HISTORY_ENTRY_BYTES)

static uint8_t history_bytes[(HISTORY_ENTRY_BYTES + 1) * 1000];

size_t history_of(uint32_t incarnations, uint32_t next)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < incarnations; i++) {
        const struct signed_head head = puppet_head(&puppet, 1 + i, next - 1);
        memcpy(history_bytes + bytes, head.bytes, HISTORY_ENTRY_BYTES);
        bytes += HISTORY_ENTRY_BYTES;
    }
    return bytes;
}

size_t history_of_strangers(uint32_t nodes)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        const uint8_t seed[SEED_BYTES] = {0x73, (uint8_t)i, (uint8_t)(i >> 8)};
        struct identity stranger;
        identity_from_seed(&stranger, seed);
        const struct signed_head head = stream_head(&stranger, 1, 0, 1, puppet.context);
        memcpy(history_bytes + bytes, head.bytes, HISTORY_ENTRY_BYTES);
        bytes += HISTORY_ENTRY_BYTES;
    }
    return bytes;
}

void say_whole_history(size_t bytes)
{
    const uint64_t parts = (bytes + PART_BYTES - 1) / PART_BYTES;
    for (uint64_t part = 0; part < parts; part++) {
        const size_t at = part * PART_BYTES;
        const size_t rest = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;
        puppet_say(&puppet, &(struct message){.kind = HISTORY,
                                              .digest = 7,
                                              .part = part,
                                              .parts = parts,
                                              .bulk = {history_bytes + at, rest}});
    }
}

void say_history(uint64_t part, uint64_t parts, size_t bytes)
{
    puppet_say(&puppet, &(struct message){.kind = HISTORY,
                                          .digest = 7,
                                          .part = part,
                                          .parts = parts,
                                          .bulk = {history_bytes, bytes}});
}
