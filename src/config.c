#include "config.h"

#include <errno.h>
#include <ini.h>
#include <string.h>

#include "config_key.h"
#include "config_value.h"

#define KEYS_MAX 128

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        struct problem problem;
        CHECK(config_value_set(config, key, key->initial, &problem) == OK);
    }
}

/* Find the key and set it. */
static enum status assign(struct config *config, const char *section, const char *name,
                          const char *value, const struct config_key **key, struct problem *problem)
{
    enum status status = config_key_section(section, problem);
    if (status != OK)
        return status;
    *key = config_key_find(section, name);
    if (!*key)
        return config_key_unknown(section, name, problem);
    return config_value_set(config, *key, value, problem);
}

/* One file being read. */
struct load {
    FILE *file;
    const char *path;
    struct config config; /* what it has said so far */
    int line;
    int line_of[KEYS_MAX]; /* where a key was set; 0: nowhere yet */
    enum status status;
    struct problem *problem;
};

static void load_fail(struct load *load, const char *what)
{
    load->status =
        problem_set(load->problem, MALFORMED, "%.200s:%d: %s", load->path, load->line, what);
}

/* "[name]" and nothing but a comment behind it. */
static void check_section_line(struct load *load, const char *line)
{
    struct problem problem;
    char section[64];
    size_t length = strcspn(line + 1, "]");
    if (line[1 + length] != ']') {
        load_fail(load, "a section without its closing bracket; write [name]");
        return;
    }
    const char *rest = line + length + 2;
    rest += strspn(rest, " \t\r");
    if (*rest && *rest != '#' && *rest != ';') {
        load_fail(load, "something follows the section's name; write it on a line of its own");
        return;
    }
    (void)snprintf(section, sizeof section, "%.*s", (int)length, line + 1);
    if (config_key_section(section, &problem) != OK)
        load_fail(load, problem.text);
}

static bool is_binary(int byte)
{
    return (byte >= 0 && byte < ' ' && byte != '\t' && byte != '\r') || byte == 0x7F;
}

/* An ini_reader: the next line, without the blanks before it, for to libinih an indented line
 * would be more of the value above it. Lines it would cut or misread end the reading. */
static char *load_line(char *line, int room, void *context)
{
    struct load *load = context;
    int length = 0;
    int byte;
    load->line++;
    while ((byte = getc(load->file)) != EOF && byte != '\n') {
        if (is_binary(byte)) {
            load_fail(load, "this is not a text file");
            return NULL;
        }
        if (length == room - 1) {
            load_fail(load, "the line is too long");
            return NULL;
        }
        if (length > 0 || (byte != ' ' && byte != '\t'))
            line[length++] = (char)byte;
    }
    line[length] = '\0';
    if (line[0] == '[')
        check_section_line(load, line);
    bool ended = byte == EOF && length == 0;
    return ended || load->status != OK ? NULL : line;
}

/* An ini_handler: 0 ends the reading. */
static int load_key(void *context, const char *section, const char *name, const char *value)
{
    struct load *load = context;
    const struct config_key *key = NULL;
    struct problem problem;
    if (section[0] == '\0') {
        load_fail(load, "a key before the first [section]");
        return 0;
    }
    if (assign(&load->config, section, name, value, &key, &problem) != OK) {
        load_fail(load, problem.text);
        return 0;
    }
    size_t i = (size_t)(key - config_key_at(0));
    CHECK(i < KEYS_MAX);
    if (load->line_of[i] > 0) {
        (void)problem_set(&problem, MALFORMED, "[%s] %s is already set in line %d", section, name,
                          load->line_of[i]);
        load_fail(load, problem.text);
        return 0;
    }
    load->line_of[i] = load->line;
    return 1;
}

static void load_file(struct load *load)
{
    ini_max_line = CONFIG_LINE_BYTES;
    ini_stop_on_first_error = true;
    ini_inline_comment_prefixes = ";#";
    errno = 0;
    int wrong = ini_parse_stream(load_line, load, load_key, load);
    if (load->status != OK)
        return;
    if (ferror(load->file))
        load->status = problem_set(load->problem, FAILED, "%.300s: cannot be read: %s", load->path,
                                   strerror(errno));
    else if (wrong != 0)
        load_fail(load, "neither a [section] nor key = value");
}

