#include "fuzz/claims.h"

#include "base/digest.h"
#include "frame/bytes.h"
#include "node/broadcast/history.h"
#include "node/broadcast/version.h"
#include "wire/block.h"

#define CLAIMS_MAX 6

static struct reported_samples {
    uint32_t count;
    struct signed_head heads[CLAIMS_MAX]; /* head of the last rumor of each origin */
    uint64_t tags[CLAIMS_MAX];
    uint32_t factor; /* entry i of the claimed base is factor · i */
} claim;

static uint8_t version_bytes[CLAIMS_MAX * VERSION_ENTRY_BYTES];

void claims_begin(void)
{
    claim = (struct reported_samples){0};
}

void remember_head(struct member *origin, const struct signed_head *head)
{
    memcpy(origin->prev, head->hash, sizeof origin->prev);
    origin->seq = signed_head_seq(head) + 1;
}

void make_head(struct signed_head *head, const uint8_t *id, uint64_t incarnation, uint32_t seq,
               uint64_t samples)
{
    uint8_t bytes[SIGNED_HEAD_BYTES] = {0};
    memcpy(bytes, id, ID_BYTES);
    bytes_put(bytes + HEAD_INCARNATION_AT, incarnation, 8);
    bytes_put(bytes + HEAD_SEQ_AT, seq, 4);
    bytes_put(bytes + HEAD_COUNT_AT, 1, HEAD_COUNT_BYTES);
    bytes_put(bytes + HEAD_SAMPLES_AT, samples, HEAD_SAMPLES_BYTES);
    bytes_put_float(bytes + HEAD_TAU_AT, 0.5f);
    bytes_put(bytes + HEAD_AMOUNT_AT, 1000, 4);
    bytes[HEAD_PREV_AT] = seq > 0;
    signed_head_read(head, bytes, scene->context);
}

void make_claim(void)
{
    claim.count = input_byte(&input) % (CLAIMS_MAX + 1);
    claim.factor = input_byte(&input);
    for (uint32_t i = 0; i < claim.count; i++) {
        const uint8_t who = input_byte(&input);
        const uint8_t *id = scene_identity(who % (SCENE_MEMBERS + 1))->id;
        struct member *member = &scene->members[who % SCENE_MEMBERS];
        const uint64_t incarnation = who & 128  ? pick()
                                     : who < 64 ? member->incarnation
                                                : node_incarnation(scene->node);
        const uint32_t next = (uint32_t)pick();
        make_head(&claim.heads[i], id, incarnation, next > 0 ? next - 1 : 0, pick());
        claim.tags[i] = origin_tag(id, incarnation);
        if (who & 32) /* the member's next rumor follows this head */
            remember_head(member, &claim.heads[i]);
    }
}

static size_t put_version(uint8_t *out)
{
    for (uint32_t i = 0; i < claim.count; i++)
        version_entry_put(out + i * VERSION_ENTRY_BYTES, claim.tags[i],
                          signed_head_seq(&claim.heads[i]) + 1, claim.heads[i].hash);
    return claim.count * VERSION_ENTRY_BYTES;
}

static size_t put_heads(uint8_t *out)
{
    for (uint32_t i = 0; i < claim.count; i++)
        memcpy(out + i * SIGNED_HEAD_BYTES, claim.heads[i].bytes, SIGNED_HEAD_BYTES);
    return claim.count * SIGNED_HEAD_BYTES;
}

static uint64_t claimed_digest(void)
{
    uint64_t digest = 0;
    for (uint32_t i = 0; i < SCENE_PARAMETERS; i++)
        digest = digest_add(digest, digest_of_entry(i, claim.factor * i));
    return digest;
}

/* Sends a VERSION message with the claim. The bits of `shape` replace fields by invented values and
 * set flags. */
void say_version(void)
{
    uint8_t learned[CLAIMS_MAX * LEARNED_BYTES];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    const size_t bytes = put_version(version_bytes);
    for (uint32_t i = 0; i < claim.count; i++) {
        const struct learned of = {.samples = signed_head_samples(&claim.heads[i]),
                                   .rate = shape & 1};
        learned_put(learned + i * LEARNED_BYTES, &of);
    }
    struct message version = {.kind = VERSION,
                              .digest = shape & 2 ? pick() : claimed_digest(),
                              .hash = shape & 4 ? pick() : entries_hash(version_bytes, claim.count),
                              .rumors = shape & 8 ? pick() : 200,
                              .members = shape & 16 ? pick() : 5,
                              .base = shape >> 5 & 1,
                              .whole = shape >> 6 & 1,
                              .bulk = {version_bytes, bytes}};
    if (version.whole)
        version.text = (struct bytes){learned, claim.count * LEARNED_BYTES};
    (void)scene_say(scene, speaker, &version);
}

void say_history(void)
{
    uint8_t bytes[CLAIMS_MAX * HISTORY_ENTRY_BYTES];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    const size_t count = put_heads(bytes);
    const struct message history = {.kind = HISTORY,
                                    .digest = shape & 1 ? pick() : claimed_digest(),
                                    .part = shape & 2 ? pick() : 0,
                                    .parts = shape & 4 ? pick() : 1,
                                    .bulk = {bytes, count}};
    (void)scene_say(scene, speaker, &history);
}

static void say_block(struct member *speaker, uint64_t block, uint8_t shape)
{
    int32_t units[SCENE_BLOCK_ENTRIES];
    uint8_t bytes[BLOCK_MAX];
    for (uint32_t i = 0; i < SCENE_BLOCK_ENTRIES; i++)
        units[i] = (int32_t)(claim.factor * ((uint32_t)block * SCENE_BLOCK_ENTRIES + i));
    const size_t entries = put_version(version_bytes);
    const size_t count = block_encode(units, SCENE_BLOCK_ENTRIES, bytes);
    const struct message message = {.kind = BLOCK,
                                    .block = block,
                                    .hash = shape & 1 ? pick()
                                                      : entries_hash(version_bytes, claim.count),
                                    .entries = {version_bytes, shape & 2 ? 0 : entries},
                                    .bulk = {bytes, shape & 4 ? 0 : count}};
    (void)scene_say(scene, speaker, &message);
}

/* Sends one block of the claimed base, or up to eight of the blocks that the node last requested.
 */
void say_blocks(void)
{
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    const struct message *asked = &speaker->last[FETCH];
    if (shape & 128) {
        say_block(speaker, pick(), shape);
        return;
    }
    const uint64_t first = asked->block, count = speaker->heard[FETCH] > 0 ? asked->count : 0;
    for (uint64_t i = 0; i < count && i < 8; i++)
        say_block(speaker, first + i, shape);
}

void say_heads(void)
{
    uint8_t bytes[CLAIMS_MAX * SIGNED_HEAD_BYTES];
    struct member *speaker = pick_member();
    const uint64_t tag = pick();
    const struct message heads = {.kind = HEADS, .tag = tag, .bulk = {bytes, put_heads(bytes)}};
    (void)scene_say(scene, speaker, &heads);
}
