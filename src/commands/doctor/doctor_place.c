#include "commands/doctor/doctor_place.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

struct network {
    uint8_t prefix[16];
    int bits;
    enum place place;
};

/* The scope of an address is that of the first range that contains it. */
static const struct network V4[] = {
    {{127}, 8, PLACE_LOOPBACK},
    {{169, 254}, 16, PLACE_LINK_LOCAL},
    {{10}, 8, PLACE_PRIVATE},
    {{172, 16}, 12, PLACE_PRIVATE},
    {{192, 168}, 16, PLACE_PRIVATE},
    {{100, 64}, 10, PLACE_CARRIER},
    {{192, 0, 2}, 24, PLACE_DOCUMENTATION},
    {{198, 51, 100}, 24, PLACE_DOCUMENTATION},
    {{203, 0, 113}, 24, PLACE_DOCUMENTATION},
    {{198, 18}, 15, PLACE_BENCHMARK},
    {{224}, 4, PLACE_MULTICAST},
    {{0}, 8, PLACE_RESERVED},
    {{192, 0, 0}, 24, PLACE_RESERVED},
    {{240}, 4, PLACE_RESERVED},
    {{0}, 0, PLACE_PUBLIC},
};

static const struct network V6[] = {
    {{[15] = 1}, 128, PLACE_LOOPBACK},
    {{0xfe, 0x80}, 10, PLACE_LINK_LOCAL},
    {{0xfc}, 7, PLACE_PRIVATE},
    {{0xfe, 0xc0}, 10, PLACE_PRIVATE},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, PLACE_DOCUMENTATION},
    {{0x3f, 0xff}, 20, PLACE_DOCUMENTATION},
    {{0x20, 0x01, 0x00, 0x02}, 48, PLACE_BENCHMARK},
    {{0xff}, 8, PLACE_MULTICAST},
    /* All global unicast IPv6 addresses that are assigned today (RFC 4291). */
    {{0x20}, 3, PLACE_PUBLIC},
    /* IPv4 addresses behind a NAT64 translator (RFC 6052). */
    {{0x00, 0x64, 0xff, 0x9b}, 96, PLACE_PUBLIC},
    {{0}, 0, PLACE_RESERVED},
};

static bool is_in(const struct network *network, const uint8_t *number)
{
    const int bytes = network->bits / 8, rest = network->bits % 8;
    CHECK(network->bits >= 0 && network->bits <= 128);
    return memcmp(number, network->prefix, (size_t)bytes) == 0 &&
           (rest == 0 || (number[bytes] ^ network->prefix[bytes]) >> (8 - rest) == 0);
}

static enum place place_in(const struct network *network, const uint8_t *number)
{
    while (!is_in(network, number)) /* the last range contains every address */
        network++;
    return network->place;
}

enum place place_of(const struct address *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address->host, &v4) == 1)
        return place_in(V4, (const uint8_t *)&v4);
    if (inet_pton(AF_INET6, address->host, &v6) != 1)
        return PLACE_NAME;
    if (IN6_IS_ADDR_V4MAPPED(&v6))
        return place_in(V4, v6.s6_addr + 12);
    return place_in(V6, v6.s6_addr);
}

bool place_is_nobodys(enum place place)
{
    return place < PLACE_LOOPBACK;
}

const char *place_text(enum place place)
{
    switch (place) {
    case PLACE_RESERVED:
        return "a reserved address, which no machine can have (RFC 6890)";
    case PLACE_DOCUMENTATION:
        return "an address for documentation, which no machine can have (RFC 5737, RFC 3849, RFC "
               "9637)";
    case PLACE_BENCHMARK:
        return "an address for benchmarks, which no machine can have (RFC 2544, RFC 5180)";
    case PLACE_MULTICAST:
        return "a multicast address, which no machine can have (RFC 5771, RFC 4291)";
    case PLACE_LOOPBACK:
        return "an address of only this machine (loopback)";
    case PLACE_LINK_LOCAL:
        return "an address of only this network segment (link-local)";
    case PLACE_PRIVATE:
        return "a private address (RFC 1918, RFC 4193)";
    case PLACE_CARRIER:
        return "a shared address of a provider or a VPN (100.64.0.0/10, RFC 6598)";
    case PLACE_PUBLIC:
        return "a public address";
    case PLACE_NAME:
        return "a name";
    }
    check_failed(__FILE__, __LINE__, "every place has its text");
}

/* Converts a numeric address to a socket address and returns its length; 0 = not numeric. */
static socklen_t socket_of(const struct address *address, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, address->host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address->port);
        return sizeof *v4;
    }
    if (inet_pton(AF_INET6, address->host, &v6->sin6_addr) != 1)
        return 0;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address->port);
    return sizeof *v6;
}

bool place_is_here(const struct address *address)
{
    struct sockaddr_storage to;
    struct address any_port = *address;
    any_port.port = 0;
    const socklen_t bytes = socket_of(&any_port, &to);
    const int probe = bytes ? socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (probe < 0)
        return false;
    const bool is_here = bind(probe, (const struct sockaddr *)&to, bytes) == 0;
    (void)close(probe);
    return is_here;
}

bool place_towards(const struct address *numeric, struct address *ours)
{
    struct sockaddr_storage to, from = {0};
    socklen_t from_bytes = sizeof from;
    const socklen_t bytes = socket_of(numeric, &to);
    const int probe = bytes ? socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (probe < 0)
        return false;
    const bool found = connect(probe, (const struct sockaddr *)&to, bytes) == 0 &&
                       getsockname(probe, (struct sockaddr *)&from, &from_bytes) == 0;
    (void)close(probe);
    if (!found)
        return false;
    *ours = address_of_socket((const struct sockaddr *)&from);
    ours->port = 0;
    return true;
}
