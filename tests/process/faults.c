/* Faults for a real program: LD_PRELOAD=libfaults.so FAULTS=FILE hearsay node ...
 *
 *   FILE     lines of text that a test overwrites while the program runs (1<>FILE):
 *              clock N   the wall clock is wrong by N seconds
 *              disk N    write and fdatasync of regular files with descriptors from 3 on fail with
 *                        errno N; 0: they work
 *
 * stdio does not call write(2) by its name, so logs are not affected.
 *
 * FAULTS_ALLOCATION=N: the N-th allocation from main on fails, be it by the program, a library or a
 * new thread, and "faults: ..." is printed. Two callers that cannot handle a failure are spared:
 * the C library's glob, which frees memory twice, and libseccomp, which uses the NULL pointer.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BYTES 64

static const char *script; /* current BYTES bytes of FILE; NULL = no file */

static void *next_of(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (!next)
        abort();
    return next;
}

/* Returns the number after `word` in FILE, or 0 if FILE does not contain the word. */
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

/* A second C name for clock_gettime, which the system's headers declare. */
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

/* The C library's functions under names that need no dlsym, which might allocate memory. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* number of allocations until one fails; 0 or less = none fails any more */
static atomic_long allocations_left;

static _Thread_local bool is_spared;

static bool is_libseccomp(const void *caller)
{
    Dl_info about;
    return dladdr(caller, &about) != 0 && strstr(about.dli_fname, "libseccomp") != NULL;
}

static bool is_refused(const void *caller)
{
    static const char said_of_it[] = "faults: this memory is refused\n";
    if (is_spared || atomic_load(&allocations_left) <= 0 || is_libseccomp(caller) ||
        atomic_fetch_sub(&allocations_left, 1) != 1)
        return false;
    (void)!syscall(SYS_write, STDERR_FILENO, said_of_it, sizeof said_of_it - 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (is_refused(__builtin_return_address(0)))
        return ENOMEM;
    void *taken = __libc_memalign(alignment, bytes);
    if (!taken)
        return ENOMEM;
    *memory = taken;
    return 0;
}

int glob(const char *restrict pattern, int flags, int (*on_error)(const char *, int),
         glob_t *restrict found)
{
    static int (*next)(const char *, int, int (*)(const char *, int), glob_t *);
    if (!next)
        *(void **)&next = next_of("glob");
    is_spared = true;
    const int code = next(pattern, flags, on_error, found);
    is_spared = false;
    return code;
}

/* The counted failure only concerns anonymous memory, not mapped files. */
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (!next)
        *(void **)&next = next_of("mmap");
    if ((flags & MAP_ANONYMOUS) && is_refused(__builtin_return_address(0)))
        return MAP_FAILED;
    return next(at, bytes, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!next)
        *(void **)&next = next_of("pthread_create");
    return is_refused(__builtin_return_address(0)) ? EAGAIN
                                                   : next(thread, attributes, run, argument);
}

/* Runs before main, while the program's sandbox does not yet forbid the file. */
__attribute__((constructor)) static void read_script(void)
{
    const char *allocation = getenv("FAULTS_ALLOCATION");
    const char *path = getenv("FAULTS");
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
        if (at == MAP_FAILED)
            abort();
        script = at;
        (void)close(file);
    }
    if (allocation)
        atomic_store(&allocations_left, strtol(allocation, NULL, 10));
}
