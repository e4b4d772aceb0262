#include "commands/rewind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/arena.h"
#include "base/memory.h"
#include "commands/config_options.h"
#include "commands/json_output.h"
#include "commands/operator/order_giver.h"
#include "commands/saved_model.h"
#include "state/base_version.h"
#include "state/best_base.h"
#include "state/incarnation.h"
#include "state/older_bases.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define BASES_MAX (OLDER_BASES_MAX + 3)

struct options {
    struct config_options config; /* options that name the state folder */
    const char *id;               /* id of the harmful member; "" = not given */
    const char *out;              /* path of the copy */
    long to;                      /* number of the base to copy, from 1; 0 = list the bases */
    bool to_best;
};
COMMAND_BEGINS_WITH(struct options, config);

struct base {
    char path[BASE_PATH_BYTES];
    uint64_t saved_s; /* time of saving, seconds since 1970 */
    /* Inode of the file, since one base file may have two names. */
    uint64_t inode;
    struct safetensors_about about;
    /* Members and rumors in the base, and rumors of the member with the given id. */
    struct base_summary summary;
};

struct bases {
    size_t count;
    size_t best;                 /* index of the best base; SIZE_MAX = unknown */
    struct best_base best_base;  /* score of the best base; valid if best is known */
    struct base base[BASES_MAX]; /* newest first; the best base may follow out of order */
};

static enum error set_to(void *self, const struct command_option *option, const char *word,
                         struct problem *problem)
{
    struct options *options = self;
    char *end;
    (void)option;
    options->to_best = strcmp(word, "best") == 0;
    if (options->to_best)
        return OK;
    options->to = strtol(word, &end, 10);
    return *end == '\0' && options->to > 0
               ? OK
               : problem_set(problem, MALFORMED,
                             "--to %.40s: give the number of a base, as hearsay rewind shows it, "
                             "or best",
                             word);
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct options *options = self;
    if (count > 1)
        return problem_set(problem, MALFORMED, "one ID at a time; see: hearsay rewind --help");
    if (count == 0)
        return OK;
    options->id = words[0];
    return order_giver_check_id(options->id, problem);
}

static enum error read_base(struct bases *bases, const char *path, uint64_t saved_s, const char *id,
                            struct problem *problem)
{
    struct base *base = &bases->base[bases->count];
    char *version = memory_new(SAFETENSORS_VERSION_MAX, 1);
    CHECK(bases->count < BASES_MAX);
    struct stat file;
    *base = (struct base){.saved_s = saved_s};
    if (stat(path, &file) == 0)
        base->inode = file.st_ino;
    (void)snprintf(base->path, sizeof base->path, "%s", path);
    enum error error = safetensors_read_about(path, &base->about, problem);
    if (error == OK)
        error = safetensors_read_version(path, version, problem);
    if (error == OK) {
        base->summary = base_version_summary(version, id);
        bases->count++;
    }
    free(version);
    return error;
}

/* Reports a base that cannot be read, and skips it. */
static void read_or_name(struct bases *bases, const char *path, uint64_t saved_s, const char *id)
{
    struct problem problem;
    if (read_base(bases, path, saved_s, id, &problem) != OK)
        (void)command_complain(&problem, 0);
}

static bool has_file(const struct bases *bases, const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return true; /* the file does not exist; true makes the caller skip it */
    for (size_t i = 0; i < bases->count; i++)
        if (bases->base[i].inode == file.st_ino)
            return true;
    return false;
}

/* Finds the best base. Its file may be a hard link to another base of the list. */
static void find_best(struct bases *bases, const char *folder, const char *id)
{
    char path[BASE_PATH_BYTES];
    struct problem problem;
    struct stat file;
    const enum error error = best_base_read(disk_real(), folder, &bases->best_base, &problem);
    bases->best = SIZE_MAX;
    if (error != OK && error != MISSING)
        (void)command_complain(&problem, 0);
    best_base_path(path, folder);
    if (error != OK || stat(path, &file) != 0)
        return;
    if (!has_file(bases, path))
        read_or_name(bases, path, bases->best_base.saved_s, id);
    for (size_t i = 0; i < bases->count; i++)
        if (bases->base[i].inode == file.st_ino)
            bases->best = i;
}

static enum error find_bases(struct bases *bases, const char *folder, const char *id,
                             struct problem *problem)
{
    struct older_bases older;
    struct stat newest;
    char path[BASE_PATH_BYTES];
    bases->count = 0;
    const enum error error = older_bases_list(disk_real(), folder, &older, problem);
    if (error != OK)
        return error;
    export_path(path, folder);
    if (stat(path, &newest) == 0)
        read_or_name(bases, path, (uint64_t)newest.st_mtim.tv_sec, id);
    for (uint32_t i = older.count; i-- > 0;) {
        older_bases_path(path, folder, older.saved_s[i]);
        if (!has_file(bases, path))
            read_or_name(bases, path, older.saved_s[i], id);
    }
    find_best(bases, folder, id);
    return bases->count > 0 ? OK
                            : problem_set(problem, MISSING,
                                          "%.300s: this folder has no saved base; hearsay node "
                                          "saves one every node.save_s and when it leaves, and a "
                                          "script's node saves none",
                                          folder);
}

