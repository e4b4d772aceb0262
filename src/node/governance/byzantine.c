#include "node/governance/byzantine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "node/broadcast/broadcast.h"
#include "node/membership/membership.h"
#include "node/orders/quorum_votes.h"

#define EMA_DECAY 0.7 /* weight of the previous value in a moving average */
/* A negative agreement (a cosine) counts as evidence if it is below the median by more than this.
 */
#define AGREEMENT_GAP 0.3
/* Bound for the sum `against`. */
#define AGAINST_MOST 0.8
/* A member is a suspect if the evidence against it exceeds this part of a bound. A suspect becomes
 * due for a note or a trial at the whole bound, and again after the evidence fell below this part. */
#define SUSPECT 0.5
#define LONG    3.0 /* permitted length of a publication, as a multiple of the median */
/* Speed, as a multiple of the median, from which the permitted length no longer grows; weight_max
 * if that is set and lower. */
#define FASTER_MOST 16
/* Length of this node's own publications, as a part of the permitted length, above which it takes
 * a smaller share. */
#define OWN_LENGTH 0.7
#define OWN_LEAST  (1.0 / 64) /* smallest part of its share that a node uses */
/* Bound for the sum `beyond`, and its largest step: one step from 0 never exceeds the bound. */
#define BEYOND_MOST 2.0
/* BEYOND_TRIED replaces BEYOND_MOST if a trial decides about the member. */
#define BEYOND_TRIED 0.3
/* Maximum rumors of one publication, except of a new incarnation's first. */
#define PIECES_MOST 64
/* Maximum unclaimed seconds of learning that a member may keep for later. The limit does not apply
 * while the member may be in a partition. */
#define CREDIT_S    10
#define CREDIT_RATE 2 /* seconds of learning that a member may claim per second */
/* A publication may claim the learning time of this many median publications, or this many of the
 * average gaps between the member's rumors, whichever is longer. */
#define PUBLICATION_MOST 4
/* A vote takes out at most this many of a member's publications so far, apart from withheld ones.
 */
#define RECALLED 4
/* As BYZANTINE_ENOUGH, for agreements. Of two members' agreements, the higher one counts as the
 * median. */
#define ENOUGH_AGREEMENTS 2
/* A silence may mean a partition if it exceeds silence_ns and this many average gaps between the
 * member's rumors. */
#define GAPS_APART 3
/* Time after an order to expel a member in which all members' publications may be longer. */
#define ORDERED_NS (10 * SECOND_NS)
/* Members whose last rumor arrived within this time count for the medians. */
#define LATELY_NS (60 * SECOND_NS)
/* The swarm's first publications are over when BYZANTINE_ENOUGH origins have published this many
 * rumors each.
 */
#define CALM 32

/* Running sum of a CUSUM test. */
struct cusum {
    double sum;               /* sum of the evidence against a member, never below 0 */
    struct stream_point from; /* rumor that was counted when the sum was last 0 */
};

/* Size of one publication or of several. */
struct size {
    double length;  /* length of the update vectors, summed over publications */
    double samples; /* samples credited to the member for these publications */
};

/* Account of a member, over all its incarnations. */
struct account {
    uint32_t origin_index; /* origin index of the member's latest known incarnation */
    /* Moving average of the agreement of the member's rumors with the residual. */
    double usual;
    /* CUSUM test of whether the member's rumors act against what this node learns. */
    struct cusum against;
    struct size usual_size; /* decaying sum of the sizes of publications with `counts` */
    struct size size;       /* size of the rumors since the last claim of samples, inclusive */
    struct size whole;      /* `size` when samples were last claimed */
    double credit_s;        /* seconds of learning that the member may still claim */
    uint32_t pieces;        /* rumors in the present publication so far; 0 = none */
    uint32_t publications;
    /* The present publication started neither in a possible partition nor with a new incarnation.
     */
    bool counts;
    bool is_first; /* the present publication is the first of a new incarnation */
    /* This node has missed the first rumor of the present publication, which claims its samples. */
    bool is_partial;
    /* Rumors that arrive before this time belong to the publication with is_first. */
    uint64_t alone_ns;
    /* First rumors of the member's last publications, newest first. */
    struct stream_point began[RECALLED];
    struct cusum beyond; /* CUSUM test of whether the member's publications are too long */
    double gap_ns;       /* moving average of the time between the member's rumors; 0 = unknown */
    /* Until this time, the member's publications may be from a partition (was_apart). */
    uint64_t apart_ns;
    uint64_t came_ns; /* time of the member's last rumor; 0 = no rumor yet */
    uint32_t compared;
    /* byzantine_next has returned this member, and the evidence has not faded since */
    bool was_returned;
    bool is_harmful; /* the member's last trial has shown harm */
};

