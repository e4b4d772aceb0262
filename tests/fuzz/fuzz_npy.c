/* NumPy arrays of samples and targets: every label is below the number of classes, and no number is
 * NaN or infinite. */
#include "data/dataset.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"

static struct file x, y;

void fuzz_begin(void)
{
    file_init(&x);
    file_init(&y);
}

static void look_at(const struct dataset *dataset)
{
    const size_t numbers = dataset->count * shape_size(dataset->shape);
    unsigned sum = 0; /* reads all pixels, so that a sanitizer checks them */
    CHECK(dataset->count > 0 && numbers > 0 && dataset->classes >= 1);
    CHECK(!dataset->pixels != !dataset->numbers && !dataset->labels != !dataset->targets);
    for (size_t i = 0; dataset->pixels && i < numbers; i++)
        sum += dataset->pixels[i];
    for (size_t i = 0; dataset->numbers && i < numbers; i++)
        CHECK(dataset->numbers[i] - dataset->numbers[i] == 0); /* neither NaN nor infinity */
    for (size_t i = 0; dataset->labels && i < dataset->count; i++)
        CHECK(dataset->labels[i] >= 0 && dataset->labels[i] < dataset->classes);
    for (size_t i = 0; dataset->targets && i < dataset->count * (size_t)dataset->classes; i++)
        CHECK(dataset->targets[i] - dataset->targets[i] == 0);
    CHECK(sum <= 255 * numbers);
}

/* The first two bytes are the length of file x. The bytes of x follow, then those of y. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    const struct dataset_options options = {
        .source = DATASET_NPY, .x = x.path, .y = y.path, .shards = 1};
    struct dataset dataset = {0};
    struct problem problem = {""};
    size_t x_bytes;
    const size_t most = input_number(&input, 2);
    const uint8_t *from = input_bytes(&input, most, &x_bytes);
    file_put(&x, from, x_bytes);
    file_put(&y, input.at, input.left);
    for (int train = 0; train < 2; train++) {
        const enum error error = train ? dataset_load_train(&dataset, &options, &problem)
                                       : dataset_load_test(&dataset, &options, &problem);
        CHECK((error == OK) == (problem.text[0] == 0));
        if (error != OK)
            return;
        look_at(&dataset);
        dataset_free(&dataset);
    }
}
