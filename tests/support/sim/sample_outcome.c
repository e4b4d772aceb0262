#include "support/sim/sample_outcome.h"

struct scenario story_scenario;

void story_group(const char *name, uint32_t count, uint64_t up_bytes_per_s)
{
    struct scenario *scenario = &story_scenario;
    struct group *group = &scenario->groups[scenario->groups_count++];
    *group = (struct group){.first = scenario->nodes_count, .count = count, .data = 1};
    (void)snprintf(group->name, sizeof group->name, "%s", name);
    (void)snprintf(group->region, sizeof group->region, "%s", name);
    group->up.bytes_per_s = up_bytes_per_s;
    scenario->nodes_count += count;
    (void)snprintf(scenario->regions[scenario->regions_count++], SCENARIO_NAME_BYTES, "%s", name);
}

void story_expect(enum metric metric, bool at_least, double value, double by_s, const char *text)
{
    struct expect *expect = &story_scenario.expects[story_scenario.expects_count++];
    *expect = (struct expect){
        .metric = metric, .at_least = at_least, .value = value, .by_ns = (uint64_t)(by_s * 1e9)};
    (void)snprintf(expect->text, sizeof expect->text, "%s", text);
}

void story_fault(enum fault_kind kind, double from_s, double to_s, uint32_t node)
{
    struct fault *fault = &story_scenario.faults[story_scenario.faults_count++];
    *fault = (struct fault){
        .kind = kind, .from_ns = (uint64_t)(from_s * 1e9), .to_ns = (uint64_t)(to_s * 1e9)};
    node_set_add(&fault->a, node);
}

void story_begin(double span_s)
{
    story_scenario = (struct scenario){.name = "three", .seed = 7};
    story_scenario.span_ns = (uint64_t)(span_s * 1e9);
    story_scenario.settle_ns = 10000000000;
    config_defaults(&story_scenario.config);
    (void)snprintf(story_scenario.about, sizeof story_scenario.about,
                   "Two desks behind slow uplinks, and a box that is not.");
    (void)snprintf(story_scenario.source, sizeof story_scenario.source,
                   "made by hand, for looking at");
}

void story_moment(struct outcome *outcome, double at_s, double accuracy,
                  uint64_t rumor_bytes_published, uint64_t sent_bytes, uint64_t control_bytes)
{
    struct moment *moment = outcome_add(outcome, at_s);
    moment->accuracy = accuracy;
    moment->loss = isfinite(accuracy) ? 1 - accuracy : NAN;
    moment->samples = (uint64_t)(900 * at_s);
    moment->rumor_bytes_published = rumor_bytes_published;
    moment->sent_bytes = sent_bytes;
    moment->control_bytes = control_bytes;
    moment->rumors = rumor_bytes_published / 100;
    moment->running = moment->members = story_scenario.nodes_count;
}

void story_total(struct node_total *node, uint64_t samples, double share)
{
    node->running = true;
    node->steps = samples / 32;
    node->steps_possible = samples / 32;
    node->samples = samples;
    node->share = share;
    node->rumors_published = 100;
    node->rumors_received = 200;
    node->duplicates = 10;
    node->rumor_bytes_published = 250000;
    node->rumor_bytes_received = 1500000;
    node->sent_bytes = 510000;
    node->received_bytes = 1600000;
}

static void story_links(struct outcome *outcome)
{
    outcome->links_count = 2;
    outcome->links = calloc(2, sizeof *outcome->links);
    CHECK(outcome->links);
    outcome->links[0] = (struct link_total){.from = "desk",
                                            .to = "box",
                                            .bytes = 400000,
                                            .rate_bytes_per_s = 125000,
                                            .use = 0.8,
                                            .delay_s = 0.045,
                                            .resent = 3};
    outcome->links[1] = (struct link_total){
        .from = "box", .to = "desk", .bytes = 900000, .use = NAN, .delay_s = 0.04};
}

void story_end(struct outcome *outcome)
{
    outcome->accuracy = 0.8912;
    outcome->loss = 0.3105;
    outcome->tested = 10000;
    outcome->one_version_s = 1.5;
    outcome->copies = 1.05;
    outcome->control_bytes_per_s = 320;
    outcome->origins = story_scenario.nodes_count;
    outcome->trace = 0x0123456789abcdef;
    outcome->events = 4242;
    outcome->cpu_s = 3;
    outcome->gradient_cpu_s = 2;
    outcome->evaluate_cpu_s = 0.5;
    outcome_judge(outcome);
}