struct byzantine {
    /* [incarnations_max] accounts, by origin index of the member's incarnation that was seen first.
     */
    struct account *accounts;
    /* [incarnations_max] index of the origin's account + 1; 0 = no rumor yet. */
    uint32_t *account_index;
    double *sorted; /* [incarnations_max] scratch buffer for the median */
    uint32_t next;  /* index of the account that byzantine_next looks at first */
    double typical; /* median of `usual` over members; NAN = unknown */
    /* Median, over members, of length_of(usual_size); 0 = unknown. */
    double typical_length;
    /* As typical_length, over the longer of each member's last two publications, of which the last
     * may be incomplete; 0 = unknown. */
    double latest_length;
    /* Median, over members, of the largest samples per second reported; 0 = unknown. */
    double typical_rate;
    /* Median, over members, of the learning time of their last complete publication; 0 = unknown.
     */
    double typical_s;
    double own_part;       /* byzantine_own_part */
    uint64_t ordered_ns;   /* time until which an order to expel explains longer publications */
    struct size own_whole; /* decaying sum of this node's publications, at the whole share */
};

size_t byzantine_arena_bytes(const struct node_options *options)
{
    return sizeof(struct byzantine) +
           options->limits.incarnations_max *
               (sizeof(struct account) + sizeof(uint32_t) + sizeof(double)) +
           (size_t)4 * 64;
}

struct byzantine *byzantine_new(struct arena *arena, const struct node_options *options)
{
    struct byzantine *byzantine = arena_alloc(arena, 1, sizeof *byzantine);
    const uint32_t most = options->limits.incarnations_max;
    byzantine->accounts = arena_alloc(arena, most, sizeof *byzantine->accounts);
    byzantine->account_index = arena_alloc(arena, most, sizeof *byzantine->account_index);
    byzantine->sorted = arena_alloc(arena, most, sizeof *byzantine->sorted);
    byzantine->typical = (double)NAN;
    byzantine->own_part = 1;
    return byzantine;
}

/* Returns the account of the origin's member, empty before its first rumor. */
static const struct account *account_of(const struct node *node, uint32_t origin_index)
{
    static const struct account nothing;
    CHECK(origin_index < broadcast_versions(node)->count);
    const uint32_t index = node->byzantine->account_index[origin_index];
    return index > 0 ? &node->byzantine->accounts[index - 1] : &nothing;
}

/* As account_of, to change the account. All incarnations of a member share one account. */
static struct account *account_to_update(const struct node *node, uint32_t origin_index)
{
    const struct origin *origins = broadcast_versions(node)->origins;
    uint32_t *index = node->byzantine->account_index;
    CHECK(origin_index < broadcast_versions(node)->count);
    for (uint32_t i = 0; i < broadcast_versions(node)->count && index[origin_index] == 0; i++)
        if (index[i] > 0 && memcmp(origins[i].id, origins[origin_index].id, ID_BYTES) == 0)
            index[origin_index] = index[i];
    if (index[origin_index] == 0) {
        index[origin_index] = origin_index + 1;
        node->byzantine->accounts[origin_index].origin_index = origin_index;
        for (int i = 0; i < RECALLED; i++)
            node->byzantine->accounts[origin_index].began[i] =
                (struct stream_point){.origin_index = origin_index};
    }
    return &node->byzantine->accounts[index[origin_index] - 1];
}

static const struct origin *latest_of(const struct node *node, const struct account *account)
{
    CHECK(account->origin_index < broadcast_versions(node)->count);
    return &broadcast_versions(node)->origins[account->origin_index];
}

