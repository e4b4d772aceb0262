/* Saved models: a model is saved, its file is changed, and the model is loaded again.
 *
 *   save_model ─► read_file, write_changed, … ─► load_model, read_about
 */
#ifndef HEARSAY_TESTS_SUPPORT_STATE_SAFETENSORS_STORY_H
#define HEARSAY_TESTS_SUPPORT_STATE_SAFETENSORS_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/safetensors.h"

#define LINE      "conv 2 3x3, relu, dense 2"
#define LINE_SAME "conv   2 3x3 ,relu,dense 2"
#define LINE_MORE LINE ", relu, dense 2"

/* Models of one folder. `other` is `model` with a second dense layer. */
struct world {
    char folder[64];
    char path[96];
    struct arena arena;
    struct model *model;
    struct model *other;
    struct model *sequences; /* a model for sequences of 24 tokens */
    float weights[64];
};

/* Contents of a file. */
struct bytes {
    size_t count;
    char at[4096];
};

extern const struct safetensors_about ABOUT;

int make_world(void **state);
int end_world(void **state);
void save_model(const struct world *world);
struct bytes read_file(const char *path);
void write_file(const char *path, const void *bytes, size_t count);

/* Loads the model's weights. Checks that they are unchanged unless the result is OK. */
enum error load_model(const struct world *world, float weights[static 64]);
enum error read_about(const struct world *world, struct safetensors_about *about);

/* Replaces the first occurrence of `from` by `to`, which must have equal length. */
void replace(struct bytes *bytes, const char *from, const char *to);

/* Saves the model's file with `from` in its header replaced by `to`, which must have equal length.
 */
void write_changed(const struct world *world, const char *from, const char *to);
uint64_t header_length(const struct bytes *bytes);
int files_in(const char *folder);

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)

#endif
