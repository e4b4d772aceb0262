/* Suggestions for mistyped words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/words.h"

static const char *const words[] = {"sgd", "adam", "batch", "rate", "evaluate_s"};
#define WORDS (sizeof words / sizeof words[0])

static void suggests_the_nearest_word(void **state)
{
    (void)state;
    assert_string_equal(words_hint("adm", words, WORDS).text, "did you mean adam?");
    assert_string_equal(words_hint("bacth", words, WORDS).text, "did you mean batch?");
    assert_string_equal(words_hint("learning_rate", words, WORDS).text, "did you mean rate?");
    assert_string_equal(words_hint("adamw", words, WORDS).text, "did you mean adam?");
}

static void lists_all_words_with_the_most_similar_first(void **state)
{
    (void)state;
    assert_string_equal(words_hint("evalzzzzzz", words, WORDS).text,
                        "known: evaluate_s, adam, batch, rate, sgd");
    assert_string_equal(words_hint("", words, 2).text, "known: sgd, adam");
    assert_string_equal(words_hint("zzzzz", words, 1).text, "known: sgd");
}

static void a_list_that_is_too_long_is_cut(void **state)
{
    const char *many[64];
    (void)state;
    for (size_t i = 0; i < 64; i++)
        many[i] = "abcdefghijklmnopqrstuvwxyz01234";
    const struct words_hint hint = words_hint("-", many, 64);
    assert_string_equal(hint.text + strlen(hint.text) - 10, "01234, ...");
    assert_true(strlen(hint.text) > 400);
}

static void no_word_is_near_to_an_unlike_one(void **state)
{
    (void)state;
    assert_null(words_nearest("conv", words, WORDS));
    assert_null(words_nearest("conv", words, 0));
    assert_string_equal(words_nearest("bath", words, WORDS), "batch");
}

static void finds_the_nearest_of_choices(void **state)
{
    char nearest[WORDS_BYTES];
    (void)state;
    assert_true(words_nearest_of("mion", "sgd|adam|muon", nearest));
    assert_string_equal(nearest, "muon");
    assert_true(words_nearest_of("sg", "sgd|adam|muon", nearest));
    assert_string_equal(nearest, "sgd");
    assert_false(words_nearest_of("", "sgd|adam|muon", nearest));
    assert_false(words_nearest_of("lion", "sgd", nearest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggests_the_nearest_word),
        cmocka_unit_test(lists_all_words_with_the_most_similar_first),
        cmocka_unit_test(a_list_that_is_too_long_is_cut),
        cmocka_unit_test(no_word_is_near_to_an_unlike_one),
        cmocka_unit_test(finds_the_nearest_of_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
