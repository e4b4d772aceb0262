#include "node/connection/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "node/connection/spoken.h"
#include "wire/message.h"

/* largest ratio of two nodes' deviations of inputs or targets without a note */
#define INPUTS_RATIO 2
/* Largest distance of two nodes' means or deviations of bytes without a note, in deviations. A
 * model of digits that is evaluated a tenth of a deviation away loses at most 0.4 points of
 * accuracy, at a fifth 1 point, at a half 5 points. */
#define BYTES_PART 0.1

/* One setting. name and value point into a line and are not terminated. */
struct setting {
    const char *name;
    size_t name_bytes;
    bool is_shared; /* true = both sides must have this value; false = their values must differ */
    const char *value;
    size_t value_bytes;
};

/* Parses a line: a name, '=' or '!', and a printable value. Returns false if the line is not a
 * setting. */
static bool parse(const char *line, size_t bytes, struct setting *setting)
{
    size_t at = 0;
    while (at < bytes && line[at] && strchr("abcdefghijklmnopqrstuvwxyz0123456789_.", line[at]))
        at++;
    if (at == 0 || at == bytes || (line[at] != '=' && line[at] != '!'))
        return false;
    *setting = (struct setting){.name = line,
                                .name_bytes = at,
                                .is_shared = line[at] == '=',
                                .value = line + at + 1,
                                .value_bytes = bytes - at - 1};
    for (size_t i = 0; i < setting->value_bytes; i++)
        if (setting->value[i] < ' ' || setting->value[i] > '~')
            return false;
    return true;
}

/* Parses the next line of *text and advances *text to the line after it. Returns MISSING at the
 * end of the text, MALFORMED if the line is invalid. */
static enum error next(const char **text, size_t *bytes, struct setting *setting)
{
    if (*bytes == 0)
        return MISSING;
    const char *end = memchr(*text, '\n', *bytes);
    if (!end || !parse(*text, (size_t)(end - *text), setting))
        return MALFORMED;
    *bytes -= (size_t)(end + 1 - *text);
    *text = end + 1;
    return OK;
}

/* Copies to *found the setting of `text`, whose lines are valid, that has the name of `wanted`.
 * Returns false if there is none. */
static bool find(const char *text, size_t bytes, const struct setting *wanted,
                 struct setting *found)
{
    while (next(&text, &bytes, found) == OK)
        if (found->name_bytes == wanted->name_bytes &&
            memcmp(found->name, wanted->name, wanted->name_bytes) == 0)
            return true;
    return false;
}

static bool is_named(const struct setting *setting, const char *name)
{
    return setting->name_bytes == strlen(name) &&
           memcmp(setting->name, name, setting->name_bytes) == 0;
}

/* Parses the value of SETTINGS_INPUTS or SETTINGS_TARGETS. Returns false if it has another form. */
static bool parse_moments(const struct setting *setting, double *mean, double *deviation)
{
    char text[64];
    int end = 0;
    if (setting->value_bytes >= sizeof text)
        return false;
    memcpy(text, setting->value, setting->value_bytes);
    text[setting->value_bytes] = '\0';
    return sscanf(text, "mean %20lf and deviation %20lf of %n", mean, deviation, &end) == 2 &&
           end > 0 && isfinite(*mean) && isfinite(*deviation) && *deviation > 0;
}

/* Returns true if both are moments of inputs or of targets, and one model can learn from both. */
static bool are_alike(const struct setting *ours, const struct setting *theirs)
{
    double mean[2], deviation[2];
    if ((!is_named(ours, SETTINGS_INPUTS) && !is_named(ours, SETTINGS_TARGETS)) ||
        !parse_moments(ours, &mean[0], &deviation[0]) ||
        !parse_moments(theirs, &mean[1], &deviation[1]))
        return false;
    const double most = fmax(deviation[0], deviation[1]);
    return most <= INPUTS_RATIO * fmin(deviation[0], deviation[1]) &&
           fabs(mean[0] - mean[1]) <= most;
}

static bool parse_number(const struct setting *setting, double *number)
{
    char text[32];
    int end = 0;
    if (setting->value_bytes >= sizeof text)
        return false;
    memcpy(text, setting->value, setting->value_bytes);
    text[setting->value_bytes] = '\0';
    return sscanf(text, "%30lf%n", number, &end) == 1 && text[end] == '\0' && isfinite(*number);
}

/* Returns true if both are means or deviations of bytes, and their distance does not matter. all:
 * this node's settings. */
static bool are_near(const char *all, const struct setting *ours, const struct setting *theirs)
{
    const struct setting name = {.name = SETTINGS_DEVIATION,
                                 .name_bytes = strlen(SETTINGS_DEVIATION)};
    double here, there, deviation;
    struct setting found;
    CHECK(ours->is_shared && theirs->is_shared);
    if ((!is_named(ours, SETTINGS_MEAN) && !is_named(ours, SETTINGS_DEVIATION)) ||
        !parse_number(ours, &here) || !parse_number(theirs, &there) ||
        !find(all, strlen(all), &name, &found) || !parse_number(&found, &deviation))
        return false;
    return fabs(here - there) <= BYTES_PART * deviation;
}

