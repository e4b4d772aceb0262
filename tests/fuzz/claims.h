/* A member's claim about its version and base, which members may send truly or falsely. Each script
 * has one claim. script.h describes the operations. */
#ifndef HEARSAY_TESTS_FUZZ_CLAIMS_H
#define HEARSAY_TESTS_FUZZ_CLAIMS_H

#include "fuzz/play.h"
#include "wire/signed_head.h"

void claims_begin(void);

void make_claim(void);
void say_version(void);
void say_history(void);
void say_blocks(void);
void say_heads(void);

/* Makes the head of rumor `seq` of an origin. believe.h makes its signature valid. */
void make_head(struct signed_head *head, const uint8_t *id, uint64_t incarnation, uint32_t seq,
               uint64_t samples);

/* Makes this head the predecessor of the origin's next rumor. */
void remember_head(struct member *origin, const struct signed_head *head);

#endif
