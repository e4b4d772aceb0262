/* Valid rumors exactly at the limits, signed by a separate identity of the attacker. Their numbers
 * continue from one connection to the next. Every node must accept these rumors, and may neither
 * disconnect the attacker nor expel their author. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "faults/hostile_private.h"
#include "node/orders/proofs.h"
#include "wire/move.h"

#define MORE_ONE_IN 4 /* one in this many calls of hostile_send_limits adds a rumor */
#define LENGTH_PART 8 /* largest norm of an update: sqrt(parameters) / LENGTH_PART, at least 1 */

struct draft {
    struct update update;
    uint32_t parameters;
};

static struct draft draft_new(const struct hostile *hostile)
{
    const struct node_options *options = &hostile->world->nodes[hostile->victim].options;
    struct draft draft = {.parameters = (uint32_t)options->parameters};
    draft.update.index = memory_new(draft.parameters, sizeof *draft.update.index);
    draft.update.level = memory_new(draft.parameters, 1);
    return draft;
}

static void draft_free(struct draft *draft)
{
    free(draft->update.index);
    free(draft->update.level);
}

/* Fills in `count` consecutive entries from a random index on, with level or -level each. */
static void fill_entries(struct draft *draft, struct rng *rng, uint32_t count, int level)
{
    struct update *update = &draft->update;
    CHECK(count >= 1 && count <= draft->parameters && level >= 1 && level <= LEVEL_MAX);
    const uint32_t first = rng_below(rng, draft->parameters - count + 1);
    update->count = count;
    for (uint32_t i = 0; i < count; i++) {
        update->index[i] = first + i;
        update->level[i] = (int8_t)(rng_below(rng, 2) ? level : -level);
    }
}

/* Draws one entry that changes a parameter by 1 (rounded down), the most that is allowed. */
static void draw_highest(struct draft *draft, struct rng *rng)
{
    static const uint8_t levels[] = {1, 2, 64, LEVEL_MAX};
    const int level = levels[rng_below(rng, sizeof levels)];
    fill_entries(draft, rng, 1, level);
    draft->update.amount = MOVE_MAX / (uint32_t)level;
}

/* Draws n · n entries with level 1 or -1 that have the largest allowed norm; n: a power of two. */
static void draw_longest(struct draft *draft, struct rng *rng)
{
    uint32_t root = 1;
    while (root * root < draft->parameters)
        root++;
    const uint32_t units = root > LENGTH_PART ? root * (MOVE_MAX / LENGTH_PART) : MOVE_MAX;
    uint32_t n = 1 << rng_below(rng, 5);
    while (n * n > draft->parameters)
        n /= 2;
    while (units / n > MOVE_MAX) /* no single entry may change a parameter by more than 1 */
        n *= 2;
    fill_entries(draft, rng, n * n, 1);
    draft->update.amount = units / n;
}

static void draw_fullest(struct draft *draft, struct rng *rng)
{
    fill_entries(draft, rng, draft->parameters, LEVEL_MAX);
    draft->update.amount = 1;
}

static void draw_content(struct draft *draft, struct rng *rng)
{
    draft->update.tau = TAU_MAX;
    switch (rng_below(rng, 3)) {
    case 0:
        draw_highest(draft, rng);
        break;
    case 1:
        draw_longest(draft, rng);
        break;
    default:
        draw_fullest(draft, rng);
        break;
    }
}

static void publish(struct hostile *hostile)
{
    struct limit_stream *stream = &hostile->stream;
    struct draft draft = draft_new(hostile);
    uint8_t rumor[RUMOR_MAX];
    uint32_t taken;
    size_t bytes;
    draw_content(&draft, &hostile->rng);
    struct rumor_head head = {.incarnation = 1, .seq = stream->count};
    head.samples = signed_head_samples(&stream->last) + HEAD_SAMPLES_STEP;
    memcpy(head.origin, stream->author.id, ID_BYTES);
    memcpy(head.prev, stream->last.hash, HEAD_HASH_BYTES);
    rumor_encode(&head, &draft.update, 0, RUMOR_MAX, &stream->author, hostile->context, rumor,
                 &taken, &bytes);
    draft.update.count = taken;
    rumor_signed_head(rumor, bytes, hostile->context, &stream->last);
    check_outsider_published(&hostile->world->check, stream->author.id, head.incarnation, head.seq,
                             &draft.update);
    stream->bytes[stream->count] = bytes;
    stream->rumors[stream->count] = memory_new(bytes, 1);
    memcpy(stream->rumors[stream->count++], rumor, bytes);
    draft_free(&draft);
}

/* Sends all rumors of the stream, because the victim may have missed some or restarted. */
void hostile_send_limits(struct hostile *hostile)
{
    struct limit_stream *stream = &hostile->stream;
    const bool is_more = stream->count == 0 || rng_below(&hostile->rng, MORE_ONE_IN) == 0;
    if (is_more && stream->count < LIMIT_RUMORS)
        publish(hostile);
    for (uint32_t i = 0; i < stream->count; i++)
        (void)peer_say(
            &hostile->peer,
            &(struct message){.kind = RUMOR, .bulk = {stream->rumors[i], stream->bytes[i]}});
}

void hostile_on_bye(struct hostile *hostile, const struct message *bye)
{
    static const char why[] = "sent an invalid rumor";
    if (hostile->attack == SENDS_RUMORS_AT_LIMITS && bye->text.count >= sizeof why - 1 &&
        memcmp(bye->text.at, why, sizeof why - 1) == 0)
        check_fail(&hostile->world->check,
                   "7: node %u disconnects because of a valid rumor at a limit", hostile->victim);
}

void hostile_stream_init(struct hostile *hostile, const uint8_t seed[static SEED_BYTES])
{
    identity_from_seed(&hostile->stream.author, seed);
}

void hostile_stream_end(struct hostile *hostile)
{
    struct limit_stream *stream = &hostile->stream;
    struct world *world = hostile->world;
    for (uint32_t i = 0; i < world->nodes_count; i++)
        if (world->nodes[i].node && proofs_against(world->nodes[i].node, stream->author.id))
            check_fail(&world->check, "7: node %u expels the author of valid rumors at a limit", i);
    for (uint32_t i = 0; i < stream->count; i++)
        free(stream->rumors[i]);
    secret_wipe(&stream->author, sizeof stream->author);
}
