#include "node/rate/congestion.h"

#include <math.h>

#include "base/error.h"
#include "base/time_units.h"

/* Minimum size of a write while at least that many bytes are queued. */
#define SEGMENT_BYTES 1448.0
/* Largest valid time of a receiver's clock, in µs. The difference of two such times in ns fits in
 * an int64_t. */
#define CLOCK_US_MAX (INT64_MAX / 4000)
#define QUANTUM_S    0.005 /* minimum size of a write, in seconds of the link's rate */
#define DEPTH_S      0.02  /* seconds of unused credit that a token bucket keeps */
#define DEPTH_MIN    4096.0
#define ROUND_NS     50000000u /* shortest round of rate control, in ns */
/* Time over which a round takes the minimum of the measured delays. */
#define LOOK_NS 100000000u
/* Seconds of the rate that may be in flight beyond one round trip: acknowledgements come late. */
#define WINDOW_S      0.1
#define WINDOW_MIN    8192.0
#define TRIP_FIRST_NS 200000000u
/* Half of the time for which a measured base delay counts. */
#define BASE_NS 30000000000u
/* Least tolerated backlog, in seconds: pacing and clocks also cause delays. */
#define TARGET_S      0.005
#define TARGET_BULK_S 0.060
/* Seconds added to the tolerated backlog at a rate of 64 kB/s; proportional to 1 / sqrt(rate). */
#define TARGET_MORE_S 0.040
/* Part of the rate that a full cut removes in a round; more if far fewer bytes arrived. */
#define CUT_MAX 0.35
/* Backlog above the target that causes a full cut, as a multiple of the target. */
#define CUT_FULL 3.0
#define FRESH_S  10.0 /* seconds for which a rate is fully trusted after its last test */
/* Part of the bytes possible in a round that must be sent to test the rate. */
#define USED 0.5
/* Largest relative increase of a tested rate per second after the start. */
#define GROWTH     1.2
#define GROWTH_MAX 0.5 /* largest part of the rate that one round adds after the start */
/* Backlog that one increase of the rate may add after an overload, as a multiple of the target. */
#define STRIDE 2.0
/* Factor on `stride` after each good round. */
#define STRIDE_GROWS 1.5

void congestion_init(struct congestion *link, uint64_t now_ns)
{
    *link = (struct congestion){.born_ns = now_ns,
                                .rate = LINK_RATE_FIRST,
                                .is_starting = true,
                                .stride = GROWTH_MAX,
                                .bucket = {.credit = DEPTH_MIN, .at_ns = now_ns},
                                .confidence = 1,
                                .tried_ns = now_ns,
                                .trip_ns = TRIP_FIRST_NS,
                                .round_ns = now_ns,
                                .acked_ns = now_ns};
}

/* Returns the bytes per second for new bytes: the rate, discounted by the age of its last test. */
static double pace_of(const struct congestion *link, uint64_t now_ns)
{
    CHECK(now_ns >= link->tried_ns && link->rate > 0);
    const double rate = link->rate, trusted = rate * link->confidence;
    const double age = (double)(now_ns - link->tried_ns) / (double)SECOND_NS / FRESH_S;
    return age > 1 ? fmax(trusted * exp2(1 - age), fmin(rate, LINK_RATE_FIRST)) : trusted;
}

static double depth_of(double rate)
{
    return fmax(rate * DEPTH_S, DEPTH_MIN);
}

/* Returns the minimum bytes of a write while `waiting` bytes are queued. */
static double quantum_of(double rate, size_t waiting)
{
    return fmin(fmax(rate * QUANTUM_S, SEGMENT_BYTES), (double)waiting);
}

bool congestion_is_open(struct congestion *link, uint64_t now_ns, double rate_max)
{
    const double rate = fmin(pace_of(link, now_ns), rate_max);
    const double window =
        fmax(rate * ((double)link->trip_ns / (double)SECOND_NS + WINDOW_S), WINDOW_MIN);
    /* lets the bytes in flight at most triple with each round trip */
    const double proven = WINDOW_MIN + 2 * (double)link->arrived;
    CHECK(link->arrived <= link->sent);
    const bool is_open = (double)(link->sent - link->arrived) < fmin(window, proven) &&
                         link->marks_count < LINK_MARKS / 2;
    link->is_pressed |= !is_open;
    return is_open;
}

bool congestion_is_idle(const struct congestion *link, uint64_t unacknowledged_max)
{
    CHECK(link->arrived <= link->sent);
    return link->is_starting && link->sent - link->arrived <= unacknowledged_max;
}

