#include "config/config_key.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "config/config.h"
#include "node/broadcast/history.h"
#include "node/broadcast/version.h"
#include "state/checkpoint.h"

#define AT(member)                                                                                 \
    .offset = offsetof(struct config, member), .bytes = sizeof((struct config *)0)->member

static const struct config_key keys[] = {
    {"node", "listen", CONFIG_LISTEN, AT(node.listen), .initial = "0.0.0.0:7770", .words = "none",
     .help = "Address and port for callers; port 0: the system chooses one; none: the node only "
             "dials."},
    {"node", "advertise", CONFIG_ADDRESS, AT(node.advertise), .initial = "", .min = 1, .words = "",
     .help = "Address that other nodes dial; empty: the address they see, with our listen port."},
    {"node", "peers", CONFIG_ADDRESSES, AT(node.peers), .initial = "", .min = 1,
     .help = "Nodes to dial at the start; one reachable node is enough to meet all members."},
    {"node", "identity", CONFIG_PATH, AT(node.identity), .initial = "node.key", .min = 1,
     .help = "Identity key of this node; create one per node: hearsay keygen FILE"},
    {"node", "swarm_key", CONFIG_PATH, AT(node.swarm_key), .initial = "swarm.key", .min = 1,
     .help =
         "Key that all members share; create it once with hearsay swarmkey FILE, then copy it."},
    {"node", "swarm", CONFIG_TEXT, AT(node.swarm), .initial = "hearsay", .min = 1,
     .help = "Name of the swarm; must be equal on all nodes."},
    {"node", "operator", CONFIG_TEXT, AT(node.operator_id), .initial = "",
     .help = "Operator's public key from hearsay operatorkey: admits, expels, rekeys; empty: no "
             "operator.",
     .shared = CONFIG_SAME},
    {"node", "members", CONFIG_PATH, AT(node.members), .initial = "",
     .help = "File with the ids of allowed members, one a line; SIGHUP reloads it; empty: any key "
             "holder."},
    {"node", "quarantine", CONFIG_BOOL, AT(node.quarantine), .initial = "no",
     .help = "Let a majority of the listed or admitted members expel a harmful member by votes.",
     .shared = CONFIG_SAME},
    {"node", "answers", CONFIG_BOOL, AT(node.answers), .initial = "no",
     .help = "Answer inference requests from holders of the swarm key (hearsay predict --node)."},
    {"node", "state_dir", CONFIG_PATH, AT(node.state_dir), .initial = "state", .min = 1,
     .help = "Folder for checkpoints and for the newest saved model."},
    {"node", "seed", CONFIG_U64, AT(node.seed), .initial = "0", .max = CONFIG_NO_MAX,
     .help =
         "Seed for the node's random choices (peers to dial, retry times); 0: from the system."},
    {"node", "grace_s", CONFIG_REAL, AT(node.grace_s), .initial = "20", .max = 3600, .unit = "s",
     .help = "Longest wait at shutdown for the last rumors to spread."},
    {"node", "save_s", CONFIG_REAL, AT(node.save_s), .initial = "300", .max = 86400, .unit = "s",
     .help = "Time between checkpoints; 0: only at shutdown."},
    {"node", "older_bases", CONFIG_U32, AT(node.older_bases), .initial = "4", .max = 64,
     .help = "Older saved models to keep, so that hearsay rewind can go back to one."},
    {"node", "best_base", CONFIG_BOOL, AT(node.best_base), .initial = "yes",
     .help = "Keep the saved base with the best evaluation (hearsay rewind --to best)."},
    {"node", "averaged_base", CONFIG_BOOL, AT(node.averaged_base), .initial = "yes",
     .help = "Save the averaged base, which scores higher, as base-averaged.safetensors."},
    {"node", "log", CONFIG_PATH, AT(node.log), .initial = "",
     .help = "File for notes, one JSON object per line; -: standard output; empty: no file."},
    {"node", "sandbox", CONFIG_BOOL, AT(node.sandbox), .initial = "yes",
     .help = "Drop unneeded rights at startup: other files, programs, ports, system calls."},
    {"node", "http", CONFIG_LISTEN, AT(node.http), .initial = "none", .words = "none",
     .help = "Address of the status page and of /metrics, such as 127.0.0.1:9464; none: no page."},
    {"node", "http_token", CONFIG_PATH, AT(node.http_token), .initial = "",
     .help = "File with the password of the page; required if http is open to other machines."},
    {"node", "verbose", CONFIG_BOOL, AT(node.verbose), .initial = "no",
     .help = "Print every note on standard error, not only warnings and errors."},

    {"model", "name", CONFIG_TEXT, AT(model.name), .initial = "lenet", .min = 1,
     .help = "Built-in model: lenet, resnet20 and others for images; gpt-char and others for "
             "sequences."},
    {"model", "layers", CONFIG_TEXT, AT(model.layers), .initial = "",
     .help = "Your own model instead of a built-in one, such as: dense 64, relu, dense 10"},
    {"model", "seed", CONFIG_U64, AT(model.seed), .initial = "1", .max = CONFIG_NO_MAX,
     .help = "Seed of the initial weights; a joining node receives the swarm's weights."},
    {"model", "start", CONFIG_PATH, AT(model.start), .initial = "",
     .help =
         "Initial weights: a .safetensors file, or a folder whose config.json names the layers."},

    {"data", "source", CONFIG_CHOICE, AT(data.source), .initial = "idx",
     .words = &DATASET_SOURCES_WORDS[1], .help = DATASET_SOURCES_HELP, .shared = CONFIG_SAME},
    {"data", "dir", CONFIG_PATH, AT(data.dir), .initial = "/usr/share/datasets/fashion-mnist",
     .min = 1, .help = "Folder of the IDX files (from the Debian package dataset-fashion-mnist)."},
    {"data", "x", CONFIG_TEXT, AT(data.x), .initial = "",
     .help = "source = npy: files of samples, uint8 or float32, such as x.npy or part-*-x.npy"},
    {"data", "y", CONFIG_TEXT, AT(data.y), .initial = "",
     .help = "source = npy: files of labels (integers) or of target numbers (float32)."},
    {"data", "test_x", CONFIG_TEXT, AT(data.test_x), .initial = "",
     .help = "npy: files of test samples; empty: the last tenth of x, left out of training."},
    {"data", "test_y", CONFIG_TEXT, AT(data.test_y), .initial = "",
     .help = "npy: files of test labels or target numbers."},
    {"data", "text", CONFIG_TEXT, AT(data.text), .initial = "",
     .help = "source = text: files to learn byte by byte, plain or gzip, such as a.txt, more/*.gz"},
    {"data", "tokens", CONFIG_TEXT, AT(data.tokens), .initial = "",
     .help = "source = tokens: files in llm.c's format, or of bare 16-bit numbers, such as *.bin"},
    {"data", "valid", CONFIG_TEXT, AT(data.valid), .initial = "",
     .help = "text, tokens: test files; empty: the last tenth of the data, left out of training."},
    {"data", "context", CONFIG_U32, AT(data.context), .initial = "64", .min = DATASET_CONTEXT_MIN,
     .max = DATASET_CONTEXT_MAX, .unit = "tokens",
     .help = "text, tokens: length of a sample; must be equal on all nodes of a swarm."},
    {"data", "seed", CONFIG_U64, AT(data.seed), .initial = "1", .max = CONFIG_NO_MAX,
     .help = "Seed of generated samples and of the split into shards; must be equal on all nodes.",
     .shared = CONFIG_SAME},
    {"data", "shard", CONFIG_SLICE, AT(data.shard), .initial = "1/1",
     .help = "Part of the training samples that this node learns.", .shared = CONFIG_UNLIKE},
    {"data", "task", CONFIG_CHOICE, AT(data.task), .initial = "auto",
     .words = "auto|classes|numbers",
     .help = "npy: content of y, class labels or numbers to predict; auto: guess from its values."},
    {"data", "channels", CONFIG_CHOICE, AT(data.channels), .initial = "auto",
     .words = "auto|first|last",
     .help = "npy: position of the channel dimension in x; auto: by the shape, if that is clear."},
    {"data", "classes", CONFIG_U32, AT(data.classes), .initial = "0", .max = DATASET_TOKENS_MAX,
     .unit = "classes",
     .help = "Classes of the swarm's task; 0: one more than the highest local label."},
    {"data", "check_labels", CONFIG_BOOL, AT(data.check_labels), .initial = "yes",
     .help = "Publish nothing while the labels here contradict the shared model of the others."},
    {"data", "mean", CONFIG_REAL, AT(data.mean), .initial = "auto", .max = 255, .words = "auto",
     .help = "Mean of the sample bytes, equal on all nodes; auto: mean of this node's files."},
    {"data", "deviation", CONFIG_REAL, AT(data.deviation), .initial = "auto", .min = 0.001,
     .max = 255, .words = "auto",
     .help =
         "Standard deviation of the sample bytes, equal on all nodes; auto: of this node's files."},
    {"data", "flip", CONFIG_BOOL, AT(data.augment.flip), .initial = "no",
     .help = "Mirror a random half of the training images."},
    {"data", "crop", CONFIG_U32, AT(data.augment.crop), .initial = "0", .max = 1024,
     .unit = "pixels",
     .help = "Largest random shift of training images, filled with black; 0: no shift."},
    {"data", "cutout", CONFIG_U32, AT(data.augment.cutout), .initial = "0", .max = 1024,
     .unit = "pixels",
     .help = "Side of a random square to blank out in each training image; 0: none."},
    {"data", "train_count", CONFIG_U32, AT(data.train_count), .initial = "12000", .min = 1,
     .max = 1000000, .unit = "samples",
     .help = "Generated training samples, before the split into shards.", .shared = CONFIG_SAME},
    {"data", "test_count", CONFIG_U32, AT(data.test_count), .initial = "2000", .min = 1,
     .max = 1000000, .unit = "samples", .help = "Generated test samples."},

    {"train", "enabled", CONFIG_BOOL, AT(train.enabled), .initial = "yes",
     .help = "no: receive, store and relay rumors without training."},
    {"train", "device", CONFIG_DEVICE, AT(train.device), .initial = "auto",
     .help = "Computing device; auto: first GPU, else CPU (hearsay --version lists GPUs); "
             "cuda:0,1: both."},
    {"train", "precision", CONFIG_CHOICE, AT(train.precision), .initial = "auto",
     .words = "fp32|tf32|bf16|auto",
     .help = "Precision of matrix products on a GPU; auto: bf16 if layers are wide, else tf32 or "
             "fp32."},
    {"train", "threads", CONFIG_U32, AT(train.threads), .initial = "1", .min = 1, .max = 256,
     .unit = "threads", .help = "CPU threads for matrix products and convolutions."},
    {"train", "batch", CONFIG_U32, AT(train.batch), .initial = "32", .min = 1, .max = 4096,
     .unit = "samples", .words = "auto",
     .help = "Samples per step; auto: 8 to 256, as the machine can learn in step_ms."},
    {"train", "step_ms", CONFIG_REAL, AT(train.step_ms), .initial = "150", .min = 1, .max = 60000,
     .unit = "ms", .help = "batch = auto: target duration of a step."},
    {"train", "batch_bytes", CONFIG_SIZE, AT(train.batch_bytes), .initial = "auto", .min = 0x1p20,
     .max = 0x1p36, .unit = "bytes", .words = "auto",
     .help =
         "batch = auto: memory for a step's samples; auto: 128M, or half of a GPU's free memory."},
    {"train", "steps_per_s", CONFIG_REAL, AT(train.steps_per_s), .initial = "0", .max = 1e6,
     .unit = "steps/s", .help = "Largest number of steps per second; 0: no limit."},
    {"train", "micro_batches", CONFIG_U32, AT(train.micro_batches), .initial = "1", .min = 1,
     .max = 4096, .unit = "parts",
     .help = "Micro-batches per step on each device; more of them need less memory."},
    {"train", "recompute", CONFIG_BOOL, AT(train.recompute), .initial = "no",
     .help =
         "yes: recompute activations inside residual blocks, to save memory; a third more work."},
    {"train", "optimizer", CONFIG_CHOICE, AT(train.optimizer), .initial = "auto",
     .words = OPTIMIZERS_WORDS, .help = OPTIMIZERS_HELP},
    {"train", "rate", CONFIG_REAL, AT(train.rate), .initial = "auto", .min = 1e-8, .max = 100,
     .words = "auto", .help = "Initial learning rate; auto: " OPTIMIZERS_RATE ".",
     .shared = CONFIG_SAME},
    {"train", "momentum", CONFIG_REAL, AT(train.momentum), .initial = "0.9", .max = 0.9999,
     .help = "Momentum of the gradients (" OPTIMIZERS_BETA2 ": beta1)."},
    {"train", "beta2", CONFIG_REAL, AT(train.beta2), .initial = "0.999", .max = 0.999999,
     .help = OPTIMIZERS_BETA2 ": decay of the moving average of squared gradients."},
    {"train", "nesterov", CONFIG_BOOL, AT(train.nesterov), .initial = "no",
     .help = OPTIMIZERS_ADD_UP ": use Nesterov momentum."},
    {"train", "weight_decay", CONFIG_REAL, AT(train.weight_decay), .initial = "auto", .max = 1,
     .words = "auto",
     .help = "Weight decay, decoupled except with sgd; auto: 0.0005 with sgd (xor: 0), else 0.1."},
    {"train", "clip", CONFIG_REAL, AT(train.clip), .initial = "auto", .max = 1e6, .words = "auto",
     .help = "Gradient clipping: largest global norm; 0: no clipping; auto: 5 with sgd, else 1."},
    {"train", "label_smoothing", CONFIG_REAL, AT(train.label_smoothing), .initial = "0", .max = 0.9,
     .help = "Part of each label that is spread over all classes."},
    {"train", "schedule", CONFIG_CHOICE, AT(train.schedule), .initial = "auto",
     .words = "constant|step|cosine|linear|inverse_root|auto",
     .help = "How the rate falls; auto: inverse_root with muon and rate = auto, else constant.",
     .shared = CONFIG_SAME},
    {"train", "warmup_samples", CONFIG_U64, AT(train.warmup_samples), .initial = "0",
     .max = CONFIG_NO_MAX, .unit = "samples",
     .help = "Samples of the whole swarm during which the rate rises from 0.",
     .shared = CONFIG_SAME},
    {"train", "period_samples", CONFIG_U64, AT(train.period_samples), .initial = "0",
     .max = CONFIG_NO_MAX, .unit = "samples",
     .help = "Period of the schedule, in samples of the whole swarm; inverse_root: of each node.",
     .shared = CONFIG_SAME},
    {"train", "decay", CONFIG_REAL, AT(train.decay), .initial = "0.1", .max = 1,
     .help = "step: factor per period; others: final rate, as a part of the initial rate.",
     .shared = CONFIG_SAME},
    {"train", "samples_max", CONFIG_U64, AT(train.samples_max), .initial = "0",
     .max = CONFIG_NO_MAX, .unit = "samples",
     .help = "Samples after which this node stops training; 0: no limit."},
    {"train", "frozen", CONFIG_TEXT, AT(train.frozen), .initial = "",
     .help = "Checksum of a program's frozen tensors, which its library sets; equal on all nodes.",
     .shared = CONFIG_SAME},
    {"train", "evaluate_s", CONFIG_REAL, AT(train.evaluate_s), .initial = "60", .max = 86400,
     .unit = "s",
     .help = "Shortest time between evaluations of the base on the test set; 0: never evaluate."},
    {"train", "evaluate_part", CONFIG_SLICE, AT(train.evaluate_part), .initial = "auto",
     .words = "auto",
     .help = "Part of the test set; auto: 2,000 samples or 32,768 tokens, for 1 % of the time."},

    {"exchange", "bytes_per_s", CONFIG_SIZE, AT(exchange.bytes_per_s), .initial = "auto",
     .min = 1000, .max = 0x1p40, .unit = "bytes per second", .words = "auto",
     .help = "Budget for this node's rumors, before copies; auto: capacity of links and members."},
    {"exchange", "uplink_max", CONFIG_SIZE, AT(exchange.uplink_max), .initial = "none", .min = 4000,
     .max = 0x1p40, .unit = "bytes per second", .words = "none",
     .help = "Upper limit of traffic sent to all neighbours together."},
    {"exchange", "downlink_max", CONFIG_SIZE, AT(exchange.downlink_max), .initial = "none",
     .min = 4000, .max = 0x1p40, .unit = "bytes per second", .words = "none",
     .help = "Upper limit of traffic received from all neighbours together; each gets a share."},
    {"exchange", "neighbour_max", CONFIG_SIZE, AT(exchange.neighbour_max), .initial = "none",
     .min = 4000, .max = 0x1p40, .unit = "bytes per second", .words = "none",
     .help = "Upper limit of traffic sent to any one neighbour."},
    {"exchange", "interval_s", CONFIG_REAL, AT(exchange.interval_s), .initial = "auto", .min = 0.01,
     .max = 3600, .unit = "s", .words = "auto",
     .help =
         "Mean time between publications, longer with a small budget; auto: by delay and cost."},
    {"exchange", "steps_min", CONFIG_U32, AT(exchange.steps_min), .initial = "auto", .min = 1,
     .max = 1000000, .unit = "steps", .words = "auto",
     .help = "Fewest local steps between publications; auto: 4 with spare link capacity, else up "
             "to 16."},
    {"exchange", "density_max", CONFIG_REAL, AT(exchange.density_max), .initial = "auto",
     .min = 0.0001, .max = 1, .words = "auto",
     .help = "Largest part of the parameters in a publication; auto: a tenth, or 16,384 if more."},
    {"exchange", "tau", CONFIG_REAL, AT(exchange.tau), .initial = "auto", .min = 1e-7, .max = 1,
     .words = "auto",
     .help = "Fixed threshold for published residuals, ignoring the budget; auto: as low as the "
             "budget allows."},
    {"exchange", "gain", CONFIG_REAL, AT(exchange.gain), .initial = "auto", .min = 0.01, .max = 256,
     .words = "auto",
     .help = "Outer step size; 1 averages the nodes' progress, the number of nodes sums it."},
    {"exchange", "beta", CONFIG_REAL, AT(exchange.beta), .initial = "auto", .max = 0.99,
     .words = "auto", .help = "Outer momentum of the base."},
    {"exchange", "withheld", CONFIG_REAL, AT(exchange.withheld), .initial = "auto", .max = 1,
     .words = "auto", .help = "Part of the unpublished progress that is kept out of the weights."},
    {"exchange", "weigh_throughput", CONFIG_BOOL, AT(exchange.weigh_throughput), .initial = "yes",
     .help = "Weight each node's progress by its learned samples; no: equal weights.",
     .shared = CONFIG_SAME},
    {"exchange", "weight_max", CONFIG_REAL, AT(exchange.weight_max), .initial = "none", .min = 1,
     .max = 1e6, .words = "none",
     .help = "Largest weight of a node as a multiple of the median weight, whatever it reports.",
     .shared = CONFIG_SAME},
    {"exchange", "log_bytes", CONFIG_SIZE, AT(exchange.log_bytes), .initial = "64M", .min = 0x1p20,
     .max = 0x1p36, .unit = "bytes", .help = "Memory for rumors that other nodes may have missed."},
    {"exchange", "serve_bytes_per_s", CONFIG_SIZE, AT(exchange.serve_bytes_per_s),
     .initial = "auto", .max = 0x1p36, .unit = "bytes per second", .words = "auto",
     .help =
         "Base blocks sent to joining nodes while training; 0: no limit; auto: 12.5 MB/s or more."},

    {"limits", "peers", CONFIG_U32, AT(limits.peers), .initial = "32", .min = 1, .max = 128,
     .unit = "connections", .help = "Open connections."},
    {"limits", "members", CONFIG_U32, AT(limits.members), .initial = "256", .min = 2, .max = 4096,
     .unit = "nodes", .help = "Nodes of the swarm to remember."},
    {"limits", "incarnations", CONFIG_U32, AT(limits.incarnations), .initial = "4096", .min = 16,
     .max = CONFIG_INCARNATIONS_MAX, .unit = "incarnations",
     .help = "Incarnations of all nodes (one per start); progress of each stays in the sum."},
    {"limits", "half_open", CONFIG_U32, AT(limits.half_open), .initial = "64", .min = 1,
     .max = 1024, .unit = "connections",
     .help = "Callers that have not yet proved the swarm key; at most half of peers."},
    {"limits", "half_open_per_net", CONFIG_U32, AT(limits.half_open_per_net), .initial = "8",
     .min = 1, .max = 1024, .unit = "connections",
     .help = "Unproved callers from one network (IPv4 /24, IPv6 /48)."},
    {"limits", "low_ports", CONFIG_BOOL, AT(limits.low_ports), .initial = "no",
     .help = "Also dial ports below 1024 that members advertise (node.peers: always)."},
    {"limits", "handshake_s", CONFIG_REAL, AT(limits.handshake_s), .initial = "5", .min = 0.1,
     .max = 60, .unit = "s", .help = "Time from connecting to proof of the swarm key."},
    {"limits", "silence_s", CONFIG_REAL, AT(limits.silence_s), .initial = "3", .min = 1, .max = 600,
     .unit = "s", .help = "Silence after which a neighbour counts as lost."},
    {"limits", "send_queue_bytes", CONFIG_SIZE, AT(limits.send_queue_bytes), .initial = "1M",
     .min = 0x1p17, .max = 0x1p24, .unit = "bytes",
     .help = "Bytes waiting to be sent, per connection."},
    {"limits", "notes_per_s", CONFIG_U32, AT(limits.notes_per_s), .initial = "10", .min = 1,
     .max = 1000, .unit = "notes per second", .help = "Notes that other nodes may cause."},
};

