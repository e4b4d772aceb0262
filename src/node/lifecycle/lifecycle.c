#include "node/lifecycle/lifecycle.h"

#define MAY(state) (1u << (state))

struct lifecycle {
    enum joining joining;
    enum stage stage;
    bool is_asked_to_leave;
    enum finishing finishing;
    enum publishing publishing;
    enum base_state base;
};

static const unsigned JOINING_MOVES[JOINING_STATES] = {
    [JOINING_CALLING] = MAY(JOINING_HEARING) | MAY(JOINING_JOINED),
    [JOINING_HEARING] = MAY(JOINING_JOINED),
    [JOINING_JOINED] = MAY(JOINING_TRAINING),
};

static const unsigned LEAVING_MOVES[STAGES] = {
    [STAGE_RUNNING] = MAY(STAGE_LEAVING),
    [STAGE_LEAVING] = MAY(STAGE_SETTLED) | MAY(STAGE_LEFT),
    [STAGE_SETTLED] = MAY(STAGE_LEFT),
};

static const unsigned FINISHING_MOVES[FINISHING_STATES] = {
    [FINISHING_NOT] = MAY(FINISHING_WAITS),
    [FINISHING_WAITS] = MAY(FINISHING_DONE),
};

static const unsigned PUBLISHING_MOVES[PUBLISHING_STATES] = {
    [PUBLISHING_IDLE] = MAY(PUBLISHING_WANTED) | MAY(PUBLISHING_OVER),
    [PUBLISHING_WANTED] = MAY(PUBLISHING_OUT),
    [PUBLISHING_OUT] = MAY(PUBLISHING_IDLE),
};

static const unsigned BASE_MOVES[BASE_STATES] = {
    [BASE_WHOLE] = MAY(BASE_FETCHING) | MAY(BASE_ROLLING),
    [BASE_FETCHING] = MAY(BASE_FETCHING) | MAY(BASE_ROLLING) | MAY(BASE_WHOLE),
    [BASE_ROLLING] = MAY(BASE_ROLLING) | MAY(BASE_FETCHING),
};

size_t lifecycle_arena_bytes(void)
{
    return sizeof(struct lifecycle) + 64;
}

struct lifecycle *lifecycle_new(struct arena *arena, const struct node_options *options)
{
    struct lifecycle *lifecycle = arena_alloc(arena, 1, sizeof *lifecycle);
    lifecycle->joining = options->seeds_count == 0 ? JOINING_JOINED : JOINING_CALLING;
    return lifecycle;
}

enum joining joining_state(const struct node *node)
{
    return node->lifecycle->joining;
}

void joining_move(struct node *node, enum joining to)
{
    CHECK(JOINING_MOVES[node->lifecycle->joining] & MAY(to));
    node->lifecycle->joining = to;
}

bool joining_has_joined(const struct node *node)
{
    return node->lifecycle->joining >= JOINING_JOINED;
}

void joining_join(struct node *node, const char *why)
{
    if (joining_has_joined(node))
        return;
    joining_move(node, JOINING_JOINED);
    (void)notes_add(&node->notes, node->now_ns, NOTE_JOINED, LEVEL_INFO, "%s", why);
}

enum stage leaving_stage(const struct node *node)
{
    return node->lifecycle->stage;
}

void leaving_move(struct node *node, enum stage to)
{
    CHECK(LEAVING_MOVES[node->lifecycle->stage] & MAY(to));
    node->lifecycle->stage = to;
}

void leaving_ask(struct node *node)
{
    node->lifecycle->is_asked_to_leave = true;
}

bool leaving_is_asked(const struct node *node)
{
    return node->lifecycle->is_asked_to_leave;
}

bool leaving_stays(const struct node *node)
{
    const struct lifecycle *lifecycle = node->lifecycle;
    return lifecycle->stage == STAGE_RUNNING ||
           (lifecycle->finishing != FINISHING_NOT && !lifecycle->is_asked_to_leave);
}

enum finishing finishing_state(const struct node *node)
{
    return node->lifecycle->finishing;
}

void finishing_move(struct node *node, enum finishing to)
{
    CHECK(FINISHING_MOVES[node->lifecycle->finishing] & MAY(to));
    node->lifecycle->finishing = to;
}

enum publishing publishing_state(const struct node *node)
{
    return node->lifecycle->publishing;
}

void publishing_move(struct node *node, enum publishing to)
{
    CHECK(PUBLISHING_MOVES[node->lifecycle->publishing] & MAY(to));
    node->lifecycle->publishing = to;
}

enum base_state base_state(const struct node *node)
{
    return node->lifecycle->base;
}

void base_move(struct node *node, enum base_state to)
{
    CHECK(BASE_MOVES[node->lifecycle->base] & MAY(to));
    node->lifecycle->base = to;
}

bool base_is_whole(const struct node *node)
{
    return node->lifecycle->base == BASE_WHOLE;
}
