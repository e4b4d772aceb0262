/* Limits the work that one member's messages cause on this node. */
#include <stdio.h>

#include "node/rate/rate_private.h"
#include "wire/equivocation_proof.h"
#include "wire/order.h"
#include "wire/signed_head.h"
#include "wire/vote.h"

/* Work per second that one member may cause for long. 1 unit = checking one signature, 90 us.
 * Members of a running swarm sign 4 records per second in total, those of a leaving one 32
 * (PER_MEMBER_NS, LEAVE_FASTER in discovery/member_gossip.c). A neighbour relays each once and adds
 * a few versions and queries. At this rate a member costs 2.3 % of a core, and 32 hostile
 * neighbours three quarters of one. Half: four times what an honest neighbour of a leaving swarm
 * sends. Double: 32 hostile neighbours use more than a core. */
#define WORK_PER_S 256.0
/* Work that may be done at once, per member of the largest permitted swarm (limits.members): while
 * a swarm joins, meets again after a partition, or changes its key, a neighbour sends about 3
 * records per member (a list, a first record, one with its speed), a vote, and an order or a
 * request. Half: records are read late when a full member table joins. Double: a hostile member
 * causes 0.2 s more of work at the default of 256 members, once. */
#define WORK_PER_MEMBER 8.0
/* Work of a query that is answered at once with a whole version or history. */
#define WORK_OF_A_VERSION 16.0
/* Work of a small message: decryption, a look-up in a table, perhaps a small answer. */
#define WORK_OF_A_MESSAGE (1.0 / 16)
/* Reading goes on when this much work may be done again, so that it does not stop for each
 * message. */
#define WORK_TO_GO_ON (WORK_PER_S / 4)
/* A note names a member that has caused too much work for this time, since a peak is shorter.
 * Another note follows after NOTE_AGAIN_NS. */
#define NOTE_AFTER_NS (10 * SECOND_NS)
#define NOTE_AGAIN_NS (300 * SECOND_NS)

static double depth(const struct node *node)
{
    return WORK_PER_MEMBER * (double)node->options.limits.members_max;
}

void work_init(const struct node *node, struct work *work)
{
    *work = (struct work){.bucket = {.credit = depth(node), .at_ns = node->now_ns},
                          .full_ns = node->now_ns};
}

/* Returns the account of this peer. The account of a member outlives the conversation, so a member
 * gains nothing by a new conversation. */
static struct work *account_of(struct node *node, const struct peer *peer)
{
    const struct member *member = peer->state == PEER_OPEN ? membership_find(node, peer->id) : NULL;
    struct work *work = member ? &node->rate->works[membership_number(node, member)]
                               : &rate_neighbour(node, peer)->work;
    token_bucket_fill(&work->bucket, node->now_ns, WORK_PER_S, depth(node));
    if (work->bucket.credit >= depth(node)) {
        work->full_ns = node->now_ns;
        work->done = 0;
    }
    return work;
}

/* Returns the work that a message causes. Rumors, histories and blocks cause none: links, requests
 * and the rules of publishing bound them. */
static double work_of(const struct message *message)
{
    const double bytes = (double)message->bulk.count;
    switch (message->kind) {
    case RUMOR:
    case HISTORY:
    case BLOCK:
        return 0;
    case MEMBER_UPDATE:
    case MEMBER_LIST:
        return WORK_OF_A_MESSAGE + bytes / RECORD_BYTES;
    case ORDERS:
        return WORK_OF_A_MESSAGE + bytes / (ORDER_HEAD_BYTES + SIGNATURE_BYTES);
    case PROOF:
        return WORK_OF_A_MESSAGE + 2 * bytes / PROOF_BYTES;
    case VOTES:
        return WORK_OF_A_MESSAGE + bytes / VOTE_BYTES;
    case HEADS:
        return WORK_OF_A_MESSAGE + bytes / SIGNED_HEAD_BYTES;
    case WANT:
        return message->tag == TAG_ALL ? WORK_OF_A_VERSION : WORK_OF_A_MESSAGE;
    case TAKE:
        return WORK_OF_A_VERSION;
    case VERSION:
        return 1;
    default:
        return WORK_OF_A_MESSAGE;
    }
}

/* Returns true for kinds that their sender repeats if no answer comes. */
static bool is_query(enum message_kind kind)
{
    return kind == MEMBER_QUERY || kind == WANT || kind == TAKE || kind == FETCH;
}

bool work_admits(struct node *node, const struct peer *peer, const struct message *message)
{
    CHECK(peer->state == PEER_OPEN || peer->state == PEER_MEETING);
    struct work *work = account_of(node, peer);
    if (work->bucket.credit <= 0 && is_query(message->kind))
        return false;
    const double units = work_of(message);
    work->bucket.credit -= units;
    work->done += units;
    return true;
}

static void note_excess(struct node *node, const struct peer *peer, struct work *work)
{
    CHECK(work->full_ns <= node->now_ns && work->noted_ns <= node->now_ns);
    const uint64_t lasted_ns = node->now_ns - work->full_ns;
    if (lasted_ns < NOTE_AFTER_NS ||
        (work->noted_ns && node->now_ns - work->noted_ns < NOTE_AGAIN_NS))
        return;
    work->noted_ns = node->now_ns;
    struct note *note = connection_note(node, peer, NOTE_EXCESS, LEVEL_WARNING, "");
    (void)snprintf(note->text, sizeof note->text,
                   "sends more than this node checks: %.0f records and queries a second for %.0f s "
                   "were read, the rest waits; find out what runs there, or expel it",
                   work->done / ((double)lasted_ns * 1e-9), (double)lasted_ns * 1e-9);
}

uint64_t work_resume_ns(struct node *node, const struct peer *peer)
{
    if (peer->state != PEER_OPEN && peer->state != PEER_MEETING)
        return 0;
    struct work *work = account_of(node, peer);
    if (work->bucket.credit > 0)
        return 0;
    note_excess(node, peer, work);
    return node->now_ns +
           (uint64_t)((WORK_TO_GO_ON - work->bucket.credit) / WORK_PER_S * (double)SECOND_NS);
}