size_t congestion_allows(struct congestion *link, uint64_t now_ns, size_t waiting, double rate_max)
{
    const double rate = fmin(pace_of(link, now_ns), rate_max);
    CHECK(waiting > 0);
    token_bucket_fill(&link->bucket, now_ns, rate, depth_of(rate));
    const double most = link->bucket.credit;
    if (most < quantum_of(rate, waiting)) {
        link->is_pressed = true;
        return 0;
    }
    link->is_pressed |= most < (double)waiting;
    return most < (double)waiting ? (size_t)most : waiting;
}

uint64_t congestion_wake_ns(const struct congestion *link, uint64_t now_ns, size_t waiting,
                            double rate_max)
{
    const double rate = fmin(pace_of(link, now_ns), rate_max);
    const double missing = quantum_of(rate, waiting) - link->bucket.credit;
    CHECK(missing > 0);
    return now_ns + 1 + (uint64_t)ceil(missing / rate * (double)SECOND_NS);
}

void congestion_on_sent(struct congestion *link, uint64_t now_ns, size_t bytes)
{
    CHECK(bytes > 0 && link->marks_count <= LINK_MARKS);
    link->bucket.credit -= (double)bytes;
    link->sent += bytes;
    /* If the ring is full, these bytes count as sent at the time of the last mark: their delay is
     * overestimated, never underestimated. */
    if (link->marks_count == LINK_MARKS) {
        link->marks[(link->marks_first + LINK_MARKS - 1) % LINK_MARKS].bytes = link->sent;
        return;
    }
    link->marks[(link->marks_first + link->marks_count++) % LINK_MARKS] =
        (struct mark){.bytes = link->sent, .at_ns = now_ns};
}

/* Sets *handed_ns to the time when byte number `bytes` was passed to the transport, and drops
 * older marks. Returns false if that time is unknown. */
static bool take_mark(struct congestion *link, uint64_t bytes, uint64_t *handed_ns)
{
    CHECK(link->marks_first < LINK_MARKS && link->marks_count <= LINK_MARKS);
    while (link->marks_count > 0) {
        const struct mark *first = &link->marks[link->marks_first];
        if (first->bytes >= bytes) {
            *handed_ns = first->at_ns;
            return true;
        }
        link->marks_first = (link->marks_first + 1) % LINK_MARKS;
        link->marks_count--;
    }
    return false;
}

static void learn_base_delay(struct congestion *link, uint64_t now_ns, int64_t delay_ns)
{
    if (!link->has_base_delay) {
        link->has_base_delay = true;
        link->base_delay[0] = link->base_delay[1] = delay_ns;
        link->base_delay_ns = now_ns;
    }
    CHECK(now_ns >= link->base_delay_ns);
    if (now_ns - link->base_delay_ns > BASE_NS) {
        link->base_delay[1] = link->base_delay[0];
        link->base_delay[0] = delay_ns;
        link->base_delay_ns = now_ns;
    }
    if (delay_ns < link->base_delay[0])
        link->base_delay[0] = delay_ns;
}

/* Returns the base delay in ns (congestion.h). */
static int64_t way_of(const struct congestion *link)
{
    return link->base_delay[0] < link->base_delay[1] ? link->base_delay[0] : link->base_delay[1];
}

static double target_s(const struct congestion *link)
{
    const double rate = link->rate;
    const double slow = SEGMENT_BYTES / rate; /* seconds of one segment */
    return (link->is_bulk ? TARGET_BULK_S : TARGET_S) + 2 * slow +
           TARGET_MORE_S * sqrt(64e3 / rate);
}

/* Returns true if this round tests the rate: it has sent more than USED of what the rate allows. */
static bool is_filled(const struct congestion *link, double round_s)
{
    return (double)(link->sent - link->round_ends) > USED * link->rate * round_s;
}

static bool is_made_use_of(const struct congestion *link, double round_s)
{
    return link->is_pressed || is_filled(link, round_s);
}

/* Returns the rate of the next round. delivered: bytes per second that arrived in this round; 0 =
 * unknown. Keeps the rate if the backlog has shrunk by more than a fifth in this round, because an
 * earlier cut is already at work. */
static double next_rate(const struct congestion *link, double backlog_s, double round_s,
                        double delivered)
{
    const double rate = link->rate, target = target_s(link);
    const bool is_used = is_made_use_of(link, round_s);
    const double room = 1 - backlog_s / target;
    if (room >= 0) {
        const bool may_double = link->is_starting && is_filled(link, round_s);
        const double growth = may_double ? 1 : fmin(GROWTH * round_s, link->stride) * room;
        return is_used ? rate * (1 + growth) : rate;
    }
    if (backlog_s < 0.8 * (double)link->backlog_ns / (double)SECOND_NS)
        return rate;
    const double cut = rate * (1 - CUT_MAX * fmin(-room / CUT_FULL, 1));
    return -room > CUT_FULL && delivered > 0 ? fmin(cut, 0.9 * delivered) : cut;
}

