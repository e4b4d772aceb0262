#include "commands/plot/event_file.h"

#include <string.h>

#include "base/error.h"

#define RECORD_BYTES (EVENT_TAG_BYTES + 64)

/* Wire types of protocol buffer fields (protobuf.dev, "Encoding"). */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE_VALUE = 2 };

struct message {
    uint8_t bytes[RECORD_BYTES];
    size_t count;
};

static void put_byte(struct message *message, unsigned byte)
{
    CHECK(message->count < RECORD_BYTES && byte < 256);
    message->bytes[message->count++] = (uint8_t)byte;
}

static void put_fixed(struct message *message, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        put_byte(message, (unsigned)(value >> 8 * i & 0xff));
}

static void put_varint(struct message *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(message, (unsigned)(value & 0x7f) | 0x80);
    put_byte(message, (unsigned)value);
}

static void put_key(struct message *message, unsigned field, unsigned kind)
{
    put_byte(message, field << 3 | kind); /* a key with a field number below 16 is one byte */
}

static void put_bytes(struct message *message, unsigned field, const void *bytes, size_t count)
{
    put_key(message, field, BYTES);
    put_varint(message, count);
    CHECK(count <= RECORD_BYTES - message->count);
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

static void put_wall_time(struct message *message, double wall_s)
{
    uint64_t bits;
    memcpy(&bits, &wall_s, sizeof bits);
    put_key(message, EVENT_WALL_TIME, FIXED64);
    put_fixed(message, bits, 8);
}

uint32_t event_file_crc(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < count; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* Returns the CRC in TensorBoard's masked form, which can be stored inside data that has a CRC
 * itself. */
static uint32_t masked_crc(const void *bytes, size_t count)
{
    const uint32_t crc = event_file_crc(bytes, count);
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void write_record(FILE *out, const struct message *message)
{
    struct message head = {.count = 0}, tail = {.count = 0};
    put_fixed(&head, message->count, 8);
    put_fixed(&head, masked_crc(head.bytes, 8), 4);
    put_fixed(&tail, masked_crc(message->bytes, message->count), 4);
    (void)fwrite(head.bytes, 1, head.count, out);
    (void)fwrite(message->bytes, 1, message->count, out);
    (void)fwrite(tail.bytes, 1, tail.count, out);
}

void event_file_begin(FILE *out, double wall_s)
{
    static const char version[] = "brain.Event:2";
    struct message event = {.count = 0};
    put_wall_time(&event, wall_s);
    put_bytes(&event, EVENT_FILE_VERSION, version, sizeof version - 1);
    write_record(out, &event);
}

void event_file_add(FILE *out, double wall_s, int64_t step, const char *tag, float value)
{
    struct message event = {.count = 0}, summary = {.count = 0}, entry = {.count = 0};
    const size_t length = strlen(tag);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bytes(&entry, VALUE_TAG, tag, length < EVENT_TAG_BYTES ? length : EVENT_TAG_BYTES);
    put_key(&entry, VALUE_SIMPLE_VALUE, FIXED32);
    put_fixed(&entry, bits, 4);
    put_bytes(&summary, SUMMARY_VALUE, entry.bytes, entry.count);
    put_wall_time(&event, wall_s);
    put_key(&event, EVENT_STEP, VARINT);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, EVENT_SUMMARY, summary.bytes, summary.count);
    write_record(out, &event);
}
