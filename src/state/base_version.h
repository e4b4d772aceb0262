/* Writes the version of a saved base as text that is the same on all nodes of equal version.
 *
 *   history (history.h) ─┬─► base_version_text ────► "id/incarnation:next …" ─┬─► export.h
 *                        └─► base_version_samples ─► samples of all origins ──┘
 *
 * A node keeps its history in the order in which it last heard each origin. That order differs from
 * node to node. The text is sorted and does not depend on it, so nodes of equal version save equal
 * files, byte for byte. Tests: tests/unit/state/test_base_version.c, and for whole processes
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

/* Summary of a base's version text. */
struct base_summary {
    uint32_t members; /* members with rumors in the base */
    uint64_t rumors;  /* rumors in the base */
    /* Rumors in the base of members whose ids begin with the digits `id` of
     * base_version_summary. The version text abbreviates ids, so further digits of `id` are
     * ignored. */
    uint64_t of;
};
struct base_summary base_version_summary(const char *text, const char *id);

/* Returns the samples that all origins have learned, as their latest rumors in the history
 * report. If an incarnation continues the sample count of the member's previous incarnation, only
 * the later one is counted. */
uint64_t base_version_samples(const uint8_t *history, size_t history_bytes);

#endif