/* Returns the member's reported samples per second divided by the median; 0 = unknown. */
static double faster(const struct node *node, const struct origin *origin)
{
    const double typical = node->byzantine->typical_rate;
    CHECK(typical >= 0);
    return typical > 0 ? (double)origin->rate / typical : 0;
}

/* Returns the largest samples per second that the origin reported; the median before its first
 * report. */
static double speed_of(const struct node *node, const struct origin *origin)
{
    CHECK(origin->rate >= 0);
    return origin->rate > 0 ? (double)origin->rate : node->byzantine->typical_rate;
}

/* Returns the length of these publications per credited sample, or per second if all shares are
 * equal. If weight_max limits the member's share, the length is that of an unlimited share. */
static double length_of(const struct node *node, const struct origin *origin,
                        const struct size *size)
{
    CHECK(size->length >= 0 && size->samples >= 0);
    const double per_sample = size->length / fmax(size->samples, 1);
    const double most = node->options.limits.weight_max;
    if (!node->options.weigh_throughput)
        return per_sample * speed_of(node, origin);
    return most > 0 ? per_sample * fmax(faster(node, origin) / most, 1) : per_sample;
}

static void count(struct cusum *cusum, double by, struct stream_point at)
{
    CHECK(cusum->sum >= 0 && isfinite(by));
    if (cusum->sum == 0)
        cusum->from = at;
    cusum->sum = fmax(cusum->sum + by, 0);
}

/* While no median is known, an agreement is no evidence against the member. It may only lower the
 * sum. */
static void count_agreement(const struct byzantine *byzantine, struct account *account,
                            double agreement, struct stream_point at)
{
    CHECK(agreement >= -1 && agreement <= 1);
    const double typical = byzantine->typical;
    const double less = isnan(typical) ? 0 : typical - agreement - AGREEMENT_GAP;
    account->usual = account->compared == 0
                         ? agreement
                         : EMA_DECAY * account->usual + (1 - EMA_DECAY) * agreement;
    account->compared++;
    count(&account->against, fmin(-agreement, less), at);
}

/* Returns the maximum length of the member's publications, in the unit of `typical`, the median
 * length; 0 = unknown. */
static double allowed(const struct node *node, const struct origin *origin, double typical)
{
    const double most =
        node->options.limits.weight_max > 0 ? node->options.limits.weight_max : FASTER_MOST;
    CHECK(typical >= 0 && most >= 1);
    return LONG * typical * sqrt(fmin(fmax(faster(node, origin), 1), fmin(most, FASTER_MOST)));
}

static double beyond_most(const struct node *node)
{
    return node->options.has_tests && votes_count_here(node) ? BEYOND_TRIED : BEYOND_MOST;
}

static double positive_median(struct node *node,
                              double (*at)(const struct node *, const struct account *));
static double latest_length_at(const struct node *node, const struct account *account);

/* Judges the member's publications when the next one starts: the last one is complete now, and most
 * other members' publications of that time have arrived. After an order to expel a member, a long
 * publication is also compared with these, because all members learn more at once. Not after votes:
 * liars who ruin the base make all others' publications longer, too. */
static void judge(struct node *node, struct account *account)
{
    const struct origin *origin = latest_of(node, account);
    double most = allowed(node, origin, node->byzantine->typical_length);
    if (most == 0 || account->is_partial || !(account->counts || account->is_first))
        return;
    CHECK(account->pieces > 0);
    const struct size *size = account->counts ? &account->usual_size : &account->size;
    const double length = length_of(node, origin, size);
    if (length > most && node->now_ns < node->byzantine->ordered_ns)
        most = fmax(most, allowed(node, origin, positive_median(node, latest_length_at)));
    const double by = length / most - 1;
    if (account->counts || by > beyond_most(node))
        count(&account->beyond, fmin(by, beyond_most(node)), account->began[0]);
}

static bool begins_publication(const struct node *node, const struct account *account,
                               const struct rumor_step *step)
{
    if (account->is_first && account->pieces > 0 && node->now_ns < account->alone_ns)
        return false;
    return account->pieces == 0 || step->samples > 0 || account->pieces == PIECES_MOST;
}

