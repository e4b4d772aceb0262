/* The table of all configuration keys with their meaning, and functions to find a key. Values are
 * parsed by config_value.h.
 */
#ifndef HEARSAY_CONFIG_CONFIG_KEY_H
#define HEARSAY_CONFIG_CONFIG_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum config_type {
    CONFIG_U32,       /* uint32_t */
    CONFIG_U64,       /* uint64_t */
    CONFIG_SIZE,      /* uint64_t, in bytes, written with K, M or G (powers of 1024) */
    CONFIG_REAL,      /* double */
    CONFIG_BOOL,      /* bool */
    CONFIG_CHOICE,    /* an enum, whose values follow the order of `words` */
    CONFIG_TEXT,      /* char[] */
    CONFIG_PATH,      /* char[] */
    CONFIG_ADDRESS,   /* struct address; a word stands for no address */
    CONFIG_LISTEN,    /* struct address of this machine, which must be numeric */
    CONFIG_ADDRESSES, /* struct address_list */
    CONFIG_SLICE,     /* struct slice */
    CONFIG_DEVICE     /* char[], a device name of device.h */
};

enum config_shared {
    CONFIG_OWN,  /* may differ between nodes, or the handshake already compares it */
    CONFIG_SAME, /* must be equal on all nodes of a swarm */
    /* A slice that must differ between nodes, unless it is the complete set (1/1). */
    CONFIG_UNLIKE
};

#define CONFIG_NO_MAX 0x1p64

struct config_key {
    const char *section; /* name of the section, as in [section] */
    const char *name;    /* name of the key, as in name = value */
    enum config_type type;
    size_t offset; /* offset of the key's value in struct config */
    size_t bytes;
    const char *initial; /* default, as text */
    /* Minimum of the number, of the text's length, or of the address's port. */
    double min;
    double max;       /* maximum of the number; CONFIG_NO_MAX = that of its type */
    const char *unit; /* unit of a number, or NULL */
    /* The choices of an enum; or the word for no address, or for CONFIG_AUTO. */
    const char *words;
    const char *help;
    enum config_shared shared; /* compared with the values of neighbours */
};

#define CONFIG_KEYS_MAX 128

size_t config_key_count(void);
const struct config_key *config_key_at(size_t i);
/* Returns true if the value is a list of file names and patterns (file_list.h). */
bool config_key_lists_files(const struct config_key *key);
/* Returns the index of the key, below config_key_count(). */
size_t config_key_index(const struct config_key *key);

/* Returns the key, or NULL. */
const struct config_key *config_key_find(const char *section, const char *name);

/* Returns the first key of any section that has this name, or NULL. */
const struct config_key *config_key_named(const char *name);

/* Returns MALFORMED with a message that the key is unknown or was renamed. */
enum error config_key_unknown(const char *section, const char *name, struct problem *problem);

/* Records in *set the line in which a file sets the key. Returns MALFORMED if an earlier line, *set
 * > 0, has set it. */
enum error config_key_once(const struct config_key *key, int *set, int line,
                           struct problem *problem) MUST_USE;

/* Returns MALFORMED with a message unless the section exists. */
enum error config_key_section(const char *section, struct problem *problem) MUST_USE;

#endif
