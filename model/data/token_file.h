/* One file of tokens, read from its beginning to its end.
 *
 *   text     any bytes, each a token of its own; plain or gzip (also dictzip's .dz)
 *   tokens   numbers, little-endian, in one of these formats, told apart by how they begin:
 *
 *            llm.c's     OFFSET SIZE MEANING
 *                             0    4 20240520: tokens of 2 bytes; 20240801: of 4
 *                             4    4 version: 1 of the first, 7 of the second
 *                             8    4 how many tokens follow
 *                            12 1012 nothing that is read here
 *                          1024      … the tokens
 *            nanoGPT's   nothing but tokens of 2 bytes
 *
 * A file that is shorter or longer than it says is refused, and so is a gzip file with a wrong
 * checksum. Held by tests/unit/model/test_token_file.c.
 */
#ifndef HEARSAY_MODEL_DATA_TOKEN_FILE_H
#define HEARSAY_MODEL_DATA_TOKEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TOKEN_FILE_HEADER_BYTES 1024

struct token_file {
    const char *path;        /* belongs to the caller */
    int fd;                  /* descriptor of a plain file; -1 = gzip */
    struct gzFile_s *stream; /* stream of a gzip file; NULL = plain */
    uint64_t bytes;          /* bytes of tokens; for gzip, known after a count */
    int token_bytes;         /* bytes per token: 1, 2 or 4 */
};

/* Opens the file at its first token. After OK the caller must call token_file_close; after an error
 * there is nothing to close. */
enum error token_file_open(struct token_file *file, const char *path, bool is_text,
                           struct problem *problem) MUST_USE;

/* Counts the tokens of the file, at least 1. Call it before the first read: a gzip file is read
 * completely and then rewound. */
enum error token_file_count(struct token_file *file, uint64_t *count,
                            struct problem *problem) MUST_USE;

/* Reads the next `count` tokens in the machine's number format. */
enum error token_file_read(struct token_file *file, void *tokens, size_t count,
                           struct problem *problem) MUST_USE;

void token_file_close(struct token_file *file);

#endif
