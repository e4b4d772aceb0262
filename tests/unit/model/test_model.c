/* The line of layers: which lines are accepted or rejected, with which messages, and the flat
 * vector with its tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layers/model.h"

#define BATCH   4
#define CLASSES 10

static const struct shape image = {1, 28, 28, 0};

/* The CPU backend, which counts allocations that were not freed. */
struct counting {
    struct backend table;
    struct backend *cpu;
    int taken;
};

static struct counting counting;
static struct arena arena;

static void *counting_alloc(struct backend *backend, size_t bytes)
{
    (void)backend;
    counting.taken++;
    return counting.cpu->alloc(counting.cpu, bytes);
}

static void counting_free(struct backend *backend, void *memory)
{
    (void)backend;
    counting.taken--;
    counting.cpu->free(counting.cpu, memory);
}

static int case_begin(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    counting.taken = 0;
    return 0;
}

static int case_end(void **state)
{
    (void)state;
    assert_int_equal(counting.taken, 0);
    arena_release(&arena);
    return 0;
}

static struct model *build(const char *line, struct shape in, int classes)
{
    struct model *model = NULL;
    struct problem problem = {""};
    if (model_new(&model, &arena, &counting.table, line, in, classes, BATCH, &problem) != OK)
        fail_msg("'%s': %s", line, problem.text);
    assert_non_null(model);
    return model;
}

/* Returns the message of a rejected line. Rejecting must neither allocate nor write. */
static struct problem refusal(const char *line, struct shape in, int batch_max)
{
    struct model *model = NULL;
    struct problem problem = {""};
    enum error error =
        model_new(&model, &arena, &counting.table, line, in, CLASSES, batch_max, &problem);
    if (error != MALFORMED)
        fail_msg("'%.60s' was not refused", line);
    assert_null(model);
    assert_int_equal(counting.taken, 0);
    return problem;
}

static void presets_have_the_size_the_documents_say(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct shape in;
        int classes;
        size_t parameters;
    } presets[] = {
        {"xor", {1, 1, 2, 0}, 2, 42},
        {"mlp", {1, 28, 28, 0}, 10, 235146},
        {"lenet", {1, 28, 28, 0}, 10, 215370},
        {"gpt-char", {1, 1, 1, 64}, 256, 858880},
        {"gpt-mini", {1, 1, 1, 256}, 256, 10844160},
        {"gpt2-124m", {1, 1, 1, 8}, 50257, 124439808},
        {"llama-124m", {1, 1, 1, 8}, 50257, 123551232},
    };
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        struct model *model =
            build(model_preset(presets[i].name), presets[i].in, presets[i].classes);
        assert_int_equal(model_parameters(model), presets[i].parameters);
        assert_non_null(strstr(model_preset_hint("zzzzzz").text, presets[i].name));
        model_free(model);
    }
    assert_null(model_preset("resnet"));
    assert_int_equal(model_line_width(model_preset("lenet")), 128);
    assert_int_equal(model_line_width("conv 16 5x5, maxpool 2"), 0);
}

static void blanks_case_and_leading_zeros_do_not_matter(void **state)
{
    (void)state;
    const char *canonical = "conv 4 3x3 pad 1, relu, maxpool 2, dense 8, tanh, sigmoid, dense 10";
    const char *same[] = {
        canonical,
        "conv 4 3x3 pad 1,relu,maxpool 2,dense 8,tanh,sigmoid,dense 10",
        "  Conv\t4   3X3 PAD 1 ,\n ReLU , MaxPool 2 , DENSE 8,Tanh,SIGMOID ,dense 10  ",
        "conv 04 003x3 pad 01, relu, maxpool 2, dense 8, tanh, sigmoid, dense 0010",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct model *model = build(same[i], image, CLASSES);
        assert_string_equal(model_line(model), canonical);
        model_free(model);
    }
}

static void no_pad_and_pad_0_are_the_same_model(void **state)
{
    (void)state;
    struct model *model = build("conv 2 28x28 pad 0, dense 10", image, CLASSES);
    assert_string_equal(model_line(model), "conv 2 28x28, dense 10");
    model_free(model);
}

