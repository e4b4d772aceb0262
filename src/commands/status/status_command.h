/* hearsay status: how the node of this machine is, for people, scripts and health probes. */
#ifndef HEARSAY_COMMANDS_STATUS_STATUS_COMMAND_H
#define HEARSAY_COMMANDS_STATUS_STATUS_COMMAND_H

#include "config/config.h"
#include "commands/status/status_page.h"

/* What `hearsay status` and `hearsay top` are asked to do. */
struct status_options {
    char dir[CONFIG_PATH_BYTES]; /* the state folder */
    const char *config;          /* the file that named it; NULL: none */
    bool json;
    bool help;
};

/* --state DIR or --config FILE, which names it; --json only where it is known. command: as in
 * messages, "hearsay status". */
enum error status_options_parse(struct status_options *options, int argc, char **argv,
                                bool knows_json, struct problem *problem) MUST_USE;

/* Ask the node of dir and read its answer; status_page_free it. */
enum error status_page_ask(struct status_page *page, const char *dir, int wait_ms,
                           struct problem *problem) MUST_USE;

/* argv[0] is "hearsay status". Returns the exit code: 0 healthy, 1 no answer, 2 wrong usage,
 * 3 not yet: it joins, or catches up. */
int status_run(int argc, char **argv);

#endif
