#include "wire/message.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "frame/protocol.h"

#define ZONE_BYTES 8192

enum field_type { NUMBER, TEXT, BULK };

struct field {
    enum field_type type;
    size_t offset;
};

#define FIELD(type, name)                                                                          \
    {                                                                                              \
        type, offsetof(struct message, name)                                                       \
    }
#define FIELDS_MAX 8

static const struct {
    size_t fields;
    struct field field[FIELDS_MAX];
} KINDS[MESSAGE_KINDS] = {
    [HELLO] = {4,
               {FIELD(NUMBER, incarnation), FIELD(NUMBER, port), FIELD(TEXT, text),
                FIELD(BULK, bulk)}},
    [MEMBER_UPDATE] = {1, {FIELD(BULK, bulk)}},
    [MEMBER_QUERY] = {1, {FIELD(NUMBER, tag)}},
    [MEMBER_LIST] = {1, {FIELD(BULK, bulk)}},
    [PING] = {1, {FIELD(NUMBER, token)}},
    [PONG] = {1, {FIELD(NUMBER, token)}},
    [ACK] = {4,
             {FIELD(NUMBER, received), FIELD(NUMBER, clock), FIELD(NUMBER, held),
              FIELD(NUMBER, most)}},
    [RUMOR] = {1, {FIELD(BULK, bulk)}},
    [PRUNE] = {1, {FIELD(NUMBER, tag)}},
    [VERSION] = {8,
                 {FIELD(NUMBER, digest), FIELD(NUMBER, hash), FIELD(NUMBER, rumors),
                  FIELD(NUMBER, members), FIELD(NUMBER, base), FIELD(NUMBER, whole),
                  FIELD(BULK, learned), FIELD(BULK, bulk)}},
    [WANT] = {2, {FIELD(NUMBER, tag), FIELD(NUMBER, seq)}},
    [GONE] = {2, {FIELD(NUMBER, tag), FIELD(NUMBER, seq)}},
    [TAKE] = {0, {{0}}},
    [HISTORY] = {4,
                 {FIELD(NUMBER, digest), FIELD(NUMBER, part), FIELD(NUMBER, parts),
                  FIELD(BULK, bulk)}},
    [FETCH] = {2, {FIELD(NUMBER, block), FIELD(NUMBER, count)}},
    [BLOCK] = {4,
               {FIELD(NUMBER, block), FIELD(NUMBER, hash), FIELD(BULK, entries),
                FIELD(BULK, bulk)}},
    [BYE] = {3, {FIELD(NUMBER, reason), FIELD(TEXT, text), FIELD(BULK, bulk)}},
    [ORDERS] = {2, {FIELD(NUMBER, number), FIELD(BULK, bulk)}},
    [SETTINGS] = {1, {FIELD(TEXT, text)}},
    [PROOF] = {2, {FIELD(NUMBER, hash), FIELD(BULK, bulk)}},
    [HEADS] = {2, {FIELD(NUMBER, tag), FIELD(BULK, bulk)}},
    [LISTED] = {1, {FIELD(NUMBER, hash)}},
    [SWARM_KEY] = {2, {FIELD(NUMBER, number), FIELD(BULK, bulk)}},
    [VOTES] = {2, {FIELD(NUMBER, hash), FIELD(BULK, bulk)}},
    [INFERENCE] = {2, {FIELD(NUMBER, count), FIELD(BULK, bulk)}},
    [REPLY] = {5,
               {FIELD(NUMBER, reason), FIELD(NUMBER, count), FIELD(NUMBER, wait), FIELD(TEXT, text),
                FIELD(BULK, bulk)}},
};

static const uint16_t SINCE[MESSAGE_KINDS] = {[INFERENCE] = 12, [REPLY] = 12};

uint16_t message_since(enum message_kind kind)
{
    CHECK(kind > 0 && kind < MESSAGE_KINDS && SINCE[kind] <= PROTOCOL_NEWEST);
    return SINCE[kind];
}

struct out {
    uint8_t *at;
    size_t used;
    size_t capacity;
};

static int out_write(void *data, const char *bytes, size_t count)
{
    struct out *out = data;
    CHECK(count <= out->capacity - out->used);
    if (count > 0) /* an empty text may have a NULL pointer */
        memcpy(out->at + out->used, bytes, count);
    out->used += count;
    return 0;
}

static void pack_field(msgpack_packer *packer, const struct message *message,
                       const struct field *field)
{
    const void *value = (const char *)message + field->offset;
    const struct bytes *bytes = value;
    switch (field->type) {
    case NUMBER:
        (void)msgpack_pack_uint64(packer, *(const uint64_t *)value);
        break;
    case TEXT:
        (void)msgpack_pack_str(packer, bytes->count);
        (void)msgpack_pack_str_body(packer, bytes->at, bytes->count);
        break;
    case BULK:
        (void)msgpack_pack_bin(packer, bytes->count);
        (void)msgpack_pack_bin_body(packer, bytes->at, bytes->count);
        break;
    }
}

