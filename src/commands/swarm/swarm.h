/* hearsay swarm: a whole swarm on this machine, to see what it does.
 *
 *   options ─► folder with keys and a node.conf for each ─► N processes `hearsay node`
 *   their logs (JSON lines through pipes) ─► one live line ─► table, verdict, exit code
 *
 * The nodes are the same daemons that run anywhere; this only starts, watches and stops them.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_H
#define HEARSAY_COMMANDS_SWARM_SWARM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SWARM_NODES_MAX 32
#define SWARM_LINE_MAX  (512 * 1024) /* a log line; the last one carries the whole version */

/* One node as its log shows it. */
struct swarm_node {
    pid_t pid;  /* 0: ended */
    int pipe;   /* its log, -1: closed */
    char *line; /* [SWARM_LINE_MAX] the line being received */
    size_t line_bytes;
    int exit_status; /* as from waitpid, when it has ended */

    char address[72]; /* from "started" */
    uint64_t steps, samples;
    double samples_per_second, loss;
    uint64_t rumors_published, rumors_received, duplicates;
    uint64_t bytes_sent, bytes_received;
    uint64_t tested, correct;
    uint64_t evaluations;

    bool has_final; /* what follows is from "final" */
    char id[72];
    char digest[20], base_digest[20];
    char *version;
    double accuracy, test_loss, seconds;
    uint64_t parameters, rumors_known, rss_bytes_max;
};

/* Take what a log line says. False if it is not one. */
bool swarm_read_line(struct swarm_node *node, const char *line);

/* Did it end as it should? */
bool swarm_node_finished(const struct swarm_node *node);

struct swarm_verdict {
    int finished;    /* nodes that ended as they should */
    bool same_model; /* those: one version, one digest, and it is that of their bases */
    double accuracy; /* the worst of them; not a number: none */
    uint64_t rumors; /* that the model of one of them is the sum of */
    uint64_t sent_bytes, dense_bytes;
};

struct swarm_verdict swarm_judge(const struct swarm_node *nodes, int count);

/* What sending each step's gradient, in float32, to every other node would have taken. */
uint64_t swarm_dense_bytes(const struct swarm_node *node, int count);

/* columns: of the terminal, whose last line is written over; 0: no terminal, a whole new line. */
void swarm_print_live(FILE *out, const struct swarm_node *nodes, int count, double seconds,
                      double left_s, int columns);
void swarm_print_table(FILE *out, const struct swarm_node *nodes, int count);
void swarm_print_traffic(FILE *out, const struct swarm_verdict *verdict);

/* What is not known is null. False, with errno, when it cannot be written. */
bool swarm_write_json(FILE *out, const struct swarm_node *nodes, int count, double target, bool ok);

/* The command; argv[0] begins its messages. Returns the exit code. */
int swarm_run(int argc, char **argv);

#endif
