#include "support/sim/serve_story.h"

struct puppet puppet;
static int32_t base_before[PARAMETERS];

struct node_options patient_options(void)
{
    struct node_options options = busy_options();
    /* Puppets, which do not answer PING, stay connected. */
    options.limits.silence_ns = 600 * SECOND_NS;
    return options;
}

void start_talk(const struct node_options *options)
{
    start_swarm(1, options);
    run(2 * SECOND_NS);
    puppet_init(&puppet, 0, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
}

void start_talk_at_rest_as(const struct node_options *options)
{
    start_talk(options);
    world_rest(&world);
    run(SECOND_NS);
    sim_learner_read_units(&world.nodes[0].sim_learner, base_before);
}

void start_talk_at_rest(void)
{
    const struct node_options options = patient_options();
    start_talk_at_rest_as(&options);
}

int conversation_ends(void **state)
{
    puppet_free(&puppet);
    return world_ends(state);
}

void must_have_the_base_it_had(void)
{
    int32_t units[PARAMETERS];
    sim_learner_read_units(&world.nodes[0].sim_learner, units);
    assert_memory_equal(units, base_before, sizeof units);
}

void fetch(uint64_t block, uint64_t count)
{
    puppet_say(&puppet, &(struct message){.kind = FETCH, .block = block, .count = count});
}
