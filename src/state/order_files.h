/* The operator's orders (wire/order.h), proofs that members lie (wire/equivocation_proof.h), and
 * votes that they harm (wire/vote.h), in the state folder.
 *
 *   FOLDER/orders   those that the node knows, back to back: it obeys them from its next start on
 *   FOLDER/order    those that `hearsay expel` or `admit` hands to the node that runs there, which
 *                   removes them
 *   FOLDER/proofs   those that the node knows, back to back
 *   FOLDER/votes those that the node knows, back to back
 *
 * They appear whole or not at all (atomic_file.h). Only the signatures authenticate them, and the
 * node checks these. Held by tests/unit/state/test_order_files.c.
 */
#ifndef HEARSAY_STATE_ORDER_FILES_H
#define HEARSAY_STATE_ORDER_FILES_H

#include "node/harm.h"
#include "node/put_out.h"
#include "state/disk.h"

#define ORDERS_FILE "orders"
#define ORDER_FILE  "order"
#define PROOFS_FILE "proofs"
#define VOTES_FILE  "votes"

#define ORDERS_HANDED     64 /* at once, as a message has */
#define ORDERS_HANDED_MAX ((size_t)ORDERS_HANDED * ORDER_BYTES_MAX)

/* All that there are into out[NODE_ORDERS_MAX]; 0 bytes where there is no file. FAILED: it cannot
 * be read. TOO_BIG: no node wrote it. */
enum error order_files_load(const struct disk *disk, const char *folder, uint8_t *out,
                            size_t *bytes, struct problem *problem) MUST_USE;
enum error order_files_save(const struct disk *disk, const char *folder, const uint8_t *orders,
                            size_t bytes, struct problem *problem) MUST_USE;

/* The same of proofs; out[NODE_PROOFS_MAX]. */
enum error order_files_load_proofs(const struct disk *disk, const char *folder, uint8_t *out,
                                   size_t *bytes, struct problem *problem) MUST_USE;
enum error order_files_save_proofs(const struct disk *disk, const char *folder,
                                   const uint8_t *proofs, size_t bytes,
                                   struct problem *problem) MUST_USE;

/* The same of votes; out[NODE_VOTES_MAX]. */
enum error order_files_load_votes(const struct disk *disk, const char *folder, uint8_t *out,
                                  size_t *bytes, struct problem *problem) MUST_USE;
enum error order_files_save_votes(const struct disk *disk, const char *folder, const uint8_t *votes,
                                  size_t bytes, struct problem *problem) MUST_USE;

enum error order_files_hand_over(const struct disk *disk, const char *folder, const uint8_t *order,
                                 size_t bytes, struct problem *problem) MUST_USE;
/* Reads handed-over orders into out[ORDERS_HANDED_MAX] and removes the file. MISSING: there are
 * none; FAILED, TOO_BIG: as above. */
enum error order_files_take(const struct disk *disk, const char *folder, uint8_t *out,
                            size_t *bytes, struct problem *problem) MUST_USE;

#endif