enum status config_load(struct config *config, const char *path, struct problem *problem)
{
    struct load load = {.path = path, .config = *config, .problem = problem};
    load.file = fopen(path, "re");
    if (!load.file)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%.300s: cannot be opened: %s; name a configuration that you may read",
                           path, strerror(errno));
    load_file(&load);
    (void)fclose(load.file);
    if (load.status == OK)
        *config = load.config;
    return load.status;
}

/* Copy from .. end without the blanks around it; false when it does not fit. */
static bool copy_trimmed(char *out, size_t room, const char *from, const char *end)
{
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

enum status config_set(struct config *config, const char *assignment, struct problem *problem)
{
    char section[CONFIG_NAME_BYTES];
    char name[CONFIG_NAME_BYTES];
    char value[CONFIG_LINE_BYTES];
    const struct config_key *key;
    const char *equals = strchr(assignment, '=');
    const char *dot = strchr(assignment, '.');
    if (!equals || !dot || dot > equals)
        return problem_set(problem, MALFORMED,
                           "\"%.80s\" is not of the form section.key=value, such as train.batch=64",
                           assignment);
    const char *end = assignment + strlen(assignment);
    bool fits = copy_trimmed(section, sizeof section, assignment, dot) &&
                copy_trimmed(name, sizeof name, dot + 1, equals) &&
                copy_trimmed(value, sizeof value, equals + 1, end);
    if (!fits)
        return problem_set(problem, MALFORMED, "\"%.80s...\" is too long", assignment);
    return assign(config, section, name, value, &key, problem);
}

static enum status check_node(const struct config_node *node, struct problem *problem)
{
    bool listens = node->listen.host[0];
    if (!listens && node->peers.count == 0)
        return problem_set(problem, MALFORMED,
                           "[node] listen is none and [node] peers is empty, so nobody can be met; "
                           "give one of them");
    if (!listens && node->advertise.host[0])
        return problem_set(problem, MALFORMED,
                           "[node] advertise is given, but listen is none; leave one of them out");
    if (strcmp(node->identity, node->swarm_key) == 0)
        return problem_set(problem, MALFORMED,
                           "[node] identity and swarm_key are the same file; give two");
    return OK;
}

static enum status check_learning(const struct config *config, struct problem *problem)
{
    if (!config->model.layers[0] && !model_preset(config->model.name))
        return problem_set(problem, MALFORMED,
                           "[model] name = %s: no such model; there are %s, or give layers",
                           config->model.name, model_presets());
    if (config->train.schedule != CONSTANT && config->train.period_samples == 0)
        return problem_set(problem, MALFORMED, "[train] schedule needs period_samples, at least 1");
    bool generated = config->data.source == DATASET_GENERATED;
    if (generated && config->data.train_count < config->data.shard.count)
        return problem_set(problem, MALFORMED,
                           "[data] shard has more parts (%u) than train_count has samples (%u)",
                           config->data.shard.count, config->data.train_count);
    return OK;
}

static enum status check_limits(const struct config_limits *limits, struct problem *problem)
{
    if (limits->half_open_per_net > limits->half_open)
        return problem_set(problem, MALFORMED,
                           "[limits] half_open_per_net (%u) is more than half_open (%u)",
                           limits->half_open_per_net, limits->half_open);
    if (limits->peers > limits->members)
        return problem_set(problem, MALFORMED, "[limits] peers (%u) is more than members (%u)",
                           limits->peers, limits->members);
    return OK;
}

enum status config_check(const struct config *config, struct problem *problem)
{
    enum status status = check_node(&config->node, problem);
    if (status == OK)
        status = check_learning(config, problem);
    if (status == OK)
        status = check_limits(&config->limits, problem);
    return status;
}

static void print_default(const struct config_key *key, FILE *out)
{
    if (key->initial[0])
        (void)fprintf(out, "default %s\n", key->initial);
    else
        (void)fputs("default empty\n", out);
}

void config_print(const struct config *config, FILE *out)
{
    const char *section = "";
    (void)fputs("# Every key of hearsay's configuration, with the value it has.\n", out);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        if (strcmp(section, key->section) != 0)
            (void)fprintf(out, "\n[%s]\n", key->section);
        section = key->section;
        struct config_allowed allowed = config_value_allowed(key);
        (void)fprintf(out, "\n# %s\n# %s; ", key->help, allowed.text);
        print_default(key, out);
        (void)fprintf(out, "%s = ", key->name);
        config_value_print(config, key, out);
        (void)fputc('\n', out);
    }
}
