/* Checks the configured peers: whether each name resolves, and whether the peer accepts a
 * connection from this node (doctor_visit.h). Also checks whether the peers can dial this node's
 * address. */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/amount.h"
#include "base/memory.h"
#include "base/sort.h"
#include "commands/doctor/doctor.h"
#include "commands/doctor/doctor_place.h"
#include "commands/doctor/doctor_visit.h"
#include "state/state_dir.h"

/* Time limit of all name lookups, which run at once; a node has the same limit for one lookup. */
#define NAME_WAIT_NS (15000 * MS_NS)

struct lookup {
    struct gaicb request;
    struct addrinfo hints;
    char host[HOST_BYTES];
    char port[8];
};

static void start_lookups(struct lookup *lookups, const struct address_list *peers)
{
    struct gaicb *list[CONFIG_PEERS_MAX];
    for (uint32_t i = 0; i < peers->count; i++) {
        struct lookup *lookup = &lookups[i];
        (void)snprintf(lookup->port, sizeof lookup->port, "%u", (unsigned)peers->item[i].port);
        memcpy(lookup->host, peers->item[i].host, sizeof lookup->host);
        lookup->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM};
        lookup->request = (struct gaicb){
            .ar_name = lookup->host, .ar_service = lookup->port, .ar_request = &lookup->hints};
        list[i] = &lookup->request;
    }
    /* If a lookup could not start, gai_error later returns its error as the result. */
    (void)getaddrinfo_a(GAI_NOWAIT, list, (int)peers->count, NULL);
}

static void await_lookup(const struct lookup *lookup, uint64_t until_ns)
{
    const struct gaicb *const list[] = {&lookup->request};
    while (gai_error((struct gaicb *)&lookup->request) == EAI_INPROGRESS) {
        const uint64_t now_ns = monotonic_ns();
        if (now_ns >= until_ns)
            return;
        const uint64_t left_ns = until_ns - now_ns;
        const struct timespec left = {.tv_sec = (time_t)(left_ns / SECOND_NS),
                                      .tv_nsec = (long)(left_ns % SECOND_NS)};
        (void)gai_suspend(list, 1, &left);
    }
}

static void take_numbers(struct visit *visit, const struct addrinfo *found)
{
    for (; found && visit->numbers < NUMBERS_MAX; found = found->ai_next)
        if (found->ai_family == AF_INET || found->ai_family == AF_INET6)
            visit->number[visit->numbers++] = address_of_socket(found->ai_addr);
}

/* Resolves all names. If a lookup is still running at the time limit, frees no lookup, because the
 * system still uses their memory. */
static void find_numbers(struct round *round)
{
    const struct address_list *peers = &round->doctor->config.node.peers;
    const uint64_t until_ns = monotonic_ns() + NAME_WAIT_NS;
    struct lookup *lookups = memory_new(peers->count + 1, sizeof *lookups);
    bool all_ended = true;
    start_lookups(lookups, peers);
    for (uint32_t i = 0; i < peers->count; i++) {
        struct visit *visit = &round->visits[i];
        await_lookup(&lookups[i], until_ns);
        const int error = gai_error(&lookups[i].request);
        all_ended &= error != EAI_INPROGRESS;
        if (error == 0) {
            take_numbers(visit, lookups[i].request.ar_result);
            freeaddrinfo(lookups[i].request.ar_result);
        }
        if (visit->numbers == 0)
            (void)snprintf(visit->why, sizeof visit->why, "its name cannot be resolved (%s)",
                           error == EAI_INPROGRESS ? "no answer in time"
                           : error                 ? gai_strerror(error)
                                                   : "no address");
    }
    if (all_ended)
        free(lookups);
}

static bool is_any(const struct address *listen)
{
    return strcmp(listen->host, "0.0.0.0") == 0 || strcmp(listen->host, "::") == 0;
}

static bool is_self(const struct doctor *doctor, const struct address *number)
{
    const struct address *listen = &doctor->config.node.listen;
    return doctor->is_port_free && listen->host[0] && number->port == listen->port &&
           (is_any(listen) ? place_is_here(number) : strcmp(listen->host, number->host) == 0);
}

static void find_self(struct round *round)
{
    for (uint32_t i = 0; i < round->count; i++)
        for (int n = 0; n < round->visits[i].numbers; n++)
            round->visits[i].is_self |= is_self(round->doctor, &round->visits[i].number[n]);
}

static struct amount median_trip(struct visit *visit)
{
    return amount_span((double)u64_median_high(visit->trip_ns, (size_t)visit->rounds) * 1e-9);
}

