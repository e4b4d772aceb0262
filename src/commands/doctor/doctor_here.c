/* Checks of this machine: keys, log, folder, sandbox, data, model, device, port, clock. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/memory.h"
#include "commands/doctor/doctor.h"
#include "config/shared_settings.h"
#include "crypto/locked_memory.h"
#include "daemon/sandbox.h"
#include "daemon/status_server.h"
#include "socket/transport.h"
#include "state/checkpoint_owner.h"
#include "state/disk.h"
#include "state/incarnation.h"
#include "state/state_dir.h"

/* Number of checkpoints that exist at one time: the two kept ones and the one being written. */
#define COPIES        3
#define YEAR_2024_S   1704067200
#define CLOCK_SLACK_S 5

static void look_at_keys(struct doctor *doctor)
{
    const struct config_node *node = &doctor->config.node;
    struct problem problem;
    char id[ID_TEXT_BYTES];
    doctor->has_identity = identity_load(&doctor->identity, node->identity, &problem) == OK;
    if (doctor->has_identity) {
        identity_text(id, doctor->identity.id);
        doctor_say(doctor, VERDICT_OK, "identity", "%s: node %s, secret", node->identity, id);
    } else {
        doctor_say(doctor, VERDICT_FAIL, "identity", "%s", problem.text);
    }
    doctor_look_at_swarm_key(doctor);
}

static void look_at_locked_memory(struct doctor *doctor)
{
    char text[LOCKED_MEMORY_TEXT_BYTES];
    struct locked_memory memory = {.refusal = 0};
    locked_memory_init(&memory, setup_keys_bytes(&doctor->config));
    locked_memory_text(&memory, text);
    doctor_say(doctor, memory.refusal == 0 ? VERDICT_OK : VERDICT_WARN, "keys", "%s", text);
    locked_memory_free(&memory);
}

/* Opens the log for writing. Removes the file if it did not exist before. */
static void look_at_log(struct doctor *doctor)
{
    const char *path = doctor->config.node.log;
    if (!path[0] || strcmp(path, "-") == 0)
        return;
    const int fresh = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NONBLOCK, 0600);
    const int file = fresh >= 0 || errno != EEXIST
                         ? fresh
                         : open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        doctor_say(doctor, VERDICT_FAIL, "log",
                   "cannot write the log %s: %s; choose another node.log", path, strerror(errno));
    else
        doctor_say(doctor, VERDICT_OK, "log", "%s%s", path,
                   fresh >= 0 ? ": will be created" : ": will be appended to");
    if (file >= 0)
        (void)close(file);
    if (fresh >= 0)
        (void)unlink(path);
}

/* Checks whether the folder is writable, by creating a file in it; access() checks only
 * permissions. */
