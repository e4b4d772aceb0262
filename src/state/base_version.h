/* Writes the version of a saved base as text that is the same on all nodes of equal version.
 *
 *   history (history.h) ─┬─► base_version_text ────► "id/incarnation:next …" ─┬─► export.h
 *                        └─► base_version_samples ─► samples of all origins ──┘
 *
 * A node keeps its history in the order in which it last heard each origin. That order differs from
 * node to node. The text is sorted, so nodes of equal version save equal files, byte for byte.
 * Tests: tests/unit/state/test_base_version.c, and for whole processes
 * tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_STATE_BASE_VERSION_H
#define HEARSAY_STATE_BASE_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Writes "id/incarnation:next" of each origin to out[room], sorted by id and incarnation, separated
 * by blanks; `next` is the number of the origin's rumors in the base. If room is too small, the
 * oldest incarnations are left out (an incarnation is a time, so the lowest is the oldest). */
void base_version_text(const uint8_t *history, size_t history_bytes, char *out, size_t room);

struct base_summary {
    uint32_t members;
    uint64_t rumors;
    /* rumors of members whose ids begin with `id`, of which the first 8 digits count; 0 for "" */
    uint64_t of;
};
struct base_summary base_version_summary(const char *text, const char *id);

/* Returns the samples that all origins have learned, as their latest rumors in the history report.
 * If an incarnation continues the sample count of its member's previous incarnation, counts only
 * the later one. */
uint64_t base_version_samples(const uint8_t *history, size_t history_bytes);

#endif
