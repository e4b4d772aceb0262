#include "fuzz/play.h"

#include "node/broadcast/version.h"

struct scene *scene;
struct input input;

struct member *pick_member(void)
{
    return &scene->members[input_byte(&input) % SCENE_MEMBERS];
}

uint64_t pick(void)
{
    struct node_stats stats;
    const uint8_t choice = input_byte(&input);
    if (choice < 192)
        return choice;
    node_stats(scene->node, scene->now_ns, &stats);
    switch (choice % 16) {
    case 0:
        return UINT64_MAX;
    case 1:
        return (uint64_t)1 << 32;
    case 2:
        return stats.digest;
    case 3:
        return stats.version_hash;
    case 4:
        return stats.version;
    case 5:
        return scene->now_ns / 1000;
    case 6:
    case 7:
        return origin_tag(scene_identity(SCENE_MEMBERS)->id, node_incarnation(scene->node));
    case 8:
    case 9:
    case 10:
    case 11:
        return origin_tag(scene_identity(choice % 4)->id, scene->members[choice % 4].incarnation);
    case 12:
        return input_number(&input, 2);
    case 13:
        return input_number(&input, 4);
    default:
        return input_number(&input, 8);
    }
}

float pick_float(void)
{
    const uint32_t bits = (uint32_t)input_number(&input, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