static void a_conv_is_spelled_without_what_goes_without_saying(void **state)
{
    (void)state;
    const char *const lines[][2] = {
        {"conv 4 3x3 stride 1 pad 0 groups 1, dense 10", "conv 4 3x3, dense 10"},
        {"conv 4 3x3 plain, dense 10", "conv 4 3x3 plain, dense 10"},
        {"conv 4 3x3 Stride 02 PAD 1, conv 8 3x3 groups 4 plain, dense 10",
         "conv 4 3x3 stride 2 pad 1, conv 8 3x3 groups 4 plain, dense 10"},
        {"conv 4 1x1, conv 4 3x3 stride 3 pad 2 groups 2 plain, dense 10",
         "conv 4 1x1, conv 4 3x3 stride 3 pad 2 groups 2 plain, dense 10"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct model *model = build(lines[i][0], image, CLASSES);
        assert_string_equal(model_line(model), lines[i][1]);
        model_free(model);
    }
}

static void a_model_says_what_it_was_built_for(void **state)
{
    (void)state;
    struct model *model = build("dense 10", (struct shape){3, 4, 5, 0}, CLASSES);
    assert_int_equal(model_batch_max(model), BATCH);
    assert_int_equal(model_input(model).channels, 3);
    assert_int_equal(model_input(model).height, 4);
    assert_int_equal(model_input(model).width, 5);
    model_free(model);
}

/* Returns `again` repeated `times` times, followed by `end`. */
static const char *repeated(const char *again, int times, const char *end)
{
    static char line[8192];
    size_t length = 0;
    for (int i = 0; i < times; i++)
        length += (size_t)snprintf(line + length, sizeof line - length, "%s", again);
    length += (size_t)snprintf(line + length, sizeof line - length, "%s", end);
    assert_true(length < sizeof line);
    return line;
}

#define CONV_USAGE "'conv F KxK [stride S] [pad P] [groups G] [plain]'"

static const struct {
    const char *line;
    const char *begins; /* beginning of the message: the layer's number and text as written */
    const char *remedy;
} wrong[] = {
    {"", "layer 1, '':", "name a layer"},
    {"dense 8,, dense 10", "layer 2, '':", "remove a comma"},
    {"dense 10,", "layer 2, '':", "remove a comma"},
    {"lenet", "layer 1, 'lenet':", "no such layer; known: "},
    {"dense 8, Rellu, dense 10", "layer 2, 'Rellu':", "no such layer; did you mean relu?"},
    {"dense 8; relu", "layer 1, 'dense 8; relu':", "'dense N [plain]'"},
    {"dense 10\x1b[2J", "layer 1, 'dense 10?[2J':", "'dense N [plain]'"},
    {"dense", "layer 1, 'dense':", "'dense N [plain]' with N from 1 to 1000000"},
    {"dense 0", "layer 1, 'dense 0':", "from 1"},
    {"dense -1", "layer 1, 'dense -1':", "from 1"},
    {"dense +10", "layer 1, 'dense +10':", "from 1"},
    {"dense 1e3", "layer 1, 'dense 1e3':", "from 1"},
    {"dense 1000001", "layer 1, 'dense 1000001':", "to 1000000"},
    {"dense 99999999999999999999", "layer 1, 'dense 99999999999999999999':", "to 1000000"},
    {"dense 8 9", "layer 1, 'dense 8 9':", "'dense N [plain]'"},
    {"dense 1 2 3 4 5 6 7 8 9", "layer 1, 'dense 1 2 3 4 5 6 7 8 9':", "'dense N [plain]'"},
    {"relu 1, dense 10", "layer 1, 'relu 1':", "no sizes"},
    {"dense 8, tanh 0.5, dense 10", "layer 2, 'tanh 0.5':", "'tanh'"},
    {"conv", "layer 1, 'conv':", CONV_USAGE},
    {"conv 16", "layer 1, 'conv 16':", CONV_USAGE},
    {"conv 16 5", "layer 1, 'conv 16 5':", CONV_USAGE},
    {"conv 16 x5", "layer 1, 'conv 16 x5':", CONV_USAGE},
    {"conv 16 5x", "layer 1, 'conv 16 5x':", CONV_USAGE},
    {"conv 16 5x5x5", "layer 1, 'conv 16 5x5x5':", CONV_USAGE},
    {"conv a 5x5", "layer 1, 'conv a 5x5':", CONV_USAGE},
    {"conv 16 5x5 2", "layer 1, 'conv 16 5x5 2':", CONV_USAGE},
    {"conv 16 5x5 pad", "layer 1, 'conv 16 5x5 pad':", CONV_USAGE},
    {"conv 16 5x5 pad -1", "layer 1, 'conv 16 5x5 pad -1':", CONV_USAGE},
    {"conv 16 5x5 bad 2", "layer 1, 'conv 16 5x5 bad 2':", CONV_USAGE},
    {"conv 16 5x5 pad 2 2", "layer 1, 'conv 16 5x5 pad 2 2':", CONV_USAGE},
    {"conv 16 5x5 stride", "layer 1, 'conv 16 5x5 stride':", CONV_USAGE},
    {"conv 16 5x5 pad 2 stride 2", "layer 1, 'conv 16 5x5 pad 2 stride 2':", CONV_USAGE},
    {"conv 16 5x5 plain pad 2", "layer 1, 'conv 16 5x5 plain pad 2':", CONV_USAGE},
    {"conv 16 5x5 plain 2", "layer 1, 'conv 16 5x5 plain 2':", CONV_USAGE},
    {"conv 1 1x1 stride 1 pad 0 groups 1 plain 1",
     "layer 1, 'conv 1 1x1 stride 1 pad 0 groups 1 plain 1':", CONV_USAGE},
    {"conv 16 5x5 stride 0", "layer 1, 'conv 16 5x5 stride 0':", "from 1"},
    {"conv 16 5x5 groups 0", "layer 1, 'conv 16 5x5 groups 0':", "from 1"},
    {"conv 16 5x5 groups 2", "layer 1, 'conv 16 5x5 groups 2':", "let 'groups' divide both"},
    {"conv 16 5x5, conv 8 3x3 groups 16",
     "layer 2, 'conv 8 3x3 groups 16':", "let 'groups' divide both"},
    {"conv 2 29x29 stride 2", "layer 1, 'conv 2 29x29 stride 2':", "28x28 with the padding"},
    {"conv 0 5x5", "layer 1, 'conv 0 5x5':", "from 1"},
    {"conv 16 0x0", "layer 1, 'conv 16 0x0':", "from 1"},
    {"conv 16 0x5", "layer 1, 'conv 16 0x5':", "from 1"},
    {"conv 16 3x5", "layer 1, 'conv 16 3x5':", "write 'conv 16 3x3'"},
    {"conv 16 5x5 pad 5", "layer 1, 'conv 16 5x5 pad 5':", "at most 'pad 4'"},
    {"conv 16 29x29, dense 10", "layer 1, 'conv 16 29x29':", "28x28 with the padding"},
    {"conv 1 27x27, conv 2 5x5 pad 1, dense 10",
     "layer 2, 'conv 2 5x5 pad 1':", "4x4 with the padding"},
    {"dense 8, conv 2 3x3, dense 10", "layer 2, 'conv 2 3x3':", "1x1 with the padding"},
    {"maxpool", "layer 1, 'maxpool':", "'maxpool N' with N from 1 to 16"},
    {"maxpool 0", "layer 1, 'maxpool 0':", "from 1 to 16"},
    {"maxpool 17", "layer 1, 'maxpool 17':", "from 1 to 16"},
    {"maxpool 2x2", "layer 1, 'maxpool 2x2':", "'maxpool N'"},
    {"maxpool 2, maxpool 15, dense 10", "layer 2, 'maxpool 15':", "at most 'maxpool 14'"},
    {"dense 9", "layer 1, 'dense 9':", "must be 'dense 10'"},
    {"dense 10, relu", "layer 2, 'relu':", "must be 'dense 10'"},
    {"conv 10 28x28", "layer 1, 'conv 10 28x28':", "must be 'dense 10'"},
    {"dense 1000000, dense 1000000, dense 10", "layer 2, 'dense 1000000':", "too large"},
    {"dense 40000, dense 40000, dense 40000, dense 10",
     "layer 3, 'dense 40000':", "more than 2147483647 parameters"},
    {"conv 1000000 1000000x1000000 pad 999999, dense 10",
     "layer 1, 'conv 1000000 1000000x1000000 pad 999999':", "too large"},
    /* the weights fit, but not the outputs; or both fit, but not the patches */
    {"conv 1000000 20x20 pad 19", "layer 1, 'conv 1000000 20x20 pad 19':", "too large"},
    {"conv 600 1x1, conv 1 70x70 pad 69, dense 10", "layer 2, 'conv 1 70x70 pad 69':", "too large"},
};

static void a_wrong_layer_is_named_with_its_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct problem problem = refusal(wrong[i].line, image, BATCH);
        if (strncmp(problem.text, wrong[i].begins, strlen(wrong[i].begins)) != 0 ||
            strstr(problem.text, wrong[i].remedy) == NULL)
            fail_msg("'%s' gave: %s", wrong[i].line, problem.text);
    }
}