static double age_s(const struct base *base)
{
    const uint64_t now_ms = incarnation_wall_ms();
    return now_ms > base->saved_s * 1000 ? (double)(now_ms - base->saved_s * 1000) * 1e-3 : 0;
}

/* Returns base number n (from 1) as JSON. id: the member whose contribution is shown. */
static json_t *base_json(const struct bases *bases, size_t n, const char *id)
{
    const struct base *base = &bases->base[n - 1];
    json_t *object = json_object();
    json_output_put(object, "n", json_integer((json_int_t)n));
    json_output_put(object, "file", json_string(base->path));
    json_output_put(object, "saved_s", json_integer((json_int_t)base->saved_s));
    json_output_put(object, "age_s", json_real(age_s(base)));
    json_output_put(object, "samples", json_integer((json_int_t)base->about.samples));
    json_output_put(object, "digest", json_output_digest(base->about.digest));
    json_output_put(object, "members", json_integer(base->summary.members));
    json_output_put(object, "rumors", json_integer((json_int_t)base->summary.rumors));
    json_output_put(object, "is_best", json_boolean(n - 1 == bases->best));
    if (id[0])
        json_output_put(object, "rumors_of_id", json_integer((json_int_t)base->summary.of));
    return object;
}

static void print_bases_json(const struct bases *bases, const char *id)
{
    json_t *list = json_array();
    for (size_t i = 0; i < bases->count; i++)
        CHECK(json_array_append_new(list, base_json(bases, i + 1, id)) == 0);
    json_output(json_pack("{s:o}", "bases", list));
}

static void print_bases(const struct bases *bases, const char *id)
{
    (void)printf("  n  saved                 age     samples   members  rumors%s%.8s\n",
                 id[0] ? "     of " : "", id);
    size_t without = 0;
    for (size_t i = 0; i < bases->count; i++) {
        const struct base *base = &bases->base[i];
        (void)printf("%3zu  %s  %-6s  %8s  %7" PRIu32 "  ", i + 1,
                     amount_moment(base->saved_s * 1000).text, amount_span(age_s(base)).text,
                     amount_of((double)base->about.samples, "").text, base->summary.members);
        if (id[0])
            (void)printf("%-9" PRIu64 "  %" PRIu64 "\n", base->summary.rumors, base->summary.of);
        else
            (void)printf("%" PRIu64 "\n", base->summary.rumors);
        if (without == 0 && base->summary.of == 0)
            without = i + 1;
    }
    if (bases->best != SIZE_MAX && bases->best_base.score.is_sequence)
        (void)printf("the best is number %zu, with a loss of %.4g: hearsay rewind --to best\n",
                     bases->best + 1, bases->best_base.score.loss);
    else if (bases->best != SIZE_MAX)
        (void)printf("the best is number %zu, with %.1f %% on the test set: hearsay rewind --to "
                     "best\n",
                     bases->best + 1, 100 * evaluation_accuracy(&bases->best_base.score));
    if (id[0] && without > 0)
        (void)printf("the newest base without rumors of %.8s: hearsay rewind %s --to %zu\n", id, id,
                     without);
    else if (id[0])
        (void)printf("all bases have rumors of %.8s; another node may have an older base "
                     "(node.older_bases)\n",
                     id);
}

/* Checks the base's weights against the checksum in its file. */
static enum error check_base(const struct base *base, struct problem *problem)
{
    struct safetensors_about about = base->about;
    struct arena arena;
    struct model *model;
    arena_init_growing(&arena);
    enum error error =
        model_new(&model, &arena, NULL, about.layers, about.in, about.classes, 1, problem);
    if (error == OK) {
        float *weights = arena_alloc(&arena, model_parameters(model), sizeof *weights);
        error = saved_model_load(base->path, model, weights, &about, problem);
        model_free(model);
    }
    arena_release(&arena);
    return error;
}

static bool copy_bytes(int from, int to)
{
    char bytes[1 << 16];
    for (;;) {
        const ssize_t count = read(from, bytes, sizeof bytes);
        if (count <= 0)
            return count == 0 && fsync(to) == 0;
        for (ssize_t done = 0, wrote; done < count; done += wrote)
            if ((wrote = write(to, bytes + done, (size_t)(count - done))) < 0)
                return false;
    }
}

static enum error copy_base(const struct base *base, const char *out, struct problem *problem)
{
    const int from = open(base->path, O_RDONLY | O_CLOEXEC);
    const int to = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    const bool is_made = to >= 0, is_copied = from >= 0 && is_made && copy_bytes(from, to);
    const int reason = errno;
    if (from >= 0)
        (void)close(from);
    if (is_made)
        (void)close(to);
    if (is_copied)
        return OK;
    if (is_made)
        (void)unlink(out);
    return problem_set(problem, FAILED, "%s cannot be copied to %s: %s; name another file (--out)",
                       base->path, out, strerror(reason));
}

