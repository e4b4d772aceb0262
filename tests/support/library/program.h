/* A program that contains a node, for tests. It fits a plane through points by least squares, on a
 * thread of its own, and uses only hearsay.h.
 *
 *   programs_begin ─► program_open ─► program_start (learns: join, step, …, settle) ─► program_end
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
    const char *name;    /* name of its files */
    unsigned seed;       /* seed of its points */
    const char *run;     /* name of the run; NULL = "plane" */
    const char *peers;   /* addresses of its peers; NULL = none */
    const char *setting; /* an additional setting; NULL = none */
    uint32_t members; /* members that it waits for before it steps, including itself; 0 = no wait */
    int steps;        /* least number of steps */
    double target;    /* loss of the base at which it stops; 0 = not used */
    uint32_t dtype;   /* type of its weights */
    bool has_copies;  /* the node gets copies of weights and bias */
    struct backend *gpu; /* device of the weights, owned by the test; NULL = main memory */
    bool is_impatient;   /* it settles repeatedly with a short time limit */
    bool finishes;       /* it calls finish instead of settle, and waits for no other program */
    pthread_barrier_t *together; /* barrier before each settle; NULL = none */

    struct hearsay *node;
    float weights[PROGRAM_WEIGHTS];   /* [inputs][outputs] weights in float32 */
    uint16_t halves[PROGRAM_WEIGHTS]; /* [inputs][outputs] weights in 16 bits */
    float bias[PROGRAM_OUTPUTS];
    float weights_copy[PROGRAM_WEIGHTS], bias_copy[PROGRAM_OUTPUTS];
    /* Calls of fetch and store: of the copies, or before and after use of the GPU. */
    int fetches, stores;
    void *gpu_weights, *gpu_bias;
    pthread_t thread;
    int error;        /* first error that a call returned in its thread */
    const char *call; /* name of that call */
    int changes;      /* steps that reported a changed model */
};

/* Makes a new folder with a swarm key, in which all later files are created. */
int programs_begin(void **state);
int programs_end(void **state);

/* Sets up a program. All programs have the same first weights. */
void program_init(struct program *program, const char *name, unsigned seed);
void program_tensors(struct program *program, struct hearsay_tensor tensors[PROGRAM_TENSORS]);
/* Makes an identity file unless it exists. */
void program_need_identity(const char *path, unsigned seed);
/* Frees its memory on the GPU. */
void program_give(struct program *program);
/* Calls hearsay_open for a node that listens on a free port. */
int program_open(struct program *program);
/* Calls program_open, which must succeed. Otherwise the test fails with the error text. */
void program_must_open(struct program *program);
/* Writes the address where it listens: "127.0.0.1:40123". */
void program_address(struct program *program, char address[64]);
/* program_start starts a thread that joins, makes the steps and settles. program_end waits for it.
 */
void program_start(struct program *program);
void program_finish(struct program *program);
/* Makes one step of gradient descent on new random points. Returns the loss before it. */
double program_step(struct program *program, unsigned step);
/* Returns the loss of these weights on many points of the plane. */
double program_loss(const float weights[PROGRAM_WEIGHTS], const float bias[PROGRAM_OUTPUTS]);
/* Calls hearsay_base. */
int program_base(struct program *program, float weights[PROGRAM_WEIGHTS],
                 float bias[PROGRAM_OUTPUTS]);
struct hearsay_info program_info(struct program *program);
/* Returns a message with the program's last error text. */
const char *program_sentence(struct program *program, int error);

#endif
