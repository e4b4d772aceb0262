/* The seeds of the corpora: what our own encoders and writers make.
 *
 *   fuzz_seeds FOLDER ─► seeds_wire, seeds_files, … ─► seed_put ─► FOLDER/<harness>/<name>
 */
#ifndef HEARSAY_TESTS_FUZZ_SEEDS_H
#define HEARSAY_TESTS_FUZZ_SEEDS_H

#include <stddef.h>
#include <stdint.h>

/* One seed. A harness whose input begins with numbers that say what follows is given them in
 * `head`. */
void seed_put(const char *harness, const char *name, const void *head, size_t head_bytes,
              const void *bytes, size_t count);

void seeds_wire(void);
void seeds_files(void);
void seeds_member(void);

#endif
