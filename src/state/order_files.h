/* Saves and loads the operator's orders (wire/order.h), equivocation proofs
 * (wire/equivocation_proof.h) and expulsion votes (wire/vote.h) in the state folder.
 *
 *   FOLDER/orders   all orders that the node knows, back to back
 *   FOLDER/order    new orders from `hearsay expel`, `admit` or `rekey` for the running node, which
 *                   removes the file after it has saved or refused them
 *   FOLDER/proofs   all proofs that the node knows, back to back
 *   FOLDER/votes    all votes that the node knows, back to back
 *
 * Files appear completely or not at all (atomic_file.h). Only signatures protect the records, and
 * the node verifies the signatures. Tests: tests/unit/state/test_order_files.c.
 */
#ifndef HEARSAY_STATE_ORDER_FILES_H
#define HEARSAY_STATE_ORDER_FILES_H

#include "node/expulsion_api.h"
#include "node/quarantine_api.h"
#include "state/disk.h"

#define ORDERS_FILE "orders"
#define ORDER_FILE  "order"
#define PROOFS_FILE "proofs"
#define VOTES_FILE  "votes"

/* maximum orders in the file `order`, and in one message */
#define ORDERS_HANDED     64
#define ORDERS_HANDED_MAX ((size_t)ORDERS_HANDED * ORDER_BYTES_MAX)

/* out: [NODE_ORDERS_MAX]. *bytes: size of all orders; 0 if there is no file. FAILED: the file
 * cannot be read. TOO_BIG: it is larger than any file that a node writes. */
enum error order_files_load(const struct disk *disk, const char *folder, uint8_t *out,
                            size_t *bytes, struct problem *problem) MUST_USE;
enum error order_files_save(const struct disk *disk, const char *folder, const uint8_t *orders,
                            size_t bytes, struct problem *problem) MUST_USE;

/* out: [NODE_PROOFS_MAX]. Results are those of order_files_load. */
enum error order_files_load_proofs(const struct disk *disk, const char *folder, uint8_t *out,
                                   size_t *bytes, struct problem *problem) MUST_USE;
enum error order_files_save_proofs(const struct disk *disk, const char *folder,
                                   const uint8_t *proofs, size_t bytes,
                                   struct problem *problem) MUST_USE;

/* out: [NODE_VOTES_MAX]. Results are those of order_files_load. */
enum error order_files_load_votes(const struct disk *disk, const char *folder, uint8_t *out,
                                  size_t *bytes, struct problem *problem) MUST_USE;
enum error order_files_save_votes(const struct disk *disk, const char *folder, const uint8_t *votes,
                                  size_t bytes, struct problem *problem) MUST_USE;

enum error order_files_hand_over(const struct disk *disk, const char *folder, const uint8_t *order,
                                 size_t bytes, struct problem *problem) MUST_USE;
/* Reads new orders into out[ORDERS_HANDED_MAX]. MISSING: there are none. FAILED, TOO_BIG: as for
 * order_files_load. */
enum error order_files_handed(const struct disk *disk, const char *folder, uint8_t *out,
                              size_t *bytes, struct problem *problem) MUST_USE;
/* Removes the file of new orders. Call it after the node has saved or refused them. */
void order_files_taken(const struct disk *disk, const char *folder);

#endif