/* all: this node's settings */
static bool is_wrong(const char *all, const struct setting *ours, const struct setting *theirs)
{
    const bool is_equal = ours->value_bytes == theirs->value_bytes &&
                          memcmp(ours->value, theirs->value, ours->value_bytes) == 0;
    return ours->is_shared == theirs->is_shared && ours->is_shared != is_equal &&
           !are_alike(ours, theirs) && !(ours->is_shared && are_near(all, ours, theirs));
}

/* Appends to the text `out`, as far as it fits, a setting whose two values break its rule (equal or
 * different). */
static void describe(char *out, size_t room, const struct setting *ours,
                     const struct setting *theirs)
{
    const size_t used = strlen(out);
    const char *comma = used > 0 ? ", " : "";
    if (ours->is_shared)
        (void)snprintf(out + used, room - used, "%s%.*s = %.*s (here %.*s)", comma,
                       (int)ours->name_bytes, ours->name, (int)theirs->value_bytes, theirs->value,
                       (int)ours->value_bytes, ours->value);
    else
        (void)snprintf(out + used, room - used, "%s%.*s = %.*s", comma, (int)ours->name_bytes,
                       ours->name, (int)ours->value_bytes, ours->value);
}

/* Parses "of.ID.NAME", the name of another node's setting, and reduces the name to NAME. Returns
 * false if the name has another form. */
static bool take_id(struct setting *setting, uint8_t id[static ID_BYTES])
{
    static const char of[] = SETTINGS_OF;
    char hex[KEY_HEX_BYTES] = "";
    const size_t begin = sizeof of - 1, digits = sizeof hex - 1, taken = begin + digits + 1;
    if (setting->name_bytes <= taken || memcmp(setting->name, of, begin) != 0 ||
        setting->name[taken - 1] != '.')
        return false;
    memcpy(hex, setting->name + begin, digits);
    if (key_from_hex(id, hex) != OK)
        return false;
    setting->name += taken;
    setting->name_bytes -= taken;
    return true;
}

static void note(struct node *node, const struct peer *peer, const char *head, const char *which)
{
    char text[sizeof((struct note *)NULL)->text], id[ID_TEXT_BYTES];
    identity_text(id, peer->id);
    if (!which[0] || !notes_allow_once(&node->notes, node->now_ns, NOTE_SETTINGS, id, which))
        return;
    (void)snprintf(text, sizeof text, "%s: %s", head, which);
    (void)connection_note(node, peer, NOTE_SETTINGS, LEVEL_WARNING, text);
}

void settings_show(struct node *node, const struct peer *peer)
{
    const char *ours = node->options.settings ? node->options.settings : "";
    char line[SPOKEN_LINE_MAX], text[SETTINGS_MAX + 1];
    spoken_line(node, line);
    const int bytes = snprintf(text, sizeof text, "%s%s", line, ours);
    CHECK(bytes >= 0 && bytes <= SETTINGS_MAX);
    if (bytes == 0)
        return;
    const struct message message = {.kind = SETTINGS,
                                    .text = {(const uint8_t *)text, (size_t)bytes}};
    /* If the queue is full, the message is dropped: a comparison is not worth a wait. */
    (void)connection_say(node, peer, &message);
}

void settings_show_labels(struct node *node, const struct peer *peer, const char *text)
{
    char line[SETTINGS_MAX];
    const int bytes = snprintf(line, sizeof line, SETTINGS_CONTRADICT "=%s\n", text);
    CHECK(bytes > 0 && bytes < SETTINGS_MAX);
    const struct message message = {.kind = SETTINGS,
                                    .text = {(const uint8_t *)line, (size_t)bytes}};
    (void)connection_say(node, peer, &message);
}

/* Passes on what the neighbour says about its labels. */
static void note_labels(struct node *node, const struct peer *peer, const struct setting *theirs)
{
    char text[sizeof((struct note *)NULL)->text];
    const int bytes = (int)u64_min(theirs->value_bytes, 200);
    connection_set_mislabels(node, peer, bytes > 0);
    if (!notes_allow(&node->notes, node->now_ns))
        return;
    if (bytes > 0)
        (void)snprintf(text, sizeof text,
                       "reports that its labels contradict the shared model "
                       "(%.*s): look at its data",
                       bytes, theirs->value);
    (void)connection_note(node, peer, NOTE_SETTINGS, bytes > 0 ? LEVEL_WARNING : LEVEL_INFO,
                          bytes > 0 ? text
                                    : "reports that its labels agree with the shared model again");
}

enum error settings_compare(const char *ours, const struct bytes *theirs,
                            struct settings_difference *found)
{
    const char *line = (const char *)theirs->at;
    size_t bytes = theirs->count;
    struct setting setting, own;
    enum error error = bytes > SETTINGS_MAX ? TOO_BIG : OK;
    *found = (struct settings_difference){.other = ""};
    while (error == OK && (error = next(&line, &bytes, &setting)) == OK)
        if (find(ours, strlen(ours), &setting, &own) && is_wrong(ours, &own, &setting))
            describe(is_named(&own, SETTINGS_LABELS)     ? found->labels
                     : is_named(&own, SETTINGS_CHECKSUM) ? found->frozen
                     : own.is_shared                     ? found->other
                                                         : found->same,
                     sizeof found->other, &own, &setting);
    return error == MISSING ? OK : error;
}

