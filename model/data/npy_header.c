#include "data/npy_header.h"

#include <string.h>

/* The part of the header's text that is not parsed yet: at .. end-1. */
struct scanner {
    const char *at;
    const char *end;
};

static void skip_blanks(struct scanner *scanner)
{
    while (scanner->at < scanner->end && strchr(" \t\r\n", *scanner->at) && *scanner->at)
        scanner->at++;
}

static bool take(struct scanner *scanner, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(scanner);
    if ((size_t)(scanner->end - scanner->at) < length || memcmp(scanner->at, word, length) != 0)
        return false;
    scanner->at += length;
    return true;
}

static bool take_string(struct scanner *scanner, char out[static NPY_DESCR_BYTES])
{
    const char *quote = take(scanner, "'") ? "'" : take(scanner, "\"") ? "\"" : NULL;
    const char *from = scanner->at;
    if (!quote)
        return false;
    while (scanner->at < scanner->end && *scanner->at != *quote)
        scanner->at++;
    const size_t length = (size_t)(scanner->at - from);
    if (length >= NPY_DESCR_BYTES || memchr(from, '\0', length))
        return false;
    memcpy(out, from, length);
    out[length] = '\0';
    return take(scanner, quote);
}

static bool take_number(struct scanner *scanner, uint64_t *number)
{
    skip_blanks(scanner);
    const char *from = scanner->at;
    *number = 0;
    for (; scanner->at < scanner->end && *scanner->at >= '0' && *scanner->at <= '9'; scanner->at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*scanner->at - '0'), number))
            return false;
    (void)take(scanner, "L"); /* suffix that Python 2 wrote after long integers, such as 60000L */
    return scanner->at > from;
}

static bool take_shape(struct scanner *scanner, struct npy_header *header)
{
    header->rank = 0;
    if (!take(scanner, "("))
        return false;
    while (!take(scanner, ")")) {
        if (header->rank == NPY_RANK_MAX || !take_number(scanner, &header->dims[header->rank++]))
            return false;
        if (!take(scanner, ","))
            return take(scanner, ")");
    }
    return true;
}

static bool take_bool(struct scanner *scanner, bool *value)
{
    *value = take(scanner, "True");
    return *value || take(scanner, "False");
}

/* Skips a list of fields (a record type, which npy_file.c refuses). Returns false if the list has
 * no end. */
static bool take_fields(struct scanner *scanner)
{
    int depth = 0;
    skip_blanks(scanner);
    for (; scanner->at < scanner->end; scanner->at++) {
        depth += *scanner->at == '[';
        depth -= *scanner->at == ']';
        if (depth == 0)
            return take(scanner, "]");
    }
    return false;
}

static bool take_descr(struct scanner *scanner, struct npy_header *header)
{
    header->descr[0] = '\0';
    return take_string(scanner, header->descr) || take_fields(scanner);
}

enum key { DESCR = 1, FORTRAN_ORDER = 2, SHAPE = 4 };

/* Parses one entry "key: value" into the header. Returns the key's bit (enum key), or 0 if the key
 * is unknown or the value malformed. */
static unsigned take_entry(struct scanner *scanner, struct npy_header *header)
{
    char key[NPY_DESCR_BYTES];
    if (!take_string(scanner, key) || !take(scanner, ":"))
        return 0;
    if (strcmp(key, "descr") == 0)
        return take_descr(scanner, header) ? DESCR : 0;
    if (strcmp(key, "fortran_order") == 0)
        return take_bool(scanner, &header->fortran_order) ? FORTRAN_ORDER : 0;
    if (strcmp(key, "shape") == 0)
        return take_shape(scanner, header) ? SHAPE : 0;
    return 0;
}

bool npy_header_parse(struct npy_header *header, const char *text, size_t length)
{
    struct scanner scanner = {.at = text, .end = text + length};
    unsigned found = 0;
    if (!take(&scanner, "{"))
        return false;
    while (!take(&scanner, "}")) {
        const unsigned key = take_entry(&scanner, header);
        if (key == 0 || (found & key))
            return false;
        found |= key;
        if (!take(&scanner, ",")) {
            if (!take(&scanner, "}"))
                return false;
            break;
        }
    }
    skip_blanks(&scanner);
    return found == (DESCR | FORTRAN_ORDER | SHAPE) && scanner.at == scanner.end;
}