static void begin_publication(struct account *account, struct stream_point at, bool counts)
{
    memmove(account->began + 1, account->began, sizeof account->began - sizeof *account->began);
    account->began[0] = at;
    account->publications++;
    account->pieces = 0;
    account->counts = counts;
    if (!counts)
        return;
    account->usual_size.length *= EMA_DECAY;
    account->usual_size.samples *= EMA_DECAY;
}

static void add(struct size *size, double length, double samples)
{
    CHECK(length >= 0 && samples >= 0);
    size->length += length;
    size->samples += samples;
}

/* Returns the time since the member's last rumor, in ns. Before its first rumor, returns the
 * time since this node started, at most LATELY_NS, because the member may have trained alone. */
static double silent_ns(const struct node *node, const struct account *account)
{
    CHECK(account->came_ns <= node->now_ns && node->born_ns <= node->now_ns);
    return account->came_ns > 0 ? (double)(node->now_ns - account->came_ns)
                                : fmin((double)(node->now_ns - node->born_ns), (double)LATELY_NS);
}

/* Returns true if the rumor that arrives now may be from a partition. A member in a partition,
 * or one that has just met us, has a larger share of a smaller swarm, so its publications are
 * longer. They arrive after the partition ends, within about as long as it lasted. */
static bool was_apart(const struct node *node, struct account *account)
{
    const double gap_ns = silent_ns(node, account);
    const double settling_ns = (double)node->options.limits.silence_ns;
    const bool is_first = account->came_ns == 0;
    CHECK(gap_ns >= 0);
    const bool is_long =
        gap_ns > settling_ns && (account->gap_ns == 0 || gap_ns > GAPS_APART * account->gap_ns);
    if (is_first || is_long)
        account->apart_ns = node->now_ns + (uint64_t)(gap_ns + settling_ns);
    /* The average includes long gaps: a pause that recurs is usual, and no partition. */
    if (!is_first && gap_ns > 0)
        account->gap_ns =
            account->gap_ns == 0 ? gap_ns : EMA_DECAY * account->gap_ns + (1 - EMA_DECAY) * gap_ns;
    return node->now_ns < account->apart_ns;
}

/* Returns how many more seconds of learning the member may claim: CREDIT_RATE times the time since
 * its last rumor. Before its first rumor, counts from this node's start and adds CREDIT_S. Returns
 * INFINITY if the first rumor that this node got is not the first of its incarnation. */
static double learning_s(const struct node *node, const struct account *account, uint32_t seq)
{
    const uint64_t since_ns = account->came_ns > 0 ? account->came_ns : node->born_ns;
    CHECK(since_ns <= node->now_ns);
    if (account->came_ns == 0 && seq > 0)
        return INFINITY;
    return CREDIT_RATE * (double)(node->now_ns - since_ns) * 1e-9 +
           (account->came_ns == 0 ? CREDIT_S : 0);
}

/* Returns the seconds of learning that one publication may claim; INFINITY before a median is
 * known. A member that lost all its links still publishes as often as before, into its own log. So
 * no publication is of a much longer time than the others'. */
static double publication_s(const struct byzantine *byzantine, const struct account *account)
{
    const double median_s = byzantine->typical_s;
    CHECK(account->gap_ns >= 0 && median_s >= 0);
    return median_s > 0 ? PUBLICATION_MOST * fmax(median_s, account->gap_ns * 1e-9) : INFINITY;
}

/* Returns how many of the claimed samples the member's reported speed permits. All nodes know that
 * speed from records. A speed below the median, or unknown, counts as the median; so does the speed
 * of a member that has not published yet. */
static double credited(const struct node *node, struct account *account,
                       const struct rumor_step *step, bool is_apart)
{
    const double said = (double)broadcast_versions(node)->origins[step->origin_index].rate;
    const double typical = node->byzantine->typical_rate;
    const double rate = account->publications > 0 || typical == 0 ? fmax(said, typical) : typical;
    const double samples =
        fmin((double)step->samples,
             rate > 0 ? publication_s(node->byzantine, account) * rate : INFINITY);
    CHECK(account->credit_s >= 0);
    if (!is_apart)
        account->credit_s = fmin(account->credit_s, CREDIT_S);
    account->credit_s += learning_s(node, account, step->seq);
    if (rate == 0)
        return samples;
    const double counted = fmin(samples, account->credit_s * rate);
    account->credit_s = fmax(account->credit_s - counted / rate, 0);
    return counted;
}