/* After a good round (its backlog is below the target), doubles the pace, up to the rate. After a
 * bad one, lowers the rate to the pace. Returns true if the round was good but its pace was below
 * the rate: then the caller keeps the rate. */
static bool regain_confidence(struct congestion *link, uint64_t now_ns, bool is_good)
{
    const double pace = pace_of(link, now_ns);
    const bool is_below = pace < link->rate;
    link->tried_ns = now_ns;
    link->confidence = is_good ? fmin(2 * pace / link->rate, 1) : 1;
    if (!is_good)
        link->rate = pace;
    return is_good && is_below;
}

static double next_stride(const struct congestion *link, double round_s, bool is_good)
{
    const double stride = is_good ? link->stride * STRIDE_GROWS : STRIDE * target_s(link) / round_s;
    return fmin(stride, GROWTH_MAX);
}

static void begin_round(struct congestion *link, uint64_t now_ns)
{
    link->round_ns = now_ns;
    link->round_ends = link->sent;
    link->is_pressed = false;
}

static void end_round(struct congestion *link, uint64_t now_ns, const struct mark *received)
{
    CHECK(now_ns > link->round_ns);
    const int64_t way = way_of(link);
    const double backlog_s = (double)(link->look_delay_ns - way) / (double)SECOND_NS;
    const double round_s = (double)(now_ns - link->round_ns) / (double)SECOND_NS;
    const double span_s = (double)(received->at_ns - link->round_from.at_ns) / (double)SECOND_NS;
    const double bytes = (double)(received->bytes - link->round_from.bytes);
    const double delivered = link->round_from.bytes && span_s > 0.03 ? bytes / span_s : 0;
    const bool is_good = backlog_s <= target_s(link);
    const bool is_used = is_made_use_of(link, round_s);
    if (!is_used || !regain_confidence(link, now_ns, is_good)) {
        const double rate = next_rate(link, backlog_s, round_s, delivered);
        link->rate = fmin(fmax(rate, LINK_RATE_MIN), LINK_RATE_MAX);
    }
    if (is_used || !is_good)
        link->stride = next_stride(link, round_s, is_good);
    CHECK(link->rate >= LINK_RATE_MIN && link->rate <= LINK_RATE_MAX);
    CHECK(link->confidence > 0 && link->confidence <= 1);
    link->is_starting &= is_good;
    link->backlog_ns = link->look_delay_ns > way ? (uint64_t)(link->look_delay_ns - way) : 0;
    begin_round(link, now_ns);
}

bool congestion_on_ack(struct congestion *link, uint64_t now_ns, uint64_t bytes, uint64_t clock_us,
                       uint64_t ack_delay_us)
{
    uint64_t handed_ns;
    if (bytes > link->sent || bytes <= link->arrived || clock_us > CLOCK_US_MAX ||
        ack_delay_us > CLOCK_US_MAX)
        return false;
    link->arrived = bytes;
    if (!take_mark(link, bytes, &handed_ns))
        return true;
    const struct mark received = {.bytes = bytes, .at_ns = clock_us * 1000};
    const int64_t delay_ns = (int64_t)received.at_ns - (int64_t)handed_ns;
    learn_base_delay(link, now_ns, delay_ns);
    const int64_t trip_ns =
        (int64_t)(now_ns - handed_ns) - (int64_t)ack_delay_us * 1000 - (delay_ns - way_of(link));
    link->trip_ns = trip_ns > 0 ? (uint64_t)trip_ns : 0;
    if ((double)(delay_ns - way_of(link)) / (double)SECOND_NS <= target_s(link))
        link->round_from = (struct mark){0};
    else if (link->round_from.bytes == 0)
        link->round_from = received;
    if (now_ns - link->look_ns > LOOK_NS || delay_ns < link->look_delay_ns) {
        link->look_ns = now_ns - link->look_ns > LOOK_NS ? now_ns : link->look_ns;
        link->look_delay_ns = delay_ns;
    }
    /* if all bytes have arrived, the sender has paused, which also ends the round */
    const bool is_all = bytes == link->sent;
    if ((bytes > link->round_ends || is_all) && now_ns - link->round_ns >= ROUND_NS)
        end_round(link, now_ns, &received);
    return true;
}

void congestion_on_received(struct congestion *link, uint64_t now_ns, size_t bytes)
{
    CHECK(now_ns >= link->received_ns);
    link->received += bytes;
    link->received_ns = now_ns;
}

bool congestion_owes_ack(const struct congestion *link, uint64_t now_ns)
{
    CHECK(link->acked <= link->received && now_ns >= link->acked_ns);
    return link->received - link->acked >= ACK_BYTES && now_ns - link->acked_ns >= ACK_NS;
}

void congestion_on_acked(struct congestion *link, uint64_t now_ns)
{
    link->acked = link->received;
    link->acked_ns = now_ns;
}