static bool can_write(const char *dir)
{
    char path[CONFIG_PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/doctor-XXXXXX", dir);
    const int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return false;
    (void)close(file);
    return unlink(path) == 0;
}

static void look_at_folder(struct doctor *doctor)
{
    const char *dir = doctor->config.node.state_dir;
    const bool is_new = mkdir(dir, 0700) == 0;
    if (!is_new && errno != EEXIST) {
        doctor_say(doctor, VERDICT_FAIL, "state_dir",
                   "%s does not exist and cannot be created: %s; choose another node.state_dir",
                   dir, strerror(errno));
        return;
    }
    doctor->has_folder = can_write(dir);
    const int reason = errno;
    doctor->free_bytes = disk_free_bytes(dir);
    doctor->is_taken = status_endpoint_is_taken(dir);
    doctor->has_state = doctor->has_folder && !is_new && !doctor->is_taken;
    if (!doctor->has_folder)
        doctor_say(doctor, VERDICT_FAIL, "state_dir",
                   "%s cannot be written to: %s; choose another node.state_dir", dir,
                   strerror(reason));
    else if (doctor->is_taken)
        doctor_say(doctor, VERDICT_FAIL, "state_dir",
                   "%s: a running node uses this folder (hearsay status --state %s): stop that "
                   "node, or choose another node.state_dir",
                   dir, dir);
    else
        doctor_say(doctor, VERDICT_OK, "state_dir", "%s%s", dir,
                   is_new ? ": will be created" : ": is writable");
    if (is_new)
        (void)rmdir(dir);
}

/* Returns how many files with a base exist at one time: base.safetensors and the averaged base,
 * each while a new file replaces it, the best base, and older ones. */
static uint64_t bases_of(const struct config *config)
{
    return 2u + (config->node.averaged_base ? 2u : 0u) + (config->node.best_base ? 1u : 0u) +
           config->node.older_bases;
}

static void look_at_disk(struct doctor *doctor)
{
    /* The moments are counted even if the node does not train; then a checkpoint is smaller. */
    const uint32_t moments = optimizers[doctor->config.train.optimizer].moments;
    const uint64_t needed_bytes = learner_state_bytes(doctor->parameters, moments) * COPIES +
                                  doctor->parameters * sizeof(float) * bases_of(&doctor->config);
    const bool is_enough = doctor->free_bytes >= needed_bytes;
    doctor_say(doctor, is_enough ? VERDICT_OK : VERDICT_FAIL, "disk",
               "%s free for %s, which needs up to %s%s",
               amount_of((double)doctor->free_bytes, "B").text, doctor->config.node.state_dir,
               amount_of((double)needed_bytes, "B").text,
               is_enough ? "" : ": free some space, or choose another node.state_dir");
}

/* Checks the sandbox by entering it, as a node does. Later checks run inside. */
static void look_at_sandbox(struct doctor *doctor)
{
    char text[SANDBOX_TEXT_BYTES];
    struct sandbox sandbox = {0};
    struct problem problem;
    if (sandbox_enter(&doctor->config, &sandbox, &problem) != OK) {
        doctor_say(doctor, VERDICT_FAIL, "sandbox", "%s", problem.text);
        return;
    }
    const bool is_whole = doctor->config.node.sandbox && sandbox.landlock > 0 && sandbox.has_filter;
    sandbox_text(&doctor->config, &sandbox, text);
    doctor_say(doctor, is_whole ? VERDICT_OK : VERDICT_WARN, "sandbox", "%s", text);
}

/* Reports a checkpoint that a node would refuse at its start. */
static void say_refused(void *context, const struct problem *problem)
{
    doctor_say(context, VERDICT_WARN, "checkpoint", "%s", problem->text);
}

static void look_at_incarnation(struct doctor *doctor)
{
    struct problem problem;
    uint64_t number;
    const uint64_t wall_ms = (uint64_t)time(NULL) * 1000;
    if (incarnation_look(disk_real(), doctor->config.node.state_dir, wall_ms, NODE_INCARNATIONS,
                         &number, &problem) != OK)
        doctor_say(doctor, VERDICT_FAIL, "incarnation", "%s", problem.text);
}

/* Checks that the table of origins has space for all incarnations in the checkpoint. */
static enum error check_history(const struct doctor *doctor, const struct checkpoint *checkpoint,
                                struct problem *problem)
{
    struct node_options options = setup_plain_options(&doctor->config, doctor->parameters);
    options.history = checkpoint->own;
    options.history_bytes = checkpoint->own_bytes;
    return state_dir_check_history(doctor->config.node.state_dir, &options, problem);
}

static void look_at_checkpoints(struct doctor *doctor, struct checkpoint *checkpoint)
{
    const char *dir = doctor->config.node.state_dir;
    const struct checkpoint_refusal refusal = {.context = doctor, .refused = say_refused};
    const struct checkpoint_target looks = {.replay = NULL};
    struct checkpoint_series series;
    struct problem problem;
    enum error error =
        checkpoint_load(disk_real(), dir, checkpoint, &looks, &series, &refusal, &problem);
    if (error == MISSING)
        return;
    if (error == OK)
        error = check_history(doctor, checkpoint, &problem);
    if (error != OK)
        doctor_say(doctor, VERDICT_FAIL, "checkpoint", "%s", problem.text);
    else
        doctor_say(doctor, VERDICT_OK, "checkpoint", "%s: the node continues from it",
                   state_dir_checkpoint(dir, series.good).text);
}

static void look_at_state(struct doctor *doctor)
{
    char model[CHECKPOINT_OWNER_MAX];
    if (state_dir_is_of_program(doctor->config.node.state_dir)) {
        doctor_say(doctor, VERDICT_OK, "checkpoint",
                   "%s: is of a program that has its own model, which checks it when it starts",
                   doctor->config.node.state_dir);
        look_at_incarnation(doctor);
        return;
    }
    struct checkpoint checkpoint = {.model = model, .own = memory_new(CHECKPOINT_OWN_MAX, 1)};
    checkpoint.state.parameters = doctor->parameters;
    checkpoint_owner_describe(&doctor->identity, doctor->config.node.swarm, doctor->model, model);
    look_at_checkpoints(doctor, &checkpoint);
    doctor->has_taken_first = checkpoint.has_taken_first;
    memcpy(doctor->model_hash, checkpoint.model_hash, sizeof doctor->model_hash);
    look_at_incarnation(doctor);
    free(checkpoint.own);
}

static void look_at_model(struct doctor *doctor, const struct dataset *train,
                          const struct dataset *test)
{
    struct setup_model made;
    struct problem problem;
    struct arena arena;
    struct backend *backend = backend_cpu((int)doctor->config.train.threads);
    arena_init_growing(&arena);
    doctor->has_model =
        state_dir_check_start(doctor->config.node.state_dir, doctor->config.model.start,
                              &problem) == OK &&
        setup_model(&doctor->config,
                    setup_batch_max(&doctor->config, train, doctor->rehearsal.free_bytes), train,
                    &arena, backend, &made, &problem) == OK;
    if (doctor->has_model) {
        doctor->parameters = model_parameters(made.model);
        shared_settings_text(&doctor->config, train, doctor->settings);
        (void)snprintf(doctor->model, sizeof doctor->model, "%s", made.description);
        doctor_say(doctor, VERDICT_OK, "model", "%" PRIu64 " parameters: %s", doctor->parameters,
                   doctor->model);
        doctor_count_memory(doctor, train, test, made.model);
        model_free(made.model);
    } else {
        doctor_say(doctor, VERDICT_FAIL, "model", "%s", problem.text);
    }
    backend->close(backend);
    arena_release(&arena);
}

static void say_lines(struct doctor *doctor, enum verdict verdict, const char *lines)
{
    for (const char *at = lines, *end; (end = strchr(at, '\n')); at = end + 1)
        doctor_say(doctor, verdict, "data", "%.*s", (int)(end - at), at);
}

static void say_data(struct doctor *doctor, const struct dataset *train, const struct dataset *test)
{
    const struct slice shard = doctor->config.data.shard;
    const struct setup_input input = setup_input(train);
    if (train->tokens)
        doctor_say(doctor, VERDICT_OK, "data",
                   "%u training samples (shard %u/%u) of %s, cut from %zu tokens; %u test samples, "
                   "cut from %zu tokens; %d classes",
                   (unsigned)train->count, (unsigned)shard.index + 1, (unsigned)shard.count,
                   input.text, train->tokens_count, (unsigned)test->count, test->tokens_count,
                   train->classes);
    else
        doctor_say(doctor, VERDICT_OK, "data",
                   "%u training samples (shard %u/%u), %u test samples, %s, %d %s",
                   (unsigned)train->count, (unsigned)shard.index + 1, (unsigned)shard.count,
                   (unsigned)test->count, input.text, train->classes,
                   !dataset_is_regression(train) ? "classes"
                   : train->classes == 1         ? "output (regression)"
                                                 : "outputs (regression)");
    char text[SETUP_DATA_TEXT];
    setup_data_notes(text, train);
    say_lines(doctor, VERDICT_OK, text);
    setup_data_warnings(text, train);
    say_lines(doctor, VERDICT_WARN, text);
}

static void look_at_data(struct doctor *doctor)
{
    struct dataset train = {0}, test = {0};
    struct problem problem;
    doctor_begin(doctor, "data");
    if (setup_data(&doctor->config, &train, &test, &problem) == OK) {
        say_data(doctor, &train, &test);
        look_at_model(doctor, &train, &test);
    } else {
        doctor_say(doctor, VERDICT_FAIL, "data", "%s", problem.text);
    }
    dataset_free(&train);
    dataset_free(&test);
}

/* Reports that the node computes on the CPU. Warns if the GPU is missing, or if train.threads
 * exceeds the number of processors. */
static void look_at_processors(struct doctor *doctor, const char *device)
{
    if (device_misses_gpu(device)) {
        doctor_say(doctor, VERDICT_WARN, "device", "%s", device);
        return;
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const long threads = (long)doctor->config.train.threads;
    if (threads > processors)
        doctor_say(doctor, VERDICT_WARN, "device",
                   "cpu: train.threads is %ld, but the machine has %ld processors, so the threads "
                   "slow each other down; set train.threads to %ld or less",
                   threads, processors, processors);
    else
        doctor_say(doctor, VERDICT_OK, "device", "%s; %ld processors", device, processors);
}

/* Returns the peak speed of matrix products in this precision as a multiple of the float32 speed; 1
 * if unknown. */
static double gain_of(const struct gpu *gpu, enum precision precision)
{
    CHECK(precision < PRECISION_AUTO);
    return gpu->flops[PRECISION_FP32] > 0 && gpu->flops[precision] > 0
               ? gpu->flops[precision] / gpu->flops[PRECISION_FP32]
               : 1;
}

/* Reports the GPU and the peak speed of its matrix products, if known: how much higher it would be
 * with train.precision = auto, or else how much higher it is than in float32. */
static void look_at_precision(struct doctor *doctor, const char *device)
{
    struct config freed = doctor->config;
    struct gpu gpu = {.major = 0};
    freed.train.precision = PRECISION_AUTO;
    const enum precision taken = setup_precision(&doctor->config), best = setup_precision(&freed);
    const bool is_known = device_gpu(doctor->config.train.device, &gpu);
    const double now = is_known ? gain_of(&gpu, taken) : 1,
                 then = is_known ? gain_of(&gpu, best) : 1;
    if (then > now)
        doctor_say(doctor, VERDICT_OK, "device",
                   "%s: the peak speed of matrix products is %.3g times as high in %s, which "
                   "train.precision = auto chooses",
                   device, then / now, device_precision_name(best));
    else if (now > 1)
        doctor_say(doctor, VERDICT_OK, "device",
                   "%s, with a peak speed of matrix products %.3g times that of fp32", device, now);
    else
        doctor_say(doctor, VERDICT_OK, "device", "%s", device);
}

static void look_at_device(struct doctor *doctor)
{
    struct backend *backend;
    struct team *team;
    struct problem problem;
    char text[DEVICE_TEXT_MAX];
    if (setup_device(&doctor->config, &backend, &team, text, &problem) != OK) {
        doctor_say(doctor, VERDICT_FAIL, "device", "%s", problem.text);
        return;
    }
    doctor->is_on_gpu = strcmp(backend->name, "cpu") != 0;
    if (!doctor->is_on_gpu)
        look_at_processors(doctor, text);
    else
        look_at_precision(doctor, text);
    if (team)
        team->close(team);
    backend->close(backend);
}

static void look_at_port(struct doctor *doctor)
{
    const struct address *listen = &doctor->config.node.listen;
    /* This transport never runs, so no callback is called. */
    const struct transport_owner nobody = {0};
    char text[ADDRESS_TEXT_BYTES];
    struct problem problem;
    uint16_t port;
    if (!listen->host[0]) {
        doctor_say(doctor, VERDICT_OK, "port", "none: this node only dials other nodes");
        return;
    }
    struct transport *transport = transport_new(&nobody);
    doctor->is_port_free = transport_listen(transport, listen, &port, &problem) == OK;
    if (doctor->is_port_free)
        doctor_say(doctor, VERDICT_OK, "port", "%s is free%s", address_text(listen, text),
                   listen->port ? "" : ": the system will choose a port");
    else
        doctor_say(doctor, VERDICT_FAIL, "port", "%s", problem.text);
    transport_free(transport);
}

/* Finds the file in the folder that was written last, except files whose names begin with a dot.
 * Returns its time and sets its name; returns 0 if there is no file. */
static time_t newest_in(const char *dir, char name[static NAME_MAX + 1])
{
    time_t newest = 0;
    struct stat about;
    DIR *folder = opendir(dir);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(folder), entry->d_name, &about, 0) != 0 ||
            about.st_mtime <= newest)
            continue;
        newest = about.st_mtime;
        (void)snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
    }
    if (folder)
        (void)closedir(folder);
    return newest;
}