static void print_steps(const struct bases *bases, const struct base *base,
                        const struct options *options, const char *swarm)
{
    const uint64_t newest = bases->base[0].about.samples, then = base->about.samples;
    const bool is_whole = strlen(options->id) == (size_t)2 * ID_BYTES;
    (void)printf("%s is the base of %s: the sum of %" PRIu64 " rumors of %" PRIu32
                 " members, digest %016" PRIx64 "\n",
                 options->out, amount_moment(base->saved_s * 1000).text, base->summary.rumors,
                 base->summary.members, base->about.digest);
    if (options->id[0])
        (void)printf("it has %" PRIu64 " rumors of %.8s\n", base->summary.of, options->id);
    (void)printf(
        "the training since then is lost: %s of %s samples up to the newest save (%s), and "
        "all later ones\n",
        amount_of(newest > then ? (double)(newest - then) : 0, "").text,
        amount_of((double)newest, "").text, amount_moment(bases->base[0].saved_s * 1000).text);
    (void)printf(
        "\n"
        "Next steps:\n"
        "1. Stop the node on every machine, before any is started again.\n"
        "2. Copy %s to every machine that stays in the swarm (scp).\n"
        "3. Set in the configuration of each:\n"
        "     [node]   swarm = %s-2          no node brings rumors of the old swarm\n"
        "              state_dir = state-2   the old folder stays as it is\n"
        "     [model]  start = %s\n"
        "   If training ruined the model, also lower train.rate.\n"
        "4. Keep the harmful member out; old orders are valid only in the old swarm. Either make\n"
        "   another swarm key (hearsay swarmkey) and copy it to those machines; or start one\n"
        "   node and, before the other nodes start, give this order with the operator's key:\n"
        "     hearsay expel %s --all --reason \"did harm before\"\n"
        "5. Start the nodes.\n",
        options->out, swarm, options->out, is_whole ? options->id : "ALL-64-DIGITS-OF-ITS-ID");
}

static enum error prepare(const struct bases *bases, const struct options *options,
                          const char *swarm, struct problem *problem)
{
    const size_t n = options->to_best ? bases->best + 1 : (size_t)options->to;
    if (options->to_best && bases->best == SIZE_MAX)
        return problem_set(problem, MISSING,
                           "--to best: this folder has no best base (it needs node.best_base and "
                           "train.evaluate_s); see: hearsay rewind");
    if (n > bases->count)
        return problem_set(problem, MISSING,
                           "--to %ld: there are only %zu bases; see: hearsay rewind", options->to,
                           bases->count);
    const struct base *base = &bases->base[n - 1];
    enum error error = check_base(base, problem);
    if (error == OK)
        error = copy_base(base, options->out, problem);
    if (error == OK && options->config.json) {
        json_t *object = base_json(bases, n, options->id);
        json_output_put(object, "copied_to", json_string(options->out));
        json_output(object);
    } else if (error == OK) {
        print_steps(bases, base, options, swarm);
    }
    return error;
}

static int run(int argc, char **argv)
{
    static struct bases bases;
    struct options options = {.id = "", .out = "start.safetensors"};
    struct config config;
    struct problem problem;
    const int code = command_read(&rewind_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (config_options_read(&config, &options.config, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    enum error error = find_bases(&bases, config.node.state_dir, options.id, &problem);
    const bool shows = options.to == 0 && !options.to_best;
    if (error == OK && shows && options.config.json)
        print_bases_json(&bases, options.id);
    else if (error == OK && shows)
        print_bases(&bases, options.id);
    else if (error == OK)
        error = prepare(&bases, &options, config.node.swarm, &problem);
    return error == OK ? EXIT_OK : command_complain(&problem, EXIT_FAILED);
}

const struct command rewind_command = {
    .name = "rewind",
    .summary = "restart a swarm from an older base, saved before a member did harm",
    .forms = {{"hearsay rewind [options] [ID]", "list the saved bases"},
              {"hearsay rewind [options] [ID] --to N [--out FILE]",
               "copy a base, and print the steps of the restart"}},
    .about = "Use it if training has ruined the model, or if a member did harm for longer than the "
             "logs of the\n"
             "nodes reach back, so that hearsay expel cannot retract its rumors. Run it in the "
             "folder of a node;\n"
             "the node may be running, and nothing is changed there. ID: the id of that member, or "
             "its first\n"
             "digits; the list then shows how many of its rumors each base has.",
    .options =
        (const struct command_option[]){
            {"--to", "N", "the number of a base; best: the base with the best evaluation",
             .set = set_to},
            {"--out", "FILE", "file for the copy (default start.safetensors)",
             .member = offsetof(struct options, out)},
            CONFIG_OPTIONS_OF_NODE,
            CONFIG_OPTION_JSON("print one JSON object"),
            {0}},
    .column = 26,
    .exit_codes = "0 done, 1 failed, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
