/* hearsay swarm: a whole swarm on this machine, to see what it does.
 *
 *   options ─► folder with keys and a node.conf for each ─► N processes `hearsay node`
 *   their logs (JSON lines through pipes) ─► goal, view ─► table, verdict, exit code
 *
 * The nodes are the same daemons that run anywhere; this only starts, watches and stops them.
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
#define SWARM_LINE_MAX  (512 * 1024) /* a log line; the last one carries the whole version */

/* One node as its log shows it. */
struct swarm_node {
    pid_t pid;         /* 0: ended */
    int pipe;          /* its log, -1: closed */
    char *line;        /* [SWARM_LINE_MAX] the line being received */
    size_t line_bytes; /* of it that are there */
    int exit_status;   /* as from waitpid, when it has ended */

    /* From "started", "status" and "evaluated". */
    char address[72];          /* host and port; empty: not started yet */
    uint64_t steps, samples;   /* learned since its start */
    double samples_per_second; /* lately */
    double loss;               /* of its last batches */
    uint64_t neighbours;       /* that it has a link to */
    uint64_t rumors_published; /* its own */
    uint64_t rumors_received;  /* new to it */
    uint64_t duplicates;       /* received once more */
    uint64_t bytes_sent;       /* over all links */
    uint64_t bytes_received;   /* over all links */
    uint64_t tested, correct;  /* test samples of its part, in its last evaluation */
    double tested_r2;          /* of those, where numbers are predicted */
    double tested_loss;        /* of those, the mean */
    uint64_t evaluations;      /* so far */

    /* From the "final" line; valid if has_final. */
    bool has_final;
    char id[72];          /* hexadecimal */
    char digest[20];      /* of the version, as the node counts it */
    char base_digest[20]; /* computed from the base itself */
    char *version;        /* which rumors the base is the sum of */
    double accuracy,
        test_loss; /* of the base; R² for accuracy: on all test samples, or on its part of a text */
    double seconds;         /* that it ran */
    uint64_t parameters;    /* of the model */
    uint64_t rumors_known;  /* that the base is the sum of */
    uint64_t rss_bytes_max; /* most memory it had */
};

struct swarm_goal;

/* Take what a log line says. False if it is not one. */
bool swarm_read_line(struct swarm_node *node, const char *line);

/* Did it end as it should? */
bool swarm_node_finished(const struct swarm_node *node);

struct swarm_verdict {
    int finished;    /* nodes that ended as they should */
    bool same_model; /* those: one version, one digest, and it is that of their bases */
    double score;    /* images: that of the worst; text: of all parts; not a number: none */
    uint64_t rumors; /* that the model of one of them is the sum of */
    uint64_t sent_bytes, dense_bytes;
};

struct swarm_verdict swarm_judge(const struct swarm_node *nodes, int count, enum score_kind kind);

/* swarm_score.h, of a node's last evaluation. */
double swarm_node_score(const struct swarm_node *node, enum score_kind kind);

/* Bytes that sending each step's gradient in float32 to every other node would take. */
uint64_t swarm_dense_bytes(const struct swarm_node *node, int count);

/* Bytes as a person reads them: "2.2 MB". */
const char *swarm_amount(double bytes, char out[static 16]);

void swarm_print_table(FILE *out, const struct swarm_node *nodes, int count, enum score_kind kind);
void swarm_print_traffic(FILE *out, const struct swarm_verdict *verdict);

/* Where the results will go: opened at the start, since nobody wants to learn at the end that it
 * cannot be written. "-": standard output; what is for people goes to standard error from then on.
 */
enum error swarm_open_json(FILE **json, const char *path, struct problem *problem) MUST_USE;

/* Unknown values are null. Returns false and sets errno if it cannot be written. */
bool swarm_write_json(FILE *out, const struct swarm_node *nodes, int count,
                      const struct swarm_goal *goal, bool ok);

/* The command; argv[0] begins its messages. Returns the exit code. */
int swarm_run(int argc, char **argv);

#endif