/* The limit holds for each buffer of a layer: input, output and kept values. Attention keeps
 * queries, keys and values in one buffer, which has three times the size of the output. */
static void a_batch_of_more_numbers_than_31_bits_count_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *line;
        struct shape in;
        int fits; /* largest number of samples whose batch fits */
        const char *begins;
    } cases[] = {
        {"embed 10 768, attention 12, dense 10", {1, 1, 1, 1024}, 910, "layer 2, 'attention 12':"},
        {"embed 10 768, dense 3072, dense 10", {1, 1, 1, 1024}, 682, "layer 2, 'dense 3072':"},
        {"dense 10", {1, 28, 28, 0}, 2739137, "layer 1, 'dense 10':"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct model *model;
        struct problem problem = {""};
        assert_int_equal(model_new(&model, &arena, NULL, cases[i].line, cases[i].in, CLASSES,
                                   cases[i].fits, &problem),
                         OK);
        model_free(model);
        problem = refusal(cases[i].line, cases[i].in, cases[i].fits + 1);
        assert_ptr_equal(strstr(problem.text, cases[i].begins), problem.text);
        assert_non_null(strstr(problem.text, "more than 2147483647 numbers"));
        assert_non_null(strstr(problem.text, "train.micro_batches"));
    }
}

static void a_layer_too_long_is_refused(void **state)
{
    (void)state;
    const struct problem problem = refusal(repeated("a", 64, ", dense 10"), image, BATCH);
    assert_ptr_equal(strstr(problem.text, "layer 1, 'aaaa"), problem.text);
    assert_non_null(strstr(problem.text, "63 characters"));
    struct problem fits = refusal(repeated("a", 63, ", dense 10"), image, BATCH);
    assert_non_null(strstr(fits.text, "no such layer"));
}

