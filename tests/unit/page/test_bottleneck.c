/* The sentence that says what limits a swarm's speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "page/bottleneck.h"

static const struct bottleneck WELL = {.stage = "running",
                                       .fetched = 1,
                                       .alone_s = (double)NAN,
                                       .link_use = 0.03,
                                       .computing = 0.95,
                                       .exchange = 0.01,
                                       .trains = true};

static void says(struct bottleneck found, const char *words)
{
    char sentence[BOTTLENECK_BYTES];
    bottleneck_sentence(&found, sentence);
    if (!strstr(sentence, words))
        fail_msg("\"%s\" does not say \"%s\"", sentence, words);
}

static void idle_links_ask_for_machines(void **state)
{
    (void)state;
    struct bottleneck found = WELL;
    says(found, "Its links are 3 % used: more machines or a larger model, not faster lines.");
    found.is_bound = true;
    says(found, "at most 3 % used");
    found.is_whole = true;
    says(found, "The busiest link is at most 3 % used");
}

static void full_links_ask_for_faster_lines(void **state)
{
    (void)state;
    struct bottleneck found = WELL;
    found.link_use = 0.69;
    says(found, "not faster lines");
    found.link_use = 0.71;
    says(found, "71 % used: faster lines");
}

static void a_stopped_node_is_the_first_bottleneck(void **state)
{
    (void)state;
    struct bottleneck found = WELL;
    found.exchange = 0.2;
    says(found, "The exchange takes 20 %");
    found.link_use = 0.9;
    says(found, "faster lines");
    found.lag_s = 11;
    says(found, "missed a rumor for 11 s");
    found.alone_s = 42;
    says(found, "no neighbour for 42 s");
    found.stage = "catching up";
    found.fetched = 0.63;
    says(found, "has 63 % of it");
    found.fetched = 1;
    says(found, "published since");
    found.stage = "joining";
    says(found, "no peer has answered yet");
    found.stage = "expelled";
    says(found, "has expelled the node");
    found.stage = "leaving";
    says(found, "leaves");
}

static void an_idle_machine_is_said_to_be_one(void **state)
{
    (void)state;
    struct bottleneck found = WELL;
    found.computing = 0.4;
    says(found, "computes 40 % of the time: neither limits training");
    found.is_whole = true;
    says(found, "machines compute 40 %");
}

static void a_node_that_does_not_train_says_so(void **state)
{
    (void)state;
    struct bottleneck found = WELL;
    found.trains = false;
    says(found, "does not train");
}

static void nothing_is_said_of_what_is_not_known(void **state)
{
    (void)state;
    char sentence[BOTTLENECK_BYTES];
    struct bottleneck found = WELL;
    found.link_use = (double)NAN;
    bottleneck_sentence(&found, sentence);
    assert_string_equal(sentence, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_links_ask_for_machines),
        cmocka_unit_test(full_links_ask_for_faster_lines),
        cmocka_unit_test(a_stopped_node_is_the_first_bottleneck),
        cmocka_unit_test(an_idle_machine_is_said_to_be_one),
        cmocka_unit_test(a_node_that_does_not_train_says_so),
        cmocka_unit_test(nothing_is_said_of_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
