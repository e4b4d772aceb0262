/* Uses only libhearsay.so and hearsay.h, to check that all functions are exported. */
#include <hearsay.h>

#include <stdio.h>
#include <string.h>

static int say(const char *what)
{
    (void)fprintf(stderr, "library_program: %s\n", what);
    return 1;
}

int main(void)
{
    static float number;
    const struct hearsay_tensor tensor = {.name = "number", .data = &number, .device = HEARSAY_CPU};
    const char *const settings[] = {"node.identity=there/is/no.key"};
    const struct hearsay_options options = {.abi = HEARSAY_ABI,
                                            .tensors = &tensor,
                                            .tensors_count = 1,
                                            .settings = settings,
                                            .settings_count = 1,
                                            .run = "none"};
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    struct hearsay *node;
    char text[512];
    size_t bytes = sizeof text;
    if (hearsay_abi() != HEARSAY_ABI || hearsay_version()[0] == '\0')
        return say("the library has another ABI than its header");
    if (hearsay_open(&options, &node) != HEARSAY_FAILED)
        return say("a node without keys was opened");
    if (hearsay_error_text(node, HEARSAY_FAILED, text, sizeof text) != HEARSAY_OK ||
        !strstr(text, "there/is/no.key"))
        return say("the sentence does not say which key is missing");
    if (hearsay_join(node, 0) != HEARSAY_CLOSED ||
        hearsay_step(node, 1, 0, NULL) != HEARSAY_CLOSED ||
        hearsay_settle(node, 0) != HEARSAY_CLOSED ||
        hearsay_base(node, &tensor, 1) != HEARSAY_CLOSED ||
        hearsay_save(node, NULL, 0) != HEARSAY_CLOSED ||
        hearsay_extra(node, text, &bytes) != HEARSAY_CLOSED ||
        hearsay_status(node, text, &bytes) != HEARSAY_CLOSED ||
        hearsay_close(node, 0) != HEARSAY_CLOSED)
        return say("a node that is not open did something");
    if (hearsay_info(node, &info) != HEARSAY_OK || info.joined)
        return say("the numbers of a node that is not open are wrong");
    return hearsay_free(node);
}
