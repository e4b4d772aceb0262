#include "wire/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum error not_an_address(struct problem *problem, const char *text)
{
    return problem_set(problem, MALFORMED,
                       "\"%.80s\" is not an address: write host:port, for example "
                       "node1.example.org:7770, 192.0.2.7:7770 or [2001:db8::7]:7770",
                       text);
}

static enum error too_large(struct problem *problem, const char *text)
{
    return problem_set(problem, TOO_BIG,
                       "\"%.80s\": the port is too large; write host:port with a port up to %d",
                       text, UINT16_MAX);
}

static bool is_host_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
}

enum error address_parse(struct address *address, const char *text, struct problem *problem)
{
    const bool bracketed = text[0] == '[';
    const char *host = bracketed ? text + 1 : text;
    const char *end = bracketed ? strchr(text, ']') : strrchr(text, ':');
    if (!end || end == host || (size_t)(end - host) >= HOST_BYTES)
        return not_an_address(problem, text);
    const char *colon = bracketed ? end + 1 : end;
    for (const char *c = host; c < end; c++)
        if (!is_host_character(*c) || (!bracketed && *c == ':'))
            return not_an_address(problem, text);
    const size_t digits = *colon == ':' ? strspn(colon + 1, "0123456789") : 0;
    if (digits == 0 || colon[1 + digits])
        return not_an_address(problem, text);
    const unsigned long port = strtoul(colon + 1, NULL, 10);
    if (port > UINT16_MAX)
        return too_large(problem, text);
    if (digits > 5)
        return not_an_address(problem, text);
    struct address parsed = {.port = (uint16_t)port};
    memcpy(parsed.host, host, (size_t)(end - host));
    *address = parsed;
    return OK;
}

const char *address_text(const struct address *address, char text[static ADDRESS_TEXT_BYTES])
{
    const char *format = strchr(address->host, ':') ? "[%s]:%u" : "%s:%u";
    (void)snprintf(text, ADDRESS_TEXT_BYTES, format, address->host, (unsigned)address->port);
    return text;
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

uint64_t address_network(const struct address *address)
{
    uint8_t bytes[16];
    if (inet_pton(AF_INET, address->host, bytes) == 1)
        return 1ull << 56 | (uint64_t)bytes[0] << 16 | (uint64_t)bytes[1] << 8 | bytes[2];
    if (inet_pton(AF_INET6, address->host, bytes) != 1)
        return 0;
    uint64_t network = 2ull << 56;
    for (int i = 0; i < 6; i++)
        network |= (uint64_t)bytes[i] << (8 * (5 - i));
    return network;
}

/* Reads an IPv6 address with or without a zone ("%eth0"). Returns false if the host is not an IPv6
 * address. */
static bool read_v6(const struct address *address, uint8_t bytes[static 16])
{
    char host[HOST_BYTES];
    memcpy(host, address->host, sizeof host);
    host[strcspn(host, "%")] = 0;
    return inet_pton(AF_INET6, host, bytes) == 1;
}

bool address_is_number(const struct address *address)
{
    uint8_t bytes[16];
    return inet_pton(AF_INET, address->host, bytes) == 1 || read_v6(address, bytes);
}

bool address_is_one_machine(const struct address *address)
{
    uint8_t bytes[16];
    if (inet_pton(AF_INET, address->host, bytes) == 1)
        return bytes[0] != 0 && bytes[0] < 224;
    return !read_v6(address, bytes) ||
           (bytes[0] != 0xff && memcmp(bytes, &in6addr_any, sizeof bytes) != 0);
}

bool address_is_loopback(const struct address *address)
{
    uint8_t bytes[16];
    if (inet_pton(AF_INET, address->host, bytes) == 1)
        return bytes[0] == 127;
    return inet_pton(AF_INET6, address->host, bytes) == 1 &&
           memcmp(bytes, &in6addr_loopback, sizeof bytes) == 0;
}

struct address address_of_socket(const struct sockaddr *socket)
{
    struct address address = {0};
    if (socket->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)socket;
        address.port = ntohs(v4->sin_port);
        CHECK(inet_ntop(AF_INET, &v4->sin_addr, address.host, sizeof address.host));
        return address;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)socket;
    const uint8_t *bytes = v6->sin6_addr.s6_addr;
    const bool is_v4 = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
    address.port = ntohs(v6->sin6_port);
    CHECK(inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? bytes + 12 : bytes, address.host,
                    sizeof address.host));
    return address;
}
