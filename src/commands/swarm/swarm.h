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
#define SWARM_LINE_MAX  (512 * 1024) /* bytes of the longest log line, which has the version */

/* State of one node, as its log shows it. */
struct swarm_node {
    pid_t pid;         /* process id; 0 = the process has ended */
    int pipe;          /* pipe of its log; -1 = closed */
    char *line;        /* [SWARM_LINE_MAX] the line being received */
    size_t line_bytes; /* bytes of that line so far */
    int exit_status;   /* exit status as from waitpid, once the process has ended */

    /* Values from the lines "started", "status" and "evaluated". */
    char address[72];          /* host and port; empty = not started yet */
    uint64_t steps, samples;   /* steps made, and samples learned, since its start */
    double samples_per_second; /* lately */
    double loss;               /* mean loss of its last batches */
    uint64_t neighbours;       /* number of its neighbours */
    uint64_t rumors_published; /* its own */
    uint64_t rumors_received;  /* rumors received for the first time */
    uint64_t duplicates;       /* rumors received again */
    uint64_t bytes_sent;       /* bytes sent over all links */
    uint64_t bytes_received;   /* bytes received over all links */
    /* Samples and correct answers of its last evaluation, on its part of the test set. */
    uint64_t tested, correct;
    double tested_r2;     /* R² of that evaluation, if numbers are predicted */
    double tested_loss;   /* mean loss of that evaluation */
    uint64_t evaluations; /* so far */

    /* Values from the "final" line; valid if has_final. */
    bool has_final;
    char id[72];          /* id in hexadecimal */
    char digest[20];      /* digest of the base, as the node counts it */
    char base_digest[20]; /* digest computed from the base itself */
    char *version;        /* version of the base as text */
    double accuracy,
        /* Scores of the base: accuracy (or R²) and loss, on all test samples or on its part of a
         * text. */
        test_loss;
    double seconds;         /* seconds that the node ran */
    uint64_t parameters;    /* number of model parameters */
    uint64_t rumors_known;  /* number of rumors in the base */
    uint64_t rss_bytes_max; /* largest memory of the process */
};

struct swarm_goal;

/* Reads the values of a log line. Returns false if it is none. */
bool swarm_read_line(struct swarm_node *node, const char *line);

/* Returns true if the node has ended with a saved model. */
bool swarm_node_finished(const struct swarm_node *node);

struct swarm_verdict {
    int finished;    /* number of nodes that ended with a saved model */
    bool same_model; /* these nodes have one version and one digest, which is that of their bases */
    double score;    /* worst score for images, score over all parts for text; NaN = none */
    uint64_t rumors; /* rumors in the model of one of these nodes */
    uint64_t sent_bytes, dense_bytes;
};

struct swarm_verdict swarm_judge(const struct swarm_node *nodes, int count, enum score_kind kind);

/* Returns the score (swarm_score.h) of a node's last evaluation. */
double swarm_node_score(const struct swarm_node *node, enum score_kind kind);

/* Returns the bytes for sending each step's gradient in float32 to every other node. */
uint64_t swarm_dense_bytes(const struct swarm_node *node, int count);

/* Writes bytes for people, such as "2.2 MB", and returns out. */
const char *swarm_amount(double bytes, char out[static 16]);

void swarm_print_table(FILE *out, const struct swarm_node *nodes, int count, enum score_kind kind);
void swarm_print_traffic(FILE *out, const struct swarm_verdict *verdict);

/* Opens the file for the results at the start, so that a bad path is reported at once. "-":
 * standard output; text for people then goes to standard error. */
enum error swarm_open_json(FILE **json, const char *path, struct problem *problem) MUST_USE;

/* Writes the results; unknown values are null. Returns false and sets errno if it cannot. */
bool swarm_write_json(FILE *out, const struct swarm_node *nodes, int count,
                      const struct swarm_goal *goal, bool ok);

/* Runs the command. argv[0] begins its messages. Returns the exit code. */
int swarm_run(int argc, char **argv);

#endif
