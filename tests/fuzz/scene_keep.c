/* Saves and restores a scene. The pages of the scene's arena are mapped from a file in memory. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/scene.h"

void scene_keep(struct scene *scene)
{
    const struct arena *arena = scene->arena;
    const int fd = memfd_create("scene", MFD_CLOEXEC);
    CHECK(fd >= 0 && arena->start == (unsigned char *)scene);
    CHECK(write(fd, arena->start, arena->used_bytes) == (ssize_t)arena->used_bytes);
    CHECK(mmap(arena->start, arena->used_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
               0) == arena->start);
    CHECK(close(fd) == 0);
}

void scene_undo(struct scene *scene)
{
    const struct arena *arena = scene->arena;
    CHECK(madvise(arena->start, arena->used_bytes, MADV_DONTNEED) == 0);
}
