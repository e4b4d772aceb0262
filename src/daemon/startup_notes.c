#include "daemon/startup_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "node/swarm_keys.h"
#include "state/atomic_file.h"
#include "state/state_dir.h"
#include "state/swarm_key_files.h"

static void say_who(struct event_log *report, uint64_t now_ns, const struct config *config,
                    const struct setup *setup, const struct node_options *options)
{
    char id[ID_TEXT_BYTES];
    struct note note = {.at_ns = now_ns, .kind = NOTE_STARTED, .level = LEVEL_INFO};
    struct address at = config->node.listen;
    at.port = options->listen_port;
    identity_text(id, setup->keys->identity.id);
    (void)snprintf(note.text, sizeof note.text,
                   "hearsay " HEARSAY_VERSION " node %s in swarm \"%s\": %.160s (%" PRIu64
                   " parameters), %s",
                   id, config->node.swarm, setup->description, options->parameters,
                   at.port ? "listening" : "not listening, only dialling");
    if (at.port)
        (void)address_text(&at, note.where);
    event_log_note(report, &note);
}

/* Reports a state folder that all users may enter or change. A node creates it for its owner only,
 * but keeps the mode of an existing one. */
static void say_open_folder(struct event_log *report, uint64_t now_ns, const struct config *config)
{
    struct stat about;
    char text[CONFIG_PATH_BYTES + 128];
    if (stat(config->node.state_dir, &about) != 0 || !(about.st_mode & S_IRWXO))
        return;
    const bool is_writable = about.st_mode & S_IWOTH;
    (void)snprintf(text, sizeof text, "%s: chmod o= %s",
                   is_writable ? "all users of this machine may replace the checkpoints and the "
                                 "model in the state folder; take that right from them"
                               : "all users of this machine may enter the state folder; if they "
                                 "should not",
                   config->node.state_dir);
    event_log_say(report, now_ns, NOTE_STARTED, is_writable ? LEVEL_WARNING : LEVEL_INFO, text);
}

/* Called after values were chosen for keys that are `auto`. */
static void say_training(struct event_log *report, uint64_t now_ns, const struct config *config,
                         const struct setup *setup)
{
    const struct config_train *train = &config->train;
    char text[200];
    CHECK(train->optimizer < OPTIMIZER_AUTO);
    /* a node that makes no steps does not use the settings */
    if (!learner_can_step(setup->learner))
        return;
    (void)snprintf(text, sizeof text,
                   "learns with %s: rate %.4g, momentum %.4g, weight decay %.4g, clip %.4g",
                   optimizers[train->optimizer].name, train->rate, train->momentum,
                   train->weight_decay, train->clip);
    event_log_say(report, now_ns, NOTE_TRAINING, LEVEL_INFO, text);
}

/* Writes a note for each line of `lines`. */
static void say_lines(struct event_log *report, uint64_t now_ns, enum note_level level,
                      const char *lines)
{
    char text[SETUP_DATA_TEXT];
    for (const char *at = lines, *end; (end = strchr(at, '\n')); at = end + 1) {
        (void)snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
        event_log_say(report, now_ns, NOTE_TRAINING, level, text);
    }
}

/* File in the state folder. It names the device of the last start that trained with train.device =
 * auto. A start that lacks the GPU named in the file does not change the file. */
#define DEVICE_FILE "device"

/* Reads "" if the device of the last start is unknown. */
static void read_device(const char *folder, char text[static DEVICE_TEXT_MAX])
{
    char path[DISK_PATH_MAX];
    const struct disk *disk = disk_real();
    int64_t count = 0;
    if (disk_path(path, folder, DEVICE_FILE, "") == 0) {
        const int handle = disk->open(disk->self, path);
        if (handle >= 0) {
            count = disk_read_all(disk, handle, text, DEVICE_TEXT_MAX - 1);
            (void)disk->close(disk->self, handle);
        }
    }
    text[count > 0 ? count : 0] = '\0';
}

/* If writing fails, the next start cannot warn about a lost GPU. */
static void write_device(const char *folder, const char *text)
{
    struct atomic_file file;
    atomic_file_begin(&file, disk_real(), folder, DEVICE_FILE, ATOMIC_FILE_PRIVATE);
    atomic_file_write(&file, text, strlen(text));
    (void)!atomic_file_end(&file);
}

/* For a node that trains with train.device = auto: if DEVICE_FILE names a GPU that this start
 * lacks, warns and returns true. Otherwise stores the device of this start. */
static bool say_lost_gpu(struct event_log *report, uint64_t now_ns, const struct config *config,
                         const struct setup *setup)
{
    char before[DEVICE_TEXT_MAX], text[2 * DEVICE_TEXT_MAX + 200];
    const char *folder = config->node.state_dir;
    if (strcmp(config->train.device, "auto") != 0 || !config->train.enabled)
        return false;
    read_device(folder, before);
    const bool is_lost = device_is_gpu(before) && !device_is_gpu(setup->device);
    if (is_lost)
        (void)snprintf(text, sizeof text,
                       "computes on %s, but computed on %s before: check the GPU with nvidia-smi; "
                       "set train.device = cuda:0 to refuse a start without the GPU",
                       setup->device, before);
    if (is_lost)
        event_log_say(report, now_ns, NOTE_DEVICE, LEVEL_WARNING, text);
    else if (strcmp(before, setup->device) != 0)
        write_device(folder, setup->device);
    return is_lost;
}

