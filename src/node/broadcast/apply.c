/* Passes rumors from the log to the learner, in order, as many at once as it accepts. Withheld
 * rumors (withheld.h) wait in the log, and later rumors overtake them. The learner answers in the
 * order of the requests. So its base, as of its last answer, is the sum of all rumors given to it
 * except the unanswered ones. */
#include <string.h>

#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/rumor_step.h"
#include "node/membership/membership.h"

/* Least number of entries of a rumor that is compared with the residual. */
#define COMPARED_MIN 64
/* Least time between two rumors of one origin that are compared with the residual. */
#define COMPARED_NS (SECOND_NS / 4)
/* Least time between two compared rumors of one origin, for each live member. entries: number of
 * entries of the first of the two. The comparison takes about 10 ns per entry (bench_threshold),
 * plus the time of 10,000 entries to wait for a GPU. Waiting 200 times as long limits all
 * comparisons to 0.5 % of the time. */
#define COMPARING_NS(entries) ((uint64_t)((entries) + 10000) * 10 * 200)

size_t apply_arena_bytes(const struct node_options *options)
{
    const size_t words = bit_words(options->limits.incarnations_max);
    const size_t entries = options->limits.apply_window;
    const size_t trial = sizeof(struct trial_room) + entries * (sizeof(uint32_t) + 1) + 3 * 64;
    return decoded_arena_bytes(RUMOR_ENTRIES_MAX) + words * sizeof(uint64_t) + 64 +
           (options->limits.quarantines ? trial : 0);
}

void apply_init(struct apply *apply, struct arena *arena, const struct node_options *options)
{
    const size_t entries = options->limits.apply_window;
    decoded_init(&apply->decoded, arena, RUMOR_ENTRIES_MAX);
    apply->withheld =
        arena_alloc(arena, bit_words(options->limits.incarnations_max), sizeof(uint64_t));
    if (!options->limits.quarantines)
        return;
    apply->trial = arena_alloc(arena, 1, sizeof *apply->trial);
    apply->trial->index = arena_alloc(arena, entries, sizeof *apply->trial->index);
    apply->trial->level = arena_alloc(arena, entries, sizeof *apply->trial->level);
}

struct update *apply_decode(struct node *node, const uint8_t *rumor, uint32_t bytes)
{
    struct rumor_head head;
    CHECK(rumor_peek(rumor, bytes, &head) == OK);
    struct update *update = decoded_room(&node->broadcast->apply.decoded, head.count);
    rumor_decode_again(rumor, bytes, node->options.parameters, update);
    return update;
}

const struct update *broadcast_logged(struct node *node, const uint8_t *rumor, uint32_t bytes)
{
    return apply_decode(node, rumor, bytes);
}

/* Returns true if the log has no later copy of this rumor. A copy arrives after a retraction if a
 * later verdict keeps more of the expelled member's rumors. */
static bool is_latest_copy(const struct broadcast *broadcast, const struct rumor_log_entry *entry)
{
    uint32_t bytes;
    return rumor_log_find(&broadcast->log, entry->origin_index, entry->seq, &bytes) ==
           rumor_log_bytes(&broadcast->log, entry);
}

/* Returns the next rumor for the learner, or NULL if there is none. Skips withheld rumors,
 * retracted rumors, outdated copies, and rumors that a taken-over base already contains. */
static const struct rumor_log_entry *next_to_apply(struct broadcast *broadcast)
{
    const struct rumor_log_entry *entry;
    while ((entry = rumor_log_next_to_apply(&broadcast->log))) {
        const struct origin *origin = &broadcast->versions.origins[entry->origin_index];
        if (bit_get(broadcast->apply.withheld, entry->origin_index)) {
            rumor_log_pass_by(&broadcast->log);
            continue;
        }
        if (is_latest_copy(broadcast, entry)) {
            CHECK(entry->seq <= origin->applied || entry->seq >= origin->next);
            if (entry->seq == origin->applied && entry->seq < origin->next)
                return entry;
        }
        rumor_log_applied(&broadcast->log);
    }
    return NULL;
}

bool apply_may_give(const struct node *node, uint32_t entries)
{
    const struct apply *apply = &node->broadcast->apply;
    return apply->rumors < APPLYING_MAX &&
           (apply->entries == 0 || apply->entries + entries <= node->options.limits.apply_window);
}

void apply_add_given(struct apply *apply, uint32_t entries, struct given given)
{
    CHECK(apply->rumors < GIVEN_MAX);
    apply->given[(apply->given_first + apply->rumors) % GIVEN_MAX] = given;
    apply->entries += entries;
    apply->rumors++;
    apply->blocks += given.is_block;
    apply->taken_out += given.takes_out;
}

/* Returns true if this rumor is to be compared with the residual, which only a training node has.
 * Excludes small rumors, whose agreement says little, and all but one rumor of a burst. */
static bool is_compared(const struct node *node, struct origin *origin, uint32_t entries)
{
    if (!node->options.trains || entries < COMPARED_MIN || node->now_ns < origin->compare_ns)
        return false;
    const uint64_t wait_ns = COMPARING_NS(entries) * membership_live(node);
    origin->compare_ns = node->now_ns + u64_max(wait_ns, COMPARED_NS);
    return true;
}

bool broadcast_compared(const struct node *node, uint32_t *origin_index, uint32_t *seq)
{
    const struct apply *apply = &node->broadcast->apply;
    CHECK(apply->rumors > 0);
    const struct given *given = &apply->given[apply->given_first];
    *origin_index = given->origin_index;
    *seq = given->seq;
    return given->is_compared;
}

