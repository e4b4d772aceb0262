/* The seeds of the corpora, made by the project's own encoders and writers.
 *
 *   fuzz_seeds FOLDER ─► seeds_wire, seeds_files, … ─► seed_put ─► FOLDER/<harness>/<name>
 */
#ifndef HEARSAY_TESTS_FUZZ_SEEDS_H
#define HEARSAY_TESTS_FUZZ_SEEDS_H

#include <stddef.h>
#include <stdint.h>

/* Writes one seed: `head`, with the numbers that the harness reads first, and `bytes`. head may be
 * NULL. */
void seed_put(const char *harness, const char *name, const void *head, size_t head_bytes,
              const void *bytes, size_t count);

void seeds_wire(void);
void seeds_files(void);
void seeds_member(void);

#endif
