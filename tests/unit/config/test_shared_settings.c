/* The shared settings that a node sends, and their marks in the example file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config_key.h"
#include "config/config_resolve.h"
#include "config/shared_settings.h"

static char text[SETTINGS_MAX + 1];

static const char *text_with(const char *assignment)
{
    struct config config;
    struct problem problem;
    config_defaults(&config);
    if (assignment && config_set(&config, assignment, &problem) != OK)
        fail_msg("%s", problem.text);
    config_resolve(&config);
    shared_settings_text(&config, NULL, text);
    return text;
}

static void each_shared_key_is_a_line(void **state)
{
    (void)state;
    assert_string_equal(text_with(NULL), "node.operator=\"\"\n"
                                         "node.quarantine=no\n"
                                         "data.source=idx\n"
                                         "data.seed=1\n"
                                         "data.train_count=12000\n"
                                         "train.rate=0.02\n"
                                         "train.schedule=constant\n"
                                         "train.warmup_samples=0\n"
                                         "train.period_samples=0\n"
                                         "train.decay=0.1\n"
                                         "train.frozen=\"\"\n"
                                         "exchange.weigh_throughput=yes\n"
                                         "exchange.weight_max=none\n");
}

static void a_part_of_the_data_is_to_be_unlike(void **state)
{
    (void)state;
    assert_non_null(strstr(text_with("data.shard=2/5"), "\ndata.shard!2/5\n"));
    assert_null(strstr(text_with("data.shard=1/1"), "data.shard"));
}

static void a_relay_shares_no_training_settings(void **state)
{
    (void)state;
    assert_string_equal(text_with("train.enabled=no"),
                        "node.operator=\"\"\nnode.quarantine=no\nexchange.weigh_throughput=yes\n"
                        "exchange.weight_max=none\n");
}

static FILE *open_example(void)
{
    FILE *file = fopen(HEARSAY_CONFIGS "/node.conf", "r");
    assert_non_null(file);
    return file;
}

/* In the example, a comment describes all keys up to the next comment. */
static void compares_the_settings_that_the_example_calls_shared(void **state)
{
    (void)state;
    char line[512], section[32] = "", name[32];
    bool in_comment = false, is_same = false;
    uint32_t same = 0;
    FILE *file = open_example();
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') {
            is_same = (in_comment && is_same) || strstr(line, "(same)");
            in_comment = true;
            continue;
        }
        in_comment = false;
        if (sscanf(line, "[%31[a-z]]", section) == 1 || sscanf(line, "%31[a-z0-9_] =", name) != 1)
            continue;
        const struct config_key *key = config_key_find(section, name);
        assert_non_null(key);
        if (key->shared == CONFIG_SAME && !is_same)
            fail_msg("%s.%s: the example does not say (same)", section, name);
        same += key->shared == CONFIG_SAME;
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(same, 13);
}

static void names_the_range_of_labels_even_if_all_are_equal(void **state)
{
    static int32_t label[1];
    struct dataset train = {.labels = label, .lowest_label = 3, .highest_label = 3};
    struct config config;
    (void)state;
    config_defaults(&config);
    shared_settings_text(&config, &train, text);
    assert_non_null(strstr(text, "\ndata.labels=3 .. 3\n"));
    train.labels = NULL;
    shared_settings_text(&config, &train, text);
    assert_null(strstr(text, "data.labels"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shared_key_is_a_line),
        cmocka_unit_test(a_part_of_the_data_is_to_be_unlike),
        cmocka_unit_test(a_relay_shares_no_training_settings),
        cmocka_unit_test(names_the_range_of_labels_even_if_all_are_equal),
        cmocka_unit_test(compares_the_settings_that_the_example_calls_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