bool broadcast_next_apply(struct node *node, struct action *action)
{
    struct broadcast *broadcast = node->broadcast;
    broadcast->apply.is_full = false;
    if (broadcast->retract.rumors > 0)
        return false; /* the learner first removes retracted rumors from its base */
    const struct rumor_log_entry *entry = next_to_apply(broadcast);
    if (!entry)
        return false;
    struct origin *origin = &broadcast->versions.origins[entry->origin_index];
    const uint8_t *rumor = rumor_log_bytes(&broadcast->log, entry);
    struct rumor_head head;
    CHECK(rumor_peek(rumor, entry->bytes, &head) == OK);
    CHECK(head.seq == entry->seq);
    broadcast->apply.is_full = !apply_may_give(node, head.count);
    if (broadcast->apply.is_full)
        return false;
    const struct update *update = decoded_at(&broadcast->apply.decoded, broadcast->log.next + 1);
    if (!update)
        update = broadcast_logged(node, rumor, entry->bytes);
    const bool is_ours = memcmp(origin->id, broadcast->own->id, ID_BYTES) == 0;
    struct given given = {.origin_index = entry->origin_index,
                          .seq = entry->seq,
                          .last = origin->applied_last,
                          .at = broadcast->log.next};
    rumor_signed_head(rumor, entry->bytes, node->context, &origin->applied_last);
    given.is_compared = !is_ours && is_compared(node, origin, update->count);
    apply_add_given(&broadcast->apply, update->count, given);
    origin->applied++;
    rumor_log_applied(&broadcast->log);
    *action = (struct action){.kind = ACTION_APPLY,
                              .update = update,
                              .updates = 1,
                              .tag = origin->tag,
                              .seq = head.seq,
                              .compares = given.is_compared,
                              .own = broadcast->remembers && is_ours};
    return true;
}

void broadcast_on_block_given(struct node *node, uint32_t entries)
{
    apply_add_given(&node->broadcast->apply, entries, (struct given){.is_block = true});
}

bool broadcast_may_give_blocks(const struct node *node, uint32_t blocks)
{
    CHECK(blocks <= GIVEN_MAX - APPLYING_MAX);
    return node->broadcast->apply.rumors + blocks <= GIVEN_MAX;
}

bool broadcast_has_blocks_given(const struct node *node)
{
    return node->broadcast->apply.blocks > 0;
}

void broadcast_done(const struct node *node, const struct signed_head **heads)
{
    const struct versions *versions = &node->broadcast->versions;
    const struct apply *apply = &node->broadcast->apply;
    CHECK(apply->rumors <= GIVEN_MAX);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        heads[origin_index] = origin->applied > 0 ? &origin->applied_last : NULL;
    }
    for (uint64_t i = apply->rumors; i-- > 0;) { /* starts with the newest request */
        const struct given *given = &apply->given[(apply->given_first + i) % GIVEN_MAX];
        if (given->is_block || given->is_trial)
            continue;
        heads[given->origin_index] = given->seq + given->takes_out > 0 ? &given->last : NULL;
    }
}

/* Returns true if the learner was given every rumor before log position `newest`, except withheld
 * rumors. */
static bool is_given_before(const struct node *node, uint64_t newest)
{
    const struct rumor_log *log = &node->broadcast->log;
    if (log->next < newest)
        return false;
    for (uint64_t at = log->applied; at < newest; at++) {
        const struct rumor_log_entry *entry = rumor_log_at(log, at);
        if (!entry->is_given && !bit_get(node->broadcast->apply.withheld, entry->origin_index))
            return false;
    }
    return true;
}

bool broadcast_has_done(const struct node *node, uint64_t newest)
{
    const struct apply *apply = &node->broadcast->apply;
    CHECK(newest <= node->broadcast->log.newest);
    for (uint64_t i = 0; i < apply->rumors; i++) {
        const struct given *given = &apply->given[(apply->given_first + i) % GIVEN_MAX];
        if (!given->is_block && !given->is_trial && !given->takes_out && given->at < newest)
            return false;
    }
    return is_given_before(node, newest);
}

void broadcast_on_applied(struct node *node, uint32_t entries)
{
    struct apply *apply = &node->broadcast->apply;
    CHECK(entries <= apply->entries && apply->rumors > 0);
    apply->blocks -= apply->given[apply->given_first].is_block;
    apply->taken_out -= apply->given[apply->given_first].takes_out;
    apply->given_first = (apply->given_first + 1) % GIVEN_MAX;
    apply->entries -= entries;
    apply->rumors--;
    CHECK(apply->rumors > 0 || apply->entries == 0);
}

uint32_t broadcast_applying(const struct node *node)
{
    return node->broadcast->apply.entries;
}

uint64_t broadcast_applying_rumors(const struct node *node)
{
    return node->broadcast->apply.rumors;
}

bool broadcast_is_all_applied(const struct node *node)
{
    const struct broadcast *broadcast = node->broadcast;
    return broadcast->log.waiting_bytes == 0 && broadcast->apply.rumors == 0 &&
           broadcast->retract.rumors == 0;
}

bool node_is_learner_full(const struct node *node)
{
    const struct apply *apply = &node->broadcast->apply;
    return apply->is_full && apply->rumors > 0;
}

uint64_t node_waiting(const struct node *node)
{
    const struct rumor_log *log = &node->broadcast->log;
    return log->waiting + node->broadcast->apply.rumors + node->broadcast->retract.rumors;
}
