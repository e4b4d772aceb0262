/* A program that contains a node, for tests. It fits a plane to points by least squares, on its own
 * thread, and uses only hearsay.h.
 *
 *   programs_begin ─► program_open ─► program_start (join, step, …, settle) ─► program_finish
 */
#ifndef HEARSAY_TESTS_SUPPORT_LIBRARY_PROGRAM_H
#define HEARSAY_TESTS_SUPPORT_LIBRARY_PROGRAM_H

#include <pthread.h>
#include <stdbool.h>

#include "backend/backend.h"
#include "hearsay.h"

#define PROGRAM_INPUTS  24
#define PROGRAM_OUTPUTS 5
#define PROGRAM_WEIGHTS (PROGRAM_INPUTS * PROGRAM_OUTPUTS)
#define PROGRAM_TENSORS 2
#define PROGRAM_FOREVER (-1.0)

struct program {
    const char *name;
    unsigned seed;
    const char *run;     /* name of the run; NULL = "plane" */
    const char *peers;   /* addresses of its peers; NULL = none */
    const char *setting; /* an additional setting; NULL = none */
    uint32_t members; /* members to wait for before the first step, including this program; 0 = no
                         wait */
    int steps;        /* minimum number of steps */
    double target;    /* loss of the base at which it stops; 0 = not used */
    uint32_t dtype;   /* type of its weights */
    bool has_statistics; /* its bias is HEARSAY_STATISTICS */
    bool has_copies;     /* the node gets copies of weights and bias, not the arrays themselves */
    struct backend *gpu; /* GPU with weights and bias, closed by program_give; NULL = main memory */
    /* repeats settle or finish with a limit of 10 ms until it succeeds or fails */
    bool is_impatient;
    /* ends with one hearsay_finish, without barriers, instead of two hearsay_settle */
    bool finishes;
    pthread_barrier_t *together; /* barrier before the first step and each settle, and after the
                                    last settle; NULL = none */

    struct hearsay *node;
    float weights[PROGRAM_WEIGHTS];   /* [inputs][outputs] weights in float32 */
    uint16_t halves[PROGRAM_WEIGHTS]; /* [inputs][outputs] weights in 16 bits */
    float bias[PROGRAM_OUTPUTS];
    float weights_copy[PROGRAM_WEIGHTS], bias_copy[PROGRAM_OUTPUTS];
    /* Number of fetch and store calls. With copies these calls copy values. With a GPU, fetch waits
     * until the GPU is done. */
    int fetches, stores;
    void *gpu_weights, *gpu_bias;
    pthread_t thread;
    int error;        /* first error that ok() in program.c has seen */
    const char *call; /* name of the call that returned the error, such as "settle" */
    int changes;      /* steps that reported a changed model */
};

/* Makes a new folder, enters it, and creates a swarm key there. */
int programs_begin(void **state);
int programs_end(void **state);

/* Sets up a program. All programs have equal initial weights. */
void program_init(struct program *program, const char *name, unsigned seed);
void program_tensors(struct program *program, struct hearsay_tensor tensors[PROGRAM_TENSORS]);
/* Makes an identity file unless it exists. */
void program_need_identity(const char *path, unsigned seed);
/* Frees the program's memory on the GPU, and closes the GPU. */
void program_give(struct program *program);
/* Calls hearsay_open for a node that listens on a free port. */
int program_open(struct program *program);
/* Calls program_open, which must succeed. Otherwise the test fails with the error text. */
void program_must_open(struct program *program);
/* Writes the address where the program listens: "127.0.0.1:40123". */
void program_address(struct program *program, char address[64]);
/* program_start starts a thread that joins, steps, and settles or finishes. program_finish waits
 * for its end, and fails the test if a call that ok() checks returned an error. */
void program_start(struct program *program);
void program_finish(struct program *program);
/* Makes one step of gradient descent on new random points. Returns the loss before it. */
double program_step(struct program *program, unsigned step);
/* Returns the loss of these weights on many points of the plane. */
double program_loss(const float weights[PROGRAM_WEIGHTS], const float bias[PROGRAM_OUTPUTS]);
int program_base(struct program *program, float weights[PROGRAM_WEIGHTS],
                 float bias[PROGRAM_OUTPUTS]);
struct hearsay_info program_info(struct program *program);
/* Returns the library's text for this error, valid until the next call. */
const char *program_sentence(struct program *program, int error);

#endif
