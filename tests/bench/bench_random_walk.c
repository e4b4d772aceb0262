/* Measures the cost of random-walk learners, with which the simulator tests the protocol without
 * training: nanoseconds of a step, a publication, an applied update and a digest. Many learners
 * take turns, as in the simulator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system_clock.h"
#include "training/random_walk_learner.h"

#define NODES  256
#define ROUNDS 200
#define STEPS  16 /* steps between two publications */

struct spent {
    /* Seconds spent in each operation; `terms` is the time of publications. */
    double step, terms, apply, digest;
    unsigned long told; /* number of published entries */
};

/* Plays node i's turn: it steps and publishes, two neighbours apply its update, and all three
 * compute their digests. */
static void play(struct random_walk **nodes, int i, const struct publish_terms *terms,
                 struct spent *spent)
{
    struct random_walk *const near[] = {nodes[i], nodes[(i + 1) % NODES], nodes[(i + 7) % NODES]};
    double at[5] = {monotonic_s()};
    for (int step = 0; step < STEPS; step++)
        random_walk_step(near[0]);
    at[1] = monotonic_s();
    const struct update *update = random_walk_publish(near[0], terms);
    at[2] = monotonic_s();
    random_walk_apply(near[1], update, 0.3f);
    random_walk_apply(near[2], update, 0.3f);
    at[3] = monotonic_s();
    for (int j = 0; j < 3; j++)
        (void)random_walk_digest(near[j]);
    at[4] = monotonic_s();
    spent->step += at[1] - at[0];
    spent->terms += at[2] - at[1];
    spent->apply += at[3] - at[2];
    spent->digest += at[4] - at[3];
    spent->told += update->count;
}

static void measure(size_t parameters, bool accounted)
{
    static struct random_walk *nodes[NODES];
    struct arena arena;
    struct spent spent = {0};
    struct backend *backend = backend_cpu(1);
    const struct publish_terms terms = {
        .budget_bytes = 1000, .share = 1.0 / 8, .gain = 1, .beta = 0.3};
    arena_init(&arena, (size_t)1 << 30);
    for (int i = 0; i < NODES; i++)
        nodes[i] = random_walk_new(&arena, backend, parameters, (uint64_t)i,
                                   (uint32_t)parameters / 10, accounted);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < NODES; i++)
            play(nodes, i, &terms, &spent);
    for (int i = 0; i < NODES; i++)
        random_walk_free(nodes[i]);
    backend->close(backend);
    arena_release(&arena);
    const double turns = (double)NODES * ROUNDS, ns = 1e9 / turns;
    (void)printf("%10zu %9s %6.0f %8.0f %8.0f %8.0f %8.1f\n", parameters, accounted ? "yes" : "no",
                 spent.step * ns / STEPS, spent.terms * ns, spent.apply * ns / 2,
                 spent.digest * ns / 3, (double)spent.told / turns);
}

int main(void)
{
    (void)printf("%d wanderers, nanoseconds per call\n%10s %9s %6s %8s %8s %8s %8s\n", NODES,
                 "parameters", "accounted", "step", "tell", "hear", "digest", "told");
    for (size_t parameters = 600; parameters <= 1000; parameters += 400) {
        measure(parameters, false);
        measure(parameters, true);
    }
    return 0;
}
