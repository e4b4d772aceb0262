/* hearsay swarm: runs a whole swarm on this machine, as a trial.
 *
 *   options ─► folder with keys and a node.conf for each ─► N processes `hearsay node`
 *   their logs (JSON lines through pipes) ─► goal, view ─► table, verdict, exit code
 *
 * The nodes are ordinary daemons; the command only starts, watches and stops them.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_H
#define HEARSAY_COMMANDS_SWARM_SWARM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "commands/swarm/swarm_score.h"

#define SWARM_NODES_MAX 32
/* Maximum size of a log line in bytes. The longest line is "final", which lists the base's version:
 * its rumors by origin. */
#define SWARM_LINE_MAX (512 * 1024)

/* State of one node, from its log. */
struct swarm_node {
    pid_t pid;         /* process id; 0 = not started, or ended */
    int pipe;          /* read end of the pipe from the node's log; -1 = closed */
    char *line;        /* [SWARM_LINE_MAX] the log line that is being received */
    size_t line_bytes; /* bytes of `line` received so far */
    int exit_status;   /* exit status as from waitpid, once the process has ended */

    /* Values from the log lines "started", "status" and "evaluated". */
    char address[72];        /* host and port; "" = not started yet */
    uint64_t steps, samples; /* steps and samples since the node's start */
    double samples_per_second;
    double loss; /* mean training loss of the last second with steps */
    uint64_t neighbours;
    uint64_t rumors_published;
    uint64_t rumors_received; /* rumors received for the first time */
    uint64_t duplicates;      /* received rumors that the node already knew */
    uint64_t bytes_sent;
    uint64_t bytes_received;
    /* Samples and correct answers of the last evaluation, which tests the node's part of the test
     * set. */
    uint64_t tested, correct;
    double tested_r2;   /* R² of the last evaluation, if the model predicts numbers */
    double tested_loss; /* mean loss of the last evaluation */
    uint64_t evaluations;

    /* The values from the log line "final" are valid. */
    bool has_final;
    char id[72]; /* the node's id in hexadecimal */
    /* Digest of the base as the node updated it with every change; must equal base_digest. */
    char digest[20];
    char base_digest[20]; /* digest computed from the base's weights at the end */
    char *version;        /* version of the base as text: its rumors by origin */
    /* Accuracy (or R²) and mean loss of the base on the test samples; with text, on a part. */
    double accuracy, test_loss;
    double seconds; /* seconds that the node ran */
    uint64_t parameters;
    uint64_t rumors_known;  /* number of rumors in the base */
    uint64_t rss_bytes_max; /* peak memory of the process */
};

struct swarm_goal;

/* Reads the values of a log line into the node. Returns false if it is not a log line. */
bool swarm_read_line(struct swarm_node *node, const char *line);

/* Returns true if the node's process has ended and has saved its model. */
bool swarm_node_finished(const struct swarm_node *node);

struct swarm_verdict {
    int finished; /* number of nodes that ended with a saved model */
    /* The finished nodes have one version and one digest, and their bases have this digest. */
    bool same_model;
    /* Score of the worst finished node, or with text their mean; NaN = none finished. */
    double score;
    uint64_t rumors; /* rumors in the base of the last finished node in the list */
    uint64_t sent_bytes, dense_bytes;
};

struct swarm_verdict swarm_judge(const struct swarm_node *nodes, int count, enum score_kind kind);

/* Returns the score (swarm_score.h) of a node's last evaluation. */
double swarm_node_score(const struct swarm_node *node, enum score_kind kind);

/* Returns the bytes that the node would have sent if it had sent each step's gradients in float32
 * to every other node. */
uint64_t swarm_dense_bytes(const struct swarm_node *node, int count);

/* Writes a number of bytes with a unit, such as "2.2 MB", and returns out. */
const char *swarm_amount(double bytes, char out[static 16]);

void swarm_print_table(FILE *out, const struct swarm_node *nodes, int count, enum score_kind kind);
void swarm_print_traffic(FILE *out, const struct swarm_verdict *verdict);

/* Opens the file for the results before the swarm starts, so that a wrong path is reported at once.
 * "-": standard output; all other text then goes to standard error. */
enum error swarm_open_json(FILE **json, const char *path, struct problem *problem) MUST_USE;

/* Writes the results as JSON; an unknown score or loss is null. Returns false and sets errno if
 * that fails.
 */
bool swarm_write_json(FILE *out, const struct swarm_node *nodes, int count,
                      const struct swarm_goal *goal, bool ok);

extern const struct command swarm_command;

#endif
