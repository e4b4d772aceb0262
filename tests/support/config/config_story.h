/* Assertions for the configuration's tests: on a setting, and on the message of a refusal. */
#ifndef HEARSAY_TESTS_SUPPORT_CONFIG_CONFIG_STORY_H
#define HEARSAY_TESTS_SUPPORT_CONFIG_CONFIG_STORY_H

#include "base/error.h"
#include "config/config.h"

void must_set(struct config *config, const char *assignment);

void must_be_same(const struct config *a, const struct config *b);

void must_say(const struct problem *problem, const char *words);

#endif
