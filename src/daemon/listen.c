#include "daemon/listen.h"

#include <string.h>

enum error listen_begin(struct transport *transport, const struct address *listen,
                        struct node_options *options, struct problem *problem)
{
    struct address *advertise = &options->advertise;
    if (!listen->host[0])
        return OK;
    const enum error error = transport_listen(transport, listen, &options->listen_port, problem);
    const bool any = strcmp(listen->host, "0.0.0.0") == 0 || strcmp(listen->host, "::") == 0;
    if (!advertise->host[0] && !any)
        *advertise = *listen;
    if (advertise->port == 0)
        advertise->port = options->listen_port;
    return error;
}
