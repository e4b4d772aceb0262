/* The table of all configuration keys, and finding one by name.
 *
 * What a key means stands here; how its text becomes a value is config_value.h.
 */
#ifndef HEARSAY_CONFIG_CONFIG_KEY_H
#define HEARSAY_CONFIG_CONFIG_KEY_H

#include <stddef.h>

#include "base/error.h"

enum config_type {
    CONFIG_U32,       /* uint32_t */
    CONFIG_U64,       /* uint64_t */
    CONFIG_SIZE,      /* uint64_t, in bytes, written with K, M or G (powers of 1024) */
    CONFIG_REAL,      /* double */
    CONFIG_BOOL,      /* bool */
    CONFIG_CHOICE,    /* an enum whose values count from 0 in the order of `words` */
    CONFIG_TEXT,      /* char[] */
    CONFIG_PATH,      /* char[] */
    CONFIG_ADDRESS,   /* struct address; the text `words` stands for none */
    CONFIG_LISTEN,    /* struct address of this machine: a number, not a name */
    CONFIG_ADDRESSES, /* struct address_list */
    CONFIG_SLICE,     /* struct slice */
    CONFIG_DEVICE     /* char[]: a word of device.h */
};

enum config_shared {
    CONFIG_OWN,   /* a node's own business; or found at the gate, if it must be the same */
    CONFIG_SAME,  /* the same on all nodes of a swarm */
    CONFIG_UNLIKE /* another on each, if it is a part of something */
};

#define CONFIG_NO_MAX 0x1p64

struct config_key {
    const char *section;   /* as in [section] */
    const char *name;      /* as in name = value */
    enum config_type type; /* what the text is parsed to */
    size_t offset;         /* of the member in struct config */
    size_t bytes;          /* size of the member */
    const char *initial;   /* the default, as text */
    double min;            /* numbers: the value; texts: the length; addresses: the port */
    double max;            /* numbers: the value; CONFIG_NO_MAX: as large as the type holds */
    const char *unit;      /* of a number, or NULL */
    const char *words; /* the choices; or the word for none (addresses) or CONFIG_AUTO (numbers) */
    const char *help;  /* one sentence for config_print */
    enum config_shared shared; /* what others of the swarm have; whether they do is said */
};

#define CONFIG_KEYS_MAX 128

size_t config_key_count(void);
const struct config_key *config_key_at(size_t i);
size_t config_key_index(const struct config_key *key); /* below config_key_count */

/* NULL when there is no such key. */
const struct config_key *config_key_find(const char *section, const char *name);

/* MALFORMED, and the sentence that says what the user may have meant. */
enum error config_key_unknown(const char *section, const char *name, struct problem *problem);

/* The word nearest to what was typed; NULL: none is near. Words are shorter than 32 characters. */
const char *config_key_nearest(const char *typed, const char *const *words, size_t count);

/* All words, the nearest to what was typed first. */
#define CONFIG_RANK_BYTES 400
void config_key_rank(const char *typed, const char *const *words, size_t count,
                     char out[static CONFIG_RANK_BYTES]);

/* Notes that a file set the key in this line; MALFORMED when it already had in line *set. */
enum error config_key_once(const struct config_key *key, int *set, int line,
                           struct problem *problem) MUST_USE;

/* OK when the section exists; else MALFORMED and the sentence. */
enum error config_key_section(const char *section, struct problem *problem) MUST_USE;

#endif
