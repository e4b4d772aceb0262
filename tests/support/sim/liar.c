#include "support/sim/liar.h"

#include <string.h>

#include "base/digest.h"
#include "base/min_max.h"
#include "support/net/stream.h"

#define CLAIMED_SAMPLES (1ULL << 44)

struct liar liars[LIARS_MAX];
uint32_t liars_count;

static void say(struct liar *liar, const struct message *message)
{
    CHECK(peer_say(&liar->puppet.peer, message)); /* the message leaves when this event ends */
}

static void refuse(struct liar *liar, enum message_kind kind)
{
    say(liar, &(struct message){.kind = kind});
}

/* Copies the twin's base and adds the liar's claims. Returns false if the twin has no base. */
static bool take(struct liar *liar)
{
    struct false_base *base = &liar->base;
    if (!false_base_take(base, &world, liar->twin, liar->lie))
        return false;
    if (liar->claims == 0)
        return true;
    base->origins -= u32_min(liar->omits, base->origins);
    const struct signed_head head = stream_head(&liar->puppet.identity, 1, liar->claims - 1,
                                                CLAIMED_SAMPLES, liar->puppet.context);
    memcpy(base->history + base->origins++ * HISTORY_ENTRY_BYTES, head.bytes, HISTORY_ENTRY_BYTES);
    false_base_make_version(base, liar->puppet.context);
    learned_put(base->learned + (base->origins - 1) * (size_t)LEARNED_BYTES,
                &(struct learned){.samples = CLAIMED_SAMPLES, .rate = 1});
    return true;
}

static void give_history(struct liar *liar)
{
    if (!take(liar)) {
        refuse(liar, HISTORY);
        return;
    }
    const struct message history = false_base_history(&liar->base);
    say(liar, &history);
}

static void give_blocks(struct liar *liar, const struct message *fetch)
{
    for (uint64_t i = 0; i < fetch->count; i++) {
        if (liar->gives == 0) {
            refuse(liar, BLOCK);
            return;
        }
        liar->gives--;
        const struct message block = false_base_block(&liar->base, fetch->block + i);
        say(liar, &block);
    }
}

static void on_heard(struct puppet *puppet, const struct message *message)
{
    struct liar *liar = (struct liar *)puppet;
    if (message->kind == TAKE)
        give_history(liar);
    else if (message->kind == FETCH)
        give_blocks(liar, message);
}

void liar_show(struct liar *liar)
{
    if (!take(liar))
        return;
    struct message version = false_base_version(&liar->base);
    version.digest = digest_add(version.digest, liar->aside);
    puppet_say(&liar->puppet, &version);
}

void liar_call_again(struct liar *liar)
{
    puppet_meet(&liar->puppet);
    puppet_hello(&liar->puppet);
    liar_show(liar);
}

int liars_begin(void **state)
{
    liars_count = 0;
    return world_begins(state);
}

void liars_free(void)
{
    for (uint32_t i = 0; i < liars_count; i++) {
        puppet_free(&liars[i].puppet);
        false_base_free(&liars[i].base);
    }
    liars_count = 0;
}

int liars_end(void **state)
{
    liars_free();
    return world_ends(state);
}

struct node_options liars_options(void)
{
    struct node_options options = busy_options();
    options.interval_ns = SECOND_NS / 4;
    options.limits.silence_ns = 600 * SECOND_NS; /* liars do not answer PING */
    return options;
}

struct liar *liars_meet(uint32_t node, uint32_t twin, enum lie lie, uint8_t seed)
{
    CHECK(liars_count < LIARS_MAX);
    struct liar *liar = &liars[liars_count++];
    while (node_waiting(world.nodes[twin].node) > 0)
        run(MS_NS);
    *liar = (struct liar){.twin = twin, .lie = lie, .gives = UINT32_MAX};
    puppet_init(&liar->puppet, node, seed);
    liar->puppet.on_heard = on_heard;
    world.check.outsiders_lie = true;
    liar_call_again(liar);
    return liar;
}