_Static_assert(CONFIG_INCARNATIONS_MAX *HISTORY_ENTRY_BYTES <= CHECKPOINT_OWN_MAX,
               "what all incarnations published fits into a checkpoint");
_Static_assert(sizeof keys / sizeof keys[0] <= CONFIG_KEYS_MAX, "each has its place");

size_t config_key_count(void)
{
    return sizeof keys / sizeof keys[0];
}

const struct config_key *config_key_at(size_t i)
{
    CHECK(i < config_key_count());
    return &keys[i];
}

bool config_key_lists_files(const struct config_key *key)
{
    return key->type == CONFIG_TEXT && strcmp(key->section, "data") == 0;
}

size_t config_key_index(const struct config_key *key)
{
    const size_t i = (size_t)(key - keys);
    CHECK(i < config_key_count());
    return i;
}

const struct config_key *config_key_find(const char *section, const char *name)
{
    CHECK(section && name);
    for (size_t i = 0; i < config_key_count(); i++)
        if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

const struct config_key *config_key_named(const char *name)
{
    for (size_t i = 0; i < config_key_count(); i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static bool begins_section(size_t i)
{
    return i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0;
}

enum error config_key_once(const struct config_key *key, int *set, int line,
                           struct problem *problem)
{
    CHECK(line >= 0 && *set >= 0);
    if (*set > 0)
        return problem_set(problem, MALFORMED, "[%s] %s is already set in line %d", key->section,
                           key->name, *set);
    *set = line;
    return OK;
}

/* Returns the present name of a key of older configuration files, or NULL. */
static const char *renamed(const char *section, const char *name)
{
    static const struct {
        const char *section, *before, *now;
    } RENAMED[] = {
        {"exchange", "told_max", "density_max"},
        {"exchange", "give_bytes_per_s", "serve_bytes_per_s"},
        {"exchange", "held", "withheld"},
        {"limits", "lives", "incarnations"},
    };
    for (size_t i = 0; i < sizeof RENAMED / sizeof *RENAMED; i++)
        if (strcmp(section, RENAMED[i].section) == 0 && strcmp(name, RENAMED[i].before) == 0)
            return RENAMED[i].now;
    return NULL;
}

enum error config_key_unknown(const char *section, const char *name, struct problem *problem)
{
    CHECK(!config_key_find(section, name));
    const char *now = renamed(section, name);
    if (now)
        return problem_set(problem, MALFORMED, "the key [%s] %s was renamed to %s", section, name,
                           now);
    const struct config_key *elsewhere = NULL;
    const char *words[sizeof keys / sizeof *keys];
    size_t count = 0;
    for (size_t i = 0; i < config_key_count(); i++)
        if (strcmp(keys[i].section, section) == 0)
            words[count++] = keys[i].name;
        else if (strcmp(keys[i].name, name) == 0)
            elsewhere = &keys[i];
    if (elsewhere)
        return problem_set(problem, MALFORMED, "unknown key [%s] %.60s; did you mean [%s] %s?",
                           section, name, elsewhere->section, name);
    return problem_set(problem, MALFORMED, "unknown key [%s] %.60s; %s", section, name,
                       words_hint(name, words, count).text);
}

enum error config_key_section(const char *section, struct problem *problem)
{
    const char *words[sizeof keys / sizeof *keys];
    size_t count = 0;
    for (size_t i = 0; i < config_key_count(); i++) {
        if (strcmp(keys[i].section, section) == 0)
            return OK;
        if (begins_section(i))
            words[count++] = keys[i].section;
    }
    return problem_set(problem, MALFORMED, "unknown section [%.60s]; %s", section,
                       words_hint(section, words, count).text);
}