/* Starts to judge a new incarnation of the member. It may have trained alone, so its first rumors
 * are judged as one publication, and count only if they exceed the permitted length more than 1 +
 * BEYOND_MOST times. This also catches a member that restarts before every attack. */
static void begin_stream(struct node *node, struct account *account, uint32_t origin_index)
{
    CHECK(account->came_ns > 0 && account->origin_index != origin_index);
    judge(node, account);
    account->origin_index = origin_index;
    account->counts = false;
    account->is_first = true;
    account->alone_ns = node->now_ns + node->options.limits.silence_ns;
    account->pieces = 0;
    account->was_returned = false;
}

/* Computes latest_length while it is unknown, because byzantine_review does so only once a second.
 * The rumor that just arrived may be of the member that completes a median, and be a burst. */
static void look_at_first(struct node *node)
{
    struct byzantine *byzantine = node->byzantine;
    if (byzantine->latest_length == 0 && byzantine_is_calm(node))
        byzantine->latest_length = positive_median(node, latest_length_at);
}

void byzantine_on_rumor(struct node *node, const struct rumor_step *step)
{
    struct account *account = account_to_update(node, step->origin_index);
    const struct origin *origins = broadcast_versions(node)->origins;
    const bool is_apart = was_apart(node, account);
    const double samples = credited(node, account, step, is_apart);
    if (account->came_ns > 0 &&
        origins[step->origin_index].incarnation > origins[account->origin_index].incarnation)
        begin_stream(node, account, step->origin_index);
    account->came_ns = node->now_ns;
    const bool begins = begins_publication(node, account, step);
    if (begins) {
        const bool is_new = account->is_first && account->pieces == 0;
        const bool is_partial = account->pieces == 0 && step->seq > 0 && step->samples == 0;
        if (account->pieces > 0)
            judge(node, account);
        if (account->is_partial)
            account->size = (struct size){0};
        account->is_partial = is_partial;
        begin_publication(
            account,
            (struct stream_point){step->origin_index, step->seq, account->publications + 1},
            !is_apart && !is_new);
        account->is_first = is_new;
    }
    /* A rumor that claims no samples belongs to the same size as the one before. */
    if (begins && step->samples > 0) {
        account->whole = account->size;
        account->size = (struct size){0};
    }
    account->pieces++;
    add(&account->size, step->length, samples);
    if (account->counts)
        add(&account->usual_size, step->length, samples);
    if (node->options.limits.quarantines)
        look_at_first(node);
}

void byzantine_on_published(struct node *node, const struct rumor_step *sum)
{
    struct byzantine *byzantine = node->byzantine;
    const struct origin *own = broadcast_own(node);
    const double most = OWN_LENGTH * allowed(node, own, byzantine->typical_length);
    struct size *size = &byzantine->own_whole;
    CHECK(sum->length >= 0);
    if (sum->samples == 0)
        return;
    size->length *= EMA_DECAY;
    size->samples *= EMA_DECAY;
    add(size, sum->length / byzantine_own_part(node), (double)sum->samples);
    const double length = length_of(node, own, size);
    byzantine->own_part = most > 0 && length > most ? fmax(most / length, OWN_LEAST) : 1;
}

void byzantine_on_order(struct node *node)
{
    node->byzantine->ordered_ns = node->now_ns + ORDERED_NS;
}

double byzantine_own_part(const struct node *node)
{
    CHECK(node->byzantine->own_part > 0 && node->byzantine->own_part <= 1);
    return node->byzantine->own_part;
}

void byzantine_on_compared(struct node *node, uint32_t origin_index, uint32_t seq, double agreement)
{
    struct account *account = account_to_update(node, origin_index);
    count_agreement(node->byzantine, account, agreement,
                    (struct stream_point){origin_index, seq, account->publications});
}

