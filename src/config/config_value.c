#include "config/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "config/config_address.h"
#include "config/config_allowed.h"

static void *member(void *record, const struct config_key *key)
{
    CHECK(key->bytes > 0);
    return (unsigned char *)record + key->offset;
}

static const void *member_const(const void *record, const struct config_key *key)
{
    return (const unsigned char *)record + key->offset;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Prints the value with the fewest digits, 15 to 17, from which it can be read back exactly. */
static void print_real(FILE *out, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    (void)fputs(text, out);
}

/* Sets *end to the text after the digits. Returns false if the text does not begin with a digit, or
 * the number exceeds 64 bits. */
static bool whole_number(const char *text, uint64_t *value, const char **end)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *after;
    errno = 0;
    unsigned long long number = strtoull(text, &after, 10);
    *value = number;
    *end = after;
    return errno == 0;
}

/* Returns 1 for "", 1024 for "K", 1024² for "M", 1024³ for "G"; 0 for another suffix. */
static uint64_t size_factor(const char *suffix)
{
    if (suffix[0] == '\0')
        return 1;
    if (suffix[1] != '\0')
        return 0;
    switch (suffix[0]) {
    case 'K':
        return 1024;
    case 'M':
        return 1024 * 1024;
    case 'G':
        return 1024 * 1024 * 1024;
    default:
        return 0;
    }
}

/* For a text that is not a whole number from 0 to 2^64 - 1: returns "too small" or "too large" if
 * it is a number, perhaps with a suffix that size_factor knows; otherwise returns `other`. */
static const char *why_not_whole(const char *text, bool has_suffix, const char *other)
{
    const bool is_negative = text[0] == '-';
    const char *digits = text + is_negative;
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || (has_suffix ? size_factor(digits + count) == 0 : digits[count] != '\0'))
        return other;
    return is_negative ? "too small" : "too large";
}

static enum error check_bounds(const struct config_key *key, const char *text, double value,
                               struct problem *problem)
{
    CHECK(key->min <= key->max);
    if (value < key->min)
        return config_allowed_refuse(key, text, "too small", problem);
    if (value > key->max)
        return config_allowed_refuse(key, text, "too large", problem);
    return OK;
}

static bool is_number(const struct config_key *key)
{
    return key->type == CONFIG_U32 || key->type == CONFIG_U64 || key->type == CONFIG_SIZE ||
           key->type == CONFIG_REAL;
}

/* Sets the value that stands for the key's word, such as CONFIG_AUTO. */
static enum error set_word(void *to, const struct config_key *key)
{
    CHECK(is_number(key) && key->bytes <= sizeof(double));
    if (key->type == CONFIG_REAL)
        *(double *)to = CONFIG_AUTO_REAL;
    else /* all bytes of CONFIG_AUTO are 0x00, and all bytes of CONFIG_AUTO_OF_0 are 0xff */
        memset(to, key->min > 0 ? 0 : 0xff, key->bytes);
    return OK;
}

static bool is_word(const void *value, const struct config_key *key)
{
    double word; /* has space for a number of any type */
    (void)set_word(&word, key);
    return memcmp(value, &word, key->bytes) == 0;
}

static enum error set_whole(void *to, const struct config_key *key, const char *text,
                            struct problem *problem)
{
    uint64_t value;
    const char *end;
    CHECK(key->bytes == (key->type == CONFIG_U32 ? sizeof(uint32_t) : sizeof value));
    if (!whole_number(text, &value, &end) || *end)
        return config_allowed_refuse(key, text, why_not_whole(text, false, "not a whole number"),
                                     problem);
    enum error error = check_bounds(key, text, (double)value, problem);
    if (error == OK && key->type == CONFIG_U32)
        *(uint32_t *)to = (uint32_t)value;
    else if (error == OK)
        *(uint64_t *)to = value;
    return error;
}

static enum error set_size(void *to, const struct config_key *key, const char *text,
                           struct problem *problem)
{
    uint64_t value;
    const char *suffix;
    CHECK(key->bytes == sizeof value);
    if (!whole_number(text, &value, &suffix) || size_factor(suffix) == 0)
        return config_allowed_refuse(
            key, text, why_not_whole(text, true, "not a whole number with an optional K, M or G"),
            problem);
    if (value > UINT64_MAX / size_factor(suffix))
        return config_allowed_refuse(key, text, "too large", problem);
    value *= size_factor(suffix);
    enum error error = check_bounds(key, text, (double)value, problem);
    if (error == OK)
        *(uint64_t *)to = value;
    return error;
}