static void look_at_clock(struct doctor *doctor)
{
    const char *dir = doctor->config.node.state_dir;
    char name[NAME_MAX + 1], text[32];
    struct tm utc;
    const time_t now = time(NULL);
    const time_t newest = newest_in(dir, name);
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &utc));
    if (now < YEAR_2024_S)
        doctor_say(doctor, VERDICT_FAIL, "clock",
                   "the clock of this machine shows %s: set it (timedatectl set-ntp true), or "
                   "other nodes take this node for one of its earlier incarnations",
                   text);
    else if (newest > now + CLOCK_SLACK_S)
        doctor_say(
            doctor, VERDICT_WARN, "clock",
            "the clock of this machine shows %s, but %s/%s was written %s later: set the clock if "
            "it went back, or other nodes take this node for one of its earlier incarnations",
            text, dir, name, amount_span(difftime(newest, now)).text);
    else
        doctor_say(doctor, VERDICT_OK, "clock", "%s", text);
}

void doctor_look_here(struct doctor *doctor)
{
    look_at_keys(doctor);
    look_at_locked_memory(doctor);
    look_at_log(doctor);
    look_at_folder(doctor);
    /* Must come before the check of the sandbox, whose rules also apply to child processes. */
    doctor_rehearse(doctor);
    look_at_sandbox(doctor);
    look_at_data(doctor);
    if (doctor->has_model && doctor->has_folder)
        look_at_disk(doctor);
    if (doctor->has_state && doctor->has_identity && doctor->has_model)
        look_at_state(doctor);
    look_at_device(doctor);
    if (doctor->has_model)
        doctor_look_at_memory(doctor);
    look_at_port(doctor);
    look_at_clock(doctor);
}
