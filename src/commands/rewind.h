/* hearsay rewind: a swarm begins again from a base that was saved before somebody did harm, where
 * no log reaches back to take out what he published.
 *
 *   STATE_DIR/base.safetensors, base-T.safetensors ─► a table: when, the sum of what
 *     ─ --to N ─► a checked copy, and what is to be done with it, step by step
 *
 * It needs no node that runs and changes nothing in the state folder. The new swarm has another
 * name, so nobody brings anything of the old one. Held by tests/process/test_rewind.sh. */
#ifndef HEARSAY_COMMANDS_REWIND_H
#define HEARSAY_COMMANDS_REWIND_H

/* argv[0] is "hearsay rewind". Returns the exit code: 0 done, 1 failed, 2 wrong usage. */
int rewind_run(int argc, char **argv);

#endif
