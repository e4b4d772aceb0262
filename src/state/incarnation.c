#include "state/incarnation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/rng.h"
#include "base/system_clock.h"
#include "base/time_units.h"
#include "state/atomic_file.h"

#define NAME     "incarnation"
#define LINE_MAX 64

uint64_t incarnation_wall_ms(void)
{
    return system_clock_ns(CLOCK_REALTIME) / MS_NS;
}

static int line_of(char line[LINE_MAX], uint64_t number)
{
    const int length =
        snprintf(line, LINE_MAX, "%" PRIu64 " %016" PRIx64 "\n", number, rng_mix(number));
    CHECK(length > 0 && length < LINE_MAX);
    return length;
}

/* Reads the file. Returns the number of its bytes, at most LINE_MAX, or a negative errno. */
static int64_t read_line(const struct disk *disk, const char *folder, char line[LINE_MAX])
{
    char path[DISK_PATH_MAX];
    int handle = disk_path(path, folder, NAME, "");
    if (handle == 0)
        handle = disk->open(disk->self, path);
    if (handle < 0)
        return handle;
    const int64_t got = disk_read_all(disk, handle, line, LINE_MAX);
    (void)disk->close(disk->self, handle);
    return got;
}

/* A line is valid only if it equals, byte for byte, the line that this program writes for its
 * number. */
static enum error number_in(const char *folder, const char line[LINE_MAX], size_t bytes,
                            uint64_t *number, struct problem *problem)
{
    char expected[LINE_MAX], digits[LINE_MAX] = "";
    CHECK(bytes <= LINE_MAX);
    memcpy(digits, line, bytes < LINE_MAX ? bytes : LINE_MAX - 1);
    const uint64_t read = strtoull(digits, NULL, 10);
    const int length = line_of(expected, read);
    if ((size_t)length != bytes || memcmp(expected, line, bytes) != 0)
        return problem_set(
            problem, MALFORMED,
            "%.300s/" NAME
            ": is damaged; check the disk, and remove the file if this machine's clock has never "
            "been ahead; the next incarnation then follows the clock",
            folder);
    *number = read;
    return OK;
}

/* Sets *number to the smallest number that earlier starts have not reserved; 0 at first. */
static enum error stored(const struct disk *disk, const char *folder, uint64_t *number,
                         struct problem *problem)
{
    char line[LINE_MAX];
    const int64_t got = read_line(disk, folder, line);
    if (got >= 0)
        return number_in(folder, line, (size_t)got, number, problem);
    if (got != -ENOENT)
        return problem_set(problem, FAILED,
                           "%.300s/" NAME ": cannot be read: %s; check its permissions", folder,
                           strerror((int)-got));
    *number = 0;
    return OK;
}

static enum error store(const struct disk *disk, const char *folder, uint64_t number,
                        struct problem *problem)
{
    char line[LINE_MAX];
    struct atomic_file file;
    const int length = line_of(line, number);
    atomic_file_begin(&file, disk, folder, NAME, ATOMIC_FILE_PRIVATE);
    atomic_file_write(&file, line, (size_t)length);
    const int error = atomic_file_end(&file);
    if (error != 0)
        return problem_set(
            problem, FAILED,
            "%.300s/" NAME
            ": cannot be written: %s; check the folder, its permissions and the free disk space",
            folder, strerror(-error));
    return OK;
}

enum error incarnation_look(const struct disk *disk, const char *folder, uint64_t wall_ms,
                            uint64_t reserve, uint64_t *incarnation, struct problem *problem)
{
    CHECK(reserve >= 1);
    uint64_t first = 0;
    const enum error error = stored(disk, folder, &first, problem);
    if (error != OK)
        return error;
    first = u64_max(first, wall_ms);
    if (first > UINT64_MAX - reserve)
        return problem_set(problem, FAILED,
                           "%.300s/" NAME ": the incarnation number is exhausted; correct this "
                           "machine's clock and remove the file",
                           folder);
    *incarnation = first;
    return OK;
}

enum error incarnation_begin(const struct disk *disk, const char *folder, uint64_t wall_ms,
                             uint64_t reserve, uint64_t *incarnation, struct problem *problem)
{
    uint64_t first = 0;
    enum error error = incarnation_look(disk, folder, wall_ms, reserve, &first, problem);
    if (error == OK)
        error = store(disk, folder, first + reserve, problem);
    if (error == OK)
        *incarnation = first;
    return error;
}