static void a_model_has_at_most_1024_layers(void **state)
{
    (void)state;
    model_free(build("1023 * tanh, dense 10", image, CLASSES));
    struct problem problem = refusal("1024 * tanh, dense 10", image, BATCH);
    assert_non_null(strstr(problem.text, "more than 1024 layers"));
    problem = refusal("1000 * (1000 * tanh), dense 10", image, BATCH);
    assert_non_null(strstr(problem.text, "more than 1024 layers"));
}

static void wrong_parentheses_are_named(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"2 * (dense 8, relu", "ends, but a ',' or a ')' is to come"},
        {"dense 8), dense 10", "at '), dense 10': a ',' is to come"},
        {"residual(dense 8", "ends, but a ',', a '|' or a ')' is to come"},
        {"residual(dense 8 | dense 8 | dense 8)", "at '| dense 8)'"},
        {"dense 8 | dense 10", "at '| dense 10'"},
        {"dense 8 (relu)", "at '(relu)': a ',' is to come"},
        {"0 * relu, dense 10", "stands there once to 1024 times"},
        {"1025 * relu, dense 10", "stands there once to 1024 times"},
        {"2 * , dense 10", "nothing there"},
        {"(), dense 10", "nothing there"},
        {"residual(), dense 10", "nothing there"},
        {"residual(relu | ), dense 10", "nothing there"},
        {"residual, dense 10", "no such layer; did you mean residual(...)?"},
        {"residual(dense 8), dense 10", "give 8x1x1 and are to be added to 1x28x28"},
        {"residual(dense 8 | dense 9), dense 10", "give 8x1x1 and are to be added to 9x1x1"},
        {"dense 8 * 2, dense 10", "at '* 2, dense 10'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct problem problem = refusal(cases[i][0], image, BATCH);
        if (!strstr(problem.text, cases[i][1]))
            fail_msg("'%s' gave: %s", cases[i][0], problem.text);
    }
    const struct problem deep = refusal(repeated("(", 40, "relu"), image, BATCH);
    assert_non_null(strstr(deep.text, "too many parentheses"));
    const struct problem nested = refusal(repeated("residual(", 9, "relu"), image, BATCH);
    assert_non_null(strstr(nested.text, "too many residuals"));
}

