#include "node/broadcast/identity_clash.h"

#include <stdio.h>
#include <string.h>

#include "base/min_max.h"
#include "base/time_units.h"
#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"

/* An earlier process with a later incarnation has ended if no newer record of it comes for two of
 * its renewal periods plus this time. Half this time would be too short: a slow link may delay a
 * record that long. Twice this time would delay the joining of a node whose clock was set back. */
#define ENDED_NS (2 * SECOND_NS)
/* Number of newer records that prove that a later start is alive: a dead process signs none. */
#define RISES 1

struct identity_clash {
    /* text that node_clash returns; "" = node_clash returns NULL */
    char why[ADDRESS_TEXT_BYTES + sizeof((struct note *)NULL)->text];
    uint64_t incarnation; /* incarnation of the later start known from gossip; 0 = none */
    uint64_t stamp;       /* stamp of the later start's newest record */
    uint32_t rises;       /* newer records of the later start since it became known */
    enum stage stage;     /* stage in the newest record */
    uint64_t renew_ns;    /* renewal period in the newest record */
    uint64_t head;        /* highest incarnation above ours in a signed head; 0 = none */
    uint64_t sign_ns;     /* time of the last newer record or head */
    uint64_t wanted;      /* incarnation that the owner must reserve; 0 = none */
    bool is_asked;        /* the owner was asked to reserve `wanted` */
};

size_t identity_clash_arena_bytes(void)
{
    return sizeof(struct identity_clash) + 64;
}

struct identity_clash *identity_clash_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct identity_clash));
}

const char *node_clash(const struct node *node)
{
    return node->identity_clash->why[0] ? node->identity_clash->why : NULL;
}

static bool is_ours(const struct node *node, const uint8_t id[static ID_BYTES])
{
    return memcmp(id, node->options.identity->id, ID_BYTES) == 0;
}

/* Records `what` as the reason for which the owner must end this node (node_clash). */
static void end(struct node *node, const struct peer *from, const char *what)
{
    char id[KEY_HEX_BYTES];
    if (node_clash(node) || leaving_stage(node) != STAGE_RUNNING)
        return;
    key_hex(id, node->options.identity->id);
    struct note *note = connection_note(node, from, NOTE_IDENTITY_TAKEN, LEVEL_ERROR, "");
    (void)snprintf(note->text, sizeof note->text,
                   "%s: two nodes run with one identity (%s), and this node stops; give each node "
                   "its own key (hearsay keygen) and state folder",
                   what, id);
    (void)snprintf(node->identity_clash->why, sizeof node->identity_clash->why, "%s %s",
                   note->where, note->text);
}

static void note(struct node *node, const struct peer *from, const char *what)
{
    char text[sizeof((struct note *)NULL)->text], id[ID_TEXT_BYTES];
    if (!notes_allow(&node->notes, node->now_ns))
        return;
    identity_text(id, node->options.identity->id);
    (void)snprintf(text, sizeof text,
                   "%s another running node with this node's identity (%s); give each machine its "
                   "own key file (hearsay keygen)",
                   what, id);
    connection_note(node, from, NOTE_IDENTITY_TAKEN, LEVEL_ERROR, text)->certainty = NOTE_LASTING;
}

/* Returns true if the record has our signature and belongs to another start of this node, its twin.
 * All incarnations since the start of this process are its own. */
static bool is_twins(const struct node *node, const struct bytes *bytes, struct record *record)
{
    const uint64_t ours = broadcast_own(node)->incarnation;
    CHECK(ours >= node->options.incarnation);
    return bytes->count == RECORD_BYTES && record_parse(bytes->at, record) == OK &&
           is_ours(node, record->id) &&
           (record->incarnation > ours || record->incarnation < node->options.incarnation) &&
           record_verify(bytes->at, node->context) == OK;
}

/* An earlier twin that is leaving does not end a node that has not joined: the twin may leave
 * because of this node. */
