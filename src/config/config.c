#include "config/config.h"

#include <errno.h>
#include <ini.h>
#include <string.h>

#include "config/config_allowed.h"
#include "config/config_key.h"
#include "config/config_read.h"
#include "config/config_value.h"

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        struct problem problem;
        CHECK(config_value_set(config, key, key->initial, &problem) == OK);
    }
}

const char *config_data_text(const struct config_data *data, const char *name)
{
    if (!name)
        return "";
    const struct config_key *key = config_key_find("data", name);
    CHECK(key && (key->type == CONFIG_TEXT || key->type == CONFIG_PATH));
    return (const char *)data + (key->offset - offsetof(struct config, data));
}

static enum error assign(struct config *config, const char *section, const char *name,
                         const char *value, const struct config_key **key, struct problem *problem)
{
    CHECK(section && name && value);
    enum error error = config_key_section(section, problem);
    if (error != OK)
        return error;
    *key = config_key_find(section, name);
    if (!*key)
        return config_key_unknown(section, name, problem);
    return config_value_set(config, *key, value, problem);
}

struct reading {
    FILE *file;
    const char *path;
    const struct config_reader *reader;
    int line;
    enum error error;
    struct problem *problem;
};

static void reading_fail(struct reading *reading, enum error error, const char *what)
{
    CHECK(error != OK && reading->error == OK); /* the first error ends the reading */
    reading->error =
        problem_set(reading->problem, error, "%.200s:%d: %s", reading->path, reading->line, what);
}

/* Checks a line [section]: the bracket must be closed, only a comment may follow, and the reader
 * must accept the section. */
static void check_section_line(struct reading *reading, const char *line)
{
    struct problem problem;
    char section[64];
    CHECK(line[0] == '[');
    size_t length = strcspn(line + 1, "]");
    if (line[1 + length] != ']') {
        reading_fail(reading, MALFORMED, "the section's closing bracket is missing; write [name]");
        return;
    }
    const char *rest = line + length + 2;
    rest += strspn(rest, " \t\r");
    if (*rest && *rest != '#' && *rest != ';') {
        reading_fail(reading, MALFORMED,
                     "text follows the section's name; move it to a line of its own");
        return;
    }
    (void)snprintf(section, sizeof section, "%.*s", (int)length, line + 1);
    enum error error = reading->reader->on_section(reading->reader->context, section, &problem);
    if (error != OK)
        reading_fail(reading, error, problem.text);
}

static bool is_binary(int byte)
{
    return (byte >= 0 && byte < ' ' && byte != '\t' && byte != '\r') || byte == 0x7F;
}

/* ini_reader of libinih: returns the next line, or NULL to end the reading. Removes leading blanks,
 * because libinih would append an indented line to the value before it. Ends at a line that libinih
 * would cut off or misread. */
static char *read_line(char *line, int room, void *context)
{
    struct reading *reading = context;
    int length = 0;
    int byte;
    CHECK(room > 1);
    reading->line++;
    while ((byte = getc(reading->file)) != EOF && byte != '\n') {
        if (is_binary(byte)) {
            reading_fail(reading, MALFORMED, "this is not a text file");
            return NULL;
        }
        if (length == room - 1) {
            reading_fail(reading, MALFORMED, "the line is too long; shorten it");
            return NULL;
        }
        if (length > 0 || (byte != ' ' && byte != '\t'))
            line[length++] = (char)byte;
    }
    line[length] = '\0';
    if (line[0] == '[')
        check_section_line(reading, line);
    bool ended = byte == EOF && length == 0;
    return ended || reading->error != OK ? NULL : line;
}

/* ini_handler of libinih; returns 0 to end the reading. */
static int read_key(void *context, const char *section, const char *name, const char *value)
{
    struct reading *reading = context;
    const struct config_reader *reader = reading->reader;
    struct problem problem;
    CHECK(reading->line > 0);
    if (section[0] == '\0') {
        reading_fail(reading, MALFORMED, "the key has no section; write [section] above it");
        return 0;
    }
    enum error error =
        reader->on_key(reader->context, section, name, value, reading->line, &problem);
    if (error != OK)
        reading_fail(reading, error, problem.text);
    return error == OK;
}

static void read_file(struct reading *reading)
{
    ini_max_line = CONFIG_LINE_BYTES;
    ini_stop_on_first_error = true;
    ini_inline_comment_prefixes = ";#";
    errno = 0;
    int wrong = ini_parse_stream(read_line, reading, read_key, reading);
    if (reading->error != OK)
        return;
    if (ferror(reading->file))
        reading->error = problem_set(reading->problem, FAILED,
                                     "%.300s: cannot be read: %s; name a file that you may read",
                                     reading->path, strerror(errno));
    else if (wrong != 0)
        reading_fail(reading, MALFORMED, "the line is neither a [section] nor key = value");
}

