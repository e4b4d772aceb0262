/* Claims of members about their version and base: one claim per script, which each member may state
 * truly or falsely. The operations are those of script.h. */
#ifndef HEARSAY_TESTS_FUZZ_CLAIMS_H
#define HEARSAY_TESTS_FUZZ_CLAIMS_H

#include "fuzz/play.h"
#include "wire/signed_head.h"

/* There is none yet. */
void claims_begin(void);

void make_claim(void);
void say_version(void);
void say_history(void);
void say_blocks(void);
void say_heads(void);

/* A head of that number, which its origin has signed: signatures hold. */
void make_head(struct signed_head *head, const uint8_t *id, uint64_t incarnation, uint32_t seq,
               uint64_t samples);

/* The next rumor of that origin follows this head. */
void remember_head(struct member *origin, const struct signed_head *head);

#endif
