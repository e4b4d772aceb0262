/* Invalid scenario files, and their error messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/scenario.h"
#include "support/sim/scenario_refused.h"
#include "support/sim/scenario_text.h"

static void refuses_a_faulty_line_with_file_line_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < refused_count; i++)
        assert_refused(refused[i].text, refused[i].words);
}

static void names_limits_of_counts(void **state)
{
    (void)state;
    static char text[1 << 20];
    size_t used = (size_t)snprintf(text, sizeof text, "[scenario]\n");
    for (int i = 0; i < 65; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "nodes = 1 g%d\n", i);
    assert_refused(text, ":66: nodes: more than 64 groups");
    used = (size_t)snprintf(text, sizeof text, SCENARIO_BASE);
    for (int i = 0; i < 65; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "fault = crash desk, at 1 s\n");
    assert_refused(text, ":68: fault: more than 64 faults");
    used = (size_t)snprintf(text, sizeof text, SCENARIO_BASE);
    for (int i = 0; i < 33; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "expect = copies <= 2\n");
    assert_refused(text, ":36: expect: more than 32 expectations");
    used = (size_t)snprintf(text, sizeof text, SCENARIO_BASE "link = all");
    for (int i = 0; i < 17; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", at %d s rate 1 MB/s", i);
    assert_refused(text, ":4: link: \"at 16 s rate 1 MB/s\": the rate changes more than 16 times");
    used = (size_t)snprintf(text, sizeof text, "[scenario]\nnodes = 2 a");
    for (int i = 0; i < 9; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", set %s=1",
                                 (const char *[]){"train.batch", "train.rate", "train.decay",
                                                  "exchange.gain", "exchange.interval_s",
                                                  "exchange.steps_min", "limits.handshake_s",
                                                  "limits.silence_s", "limits.notes_per_s"}[i]);
    assert_refused(text, "more than 8 keys are set");
    (void)snprintf(text, sizeof text, SCENARIO_BASE "link = desk lab, rtt %01100d ms\n", 1);
    assert_refused(text, ":4: link: the line is longer than 1023 characters");
    (void)snprintf(text, sizeof text, SCENARIO_BASE "link = desk lab, rtt %0200d ms\n", 1);
    assert_refused(text, "is longer than 191 characters");
    (void)snprintf(text, sizeof text, SCENARIO_BASE "expect = copies <= %s 2\n",
                   "                                                                          "
                   "                      ");
    assert_refused(text, "longer than 95 characters");
}

static void refuses_a_faulty_assignment_by_name(void **state)
{
    (void)state;
    assert_set_refused("desk.up=5", "--set desk.up=5: \"up 5\": the unit is missing");
    assert_set_refused("desk.upp=5 MB/s", "unknown word upp; did you mean up?");
    assert_set_refused("desk.count=0", "the count of nodes is 1 to 1024");
    assert_set_refused("desk.count=2 3", "\"2 3 desk\": a name is missing");
    assert_set_refused("desk.up=1 MB/s, down 1 MB/s", "one clause at a time, without commas");
    assert_set_refused("dsek.up=5 MB/s", "neither a section nor a group dsek; did you mean desk?");
    assert_set_refused("kitchen.up=5 MB/s", "there is neither a section nor a group kitchen");
    assert_set_refused("scenario.seconds=x", "[scenario] seconds = x: not a number");
    assert_set_refused("scenario.second=1", "did you mean seconds?");
    assert_set_refused("scenario.fault=crash desk, at 1 s", "lines stand in the file");
    assert_set_refused("scenario.nodes=1 a", "lines stand in the file");
    assert_set_refused("train.batch=0", "[train] batch = 0: too small");
    assert_set_refused("node.listen=none", "[node] listen is given by the simulator");
    assert_set_refused("train.device=auto",
                       "computes all nodes on one device: cpu (default), cuda:N");
    assert_set_refused("train.device=cuda:0,1", "computes all nodes on one device");
    assert_set_refused("train.device=cuda:all", "computes all nodes on one device");
    assert_set_refused("desk.set=train.device=cuda:0", "all nodes share one device; write device");
    assert_set_refused("desk.set=train.precision=tf32", "write precision in the section [train]");
    assert_set_refused("batch=1", "is not of the form section.key=value");
    assert_set_refused("desk.from=121 s", ":2: nodes: the start of desk at 121 s comes after");
    assert_set_refused("scenario.seconds=0.01", "allowed: 0.1 to 864000 s");
}

static void reports_a_missing_file(void **state)
{
    (void)state;
    static struct scenario scenario;
    struct problem problem = {""};
    assert_int_equal(scenario_load(&scenario, "/nowhere/sim.conf", NULL, 0, &problem), MISSING);
    assert_non_null(strstr(problem.text, "/nowhere/sim.conf: cannot be opened: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_faulty_line_with_file_line_and_remedy),
        cmocka_unit_test(names_limits_of_counts),
        cmocka_unit_test(refuses_a_faulty_assignment_by_name),
        cmocka_unit_test(reports_a_missing_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
