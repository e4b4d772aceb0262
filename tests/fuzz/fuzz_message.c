/* The message decoder and a plain reader of the protocol's page (net/README.md, section 8) accept
 * the same messages, with equal fields. An accepted message survives encoding and decoding. */
#include "fuzz/fuzz.h"
#include "wire/message.h"

#define ITEMS_MAX 15

/* Fields of each kind of message on the protocol's page: n = number, s = text, b = bytes. */
static const char *const FIELDS[MESSAGE_KINDS] = {
    [HELLO] = "nnsb",   [MEMBER_UPDATE] = "b",  [MEMBER_QUERY] = "n", [MEMBER_LIST] = "b",
    [PING] = "n",       [PONG] = "n",           [ACK] = "nnnn",       [RUMOR] = "b",
    [PRUNE] = "n",      [VERSION] = "nnnnnnbb", [WANT] = "nn",        [GONE] = "nn",
    [TAKE] = "",        [HISTORY] = "nnnb",     [FETCH] = "nn",       [BLOCK] = "nnbb",
    [BYE] = "nsb",      [ORDERS] = "nb",        [SETTINGS] = "s",     [PROOF] = "nb",
    [HEADS] = "nb",     [LISTED] = "n",         [SWARM_KEY] = "nb",   [VOTES] = "nb",
    [INFERENCE] = "nb", [REPLY] = "nnnsb",
};

struct item {
    char type; /* 'n', 's' or 'b'; 0 = a type that is not on the page */
    uint64_t number;
    struct bytes text;
};

static uint64_t big_endian(struct input *input, size_t bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0)
        number = number << 8 | input_byte(input);
    return number;
}

static struct item plain_text(struct input *input, char type, uint64_t length)
{
    struct item item = {0};
    if (length > input->left)
        return item;
    item.type = type;
    item.text.at = input_bytes(input, (size_t)length, &item.text.count);
    return item;
}

/* Reads the next item. Sets its type to 0 if the protocol's page does not have it. */
static struct item plain_item(struct input *input)
{
    const uint8_t first = input_byte(input);
    const size_t widths = first >= 0xc4 && first <= 0xc6   ? (size_t)1 << (first - 0xc4)
                          : first >= 0xd9 && first <= 0xdb ? (size_t)1 << (first - 0xd9)
                          : first >= 0xcc && first <= 0xcf ? (size_t)1 << (first - 0xcc)
                                                           : 0;
    if (first <= 0x7f)
        return (struct item){.type = 'n', .number = first};
    if (first >= 0xa0 && first <= 0xbf)
        return plain_text(input, 's', first - 0xa0);
    if (widths == 0 || widths > input->left)
        return (struct item){0};
    const uint64_t number = big_endian(input, widths);
    if (first >= 0xcc && first <= 0xcf)
        return (struct item){.type = 'n', .number = number};
    return plain_text(input, first >= 0xd9 ? 's' : 'b', number);
}

/* Decodes a message as the protocol's page says. Returns the number of its fields, or -1 if it is
 * malformed. */
static int plain_decode(struct input input, uint64_t *kind, struct item fields[static ITEMS_MAX])
{
    const uint8_t head = input_byte(&input);
    const int items = head - 0x90;
    if (items < 1 || items > ITEMS_MAX)
        return -1;
    for (int i = 0; i < items; i++) {
        if (input.left == 0)
            return -1;
        const struct item item = plain_item(&input);
        if (item.type == 0 || (i == 0 && item.type != 'n'))
            return -1;
        if (i == 0)
            *kind = item.number;
        else
            fields[i - 1] = item;
    }
    if (input.left > 0 || *kind >= MESSAGE_KINDS || !FIELDS[*kind] ||
        strlen(FIELDS[*kind]) != (size_t)items - 1)
        return -1;
    for (int i = 0; i < items - 1; i++)
        if (fields[i].type != FIELDS[*kind][i])
            return -1;
    return items - 1;
}

static struct message_reader *reader;

void fuzz_begin(void)
{
    reader = message_reader_new();
}

static void same_bytes(const struct bytes *a, const struct bytes *b)
{
    CHECK(a->count == b->count && (a->count == 0 || memcmp(a->at, b->at, a->count) == 0));
}

/* Checks that the message's texts and bytes are those of the plain reader, in order. */
static void same_texts(const struct message *message, const struct item *fields, int count)
{
    const struct bytes *first = message->kind == VERSION ? &message->learned
                                : message->kind == BLOCK ? &message->entries
                                                         : &message->text;
    const struct bytes *mine[] = {first, &message->bulk};
    int at = message->kind == HELLO || message->kind == BYE || message->kind == VERSION ||
                     message->kind == BLOCK || message->kind == SETTINGS || message->kind == REPLY
                 ? 0
                 : 1;
    for (int i = 0; i < count; i++)
        if (fields[i].type != 'n')
            same_bytes(mine[at++], &fields[i].text);
}

static void comes_back(const struct message *message)
{
    static uint8_t out[1 << 20];
    if (message_capacity(message) > sizeof out)
        return;
    const size_t bytes = message_encode(message, out, sizeof out);
    struct message again;
    CHECK(message_decode(reader, out, bytes, &again) == OK);
    same_bytes(&again.text, &message->text);
    same_bytes(&again.learned, &message->learned);
    same_bytes(&again.entries, &message->entries);
    same_bytes(&again.bulk, &message->bulk);
    again.text = message->text;
    again.learned = message->learned;
    again.entries = message->entries;
    again.bulk = message->bulk;
    CHECK(memcmp(&again, message, sizeof again) == 0);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct message message;
    struct item fields[ITEMS_MAX];
    uint64_t kind = 0;
    const int count = plain_decode((struct input){data, bytes}, &kind, fields);
    const enum error error = message_decode(reader, data, bytes, &message);
    CHECK((error == OK) == (count >= 0));
    if (error != OK)
        return;
    CHECK(message.kind == kind);
    same_texts(&message, fields, count);
    comes_back(&message);
}