double byzantine_length(const struct node *node, uint32_t origin_index)
{
    const struct account *account = account_of(node, origin_index);
    return account->is_partial ? 0 : length_of(node, latest_of(node, account), &account->size);
}

bool byzantine_is_calm(const struct node *node)
{
    const struct versions *versions = broadcast_versions(node);
    uint32_t calm = 0;
    for (uint32_t i = 0; i < versions->count && calm < BYZANTINE_ENOUGH; i++)
        calm += versions->origins[i].next >= CALM;
    return calm == BYZANTINE_ENOUGH;
}

bool byzantine_has_median(const struct node *node)
{
    CHECK(node->byzantine->latest_length >= 0);
    return node->byzantine->latest_length > 0;
}

bool byzantine_allows(const struct node *node, uint32_t origin_index, double length)
{
    const struct origin *origin = latest_of(node, account_of(node, origin_index));
    const double most = allowed(node, origin, node->byzantine->latest_length);
    CHECK(length >= 0);
    return most == 0 || length <= most;
}

uint64_t byzantine_apart_ns(const struct node *node, uint32_t origin_index)
{
    return account_of(node, origin_index)->apart_ns;
}

static bool is_lately(const struct node *node, const struct account *account)
{
    CHECK(account->came_ns <= node->now_ns);
    return account->came_ns > 0 && node->now_ns - account->came_ns < LATELY_NS;
}

static double agreement_at(const struct node *node, const struct account *account)
{
    (void)node;
    return account->compared > 0 ? account->usual : (double)NAN;
}

static double length_at(const struct node *node, const struct account *account)
{
    const double length = length_of(node, latest_of(node, account), &account->usual_size);
    return length > 0 ? length : (double)NAN;
}

static double latest_length_at(const struct node *node, const struct account *account)
{
    const struct origin *origin = latest_of(node, account);
    const double length = fmax(account->is_partial ? 0 : length_of(node, origin, &account->size),
                               length_of(node, origin, &account->whole));
    return length > 0 ? length : (double)NAN;
}

static double publication_s_at(const struct node *node, const struct account *account)
{
    const double rate = speed_of(node, latest_of(node, account));
    return rate > 0 && account->whole.samples > 0 ? account->whole.samples / rate : (double)NAN;
}

static double rate_at(const struct node *node, const struct account *account)
{
    const double rate = (double)latest_of(node, account)->rate;
    return rate > 0 ? rate : (double)NAN;
}

/* Returns the upper median of `at` over the members whose last rumor arrived within LATELY_NS,
 * ignoring NANs; NAN if there are fewer than `enough`. */
static double median_of(struct node *node,
                        double (*at)(const struct node *, const struct account *), uint32_t enough)
{
    const struct byzantine *byzantine = node->byzantine;
    uint32_t count = 0;
    for (uint32_t i = 0; i < broadcast_versions(node)->count; i++)
        if (is_lately(node, &byzantine->accounts[i]) && !isnan(at(node, &byzantine->accounts[i])))
            byzantine->sorted[count++] = at(node, &byzantine->accounts[i]);
    return count < enough ? (double)NAN : double_median_high(byzantine->sorted, count);
}

/* As median_of, with BYZANTINE_ENOUGH; returns 0 instead of NAN. */
static double positive_median(struct node *node,
                              double (*at)(const struct node *, const struct account *))
{
    const double median = median_of(node, at, BYZANTINE_ENOUGH);
    CHECK(isnan(median) || median > 0);
    return isnan(median) ? 0 : median;
}

void byzantine_review(struct node *node)
{
    struct byzantine *byzantine = node->byzantine;
    byzantine->typical = median_of(node, agreement_at, ENOUGH_AGREEMENTS);
    byzantine->typical_length = positive_median(node, length_at);
    byzantine->latest_length =
        byzantine_is_calm(node) ? positive_median(node, latest_length_at) : 0;
    byzantine->typical_rate = positive_median(node, rate_at);
    byzantine->typical_s = positive_median(node, publication_s_at);
}