static enum error set_real(void *to, const struct config_key *key, const char *text,
                           struct problem *problem)
{
    char *end;
    CHECK(key->bytes == sizeof(double));
    double value = strtod(text, &end);
    /* Refuses texts that only strtod accepts: hexadecimal numbers, infinities and "nan". */
    if (end == text || *end || text[strspn(text, "0123456789+-.eE")])
        return config_allowed_refuse(key, text, "not a number", problem);
    if (!isfinite(value))
        return config_allowed_refuse(key, text, value < 0 ? "too small" : "too large", problem);
    enum error error = check_bounds(key, text, value, problem);
    if (error == OK)
        *(double *)to = value;
    return error;
}

static enum error set_bool(void *to, const struct config_key *key, const char *text,
                           struct problem *problem)
{
    bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
    bool no = strcmp(text, "no") == 0 || strcmp(text, "false") == 0 || strcmp(text, "off") == 0;
    CHECK(key->bytes == sizeof yes && !(yes && no));
    if (!yes && !no)
        return config_allowed_refuse(key, text, "neither yes nor no", problem);
    *(bool *)to = yes;
    return OK;
}

static enum error set_choice(void *to, const struct config_key *key, const char *text,
                             struct problem *problem)
{
    const char *word = key->words;
    CHECK(word && key->bytes == sizeof(unsigned int));
    for (unsigned int value = 0; word; value++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && strncmp(text, word, length) == 0) {
            memcpy(to, &value, sizeof value);
            return OK;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    char nearest[WORDS_BYTES], why[WORDS_BYTES + 40];
    const bool is_near = words_nearest_of(text, key->words, nearest);
    (void)snprintf(why, sizeof why, "unknown choice%s%s%s", is_near ? "; did you mean " : "",
                   is_near ? nearest : "", is_near ? "?" : "");
    return config_allowed_refuse(key, text, why, problem);
}

static enum error set_text(void *to, const struct config_key *key, const char *text,
                           struct problem *problem)
{
    size_t length = strlen(text);
    CHECK(key->bytes > 1);
    if ((double)length < key->min)
        return config_allowed_refuse(key, text, "may not be empty", problem);
    if (length >= key->bytes)
        return config_allowed_refuse(key, text, "too long", problem);
    memset(to, 0, key->bytes);
    memcpy(to, text, length);
    return OK;
}

static enum error set_slice(void *to, const struct config_key *key, const char *text,
                            struct problem *problem)
{
    uint64_t number;
    uint64_t count;
    const char *end;
    CHECK(key->bytes == sizeof(struct slice));
    if (key->words && strcmp(text, key->words) == 0) {
        *(struct slice *)to = (struct slice){0};
        return OK;
    }
    bool valid = whole_number(text, &number, &end) && *end == '/' &&
                 whole_number(end + 1, &count, &end) && *end == '\0';
    if (!valid)
        return config_allowed_refuse(key, text, "not of the form i/n", problem);
    if (number < 1 || number > count || count > CONFIG_SLICES_MAX)
        return config_allowed_refuse(key, text, "the part is out of range", problem);
    *(struct slice *)to = (struct slice){(uint32_t)number - 1, (uint32_t)count};
    return OK;
}

static enum error set_clean(void *record, const struct config_key *key, const char *text,
                            struct problem *problem)
{
    void *to = member(record, key);
    if (is_number(key) && key->words && strcmp(text, key->words) == 0)
        return set_word(to, key);
    switch (key->type) {
    case CONFIG_U32:
    case CONFIG_U64:
        return set_whole(to, key, text, problem);
    case CONFIG_SIZE:
        return set_size(to, key, text, problem);
    case CONFIG_REAL:
        return set_real(to, key, text, problem);
    case CONFIG_BOOL:
        return set_bool(to, key, text, problem);
    case CONFIG_CHOICE:
        return set_choice(to, key, text, problem);
    case CONFIG_TEXT:
    case CONFIG_PATH:
        return set_text(to, key, text, problem);
    case CONFIG_ADDRESS:
        return config_address_set(to, key, text, problem);
    case CONFIG_LISTEN:
        return config_address_set_listen(to, key, text, problem);
    case CONFIG_ADDRESSES:
        return config_address_set_all(to, key, text, problem);
    case CONFIG_SLICE:
        return set_slice(to, key, text, problem);
    case CONFIG_DEVICE:
        return device_is_word(text) ? set_text(to, key, text, problem)
                                    : config_allowed_refuse(key, text, "unknown device", problem);
    }
    check_failed(__FILE__, __LINE__, "every type has its parser");
}

/* Returns false if a configuration file cannot contain the text as a value. --set refuses it, so
 * that config_print writes valid files. */
static bool can_stand_in_file(const char *text)
{
    char before = ' ';
    for (size_t i = 0; text[i]; i++) {
        if ((iscntrl((unsigned char)text[i]) && text[i] != '\t') || text[i] == '"')
            return false;
        if (is_blank(before) && (text[i] == '#' || text[i] == ';'))
            return false;
        before = text[i];
    }
    return text[0] == '\0' || (!is_blank(text[0]) && !is_blank(before));
}

enum error config_value_set(void *record, const struct config_key *key, const char *text,
                            struct problem *problem)
{
    char bare[CONFIG_LINE_BYTES];
    CHECK(record && text);
    size_t length = strlen(text);
    if (length >= sizeof bare)
        return problem_set(problem, MALFORMED,
                           "[%s] %s: the value is longer than %zu characters; shorten it",
                           key->section, key->name, sizeof bare - 1);
    bool quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"';
    (void)snprintf(bare, sizeof bare, "%.*s", (int)(quoted ? length - 2 : length), text + quoted);
    if (!can_stand_in_file(bare))
        return problem_set(problem, MALFORMED,
                           "[%s] %s: the value contains a double quote, a control character, a "
                           "blank at an end, or a word that starts with # or ;; remove it",
                           key->section, key->name);
    return set_clean(record, key, bare, problem);
}

static void print_address(FILE *out, const struct address *address)
{
    char text[ADDRESS_TEXT_BYTES];
    (void)fputs(address_text(address, text), out);
}

static void print_text(FILE *out, const char *text)
{
    (void)fputs(text[0] ? text : "\"\"", out);
}

static void print_addresses(FILE *out, const struct address_list *list)
{
    CHECK(list->count <= CONFIG_PEERS_MAX);
    for (uint32_t i = 0; i < list->count; i++) {
        (void)fputs(i > 0 ? ", " : "", out);
        print_address(out, &list->item[i]);
    }
    if (list->count == 0)
        print_text(out, "");
}

static void print_choice(FILE *out, const char *words, unsigned int value)
{
    for (; value > 0; value--) {
        words += strcspn(words, "|");
        CHECK(*words); /* the enum's value is one of the words */
        words++;
    }
    (void)fprintf(out, "%.*s", (int)strcspn(words, "|"), words);
}

static void print_size(FILE *out, uint64_t bytes)
{
    (void)fputs(config_allowed_size(bytes).text, out);
}

static void print_slice(FILE *out, const struct slice *slice, const char *word)
{
    if (slice->count == 0 && word) {
        (void)fputs(word, out);
        return;
    }
    CHECK(slice->index < slice->count);
    (void)fprintf(out, "%u/%u", slice->index + 1, slice->count);
}

void config_value_print(const void *record, const struct config_key *key, FILE *out)
{
    const void *value = member_const(record, key);
    const struct address *address = value;
    if (is_number(key) && key->words && is_word(value, key)) {
        (void)fputs(key->words, out);
        return;
    }
    switch (key->type) {
    case CONFIG_U32:
        (void)fprintf(out, "%u", *(const uint32_t *)value);
        return;
    case CONFIG_U64:
        (void)fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)value);
        return;
    case CONFIG_SIZE:
        print_size(out, *(const uint64_t *)value);
        return;
    case CONFIG_REAL:
        print_real(out, *(const double *)value);
        return;
    case CONFIG_BOOL:
        print_text(out, *(const bool *)value ? "yes" : "no");
        return;
    case CONFIG_CHOICE:
        print_choice(out, key->words, *(const unsigned int *)value);
        return;
    case CONFIG_TEXT:
    case CONFIG_PATH:
    case CONFIG_DEVICE:
        print_text(out, value);
        return;
    case CONFIG_ADDRESS:
    case CONFIG_LISTEN:
        if (address->host[0])
            print_address(out, address);
        else
            print_text(out, key->words);
        return;
    case CONFIG_ADDRESSES:
        print_addresses(out, value);
        return;
    case CONFIG_SLICE:
        print_slice(out, value, key->words);
        return;
    }
}
