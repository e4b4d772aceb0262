/* What a node says first: who it is, what it trains, what it computes on. */
#ifndef HEARSAY_GREETING_H
#define HEARSAY_GREETING_H

#include "config.h"
#include "report.h"
#include "setup.h"

void greeting_say(struct report *report, uint64_t now_ns, const struct config *config,
                  const struct setup *setup, const struct node_options *options);

#endif
