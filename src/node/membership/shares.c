#include "node/membership/shares.h"

#include <float.h>
#include <math.h>

#include "base/sort.h"

/* The weight of another member is at most SLACK · moved · usual (shares.h). */
#define SLACK 16.0
/* A member's claim_ratio counts up to this many times the median over members. */
#define SLACK_RATIO 4.0
/* Time after the start of its training in which a member has a weight without any rumor. */
#define DOUBT_NS ((uint64_t)60000000000)
/* A newcomer without a step counts this long in the shares of statistics: from its first record
 * on, and again from the start of its training on. */
#define NEWCOMER_NS ((uint64_t)60000000000)
#define HALVED_NS   ((uint64_t)600000000000) /* half-life of the sums `moved` and `claimed` */

/* Returns the throughput that member number i claims: its reported samples per second divided by
 * this node's; 1 if one of the two is unknown or shares are equal. Returns 0 for another member
 * that is dead or does not train. */
static double claim_of(const struct members *members, uint32_t i, bool by_throughput,
                       uint64_t now_ns)
{
    CHECK(i < members->count);
    const struct member *member = &members->members[i];
    if (i > 0 && (!member_learns(member) || !member_is_live(members, member, now_ns)))
        return 0;
    const double own = (double)members->members[0].record.samples_per_second;
    const double said = (double)member->record.samples_per_second;
    return by_throughput && i > 0 && own > 0 && said > 0 ? said / own : 1;
}

/* Returns the factor by which the member's decaying sums have shrunk since its last rumor. */
static double left(const struct member *member, uint64_t now_ns)
{
    CHECK(member->moved_ns <= now_ns);
    return exp2(-(double)(now_ns - member->moved_ns) / (double)HALVED_NS);
}

static double moved_by(const struct member *member, uint64_t now_ns)
{
    return member->moved * left(member, now_ns);
}

/* Returns the samples per second that the member's rumors claimed: a mean from since_ns to its
 * last rumor, in which samples HALVED_NS older count half. The mean ends at the last rumor, as
 * `moved` does, so that it may be compared with `moved`. */
static double claimed_per_s(const struct member *member)
{
    CHECK(member->since_ns <= member->moved_ns);
    const double halved_s = (double)HALVED_NS * 1e-9;
    const double age_s = (double)(member->moved_ns - member->since_ns) * 1e-9;
    return member->claimed / fmax(halved_s / log(2) * (1 - exp2(-age_s / halved_s)), 1);
}

/* Returns the member's claimed samples per unit of movement; by throughput, that ratio times its
 * claimed samples per second. A member r times as fast makes r times the progress and publishes it
 * with r times the share, so the product is equal for honest members. */
static double claim_ratio(const struct member *member, bool by_throughput)
{
    CHECK(member->moved > 0);
    return member->claimed / member->moved * (by_throughput ? claimed_per_s(member) : 1);
}

void shares_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation, const struct rumor_facts *facts)
{
    struct member *member = members_find(members, id);
    CHECK(facts->moved > 0);
    if (!member || member->record.incarnation != incarnation)
        return;
    const double samples = (double)facts->samples, part = left(member, facts->now_ns);
    if (member->since_ns == 0)
        member->since_ns = facts->now_ns;
    member->claimed = member->claimed * part + samples;
    member->moved = member->moved * part + facts->moved;
    member->moved_ns = facts->now_ns;
    if (samples > 0)
        member->borne_out +=
            samples *
            fmin(SLACK_RATIO * members->claim_ratio / claim_ratio(member, facts->by_throughput), 1);
    CHECK(member->moved > 0 && isfinite(member->borne_out));
}

void shares_review(struct members *members, bool by_throughput, uint64_t now_ns)
{
    double *all = members->scratch;
    uint32_t count = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (member->claimed > 0 && member_is_live(members, member, now_ns))
            all[count++] = claim_ratio(member, by_throughput);
    }
    CHECK(count <= members->max);
    if (count == 0)
        return;
    members->claim_ratio = double_median_low(all, count);
}

/* Returns the member's claimed throughput divided by its movement of the base; 0 = unknown. By
 * throughput, uses the claim of the member's rumors: a member that stopped now reports almost
 * nothing, but its movement still counts. */
static double ratio_of(const struct members *members, uint32_t i, bool by_throughput,
                       uint64_t now_ns)
{
    const struct member *member = &members->members[i];
    const double claim = claim_of(members, i, by_throughput, now_ns);
    const double moved = moved_by(member, now_ns);
    const double own = (double)members->members[0].record.samples_per_second;
    if (claim <= 0 || moved <= DBL_MIN) /* the movement has decayed to nothing */
        return 0;
    if (by_throughput && own > 0 && member->claimed > DBL_MIN)
        return claimed_per_s(member) / own / member->moved;
    return claim / moved;
}

/* Returns the median of all known ratio_of; 0 if none is known. */
static double usual_ratio(const struct members *members, bool by_throughput, uint64_t now_ns)
{
    double *ratios = members->scratch;
    uint32_t count = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        ratios[count] = ratio_of(members, i, by_throughput, now_ns);
        count += ratios[count] > 0;
    }
    if (count == 0)
        return 0;
    return double_median_low(ratios, count);
}

/* Returns the largest claim_of that counts, `times` times the median; INFINITY if times = 0. */
static double most_of(const struct members *members, bool by_throughput, double times,
                      uint64_t now_ns)
{
    double *claims = members->scratch;
    uint32_t count = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        claims[count] = claim_of(members, i, by_throughput, now_ns);
        count += claims[count] > 0;
    }
    CHECK(count > 0 && times >= 0); /* claim_of is 1 for this node itself */
    if (times == 0)
        return INFINITY;
    return times * double_median_low(claims, count);
}

