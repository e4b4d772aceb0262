/* The table of all configuration keys with their meaning, and functions to find a key.
 * config_value.h parses values.
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
    CONFIG_ADDRESS,   /* struct address; the text in `words` stands for no address */
    CONFIG_LISTEN,    /* struct address of this machine: numeric, not a name */
    CONFIG_ADDRESSES, /* struct address_list */
    CONFIG_SLICE,     /* struct slice */
    CONFIG_DEVICE     /* char[]: a word of device.h */
};

enum config_shared {
    CONFIG_OWN,   /* may differ between nodes; or it must be equal and the gate checks it */
    CONFIG_SAME,  /* must be equal on all nodes of a swarm */
    CONFIG_UNLIKE /* must differ between nodes if it is a part of something */
};

#define CONFIG_NO_MAX 0x1p64

struct config_key {
    const char *section;   /* section of the key, as in [section] */
    const char *name;      /* name of the key, as in name = value */
    enum config_type type; /* type of the parsed value */
    size_t offset;         /* offset of the member in struct config */
    size_t bytes;          /* size of the member */
    const char *initial;   /* default value as text */
    /* Minimum: of numbers the value, of texts the length, of addresses the port. */
    double min;
    double max;        /* maximum of numbers; CONFIG_NO_MAX = the maximum of the type */
    const char *unit;  /* unit of a number, or NULL */
    const char *words; /* choices; or the word for no address; or the word for CONFIG_AUTO */
    const char *help;  /* one sentence for config_print */
    /* Whether other nodes must have the same value, which neighbours check. */
    enum config_shared shared;
};

#define CONFIG_KEYS_MAX 128

size_t config_key_count(void);
const struct config_key *config_key_at(size_t i);
/* Index in the table, below config_key_count. */
size_t config_key_index(const struct config_key *key);

/* Returns the key; NULL if there is none. */
const struct config_key *config_key_find(const char *section, const char *name);

/* Returns MALFORMED with a sentence that suggests a similar key. */
enum error config_key_unknown(const char *section, const char *name, struct problem *problem);

/* Returns the word that is most similar to the typed one; NULL if none is similar. Words are
 * shorter than 32 characters. */
const char *config_key_nearest(const char *typed, const char *const *words, size_t count);

/* Writes all words, the most similar to the typed one first. */
#define CONFIG_RANK_BYTES 400
void config_key_rank(const char *typed, const char *const *words, size_t count,
                     char out[static CONFIG_RANK_BYTES]);

/* Records that a file set the key in this line. Returns MALFORMED if it already did so in line
 * *set. */
enum error config_key_once(const struct config_key *key, int *set, int line,
                           struct problem *problem) MUST_USE;

/* Returns OK if the section exists; otherwise MALFORMED with a sentence. */
enum error config_key_section(const char *section, struct problem *problem) MUST_USE;

#endif