size_t message_encode(const struct message *message, uint8_t *out, size_t capacity)
{
    CHECK(message->kind > 0 && message->kind < MESSAGE_KINDS);
    struct out writer = {.at = out, .capacity = capacity};
    msgpack_packer packer;
    msgpack_packer_init(&packer, &writer, out_write);
    const size_t fields = KINDS[message->kind].fields;
    (void)msgpack_pack_array(&packer, fields + 1);
    (void)msgpack_pack_uint8(&packer, (uint8_t)message->kind);
    for (size_t i = 0; i < fields; i++)
        pack_field(&packer, message, &KINDS[message->kind].field[i]);
    return writer.used;
}

bool message_is_secret(const uint8_t *bytes, size_t count)
{
    return count > 1 && bytes[1] == SWARM_KEY; /* byte 0 is the array header, byte 1 the kind */
}

struct message_reader {
    msgpack_zone zone;
};

struct message_reader *message_reader_new(void)
{
    struct message_reader *reader = memory_new(1, sizeof *reader);
    if (!msgpack_zone_init(&reader->zone, ZONE_BYTES))
        memory_missing(ZONE_BYTES);
    return reader;
}

void message_reader_free(struct message_reader *reader)
{
    msgpack_zone_destroy(&reader->zone);
    free(reader);
}

/* Reads the big-endian length behind the type byte. Returns false if the input ends before the
 * length does. */
static bool scan_length(const uint8_t *in, size_t bytes, size_t width, uint64_t *length)
{
    if (bytes < 1 + width)
        return false;
    *length = 0;
    for (size_t i = 0; i < width; i++)
        *length = *length << 8 | in[1 + i];
    return true;
}

/* Returns the size of the integer, text or bin at `in`; 0 = the item has another type, or the input
 * ends before the item does. */
static size_t scan_item(const uint8_t *in, size_t bytes)
{
    const uint8_t type = in[0];
    size_t width = 0;
    uint64_t length = 0;
    if (type <= 0x7f || type >= 0xe0) /* positive and negative integers of one byte */
        return 1;
    if (type >= 0xcc && type <= 0xcf) /* unsigned integers of 8 .. 64 bits */
        return bytes > ((size_t)1 << (type - 0xcc)) ? ((size_t)1 << (type - 0xcc)) + 1 : 0;
    if (type >= 0xa0 && type <= 0xbf) /* text up to 31 bytes */
        length = type & 0x1f;
    else if (type >= 0xc4 && type <= 0xc6) /* raw bytes with a length of 8 .. 32 bits */
        width = (size_t)1 << (type - 0xc4);
    else if (type >= 0xd9 && type <= 0xdb) /* text with a length of 8 .. 32 bits */
        width = (size_t)1 << (type - 0xd9);
    else
        return 0;
    if (width && !scan_length(in, bytes, width, &length))
        return 0;
    return length <= bytes - 1 - width ? 1 + width + (size_t)length : 0;
}

/* Checks the bytes before msgpack-c parses them: one flat array of few items, every claimed size
 * within the input, and no bytes behind the array. So msgpack-c never allocates for data that is
 * not there. */
static bool scan(const uint8_t *in, size_t bytes)
{
    if (bytes < 2 || (in[0] & 0xf0) != 0x90)
        return false;
    size_t items = in[0] & 0x0f;
    size_t at = 1;
    while (items-- > 0) {
        if (at >= bytes)
            return false;
        size_t item = scan_item(in + at, bytes - at);
        if (item == 0)
            return false;
        at += item;
    }
    return at == bytes;
}

static bool unpack_field(const msgpack_object *object, const struct field *field,
                         struct message *message)
{
    void *value = (char *)message + field->offset;
    struct bytes *bytes = value;
    if (field->type == NUMBER && object->type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
        *(uint64_t *)value = object->via.u64;
        return true;
    }
    if (field->type == TEXT && object->type == MSGPACK_OBJECT_STR) {
        *bytes = (struct bytes){(const uint8_t *)object->via.str.ptr, object->via.str.size};
        return true;
    }
    if (field->type == BULK && object->type == MSGPACK_OBJECT_BIN) {
        *bytes = (struct bytes){(const uint8_t *)object->via.bin.ptr, object->via.bin.size};
        return true;
    }
    return false;
}

static enum error read_array(const msgpack_object *root, struct message *message)
{
    if (root->type != MSGPACK_OBJECT_ARRAY || root->via.array.size == 0)
        return MALFORMED;
    const msgpack_object *items = root->via.array.ptr;
    if (items[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER || items[0].via.u64 == 0 ||
        items[0].via.u64 >= MESSAGE_KINDS)
        return MALFORMED;
    struct message read = {.kind = (enum message_kind)items[0].via.u64};
    if (root->via.array.size != KINDS[read.kind].fields + 1)
        return MALFORMED;
    for (size_t i = 0; i < KINDS[read.kind].fields; i++)
        if (!unpack_field(&items[i + 1], &KINDS[read.kind].field[i], &read))
            return MALFORMED;
    *message = read;
    return OK;
}

enum error message_decode(struct message_reader *reader, const uint8_t *in, size_t bytes,
                          struct message *message)
{
    if (!scan(in, bytes))
        return MALFORMED;
    msgpack_object root;
    size_t offset = 0;
    msgpack_zone_clear(&reader->zone);
    if (msgpack_unpack((const char *)in, bytes, &offset, &reader->zone, &root) !=
        MSGPACK_UNPACK_SUCCESS)
        return MALFORMED;
    return read_array(&root, message);
}