/* Returns true if the evidence against the member exceeds this part of a bound. */
static bool exceeds(const struct node *node, const struct account *account, double part)
{
    CHECK(part > 0 && part <= 1);
    return account->against.sum > part * AGAINST_MOST ||
           account->beyond.sum > part * beyond_most(node);
}

/* Returns true if the evidence against the member is mostly that it opposes this node. */
static bool opposes(const struct node *node, const struct account *account)
{
    return account->against.sum / AGAINST_MOST > account->beyond.sum / beyond_most(node);
}

struct byzantine_finding byzantine_finding_of(const struct node *node, uint32_t origin_index)
{
    const struct byzantine *byzantine = node->byzantine;
    const struct account *account = account_of(node, origin_index);
    const struct size *size = &account->usual_size;
    const bool has_length = byzantine->typical_length > 0 && size->samples > 0;
    return (struct byzantine_finding){
        .harms = (exceeds(node, account, 1) || account->is_harmful) &&
                 origin_index == account->origin_index,
        .agreement = account->compared > 0 ? account->usual : (double)NAN,
        .typical = byzantine->typical,
        .length = has_length
                      ? length_of(node, latest_of(node, account), size) / byzantine->typical_length
                      : (double)NAN};
}

const struct origin *byzantine_next(struct node *node)
{
    struct byzantine *byzantine = node->byzantine;
    const uint32_t count = broadcast_versions(node)->count;
    for (uint32_t looked = 0; looked < count; looked++) {
        struct account *account = &byzantine->accounts[byzantine->next++ % count];
        if (!exceeds(node, account, SUSPECT))
            account->was_returned = false;
        if (account->was_returned || !exceeds(node, account, 1))
            continue;
        account->was_returned = true;
        return latest_of(node, account);
    }
    return NULL;
}

void byzantine_on_tried(struct node *node, uint32_t origin_index, bool is_harmful)
{
    struct account *account = account_to_update(node, origin_index);
    account->is_harmful = is_harmful;
    account->against.sum = account->beyond.sum = 0;
    account->was_returned = false;
}

/* Returns true if the member published `one` before `other`. */
static bool is_earlier(const struct node *node, struct stream_point one, struct stream_point other)
{
    const struct origin *origins = broadcast_versions(node)->origins;
    CHECK(memcmp(origins[one.origin_index].id, origins[other.origin_index].id, ID_BYTES) == 0);
    return one.origin_index == other.origin_index
               ? one.seq < other.seq
               : origins[one.origin_index].incarnation < origins[other.origin_index].incarnation;
}

bool byzantine_is_suspect(const struct node *node, uint32_t origin_index)
{
    const struct account *account = account_of(node, origin_index);
    return origin_index == account->origin_index &&
           (account->is_harmful || exceeds(node, account, SUSPECT));
}

struct stream_point byzantine_from(const struct node *node, const struct origin *origin)
{
    const struct account *account =
        account_of(node, versions_index(broadcast_versions(node), origin));
    const struct cusum *cusum = opposes(node, account) ? &account->against : &account->beyond;
    const struct stream_point recalled = account->began[RECALLED - 1];
    struct stream_point from = cusum->from.nth > recalled.nth ? cusum->from : recalled;
    /* Rumors of an earlier incarnation may arrive later, so the one that the member published
     * first counts. */
    for (int i = 0; i < RECALLED; i++)
        if (account->began[i].nth > from.nth && is_earlier(node, account->began[i], from))
            from = account->began[i];
    return from;
}

void byzantine_describe(const struct node *node, const struct origin *origin, char *out,
                        size_t room)
{
    const uint32_t origin_index = versions_index(broadcast_versions(node), origin);
    const struct byzantine_finding of = byzantine_finding_of(node, origin_index);
    const struct account *account = account_of(node, origin_index);
    if (opposes(node, account) && isnan(of.typical)) /* the others have just left */
        (void)snprintf(out, room, "opposes this node's progress (agreement %.2f)", of.agreement);
    else if (opposes(node, account))
        (void)snprintf(
            out, room,
            "opposes this node's progress (agreement %.2f, median of other members %.2f)",
            of.agreement, of.typical);
    else
        (void)snprintf(out, room,
                       "moves the base %.1f times as far as the updates of other members",
                       of.length);
}