/* Warns of a member that has the same part of the data as this node, as a common neighbour reports.
 * Ignores neighbours, whose own settings are compared. */
static void on_report(struct node *node, const uint8_t id[static ID_BYTES],
                      const struct setting *theirs)
{
    const char *ours = node->options.settings ? node->options.settings : "";
    char which[sizeof((struct settings_difference *)NULL)->same] = "", who[ID_TEXT_BYTES];
    struct setting own;
    if (memcmp(id, node->options.identity->id, ID_BYTES) == 0 || connection_by_id(node, id, NULL) ||
        !find(ours, strlen(ours), theirs, &own) || own.is_shared || !is_wrong(ours, &own, theirs))
        return;
    describe(which, sizeof which, &own, theirs);
    identity_text(who, id);
    if (!notes_allow_once(&node->notes, node->now_ns, NOTE_SETTINGS, who, which))
        return;
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_SETTINGS, LEVEL_WARNING,
                                  SETTINGS_SAME ": %s", which);
    memcpy(note->who, who, sizeof who);
}

/* Reads valid lines: stores the neighbour's setting that must differ on all nodes, and handles
 * reports on other members. */
static void read_unlike(struct node *node, const struct peer *peer, const struct bytes *text)
{
    const char *line = (const char *)text->at;
    size_t bytes = text->count;
    struct setting setting;
    uint8_t id[ID_BYTES];
    while (next(&line, &bytes, &setting) == OK) {
        char unlike[PEER_UNLIKE_BYTES] = "";
        if (setting.is_shared)
            continue;
        if (take_id(&setting, id))
            on_report(node, id, &setting);
        else if (setting.name_bytes + 1 + setting.value_bytes < sizeof unlike) {
            memcpy(unlike, setting.name, setting.name_bytes + 1 + setting.value_bytes);
            connection_set_unlike(node, peer, unlike);
        }
    }
}

/* Adds a line about this neighbour to `text`, if the line fits. */
static void add_report(char text[static SETTINGS_MAX + 1], const struct peer *about)
{
    char hex[KEY_HEX_BYTES], line[sizeof SETTINGS_OF + KEY_HEX_BYTES + PEER_UNLIKE_BYTES + 2];
    CHECK(about->unlike[0]);
    key_hex(hex, about->id);
    (void)snprintf(line, sizeof line, SETTINGS_OF "%s.%s\n", hex, about->unlike);
    if (strlen(text) + strlen(line) <= SETTINGS_MAX)
        strcat(text, line);
}

static void say_reports(struct node *node, const struct peer *peer, const char *text)
{
    if (text[0])
        (void)connection_say(
            node, peer,
            &(struct message){.kind = SETTINGS, .text = {(const uint8_t *)text, strlen(text)}});
}

/* If this neighbour and another one have the same part of the data, reports each to the other: two
 * nodes that only dial have no conversation in which they could compare their parts. */
static void report(struct node *node, const struct peer *peer)
{
    char all[SETTINGS_MAX + 1] = "", one[SETTINGS_MAX + 1];
    const struct peer *other;
    CHECK(peer->state == PEER_OPEN);
    for (uint32_t i = 0; peer->unlike[0] && (other = connection_neighbour(node, &i)); i++) {
        if (other == peer || strcmp(other->unlike, peer->unlike) != 0)
            continue;
        one[0] = '\0';
        add_report(one, peer);
        say_reports(node, other, one);
        add_report(all, other);
    }
    say_reports(node, peer, all);
}

void settings_on_message(struct node *node, const struct peer *peer, const struct bytes *text)
{
    const char *ours = node->options.settings ? node->options.settings : "";
    const struct setting protocol = {.name = SPOKEN_NAME, .name_bytes = strlen(SPOKEN_NAME)};
    const struct setting labels = {.name = SETTINGS_CONTRADICT,
                                   .name_bytes = strlen(SETTINGS_CONTRADICT)};
    struct settings_difference found;
    struct setting theirs;
    if (settings_compare(ours, text, &found) != OK) {
        connection_hang_up(node, peer, BYE_BROKEN, "sent invalid settings");
        return;
    }
    if (find((const char *)text->at, text->count, &protocol, &theirs) &&
        !spoken_check(node, peer, theirs.value, theirs.value_bytes))
        return;
    if (find((const char *)text->at, text->count, &labels, &theirs))
        note_labels(node, peer, &theirs);
    note(node, peer, SETTINGS_OTHER, found.other);
    note(node, peer, SETTINGS_SAME, found.same);
    note(node, peer, SETTINGS_RANGE, found.labels);
    note(node, peer, SETTINGS_FROZEN, found.frozen);
    const bool is_known = peer->unlike[0] != '\0';
    read_unlike(node, peer, text);
    if (!is_known)
        report(node, peer);
}
