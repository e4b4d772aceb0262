#include "base/fork_files.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* protects `files` and `words` */
/* [words] one bit for each file descriptor; 1 = registered (fork_files_add) */
static uint64_t *files;
static size_t words;

static void lock(void)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
}

static void unlock(void)
{
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

/* Runs in a forked child, whose only thread took the lock before the fork. Closes the files and
 * unlocks. Allocates no memory and takes no other lock, because other threads may have held those
 * locks. */
static void close_all(void)
{
    for (size_t i = 0; i < words; i++)
        for (uint32_t bit = 0; files[i] != 0 && bit < 64; bit++)
            if (bit_get(&files[i], bit)) {
                bit_set(&files[i], bit, false);
                (void)close((int)(i * 64 + bit));
            }
    unlock();
}

static void watch_forks(void)
{
    if (pthread_atfork(lock, unlock, close_all) != 0)
        memory_missing(1);
}

static void make_room(size_t wanted)
{
    if (wanted <= words)
        return;
    files = memory_more(files, wanted, sizeof *files);
    memset(files + words, 0, (wanted - words) * sizeof *files);
    words = wanted;
}

void fork_files_add(int file)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(file >= 0);
    CHECK(pthread_once(&once, watch_forks) == 0);
    lock();
    make_room(bit_words((size_t)file + 1));
    bit_set(files, (uint32_t)file, true);
    unlock();
}

void fork_files_remove(int file)
{
    CHECK(file >= 0);
    lock();
    if ((size_t)file / 64 < words)
        bit_set(files, (uint32_t)file, false);
    unlock();
}