void identity_clash_on_record(struct node *node, const struct peer *from,
                              const struct bytes *record)
{
    struct record twin;
    const bool is_direct = is_ours(node, from->id);
    const bool is_known = is_twins(node, record, &twin);
    const bool is_later = is_known && twin.incarnation > broadcast_own(node)->incarnation;
    if (is_known && is_direct && !joining_has_joined(node) && twin.stage == STAGE_RUNNING)
        end(node, from,
            "is another running node with this node's identity, and this node has not joined");
    else if (is_later && (!is_direct || twin.trains))
        end(node, from,
            is_direct ? "is a later start of this node and has joined the swarm"
                      : "reports a later start of this node, which has joined the swarm");
    else
        note(node, from, is_direct ? "is" : "knows");
}

enum error identity_clash_on_gossip(struct node *node, const struct peer *from,
                                    const uint8_t record[static RECORD_BYTES])
{
    struct identity_clash *clash = node->identity_clash;
    struct record twin;
    if (record_parse(record, &twin) != OK)
        return MALFORMED;
    CHECK(is_ours(node, twin.id));
    if (twin.incarnation <= broadcast_own(node)->incarnation ||
        twin.incarnation < clash->incarnation ||
        (twin.incarnation == clash->incarnation && twin.stamp <= clash->stamp))
        return OK;
    if (record_verify(record, node->context) != OK)
        return FORGED;
    clash->rises = twin.incarnation == clash->incarnation ? clash->rises + 1 : 0;
    clash->incarnation = twin.incarnation;
    clash->stamp = twin.stamp;
    clash->stage = twin.stage;
    clash->renew_ns = twin.renew_ms * MS_NS;
    clash->sign_ns = node->now_ns;
    if (clash->rises >= RISES && twin.stage == STAGE_RUNNING && joining_has_joined(node))
        end(node, from, "relays records of a later start of this node");
    return OK;
}

void identity_clash_on_rumor(struct node *node, const struct peer *from, struct bytes rumor)
{
    struct signed_head head;
    rumor_signed_head(rumor.at, rumor.count, node->context, &head);
    if (signed_head_verify(&head) == OK)
        end(node, from,
            "relays a rumor under this node's identity and incarnation that a copy of this node "
            "published");
}

void identity_clash_on_head(struct node *node, uint64_t incarnation)
{
    struct identity_clash *clash = node->identity_clash;
    if (incarnation <= broadcast_own(node)->incarnation || incarnation <= clash->head)
        return;
    clash->head = incarnation;
    clash->sign_ns = node->now_ns;
}

void identity_clash_consider(struct node *node)
{
    struct identity_clash *clash = node->identity_clash;
    const uint64_t own = broadcast_own(node)->incarnation;
    const bool has_record = clash->incarnation > own;
    const uint64_t latest = u64_max(clash->head, clash->incarnation);
    if (latest <= own || latest == UINT64_MAX || clash->wanted > latest || node_clash(node) ||
        leaving_stage(node) != STAGE_RUNNING || publishing_state(node) == PUBLISHING_OUT)
        return;
    CHECK(clash->sign_ns <= node->now_ns);
    const bool has_left = has_record && clash->stage == STAGE_LEFT;
    const uint64_t wait_ns = has_left ? 0 : ENDED_NS + (has_record ? 2 * clash->renew_ns : 0);
    if (node->now_ns - clash->sign_ns < wait_ns)
        return;
    clash->wanted = latest + 1;
    clash->is_asked = false;
}

bool identity_clash_next(struct node *node, struct action *action)
{
    struct identity_clash *clash = node->identity_clash;
    /* A publication under way is of the present incarnation. */
    if (clash->wanted == 0 || clash->is_asked || publishing_state(node) == PUBLISHING_OUT)
        return false;
    clash->is_asked = true;
    *action = (struct action){.kind = ACTION_INCARNATION, .first = clash->wanted};
    return true;
}

void identity_clash_on_reserved(struct node *node, uint64_t incarnation)
{
    struct identity_clash *clash = node->identity_clash;
    CHECK(clash->is_asked && clash->wanted > 0 && incarnation >= clash->wanted);
    (void)notes_add(&node->notes, node->now_ns, NOTE_RESUMED, LEVEL_WARNING,
                    "an earlier start of this node had a later incarnation (%llu): this machine's "
                    "clock was set back and the state folder is new; this node continues as "
                    "incarnation %llu; check the clock",
                    (unsigned long long)(clash->wanted - 1), (unsigned long long)incarnation);
    clash->wanted = 0;
}