enum error config_read(const char *path, const struct config_reader *reader,
                       struct problem *problem)
{
    struct reading reading = {.path = path, .reader = reader, .problem = problem};
    CHECK(path && reader->on_section && reader->on_key);
    reading.file = fopen(path, "re");
    if (!reading.file)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%.300s: cannot be opened: %s; name a file that you may read", path,
                           strerror(errno));
    read_file(&reading);
    (void)fclose(reading.file);
    return reading.error;
}

enum error config_load_key(struct config_load *load, const char *section, const char *name,
                           const char *value, int line, struct problem *problem)
{
    const struct config_key *key = NULL;
    CHECK(line >= 0);
    enum error error = assign(&load->config, section, name, value, &key, problem);
    if (error != OK)
        return error;
    return config_key_once(key, &load->line_of[config_key_index(key)], line, problem);
}

static enum error on_section(void *context, const char *section, struct problem *problem)
{
    (void)context;
    return config_key_section(section, problem);
}

static enum error on_key(void *context, const char *section, const char *name, const char *value,
                         int line, struct problem *problem)
{
    return config_load_key(context, section, name, value, line, problem);
}

enum error config_load_file(struct config_load *load, const char *path, struct problem *problem)
{
    const struct config_reader reader = {on_section, on_key, load};
    return config_read(path, &reader, problem);
}

/* Copies the text from .. end without surrounding blanks. Returns false if it does not fit. */
static bool copy_trimmed(char *out, size_t room, const char *from, const char *end)
{
    CHECK(room > 0 && from <= end);
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t length = (size_t)(end - from);
    if (length >= room)
        return false;
    memcpy(out, from, length);
    out[length] = '\0';
    return true;
}

/* Reports an assignment without a section, and names the key that may be meant. */
static enum error no_section(const char *assignment, const char *equals, struct problem *problem)
{
    char name[32] = "";
    if (equals && !copy_trimmed(name, sizeof name, assignment, equals))
        name[0] = '\0';
    const struct config_key *key = config_key_named(name);
    if (!key)
        return problem_set(problem, MALFORMED,
                           "\"%.80s\" is not of the form section.key=value, such as train.batch=64",
                           assignment);
    return problem_set(problem, MALFORMED,
                       "\"%.80s\" is not of the form section.key=value; did you mean %s.%s%.80s?",
                       assignment, key->section, key->name, equals);
}

enum error config_split(struct config_parts *parts, const char *assignment, struct problem *problem)
{
    const char *equals = strchr(assignment, '=');
    const char *dot = strchr(assignment, '.');
    if (!equals || !dot || dot > equals)
        return no_section(assignment, equals, problem);
    const char *end = assignment + strlen(assignment);
    bool fits = copy_trimmed(parts->section, sizeof parts->section, assignment, dot) &&
                copy_trimmed(parts->name, sizeof parts->name, dot + 1, equals) &&
                copy_trimmed(parts->value, sizeof parts->value, equals + 1, end);
    if (!fits)
        return problem_set(problem, MALFORMED, "\"%.80s...\" is too long", assignment);
    return OK;
}

static enum error set(struct config *config, const char *assignment, const struct config_key **key,
                      struct problem *problem)
{
    struct config_parts parts;
    const enum error error = config_split(&parts, assignment, problem);
    if (error != OK)
        return error;
    return assign(config, parts.section, parts.name, parts.value, key, problem);
}

enum error config_set(struct config *config, const char *assignment, struct problem *problem)
{
    const struct config_key *key;
    return set(config, assignment, &key, problem);
}

enum error config_load_set(struct config_load *load, const char *assignment,
                           struct problem *problem)
{
    const struct config_key *key;
    const enum error error = set(&load->config, assignment, &key, problem);
    if (error == OK)
        load->line_of[config_key_index(key)] = 0;
    return error;
}

static void print_default(const struct config_key *key, FILE *out)
{
    CHECK(key->initial);
    if (key->initial[0])
        (void)fprintf(out, "default %s\n", key->initial);
    else
        (void)fputs("default empty\n", out);
}

void config_print(const struct config *config, FILE *out)
{
    const char *section = "";
    (void)fputs("# All configuration keys of hearsay with their current values.\n", out);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        if (strcmp(section, key->section) != 0)
            (void)fprintf(out, "\n[%s]\n", key->section);
        section = key->section;
        struct config_allowed allowed = config_allowed_of(key);
        (void)fprintf(out, "\n# %s\n# %s; ", key->help, allowed.text);
        print_default(key, out);
        (void)fprintf(out, "%s = ", key->name);
        config_value_print(config, key, out);
        (void)fputc('\n', out);
    }
}
