#include "commands/doctor/doctor_place.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static enum place place_of_v4(uint32_t host)
{
    static const struct {
        uint32_t network;
        int bits;
        enum place place;
    } NETWORKS[] = {
        {0x7F000000, 8, PLACE_LOOPBACK}, {0xA9FE0000, 16, PLACE_LINK_LOCAL},
        {0x0A000000, 8, PLACE_PRIVATE},  {0xAC100000, 12, PLACE_PRIVATE},
        {0xC0A80000, 16, PLACE_PRIVATE}, {0x64400000, 10, PLACE_CARRIER},
    };
    for (size_t i = 0; i < sizeof NETWORKS / sizeof NETWORKS[0]; i++)
        if ((host ^ NETWORKS[i].network) >> (32 - NETWORKS[i].bits) == 0)
            return NETWORKS[i].place;
    return PLACE_PUBLIC;
}

enum place place_of(const struct address *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address->host, &v4) == 1)
        return place_of_v4(ntohl(v4.s_addr));
    if (inet_pton(AF_INET6, address->host, &v6) != 1)
        return PLACE_NAME;
    if (IN6_IS_ADDR_LOOPBACK(&v6))
        return PLACE_LOOPBACK;
    if (IN6_IS_ADDR_LINKLOCAL(&v6))
        return PLACE_LINK_LOCAL;
    return (v6.s6_addr[0] & 0xFE) == 0xFC ? PLACE_PRIVATE : PLACE_PUBLIC;
}

const char *place_text(enum place place)
{
    switch (place) {
    case PLACE_LOOPBACK:
        return "an address of this machine alone (loopback)";
    case PLACE_LINK_LOCAL:
        return "an address of this network segment alone (link-local)";
    case PLACE_PRIVATE:
        return "a private address (RFC 1918, RFC 4193)";
    case PLACE_CARRIER:
        return "a shared address of a provider or a VPN (100.64.0.0/10)";
    case PLACE_PUBLIC:
        return "a public address";
    case PLACE_NAME:
        return "a name";
    }
    return "";
}

/* The number as a socket address; 0: it is none. */
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
