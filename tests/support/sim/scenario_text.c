#include "support/sim/scenario_text.h"

enum error load_bytes(struct scenario *scenario, const char *bytes, size_t count,
                      const char *const *sets, int sets_count, struct problem *problem)
{
    char path[] = "/tmp/hearsay-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, bytes, count) == (ssize_t)count);
    assert_int_equal(close(file), 0);
    enum error error = scenario_load(scenario, path, sets, sets_count, problem);
    assert_int_equal(unlink(path), 0);
    return error;
}

const struct scenario *played_with(const char *text, const char *const *sets, int count)
{
    static struct scenario scenario;
    struct problem problem = {""};
    if (load_bytes(&scenario, text, strlen(text), sets, count, &problem) != OK)
        fail_msg("%s", problem.text);
    return &scenario;
}

const struct scenario *played(const char *text)
{
    return played_with(text, NULL, 0);
}

const struct scenario *played_set(const char *text, const char *set)
{
    return played_with(text, &set, 1);
}

/* Checks that loading the text fails with these words and leaves the scenario unchanged. */
static void assert_refused_with(const char *text, const char *const *sets, int count,
                                const char *words)
{
    static struct scenario scenario;
    struct problem problem = {""};
    memset(&scenario, 0x5A, sizeof scenario);
    if (load_bytes(&scenario, text, strlen(text), sets, count, &problem) != MALFORMED)
        fail_msg("taken, and not refused with \"%s\":\n%s", words, text);
    if (!strstr(problem.text, words))
        fail_msg("\"%s\" does not say \"%s\"", problem.text, words);
    for (size_t i = 0; i < sizeof scenario; i++)
        assert_int_equal(((unsigned char *)&scenario)[i], 0x5A);
}

void assert_refused(const char *text, const char *words)
{
    assert_refused_with(text, NULL, 0, words);
}

void assert_set_refused(const char *set, const char *words)
{
    assert_refused_with(SCENARIO_BASE, &set, 1, words);
}
