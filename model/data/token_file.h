/* One file of tokens, read from its beginning to its end.
 *
 *   text     each byte is a token; plain or gzip (also dictzip's .dz)
 *   tokens   numbers, little-endian, in one of these formats, which the first 4 bytes decide:
 *
 *            llm.c's     OFFSET SIZE MEANING
 *                             0    4 magic number: 20240520: tokens have 2 bytes; 20240801: 4 bytes
 *                             4    4 version: 1 with 20240520, 7 with 20240801
 *                             8    4 number of tokens
 *                            12 1012 ignored
 *                          1024      … the tokens
 *            nanoGPT's   no header, tokens of 2 bytes
 *
 * Refuses a file that is shorter or longer than its header says, and a gzip file with a wrong
 * checksum. Tests: tests/unit/model/test_token_file.c.
 */
#ifndef HEARSAY_MODEL_DATA_TOKEN_FILE_H
#define HEARSAY_MODEL_DATA_TOKEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TOKEN_FILE_HEADER_BYTES 1024

struct token_file {
    const char *path;        /* not copied; belongs to the caller */
    int fd;                  /* descriptor of a plain file; -1 = gzip, and `stream` is set */
    struct gzFile_s *stream; /* stream of a gzip file; NULL = plain, and `fd` is set */
    /* bytes of all tokens; of gzip before token_file_count: size of the file */
    uint64_t bytes;
    int token_bytes; /* bytes per token: 1, 2 or 4 */
};

/* Opens the file at its first token. is_text: each byte is a token. After OK the caller must call
 * token_file_close; after an error there is nothing to close. */
enum error token_file_open(struct token_file *file, const char *path, bool is_text,
                           struct problem *problem) MUST_USE;

/* Sets *count to the number of tokens in the file, at least 1. Call it before the first read: a
 * gzip file is read completely and then rewound. MALFORMED: the file is empty or damaged. */
enum error token_file_count(struct token_file *file, uint64_t *count,
                            struct problem *problem) MUST_USE;

/* Copies the next `count` tokens to `tokens`, in the machine's byte order. MALFORMED: the file has
 * fewer. */
enum error token_file_read(struct token_file *file, void *tokens, size_t count,
                           struct problem *problem) MUST_USE;

void token_file_close(struct token_file *file);

#endif
