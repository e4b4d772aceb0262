/* Converts the text of a configuration key to a struct address, or to a list of addresses.
 *
 * config_value.c calls these functions; config_value.h explains their common arguments.
 */
#ifndef HEARSAY_CONFIG_CONFIG_ADDRESS_H
#define HEARSAY_CONFIG_CONFIG_ADDRESS_H

#include "config/config_key.h"
#include "wire/address.h"

#define CONFIG_PEERS_MAX 64

struct address_list {
    struct address item[CONFIG_PEERS_MAX];
    uint32_t count;
};

/* Parse the text of a key into `to`: a struct address for CONFIG_ADDRESS and CONFIG_LISTEN, a
 * struct address_list for CONFIG_ADDRESSES. */
enum error config_address_set(void *to, const struct config_key *key, const char *text,
                              struct problem *problem) MUST_USE;

enum error config_address_set_listen(void *to, const struct config_key *key, const char *text,
                                     struct problem *problem) MUST_USE;

enum error config_address_set_all(void *to, const struct config_key *key, const char *text,
                                  struct problem *problem) MUST_USE;

#endif
