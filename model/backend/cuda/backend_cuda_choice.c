/* The table of choices among algorithms (cuda_choice.h). */
#include "backend/cuda/cuda_choice.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define CHOICES_MAX 1024 /* largest number of choices that a process remembers */

struct made {
    size_t key_bytes;
    unsigned char key[CHOICE_KEY_BYTES];
    unsigned char choice[CHOICE_BYTES];
};

/* The choices remembered so far. The lock is also held while measuring, so that no two threads
 * measure the same operation. */
static struct {
    pthread_mutex_t lock;
    struct made made[CHOICES_MAX];
    int count;
} choices = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct made *find(const struct chooser *chooser)
{
    for (const struct made *made = choices.made; made < choices.made + choices.count; made++) {
        if (made->key_bytes == chooser->key_bytes &&
            memcmp(made->key, chooser->key, chooser->key_bytes) == 0)
            return made;
    }
    return NULL;
}

static void keep(const struct chooser *chooser, const void *choice)
{
    struct made *made = &choices.made[choices.count++];
    made->key_bytes = chooser->key_bytes;
    memcpy(made->key, chooser->key, chooser->key_bytes);
    memcpy(made->choice, choice, chooser->choice_bytes);
}

void cuda_choice(const struct chooser *chooser, void *choice)
{
    CHECK(chooser->key_bytes <= CHOICE_KEY_BYTES && chooser->choice_bytes <= CHOICE_BYTES);
    CHECK(pthread_mutex_lock(&choices.lock) == 0);
    const struct made *made = find(chooser);
    const bool has_room = choices.count < CHOICES_MAX;
    if (made != NULL)
        memcpy(choice, made->choice, chooser->choice_bytes);
    else
        chooser->choose(chooser->context, has_room, choice);
    if (made == NULL && has_room)
        keep(chooser, choice);
    CHECK(pthread_mutex_unlock(&choices.lock) == 0);
}

int cuda_first_fast(const float *ms, int count)
{
    float shortest = INFINITY;
    for (int i = 0; i < count; i++)
        shortest = fminf(shortest, ms[i]);
    for (int i = 0; i < count; i++) {
        if (isfinite(ms[i]) && ms[i] <= AS_FAST * shortest)
            return i;
    }
    return 0;
}

void *cuda_alloc_spare(struct cuda *cuda, size_t bytes)
{
    void *memory = NULL;
    CHECK(!cuda->recording); /* only first calls measure, and first calls are never recorded */
    if (cudaMalloc(&memory, bytes) == cudaSuccess)
        return memory;
    (void)cudaGetLastError(); /* clears the error, which the next check would report */
    return NULL;
}
