#include "node/connection/spoken.h"

#include <stdio.h>
#include <string.h>

#include "crypto/gate.h"

void spoken_line(const struct node *node, char out[static SPOKEN_LINE_MAX])
{
    const struct introduction *ours = connection_introduction(node);
    out[0] = '\0';
    if (ours->newer > 0)
        (void)snprintf(out, SPOKEN_LINE_MAX, SPOKEN_NAME "=%u-%u\n", ours->protocol,
                       (unsigned)ours->protocol + ours->newer);
}

/* Parses the version number at *at and advances *at. Returns 0 if no valid number is there. */
static uint32_t take_version(const char **at, const char *end)
{
    uint32_t version = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && version <= UINT16_MAX; (*at)++)
        version = version * 10 + (uint32_t)(**at - '0');
    return version <= UINT16_MAX ? version : 0;
}

static bool parse(const char *at, const char *end, struct introduction *theirs)
{
    const uint32_t oldest = take_version(&at, end);
    if (at == end || *at++ != '-')
        return false;
    const uint32_t newest = take_version(&at, end);
    if (at != end || oldest == 0 || newest < oldest || newest - oldest > UINT8_MAX)
        return false;
    theirs->protocol = (uint16_t)oldest;
    theirs->newer = (uint8_t)(newest - oldest);
    return true;
}

bool spoken_check(struct node *node, const struct peer *peer, const char *value, size_t bytes)
{
    struct introduction theirs = {.protocol = PROTOCOL_PROBE};
    CHECK(peer->state == PEER_OPEN);
    if (!parse(value, value + bytes, &theirs)) {
        connection_hang_up(node, peer, BYE_BROKEN, "sent invalid settings");
        return false;
    }
    if (introduction_common(connection_introduction(node), &theirs) == peer->protocol)
        return true;
    connection_hang_up(node, peer, BYE_BROKEN,
                       "both support a newer protocol: the network changes offers");
    return false;
}

const char *spoken_remark(const struct node *node, const struct peer *peer)
{
    const struct introduction *ours = connection_introduction(node);
    CHECK(peer->protocol >= ours->protocol && peer->protocol <= ours->protocol + ours->newer);
    return peer->protocol < ours->protocol + ours->newer ? "; it runs the previous release" : "";
}