static void say_device(struct event_log *report, uint64_t now_ns, const struct config *config,
                       const struct setup *setup)
{
    char text[DEVICE_TEXT_MAX + 16];
    if (say_lost_gpu(report, now_ns, config, setup))
        return;
    (void)snprintf(text, sizeof text, "computes on %s", setup->device);
    event_log_say(report, now_ns, NOTE_DEVICE,
                  device_misses_gpu(setup->device) ? LEVEL_WARNING : LEVEL_INFO, text);
}

void startup_notes_say(struct event_log *report, uint64_t now_ns, const struct config *config,
                       const struct setup *setup, const struct node_options *options)
{
    CHECK(setup->learner && options->parameters > 0);
    reach_start(&report->reach, options->seeds_count, now_ns);
    say_who(report, now_ns, config, setup, options);
    say_open_folder(report, now_ns, config);
    if (!report->is_quiet)
        model_print(setup->model, stderr);
    say_device(report, now_ns, config, setup);
    say_lines(report, now_ns, LEVEL_INFO, setup->data_notes);
    say_lines(report, now_ns, LEVEL_WARNING, setup->data_warnings);
    say_training(report, now_ns, config, setup);
}

void startup_notes_reading(struct event_log *report, uint64_t now_ns, const struct config *config)
{
    const char *files = dataset_sources[config->data.source].files;
    const char *data = config_data_text(&config->data, files), *start = config->model.start;
    char text[256];
    if (data[0] || start[0])
        (void)snprintf(text, sizeof text, "reads %s%.100s%s%s%.100s", data[0] ? "its data: " : "",
                       data, data[0] && start[0] ? ", and " : "",
                       start[0] ? "the initial weights: " : "", start);
    else
        (void)snprintf(text, sizeof text, "generates its data: %u training samples",
                       (unsigned)config->data.train_count);
    event_log_say(report, now_ns, NOTE_TRAINING, LEVEL_INFO, text);
}

void startup_notes_sandbox(struct event_log *report, uint64_t now_ns, const struct config *config,
                           const struct sandbox *sandbox)
{
    char what[SANDBOX_TEXT_BYTES], text[SANDBOX_TEXT_BYTES + 16];
    const bool is_whole = sandbox->landlock > 0 && sandbox->has_filter;
    sandbox_text(config, sandbox, what);
    (void)snprintf(text, sizeof text, "sandbox: %s", what);
    event_log_say(report, now_ns, NOTE_SANDBOX,
                  is_whole || !config->node.sandbox ? LEVEL_INFO : LEVEL_WARNING, text);
}

void startup_notes_keys(struct event_log *report, uint64_t now_ns, const struct locked_memory *keys)
{
    char text[LOCKED_MEMORY_TEXT_BYTES + 32];
    if (keys->refusal == 0)
        return;
    locked_memory_text(keys, text);
    event_log_say(report, now_ns, NOTE_SANDBOX, LEVEL_WARNING, text);
}

void startup_notes_web(struct event_log *report, uint64_t now_ns, const struct address *http,
                       unsigned port)
{
    struct address shown = *http;
    char text[2 * ADDRESS_TEXT_BYTES + 128], address[ADDRESS_TEXT_BYTES];
    const bool is_here = address_is_loopback(http);
    CHECK(port > 0 && port <= UINT16_MAX);
    shown.port = (uint16_t)port;
    (void)snprintf(text, sizeof text, "the status page is at http://%s/%s",
                   address_text(&shown, address),
                   is_here ? ""
                           : " and requires the password; the page is not encrypted: use it in a "
                             "VPN, or behind a proxy with TLS");
    event_log_say(report, now_ns, NOTE_WEB, is_here ? LEVEL_INFO : LEVEL_WARNING, text);
}

void startup_notes_resumed(struct event_log *report, uint64_t now_ns, const struct config *config,
                           uint64_t generation, bool is_older, const struct node *node)
{
    struct note note = {
        .at_ns = now_ns, .kind = NOTE_RESUMED, .level = is_older ? LEVEL_WARNING : LEVEL_INFO};
    struct node_stats stats;
    if (generation == 0)
        return;
    node_stats(node, now_ns, &stats);
    (void)snprintf(note.text, sizeof note.text,
                   "continues from %s%.160s: the sum of %" PRIu64 " rumors, %" PRIu64
                   " samples of the whole swarm",
                   is_older ? "an older one, " : "",
                   state_dir_checkpoint(config->node.state_dir, generation).text, stats.version,
                   node_swarm_samples(node));
    event_log_note(report, &note);
}

void startup_notes_swarm_key(struct event_log *report, uint64_t now_ns, const struct config *config,
                             const struct setup *setup, const struct node *node)
{
    struct node_swarm_key key;
    uint8_t configured[HASH_BYTES];
    struct note note = {.at_ns = now_ns, .kind = NOTE_REKEY, .level = LEVEL_INFO};
    node_swarm_key(node, &key);
    swarm_key_hash(configured, setup->keys->swarm_key);
    if (key.missing > 0)
        (void)snprintf(note.text, sizeof note.text,
                       "the operator has ordered a new swarm key (order %u) that this node lacks; "
                       "members send it after this node joins",
                       (unsigned)key.missing);
    else if (memcmp(key.hash, configured, HASH_BYTES) != 0)
        (void)snprintf(note.text, sizeof note.text,
                       "the swarm key is that of %.100s/" SWARM_KEY_FILE
                       " (order %u), which is newer than %.100s",
                       config->node.state_dir, (unsigned)key.order, config->node.swarm_key);
    if (note.text[0])
        event_log_note(report, &note);
}
