#include "daemon/lock_holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMED_MAX 3 /* maximum number of processes that the text names */

void lock_holder_sign(int file)
{
    char host[64] = "", line[96];
    (void)gethostname(host, sizeof host - 1);
    const int bytes = snprintf(line, sizeof line, "%ld %s\n", (long)getpid(), host);
    if (ftruncate(file, 0) != 0 || pwrite(file, line, (size_t)bytes, 0) < 0)
        return; /* the disk may be full; the lock works without this text */
}

static bool has_open(const char *pid, const struct stat *lock)
{
    char path[300];
    struct stat about;
    bool found = false;
    (void)snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return false; /* the process belongs to another user, or has ended */
    for (const struct dirent *entry; !found && (entry = readdir(folder));)
        found = fstatat(dirfd(folder), entry->d_name, &about, 0) == 0 &&
                about.st_dev == lock->st_dev && about.st_ino == lock->st_ino;
    (void)closedir(folder);
    return found;
}

static void name_of(const char *pid, char name[static 32])
{
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/%s/comm", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = file < 0 ? 0 : read(file, name, 31);
    name[bytes > 0 ? bytes : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (file >= 0)
        (void)close(file);
}

/* count: number of processes already named in the text. */
static void add(char text[static LOCK_HOLDER_BYTES], const char *pid, int count)
{
    char name[32];
    const size_t used = strlen(text);
    name_of(pid, name);
    (void)snprintf(text + used, LOCK_HOLDER_BYTES - used, "%s %.12s (%s)",
                   count == 0 ? "held by process" : ",", pid, name);
}

static int find_open(const struct stat *lock, char text[static LOCK_HOLDER_BYTES])
{
    int count = 0;
    DIR *folder = opendir("/proc");
    if (!folder)
        return 0;
    for (const struct dirent *entry; count < NAMED_MAX && (entry = readdir(folder));) {
        const long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != (long)getpid() && has_open(entry->d_name, lock))
            add(text, entry->d_name, count++);
    }
    (void)closedir(folder);
    return count;
}

void lock_holder_find(int file, char text[static LOCK_HOLDER_BYTES])
{
    struct stat lock;
    char line[96] = "", host[64];
    long pid = 0;
    text[0] = '\0';
    if (fstat(file, &lock) == 0 && find_open(&lock, text) > 0)
        return;
    if (pread(file, line, sizeof line - 1, 0) > 0 && sscanf(line, "%ld %63s", &pid, host) == 2)
        (void)snprintf(text, LOCK_HOLDER_BYTES, "held by process %ld of %s", pid, host);
}
