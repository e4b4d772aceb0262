/* Writes numbers by step in TensorBoard's format: a file of TFRecords, each with an Event.
 *
 *   OFFSET  SIZE  MEANING                                (integers: little-endian)
 *   0       8     bytes of the event
 *   8       4     masked CRC-32C of those 8 bytes
 *   12      n     the event, a message of protocol buffers (tensorflow/core/util/event.proto)
 *   12 + n  4     masked CRC-32C of the event
 *
 * Source: tensorflow/core/lib/io/record_writer.h. Tests: tests/unit/commands/test_event_file.c and
 * tests/process/test_tensorboard.sh, in which TensorBoard reads such a file.
 */
#ifndef HEARSAY_COMMANDS_PLOT_EVENT_FILE_H
#define HEARSAY_COMMANDS_PLOT_EVENT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EVENT_TAG_BYTES 128 /* maximum size in bytes of a tag, the name of a curve */

/* Writes the first record of a file. wall_s: seconds since 1970. */
void event_file_begin(FILE *out, double wall_s);

/* Adds one number under a tag. Cuts a tag that is too long. */
void event_file_add(FILE *out, double wall_s, int64_t step, const char *tag, float value);

/* Returns the plain CRC-32C (Castagnoli; RFC 3720, B.4), not masked. */
uint32_t event_file_crc(const void *bytes, size_t count);

#endif