/* Writes the weights of all members to members->scratch and returns their sum. times: limit of a
 * claim in medians (most_of). */
static double weigh(const struct members *members, bool by_throughput, double times,
                    uint64_t now_ns)
{
    const double usual = usual_ratio(members, by_throughput, now_ns);
    const double most = most_of(members, by_throughput, times, now_ns);
    double *weights = members->scratch;
    double proven = 0, sum = 0;
    uint32_t proven_count = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];
        weights[i] = fmin(claim_of(members, i, by_throughput, now_ns), most);
        if (i > 0 && usual > 0 && member->moved > 0)
            weights[i] = fmin(weights[i], SLACK * moved_by(member, now_ns) * usual);
        if (weights[i] > 0 && member->moved > 0) {
            proven += weights[i];
            proven_count++;
        }
    }
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (i > 0 && member->moved == 0 && proven_count > 0)
            weights[i] =
                now_ns - member->since_ns > DOUBT_NS ? 0 : fmin(weights[i], proven / proven_count);
        sum += weights[i];
    }
    CHECK(weights[0] > 0 && sum >= weights[0] && isfinite(sum));
    return sum;
}

double shares_own(const struct members *members, bool by_throughput, uint64_t now_ns)
{
    const double sum = weigh(members, by_throughput, members->weight_max, now_ns);
    return members->scratch[0] / sum;
}

/* Returns true if the member has learned, and its training has ended after since_ns. */
static bool has_ended_since(const struct member *member, uint64_t since_ns)
{
    return member->ended_ns > since_ns && (member->record.samples > 0 || member->moved_ns > 0);
}

/* Returns true if the member arrived or began to train lately, and has claimed no samples. A member
 * that does not train counts only while it knows of no samples of the swarm: then it may be
 * joining. */
static bool is_newcomer(const struct members *members, const struct member *member, uint64_t now_ns)
{
    const struct record *record = &member->record;
    const uint64_t began_ns = record->trains ? member->since_ns : member->met_ns;
    CHECK(began_ns <= now_ns);
    return record->stage == STAGE_RUNNING && record->samples == 0 &&
           (record->trains || record->swarm_samples == 0) && now_ns - began_ns < NEWCOMER_NS &&
           member_is_live(members, member, now_ns);
}

bool shares_await_newcomer(const struct members *members, uint64_t now_ns)
{
    CHECK(members->count > 0);
    for (uint32_t i = 1; i < members->count; i++)
        if (is_newcomer(members, &members->members[i], now_ns))
            return true;
    return false;
}

static bool is_quiet(const struct member *member, uint64_t quiet_ns, uint64_t now_ns)
{
    CHECK(member->moved_ns <= now_ns);
    return member->moved_ns > 0 && now_ns - member->moved_ns > quiet_ns;
}

double shares_equal(const struct members *members, uint64_t since_ns, uint64_t quiet_ns,
                    uint64_t now_ns)
{
    uint32_t count = 1;
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        count += !is_quiet(member, quiet_ns, now_ns) &&
                 (claim_of(members, i, false, now_ns) > 0 || is_newcomer(members, member, now_ns) ||
                  has_ended_since(member, since_ns));
    }
    return 1.0 / count;
}

double shares_with_finished(const struct members *members, bool by_throughput, uint64_t since_ns,
                            uint64_t quiet_ns, uint64_t now_ns)
{
    double sum = weigh(members, by_throughput, members->weight_max, now_ns);
    const double *weights = members->scratch;
    uint32_t training = 0, finished = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (i > 0 && is_quiet(member, quiet_ns, now_ns))
            sum -= weights[i];
        else if (weights[i] > 0)
            training++;
        else
            finished += has_ended_since(member, since_ns);
    }
    CHECK(training > 0);
    sum = fmax(sum, weights[0]);
    return weights[0] / (sum + finished * sum / training);
}

bool shares_have_settled(const struct members *members, uint64_t young_ns, uint64_t now_ns)
{
    uint32_t all = 1, young = 0;
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (claim_of(members, i, false, now_ns) == 0)
            continue;
        CHECK(member->since_ns <= now_ns);
        all++;
        young += now_ns - member->since_ns < young_ns;
    }
    return 8 * young <= all;
}

double shares_learners(const struct members *members, bool by_throughput, uint64_t now_ns)
{
    const double sum = weigh(members, by_throughput, members->weight_max, now_ns);
    double squares = 0;
    for (uint32_t i = 0; i < members->count; i++)
        squares += members->scratch[i] * members->scratch[i];
    CHECK(squares > 0);
    return fmax(sum * sum / squares, 1);
}

uint32_t shares_training(const struct members *members, uint64_t now_ns)
{
    uint32_t training = 1;
    for (uint32_t i = 1; i < members->count; i++)
        training += members->members[i].record.trains &&
                    member_is_live(members, &members->members[i], now_ns);
    return training;
}

const struct member *shares_doubtful(const struct members *members, bool by_throughput,
                                     uint64_t now_ns)
{
    const double sum = weigh(members, by_throughput, 0, now_ns);
    for (uint32_t i = 1; i < members->count; i++) {
        const double claim = claim_of(members, i, by_throughput, now_ns);
        if (claim > sum - members->scratch[i] && claim > 2 * members->scratch[i])
            return &members->members[i];
    }
    return NULL;
}
