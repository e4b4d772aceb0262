/* A program with a node in it, for tests: it fits a plane through points by least squares, on a
 * thread of its own, and knows nothing of hearsay but hearsay.h.
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
    const char *name;            /* of its files */
    unsigned seed;               /* of its points */
    const char *run;             /* NULL: "plane" */
    const char *peers;           /* whom it dials; NULL: nobody */
    const char *setting;         /* one more; or NULL */
    uint32_t members;            /* members it knows before it steps, itself included; or 0 */
    int steps;                   /* to make at least */
    double target;               /* loss of the base that it steps until; 0: none */
    uint32_t dtype;              /* of its weights */
    bool has_copies;             /* its node has copies of weights and bias */
    struct backend *gpu;         /* where they lie, instead; its own, and lent */
    bool is_impatient;           /* it settles again and again, for a short time */
    bool finishes;               /* it finishes, instead, and waits for nobody before */
    pthread_barrier_t *together; /* waited for before each settle; or NULL */

    struct hearsay *node;
    float weights[PROGRAM_WEIGHTS];   /* [inputs][outputs], of float32 */
    uint16_t halves[PROGRAM_WEIGHTS]; /* the same, of sixteen bits */
    float bias[PROGRAM_OUTPUTS];
    float weights_copy[PROGRAM_WEIGHTS], bias_copy[PROGRAM_OUTPUTS];
    int fetches, stores; /* of the copies, or before and after the GPU was used */
    void *gpu_weights, *gpu_bias;
    pthread_t thread;
    int error;        /* the first that a call has returned in its thread */
    const char *call; /* by that name */
    int changes;      /* steps that said so */
};

/* A new folder with a swarm key; later files are made in it. */
int programs_begin(void **state);
int programs_end(void **state);

/* The first weights, the same for all. */
void program_init(struct program *program, const char *name, unsigned seed);
void program_tensors(struct program *program, struct hearsay_tensor tensors[PROGRAM_TENSORS]);
/* Makes the file of keys, if it is not there. */
void program_need_identity(const char *path, unsigned seed);
/* Gives back what it took of the GPU. */
void program_give(struct program *program);
/* hearsay_open, of a node that listens at a port of the system's choice. */
int program_open(struct program *program);
/* The same; else the test fails with the sentence. */
void program_must_open(struct program *program);
/* Where it listens: "127.0.0.1:40123". */
void program_address(struct program *program, char address[64]);
/* Begins a thread that joins, makes its steps and settles; and waits for it. */
void program_start(struct program *program);
void program_finish(struct program *program);
/* One step of gradient descent on new random points; returns the loss before it. */
double program_step(struct program *program, unsigned step);
/* The loss of these weights on many points of the plane. */
double program_loss(const float weights[PROGRAM_WEIGHTS], const float bias[PROGRAM_OUTPUTS]);
/* hearsay_base. */
int program_base(struct program *program, float weights[PROGRAM_WEIGHTS],
                 float bias[PROGRAM_OUTPUTS]);
struct hearsay_info program_info(struct program *program);
/* Error text for a message. */
const char *program_sentence(struct program *program, int error);

#endif
