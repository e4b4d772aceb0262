/* Writes the seeds of all corpora:
 *
 *   fuzz_seeds tests/fuzz/corpus
 *
 * Run it after each change of a format, and commit the files. Otherwise the test fuzz_seeds fails.
 */
#include "fuzz/seeds.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"

#define PATH_BYTES 4096

static const char *folder;

static void make_folder(const char *path)
{
    CHECK(mkdir(path, 0777) == 0 || errno == EEXIST);
}

void seed_put(const char *harness, const char *name, const void *head, size_t head_bytes,
              const void *bytes, size_t count)
{
    char path[PATH_BYTES];
    CHECK((size_t)snprintf(path, sizeof path, "%s/%s", folder, harness) < sizeof path);
    make_folder(path);
    CHECK((size_t)snprintf(path, sizeof path, "%s/%s/%s", folder, harness, name) < sizeof path);
    FILE *file = fopen(path, "wb");
    CHECK(file);
    CHECK(head_bytes == 0 || fwrite(head, 1, head_bytes, file) == head_bytes);
    CHECK(count == 0 || fwrite(bytes, 1, count, file) == count);
    CHECK(fclose(file) == 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    make_folder(folder);
    seeds_wire();
    seeds_files();
    seeds_member();
    return 0;
}
