/* Configuration values that are addresses: the text of a key becomes a struct address, or a list.
 *
 * config_value.c calls these functions and explains their common arguments.
 */
#ifndef HEARSAY_CONFIG_CONFIG_ADDRESS_H
#define HEARSAY_CONFIG_CONFIG_ADDRESS_H

#include "config/config_key.h"
#include "socket/address.h"

#define CONFIG_PEERS_MAX 64

struct address_list {
    struct address item[CONFIG_PEERS_MAX];
    uint32_t count; /* of item */
};

/* Parses a CONFIG_ADDRESS. to: struct address. */
enum error config_address_set(void *to, const struct config_key *key, const char *text,
                              struct problem *problem) MUST_USE;

/* Parses a CONFIG_LISTEN. to: struct address. */
enum error config_address_set_listen(void *to, const struct config_key *key, const char *text,
                                     struct problem *problem) MUST_USE;

/* Parses a CONFIG_ADDRESSES. to: struct address_list. */
enum error config_address_set_all(void *to, const struct config_key *key, const char *text,
                                  struct problem *problem) MUST_USE;

#endif
