/* The version of a saved base as text, in an order that depends only on the version.
 *
 *   history (history.h) ─┬─► base_version_text ────► "id/incarnation:next …" ─┬─► export.h
 *                        └─► base_version_samples ─► learned by all ──────────┘
 *
 * A node keeps its history in the order in which it last heard each origin. That order differs from
 * node to node. Text and count are the same for all nodes of equal version, so their saved files
 * are equal byte for byte. Held by tests/unit/state/test_base_version.c, and for whole processes by
 * tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_STATE_BASE_VERSION_H
#define HEARSAY_STATE_BASE_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Writes "id/incarnation:next" of each origin to out[room], sorted by id and incarnation, separated
 * by blanks. If room is too small, the origins with the lowest incarnations are left out: they are
 * the oldest, since an incarnation is a time. */
void base_version_text(const uint8_t *history, size_t history_bytes, char *out, size_t room);

/* Summary of such a text, also for one member. */
struct base_summary {
    uint32_t members; /* members with rumors in the base */
    uint64_t rumors;  /* rumors in the base */
    /* Rumors of members whose ids begin with the given digits; at most the text's 8 digits
     * count. */
    uint64_t of;
};
struct base_summary base_version_summary(const char *text, const char *id);

/* Returns the samples that all origins have learned, by their latest rumors in the history. An
 * origin that continued its count under its next incarnation counts once. */
uint64_t base_version_samples(const uint8_t *history, size_t history_bytes);

#endif
