/* Configuration files: an accepted configuration is printed and read again unchanged, and a node
 * can start with it. */
#include <stdio.h>

#include "config/config_read.h"
#include "config/setup.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"

#define PRINTED_BYTES (1u << 17)
#define PARAMETERS    1000

static struct file file;

void fuzz_begin(void)
{
    file_init(&file);
}

static enum error load(struct config_load *load, struct problem *problem)
{
    *load = (struct config_load){.line_of = {0}};
    config_defaults(&load->config);
    const enum error error = config_load_file(load, file.path, problem);
    return error == OK ? config_load_check(load, file.path, problem) : error;
}

static void same_config(const struct config *a, const struct config *b)
{
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        CHECK(memcmp((const char *)a + key->offset, (const char *)b + key->offset, key->bytes) ==
              0);
    }
}

static void comes_back(const struct config *config)
{
    static char printed[PRINTED_BYTES];
    static struct config_load again;
    struct problem problem = {""};
    FILE *out = fmemopen(printed, sizeof printed, "w");
    CHECK(out);
    config_print(config, out);
    CHECK(fflush(out) == 0);
    const long count = ftell(out);
    CHECK(count > 0 && (size_t)count < sizeof printed && fclose(out) == 0);
    file_put(&file, printed, (size_t)count);
    CHECK(load(&again, &problem) == OK);
    same_config(config, &again.config);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    static struct config_load taken;
    struct problem problem = {""};
    file_put(&file, data, bytes);
    const enum error error = load(&taken, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    if (error != OK)
        return;
    const struct node_options options = setup_plain_options(&taken.config, PARAMETERS);
    CHECK(node_arena_bytes(&options) > 0);
    comes_back(&taken.config);
}
