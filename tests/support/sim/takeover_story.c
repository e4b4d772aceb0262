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
    version_entry_put(slice, origin_tag(puppet.identity.id, 1), rumors);
    uint8_t learned[LEARNED_BYTES];
    learned_put(learned, &(struct learned){.samples = LEARNED});
    puppet_say(&puppet, &(struct message){.kind = VERSION,
                                          .hash = entries_hash(slice, 1),
                                          .rumors = MANY,
                                          .base = 1,
                                          .whole = 1,
                                          .text = {learned, sizeof learned},
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
        run(10 * MILLI_NS);
    }
}

void start_talk_of_much_more(void)
{
    start_talk_at_rest();
    say_ahead();
    must_ask_within(5 * SECOND_NS);
}

static uint8_t history_bytes[(HISTORY_ENTRY_BYTES + 1) * 1000];

size_t history_of(uint32_t incarnations, uint32_t next)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < incarnations; i++) {
        struct history_entry entry = {.incarnation = 1 + i, .next = next, .samples = LEARNED};
        memcpy(entry.id, puppet.identity.id, ID_BYTES);
        history_entry_put(history_bytes + bytes, &entry);
        bytes += HISTORY_ENTRY_BYTES;
    }
    return bytes;
}

void say_history(uint64_t part, uint64_t parts, size_t bytes)
{
    puppet_say(&puppet, &(struct message){.kind = HISTORY,
                                          .digest = 7,
                                          .part = part,
                                          .parts = parts,
                                          .bulk = {history_bytes, bytes}});
}