static void sequences_need_layers_for_them(void **state)
{
    (void)state;
    const struct shape text = {1, 1, 1, 64};
    const struct {
        struct shape in;
        const char *line, *remedy;
    } cases[] = {
        {{1, 28, 28, 0}, "embed 10 8, dense 10", "the data are images"},
        {{1, 28, 28, 0}, "norm, position 8, dense 10", "after an embed"},
        {{1, 28, 28, 0}, "norm, attention 2, dense 10", "after an embed"},
        {{1, 28, 28, 0}, "dense 8, logits tied", "no 'embed' to be tied to"},
        {text, "dense 8, dense 10", "embedded first"},
        {text, "norm, dense 10", "embedded first"},
        {text, "embed 10 8, conv 2 3x3, dense 10", "a sequence"},
        {text, "embed 9 8, logits", "write 'embed 10 8'"},
        {text, "embed 10", "'embed TOKENS N'"},
        {text, "embed 10 8, embed 10 8, logits", "the first layer"},
        {text, "embed 10 8, position 63, logits", "write 'position 64'"},
        {text, "embed 10 8, attention 3, logits", "3 heads cannot share"},
        {text, "embed 10 8, attention 4 kv 3, logits", "cannot share 3 keys"},
        {text, "embed 10 6, attention 2 rope, logits", "let it be even"},
        {text, "embed 10 8, attention 2 roap, logits", "'attention HEADS"},
        {text, "embed 10 7, swiglu, logits", "let them be even"},
        {text, "embed 10 8, dense 6, logits tied", "they must agree"},
        {text, "embed 10 8, maxpool 2, logits", "here comes a sequence"},
        {text, "embed 10 8, residual(dense 6), logits", "to be added to"},
        {text, "embed 10 8, dense 9", "one output per token"},
        {text, "embed 10 8, norm", "one output per token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct problem problem = refusal(cases[i].line, cases[i].in, BATCH);
        if (!strstr(problem.text, cases[i].remedy))
            fail_msg("'%s' gave: %s", cases[i].line, problem.text);
    }
}

static void a_line_too_long_is_refused_as_written_and_as_spelled(void **state)
{
    (void)state;
    model_free(build(repeated(" ", MODEL_LINE_MAX - 1 - 8, "dense 10"), image, CLASSES));
    struct problem problem = refusal(repeated(" ", MODEL_LINE_MAX - 8, "dense 10"), image, BATCH);
    assert_non_null(strstr(problem.text, "longer than 1023 characters"));
    /* 1013 characters as written, and 1061 with a blank after each comma */
    problem = refusal(repeated("conv 100 35x35 pad 17,", 45, "relu,relu,relu,dense 10"), image, 1);
    assert_non_null(strstr(problem.text, "longer than 1023 characters"));
}

static void outputs_that_outgrow_the_batch_are_refused(void **state)
{
    (void)state;
    const char *line = "dense 1000000, dense 10";
    struct problem problem = refusal(line, (struct shape){1, 1, 1, 0}, 2148);
    assert_ptr_equal(strstr(problem.text, "layer 1, 'dense 1000000':"), problem.text);
    assert_non_null(strstr(problem.text, "batch of 2148"));
}

static void check_tensor(const struct model *model, int i, const char *name, size_t offset,
                         int rank, const size_t dims[4])
{
    const struct tensor tensor = model_tensor(model, i);
    assert_string_equal(tensor.name, name);
    assert_int_equal(tensor.offset, offset);
    assert_int_equal(tensor.rank, rank);
    for (int d = 0; d < 4; d++)
        assert_int_equal(tensor.dims[d], dims[d]);
}

static void tensors_tile_the_flat_vector_in_order(void **state)
{
    (void)state;
    struct model *model =
        build("conv 4 3x3, relu, maxpool 2, dense 10", (struct shape){2, 6, 6, 0}, CLASSES);
    assert_int_equal(model_tensors(model), 4);
    check_tensor(model, 0, "0.conv.weight", 0, 4, (size_t[]){4, 2, 3, 3});
    check_tensor(model, 1, "3.dense.weight", 72, 2, (size_t[]){10, 16, 0, 0});
    check_tensor(model, 2, "0.conv.bias", 232, 1, (size_t[]){4, 0, 0, 0});
    check_tensor(model, 3, "3.dense.bias", 236, 1, (size_t[]){10, 0, 0, 0});
    assert_int_equal(model_parameters(model), 246);
    model_free(model);
}

static void a_conv_has_weights_for_the_channels_of_a_group(void **state)
{
    (void)state;
    struct model *model = build("conv 6 3x3 stride 2 pad 1 groups 2 plain, dense 10",
                                (struct shape){4, 7, 6, 0}, CLASSES);
    check_tensor(model, 0, "0.conv.weight", 0, 4, (size_t[]){6, 2, 3, 3});
    check_tensor(model, 1, "1.dense.weight", 108, 2, (size_t[]){10, 6 * 4 * 3, 0, 0});
    assert_int_equal(model_tensors(model), 3);
    model_free(model);
}

static void the_table_shows_layers_shapes_and_parameters(void **state)
{
    (void)state;
    char text[1024] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    struct model *model = build("conv 4 3x3, maxpool 2, dense 10", image, CLASSES);
    model_print(model, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(
        text,
        "layer                                      output   parameters       FLOP      bytes\n"
        "conv 4 3x3                                4x26x26           40     48.7 k     10.8 k\n"
        "maxpool 2                                 4x13x13            0          0       3380\n"
        "dense 10                                   10x1x1         6770     13.5 k         40\n"
        "all, forward, for each sample                             6810     62.2 k     14.2 k\n");
    model_free(model);
}

int main(void)
{
    counting.cpu = backend_cpu(1);
    counting.table = *counting.cpu;
    counting.table.alloc = counting_alloc;
    counting.table.free = counting_free;
#define TEST(name) cmocka_unit_test_setup_teardown(name, case_begin, case_end)
    const struct CMUnitTest tests[] = {
        TEST(presets_have_the_size_the_documents_say),
        TEST(blanks_case_and_leading_zeros_do_not_matter),
        TEST(no_pad_and_pad_0_are_the_same_model),
        TEST(a_conv_is_spelled_without_what_goes_without_saying),
        TEST(a_conv_has_weights_for_the_channels_of_a_group),
        TEST(a_model_says_what_it_was_built_for),
        TEST(a_wrong_layer_is_named_with_its_remedy),
        TEST(a_batch_of_more_numbers_than_31_bits_count_is_refused),
        TEST(a_layer_too_long_is_refused),
        TEST(a_model_has_at_most_1024_layers),
        TEST(wrong_parentheses_are_named),
        TEST(sequences_need_layers_for_them),
        TEST(a_line_too_long_is_refused_as_written_and_as_spelled),
        TEST(outputs_that_outgrow_the_batch_are_refused),
        TEST(tensors_tile_the_flat_vector_in_order),
        TEST(the_table_shows_layers_shapes_and_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