static const char *remedy_for(const struct visit *visit)
{
    const char *tried = visit->tried;
    CHECK(visit->numbers > 0);
    if (place_is_nobodys(place_of(&visit->number[0])))
        return "no machine can have this address; set the peer's own address in node.peers";
    if (strstr(tried, "refused"))
        return "no program listens there; check that the node runs and has this port in "
               "node.listen";
    if (strstr(tried, "resolved") || strstr(tried, "looking up"))
        return "check the spelling and the name server";
    if (strstr(tried, "timed out") || strstr(tried, "in time") || strstr(tried, "no answer"))
        return "a firewall drops the packets, or no machine has this address now";
    if (strstr(tried, "unreachable"))
        return "this machine has no route to it; check the network, its routes, the VPN";
    return "check the address and the network";
}

static void say_connection(struct doctor *doctor, const char *subject, struct visit *visit)
{
    if (visit->rounds == 0)
        doctor_say(doctor, VERDICT_FAIL, subject, "cannot be reached (%s): %s", visit->tried,
                   remedy_for(visit));
    else
        doctor_say(doctor, VERDICT_OK, subject,
                   "%s accepts connections, round trip %s (median of %d)%s%s", visit->reached.host,
                   median_trip(visit).text, visit->rounds,
                   visit->tried[0] ? "; failed before: " : "", visit->tried);
}

static void say_handshake(const struct round *round, const char *subject, const struct visit *visit)
{
    struct doctor *doctor = round->doctor;
    char id[ID_TEXT_BYTES];
    identity_text(id, visit->id);
    if (visit->is_through && visit->takes_model)
        doctor_say(doctor, round->is_of_program ? VERDICT_OK : VERDICT_WARN, subject,
                   "is node %s and has the same swarm and key; models and settings were not "
                   "compared, because %s",
                   id,
                   round->is_of_program
                       ? "the program of this folder has its own, and compares them when it joins"
                       : "the peer is a script: it accepts a script with the same model, but not "
                         "'hearsay node'");
    else if (!visit->is_through)
        doctor_say(doctor, VERDICT_FAIL, subject,
                   "does not accept this node: %s; the swarm key, node.swarm, model and data must "
                   "be the same on both nodes, and hearsay's release the same or the previous one",
                   visit->why);
    else if (visit->why[0])
        doctor_say(doctor, VERDICT_FAIL, subject, "is node %s and does not accept this node; %s",
                   id, visit->why);
    else if (memcmp(visit->id, doctor->identity.id, ID_BYTES) != 0)
        doctor_say(doctor, VERDICT_OK, subject, "is node %s and accepts this node%s", id,
                   visit->takes_first ? "; the first weights differ: this node takes over those of "
                                        "the swarm, or the swarm those of this node"
                   : visit->protocol < PROTOCOL_NEWEST ? "; it runs the previous release"
                                                       : "");
    else if (doctor->is_taken)
        doctor_say(doctor, VERDICT_OK, subject, "is this node itself, running now");
    else
        doctor_say(doctor, VERDICT_FAIL, subject,
                   "is another running node with this node's identity %s; give each machine its "
                   "own key file (hearsay keygen)",
                   id);
}

static void say_settings(struct doctor *doctor, const char *subject, const struct visit *visit)
{
    const struct settings_difference *found = &visit->difference;
    if (found->other[0])
        doctor_say(doctor, VERDICT_WARN, subject, SETTINGS_OTHER ": %s", found->other);
    if (found->same[0])
        doctor_say(doctor, VERDICT_WARN, subject, SETTINGS_SAME ": %s", found->same);
    if (found->labels[0])
        doctor_say(doctor, VERDICT_WARN, subject, SETTINGS_RANGE ": %s", found->labels);
    if (found->frozen[0])
        doctor_say(doctor, VERDICT_WARN, subject, SETTINGS_FROZEN ": %s", found->frozen);
}

static void say_visit(const struct round *round, struct visit *visit)
{
    struct doctor *doctor = round->doctor;
    char text[ADDRESS_TEXT_BYTES], subject[ADDRESS_TEXT_BYTES + 8];
    (void)snprintf(subject, sizeof subject, "peer %s", address_text(&visit->address, text));
    if (visit->is_self) {
        doctor_say(doctor, VERDICT_OK, subject, "is this node itself, which it does not dial");
        return;
    }
    if (visit->numbers == 0) {
        doctor_say(doctor, VERDICT_FAIL, subject, "%s: check the spelling and the name server",
                   visit->why);
        return;
    }
    say_connection(doctor, subject, visit);
    if (visit->rounds == 0)
        return;
    if (visit->swallowed_bytes > 0)
        doctor_say(doctor, VERDICT_WARN, subject,
                   "receives small packets, but packets of %u bytes are lost: a tunnel (VPN) on "
                   "the path has a smaller MTU, and a firewall drops the ICMP messages that report "
                   "it; lower the MTU of this machine's interface (ip link set dev NAME mtu 1280), "
                   "or the node sends smaller packets only after two losses",
                   (unsigned)visit->swallowed_bytes);
    if (round->can_greet) {
        say_handshake(round, subject, visit);
        say_settings(doctor, subject, visit);
    } else {
        doctor_say(doctor, VERDICT_WARN, subject,
                   "was not asked whether it accepts this node, because keys or model are missing");
    }
}

