#include "support/sim/liar.h"

#include "base/digest.h"

static void say(struct liar *liar, const struct message *message)
{
    CHECK(peer_say(&liar->puppet.peer, message)); /* the message leaves when this event ends */
}

static void refuse(struct liar *liar, enum message_kind kind)
{
    say(liar, &(struct message){.kind = kind});
}

static void give_history(struct liar *liar)
{
    if (!false_base_take(&liar->base, &world, liar->twin, liar->lie)) {
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
    if (!false_base_take(&liar->base, &world, liar->twin, liar->lie))
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

void liar_meet(struct liar *liar, uint32_t node, uint32_t twin, enum lie lie, uint8_t seed)
{
    *liar = (struct liar){.twin = twin, .lie = lie, .gives = UINT32_MAX};
    puppet_init(&liar->puppet, node, seed);
    liar->puppet.on_heard = on_heard;
    world.check.outsiders_lie = true;
    liar_call_again(liar);
}

void liar_free(struct liar *liar)
{
    puppet_free(&liar->puppet);
    false_base_free(&liar->base);
}