void story_short(struct outcome *outcome)
{
    story_begin(4);
    story_group("desk", 2, 125000);
    story_group("box", 1, 0);
    story_fault(FAULT_CRASH, 2, 3, 1);
    story_expect(METRIC_ACCURACY, true, 0.8, 3, "accuracy >= 0.80 by 3 s");
    story_expect(METRIC_COPIES, false, 1.01, 0, "copies <= 1.01");
    outcome_init(outcome, &story_scenario);
    for (uint32_t i = 0; i <= 4; i++) {
        static const double ACCURACY[] = {0.1, NAN, 0.7, 0.85, 0.8912};
        story_moment(outcome, i, ACCURACY[i], 100000ul * i, 250000ul * i, 10000ul * i);
        struct node_moment *nodes = outcome_nodes(outcome);
        nodes[0] = (struct node_moment){400, 0.5f, i < 4 ? 0.25f : 1, 2, 0.75f, NAN, NAN, NAN};
        nodes[2] = (struct node_moment){100, 0.125f, 0.5f, 4, NAN, NAN, NAN, NAN};
        if (i != 3)
            nodes[1] = (struct node_moment){400, 0.375f, 1.5f, 8, 0.95f, NAN, NAN, NAN};
    }
    story_total(&outcome->nodes[0], 1600, 0.5);
    story_total(&outcome->nodes[1], 1200, 0.375);
    story_total(&outcome->nodes[2], 400, 0.125);
    outcome->nodes[0].up_use = 0.75;
    outcome->nodes[1].up_use = 0.9;
    story_links(outcome);
    story_end(outcome);
}

static struct node_moment story_wave(uint32_t i, double at_s, uint32_t nodes)
{
    const double phase = at_s / 7 + i;
    return (struct node_moment){
        .samples_per_s = (float)(400 + 30 * sin(phase)),
        .share = (float)((1 + 0.3 * sin(i) + 0.1 * sin(phase)) / nodes),
        .lag_s = (float)(0.4 + 0.2 * sin(3 * phase) + (i % 3 == 0 ? at_s / 100 : 0)),
        .behind = (float)(i % 5),
        .up_use = (float)fmin(1, 0.5 + 0.06 * (i % 8) + 0.1 * sin(2 * phase)),
        .down_use = (float)(0.2 + 0.1 * sin(phase)),
    };
}

void story_long(struct outcome *outcome, uint32_t nodes)
{
    CHECK(nodes >= 3);
    story_begin(120);
    story_group("desk", nodes / 2, 125000);
    story_group("laptop", nodes - nodes / 2 - 1, 60000);
    story_group("box", 1, 1250000);
    story_fault(FAULT_CRASH, 40, 60, 1);
    story_fault(FAULT_PAUSE, 80, 80, 0);
    story_expect(METRIC_ACCURACY, true, 0.86, 100, "accuracy >= 0.86 by 100 s");
    story_expect(METRIC_LINK_USE, false, 0.7, 0, "link use <= 70 %");
    outcome_init(outcome, &story_scenario);
    for (uint32_t s = 0; s <= 120; s++) {
        const uint64_t sent = 40000ull * nodes * s + (uint64_t)(9e4 * nodes * (1 - cos(s / 9.0)));
        story_moment(outcome, s, s % 5 ? NAN : 0.9 - 0.8 * exp(-(double)s / 12),
                     15000ull * nodes * s, sent, sent / 12);
        struct node_moment *at = outcome_nodes(outcome);
        for (uint32_t i = 0; at && i < nodes; i++)
            if (i != 1 || s < 40 || s >= 60)
                at[i] = story_wave(i, s, nodes);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        story_total(&outcome->nodes[i], 48000, 1.0 / nodes);
        outcome->nodes[i].up_use = 0.4 + 0.03 * (i % 20);
        outcome->nodes[i].down_use = 0.2;
    }
    story_links(outcome);
    story_end(outcome);
}
