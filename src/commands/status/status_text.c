#include "commands/status/status_text.h"

#include <math.h>
#include <string.h>

#define LONG_NUMBER 10000000000 /* longer ones are rounded */
#define OLD_S       60.0        /* what is seen to be true more rarely has changed, perhaps */
#define LINK_LINE   "%-8.8s %-21s %6s %7s %10s %9s %9s\n"
#define MEMBER_LINE "%-8.8s  %-24s  %-4s  %8s  %9s  %7s  %7s\n"

/* What others chose (addresses, names) in so many columns, without what a terminal would obey; the
 * end of what is too long is left out. */
struct shown {
    char text[64];
};
static struct shown shown(const char *text, size_t columns)
{
    struct shown out;
    const size_t length = strlen(text);
    size_t i = 0;
    for (; i < length && i < columns && i < sizeof out.text - 1; i++)
        out.text[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    if (i < length && i > 1)
        out.text[i - 1] = out.text[i - 2] = '.';
    out.text[i] = 0;
    return out;
}

static struct shown whole_text(uint64_t number)
{
    struct shown out;
    char digits[24];
    if (number >= LONG_NUMBER) {
        (void)snprintf(out.text, sizeof out.text, "%s", amount_of((double)number, "").text);
        return out;
    }
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    int used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[used++] = ',';
        out.text[used++] = digits[i];
    }
    out.text[used] = 0;
    return out;
}

static struct shown real_text(double value)
{
    struct shown out = {"-"};
    if (isfinite(value))
        (void)snprintf(out.text, sizeof out.text, "%.4f", value);
    return out;
}

/* The node. */

static void print_training(FILE *out, const struct status_page *page)
{
    if (!page->trains) {
        (void)fprintf(out, "  training   none: it only passes on\n");
        return;
    }
    (void)fprintf(out, "  training   %s samples, %s samples/s, loss %s, share %s\n",
                  whole_text(page->samples).text, amount_of(page->samples_per_second, "").text,
                  real_text(page->loss).text, real_text(page->share).text);
    (void)fprintf(out, "  tempo      tells every %s, gain %s, beta %s\n",
                  amount_span(page->interval_s).text, real_text(page->gain).text,
                  real_text(page->beta).text);
}

static void print_model(FILE *out, const struct status_page *page)
{
    const bool is_behind = page->lag_s > 0;
    (void)fprintf(out, "  model      %s parameters, digest %s\n", whole_text(page->parameters).text,
                  shown(page->digest, 16).text);
    (void)fprintf(out, "  rumors     %s known, %s waiting, %s%s\n",
                  whole_text(page->rumors_known).text, whole_text(page->waiting).text,
                  is_behind ? "lags by " : "lags behind nobody",
                  is_behind ? amount_span(page->lag_s).text : "");
    (void)fprintf(out, "             %s told, %s heard, %s duplicates\n",
                  whole_text(page->rumors_published).text, whole_text(page->rumors_received).text,
                  whole_text(page->duplicates).text);
}

static void print_traffic(FILE *out, const struct status_page *page)
{
    (void)fprintf(out, "  sent       %s in all, now %s; budget %s before copies\n",
                  amount_of((double)page->sent_bytes, "B").text,
                  amount_of(page->sent_bytes_per_s, "B/s").text,
                  amount_of((double)page->budget_bytes_per_s, "B/s").text);
    (void)fprintf(out, "  received   %s in all, now %s\n",
                  amount_of((double)page->received_bytes, "B").text,
                  amount_of(page->received_bytes_per_s, "B/s").text);
}

static void print_memory(FILE *out, const struct status_page *page)
{
    (void)fprintf(out, "  memory     %s, the log of rumors %s; checkpoint: ",
                  amount_of((double)page->rss_bytes, "B").text,
                  amount_of((double)page->log_bytes, "B").text);
    if (isfinite(page->checkpoint_age_s))
        (void)fprintf(out, "%s ago\n", amount_span(page->checkpoint_age_s).text);
    else
        (void)fprintf(out, "none\n");
}

void status_text_node(FILE *out, const struct status_page *page)
{
    (void)fprintf(out, "node %.8s in swarm \"%s\", up %s: %s\n", shown(page->id, 60).text,
                  shown(page->swarm, 30).text, amount_span(page->uptime_s).text,
                  shown(page->stage, 12).text);
    if (page->address[0])
        (void)fprintf(out, "  address    listens on %s\n", shown(page->address, 55).text);
    else
        (void)fprintf(out, "  address    does not listen, only dials\n");
    print_training(out, page);
    print_model(out, page);
    print_traffic(out, page);
    print_memory(out, page);
}

/* The tables. */

/* What a link carries; as long as nothing was too much for it, at least; or what it did carry, if
 * nothing has asked for so much for long. */
static struct amount carries(const struct status_link *link)
{
    const struct amount amount = amount_of(link->rate_bytes_per_s, "B/s");
    const char *sign = !isfinite(link->rate_bytes_per_s) ? ""
                       : link->rate_age_s > OLD_S        ? "~"
                       : !link->is_measured              ? ">"
                                                         : "";
    struct amount text;
    (void)snprintf(text.text, sizeof text.text, "%s%.20s", sign, amount.text);
    return text;
}

static void print_link(FILE *out, const struct status_link *link)
{
    (void)fprintf(
        out, LINK_LINE, link->id[0] ? shown(link->id, 60).text : "-", shown(link->address, 21).text,
        link->open ? amount_span(link->open_s).text : "not", amount_span(link->rtt_s).text,
        carries(link).text, amount_of(link->sent_bytes_per_s, "B/s").text,
        amount_of(link->received_bytes_per_s, "B/s").text);
}

void status_text_links(FILE *out, const struct status_page *page)
{
    if (page->links_count == 0) {
        (void)fprintf(out, "no connection to any other node\n");
        return;
    }
    (void)fprintf(out, LINK_LINE, "LINK TO", "ADDRESS", "OPEN", "TRIP", "CARRIES", "SENT",
                  "RECEIVED");
    for (size_t i = 0; i < page->links_count; i++)
        print_link(out, &page->links[i]);
}

static void print_member(FILE *out, const struct status_member *member)
{
    (void)fprintf(out, MEMBER_LINE, shown(member->id, 60).text,
                  member->address[0] ? shown(member->address, 24).text : "only dials",
                  member->is_self ? "this" : shown(member->state, 4).text,
                  amount_of((double)member->samples, "").text,
                  member->trains ? amount_of(member->samples_per_second, "/s").text : "-",
                  amount_span(member->age_s).text, amount_span(member->lag_s).text);
}

void status_text_members(FILE *out, const struct status_page *page)
{
    (void)fprintf(out, MEMBER_LINE, "MEMBER", "ADDRESS", "IS", "SAMPLES", "TRAINS", "HEARD", "LAG");
    for (size_t i = 0; i < page->members_count; i++)
        print_member(out, &page->members[i]);
}
