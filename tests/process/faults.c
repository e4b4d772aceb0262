/* Faults for a real program: LD_PRELOAD=libfaults.so FAULTS=FILE hearsay node ...
 *
 *   FILE     lines of text that a test writes over while the program runs (1<>FILE):
 *              clock N   the wall clock is wrong by N seconds
 *              disk N    what is written to files from descriptor 3 on, or synced, fails with
 *                        errno N; 0: it does not
 *
 * stdio does not call write(2) by its name, so logs are spared.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BYTES 64

static const char *script; /* BYTES of FILE, as they are now; NULL: there is none */

static void *next_of(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (!next)
        abort();
    return next;
}

/* What stands behind this word. */
static long said(const char *word)
{
    char text[BYTES + 1] = "";
    if (script)
        memcpy(text, script, BYTES);
    const char *at = strstr(text, word);
    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

static bool fails(int file)
{
    struct stat about;
    const long error = said("disk ");
    if (error == 0 || file <= STDERR_FILENO || fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    errno = (int)error;
    return true;
}

ssize_t write(int file, const void *from, size_t bytes)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        *(void **)&next = next_of("write");
    return fails(file) ? -1 : next(file, from, bytes);
}

int fdatasync(int file)
{
    static int (*next)(int);
    if (!next)
        *(void **)&next = next_of("fdatasync");
    return fails(file) ? -1 : next(file);
}

/* The library's name is no word of ours. */
int wall_time(clockid_t which, struct timespec *now) __asm__("clock_gettime");

int wall_time(clockid_t which, struct timespec *now)
{
    static int (*next)(clockid_t, struct timespec *);
    if (!next)
        *(void **)&next = next_of("clock_gettime");
    const int result = next(which, now);
    if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)
        now->tv_sec += said("clock ");
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec at;
    (void)zone;
    (void)wall_time(CLOCK_REALTIME, &at);
    now->tv_sec = at.tv_sec;
    now->tv_usec = at.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec at;
    (void)wall_time(CLOCK_REALTIME, &at);
    if (out)
        *out = at.tv_sec;
    return at.tv_sec;
}

/* Before main, and so before the program shuts itself off from other files. */
__attribute__((constructor)) static void read_script(void)
{
    const char *path = getenv("FAULTS");
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
        if (at == MAP_FAILED)
            abort();
        script = at;
        (void)close(file);
    }
}