/* Returns the widest scope among the peers' addresses that have a route, at least PLACE_LOOPBACK.
 * Sets *ours to the address from which this machine dials the peer with that scope. If no peer has
 * a route, sets *ours to the machine's default source address, or to "" if there is none. */
static enum place widest(const struct round *round, struct address *ours)
{
    /* address reserved for documentation (RFC 5737); only its route is looked up */
    static const struct address somewhere = {.host = "192.0.2.1", .port = 1};
    enum place widest = PLACE_LOOPBACK;
    *ours = (struct address){0};
    for (uint32_t i = 0; i < round->count; i++)
        for (int n = 0; n < round->visits[i].numbers; n++) {
            const struct address *number = &round->visits[i].number[n];
            if (place_of(number) < widest || !place_towards(number, ours))
                continue;
            widest = place_of(number);
        }
    if (!ours->host[0])
        (void)place_towards(&somewhere, ours);
    return widest;
}

/* Returns a text that says who can dial an address of scope `place`. peers: the widest scope
 * among the peers' addresses. */
static const char *consequence_of(enum place place, enum place peers)
{
    if (place_is_nobodys(place))
        return ": no node can dial it; set this machine's own address in node.listen or "
               "node.advertise";
    if (place < peers)
        return ": peers outside its range cannot dial this node unless a port is forwarded and "
               "node.advertise names it; this node takes part by dialling them";
    if (place < PLACE_PUBLIC)
        return ": enough for nodes within its range; other nodes cannot dial this node";
    return "; only another machine can show whether a firewall blocks it";
}

static void say_reach(const struct round *round)
{
    struct doctor *doctor = round->doctor;
    const struct config_node *node = &doctor->config.node;
    struct address ours;
    char text[ADDRESS_TEXT_BYTES];
    if (!node->listen.host[0]) {
        doctor_say(doctor, VERDICT_OK, "reach",
                   "no node can dial this node, which only dials: enough while other nodes listen");
        return;
    }
    const enum place peers = widest(round, &ours);
    const bool is_advertised = node->advertise.host[0] || !is_any(&node->listen);
    if (is_advertised)
        ours = node->advertise.host[0] ? node->advertise : node->listen;
    if (!ours.host[0]) {
        doctor_say(doctor, VERDICT_WARN, "reach",
                   "this machine has no route to other networks: check its interfaces and its "
                   "default route, "
                   "unless all peers are in its own network");
        return;
    }
    if (ours.port == 0)
        ours.port = node->listen.port;
    const enum place place = place_of(&ours);
    doctor_say(doctor, place_is_nobodys(place) || place < peers ? VERDICT_WARN : VERDICT_OK,
               "reach", "%s %s, %s%s",
               is_advertised ? "other nodes are told to dial"
                             : "seen from here, other nodes would dial",
               ours.port ? address_text(&ours, text) : ours.host, place_text(place),
               consequence_of(place, peers));
}

void doctor_look_at_peers(struct doctor *doctor)
{
    const struct address_list *peers = &doctor->config.node.peers;
    struct round round = {.doctor = doctor,
                          .count = peers->count,
                          .is_of_program = state_dir_is_of_program(doctor->config.node.state_dir)};
    char parts[sizeof doctor->model];
    round.can_greet = doctor->has_identity && doctor->has_swarm_key && doctor->has_model;
    round.visits = memory_new(peers->count + 1, sizeof *round.visits);
    for (uint32_t i = 0; i < peers->count; i++)
        round.visits[i].address = peers->item[i];
    if (round.can_greet) {
        struct introduction ours;
        round.settings = doctor->settings;
        introduction_make(&ours, doctor->config.node.swarm, doctor->model, doctor->parameters);
        entropy_from_system(&round.entropy);
        if (doctor->has_taken_first)
            memcpy(ours.model, doctor->model_hash, sizeof ours.model);
        credentials_init(&round.credentials, &doctor->identity, doctor->swarm_key, &ours,
                         &round.entropy);
        model_parts_of(parts, doctor->model);
        round.credentials.parts = parts;
    }
    if (peers->count > 0) {
        doctor_begin(doctor, "peers");
        find_numbers(&round);
        find_self(&round);
        visit_all(&round);
    } else {
        doctor_say(
            doctor, VERDICT_OK, "peers",
            "node.peers is empty: this node is the first, or waits until other nodes dial it");
    }
    for (uint32_t i = 0; i < peers->count; i++)
        say_visit(&round, &round.visits[i]);
    say_reach(&round);
    secret_wipe(round.visits, peers->count * sizeof *round.visits);
    free(round.visits);
    secret_wipe(&round, sizeof round);
}
