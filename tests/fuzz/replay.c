/* Runs a harness on files: a corpus, or inputs that a fuzzer has found.
 *
 *   fuzz_NAME FILE|FOLDER...
 *
 * With this, any compiler can run a corpus as a test. An argument without a file is an error,
 * because a missing corpus would test nothing.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

#define PATH_BYTES 4096

static size_t play_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    CHECK(file && fstat(fileno(file), &about) == 0);
    const size_t bytes = (size_t)about.st_size;
    /* exactly as large as the input, so that a sanitizer detects reads behind it */
    uint8_t *data = malloc(bytes + (bytes == 0));
    CHECK(data && fread(data, 1, bytes, file) == bytes);
    CHECK(fclose(file) == 0);
    fuzz_one(data, bytes);
    free(data);
    return 1;
}

static size_t play_folder(const char *path)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort);
    size_t played = 0;
    CHECK(count >= 0);
    for (int i = 0; i < count; i++) {
        char inside[PATH_BYTES];
        CHECK((size_t)snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name) <
              sizeof inside);
        if (entries[i]->d_name[0] != '.')
            played += play_file(inside);
        free(entries[i]);
    }
    free(entries);
    return played;
}

int main(int argc, char **argv)
{
    size_t played = 0;
    fuzz_begin();
    for (int i = 1; i < argc; i++) {
        struct stat about;
        if (stat(argv[i], &about) != 0) {
            (void)fprintf(stderr, "%s: no such file or folder\n", argv[i]);
            return 1;
        }
        const size_t count = S_ISDIR(about.st_mode) ? play_folder(argv[i]) : play_file(argv[i]);
        if (count == 0) {
            (void)fprintf(stderr, "%s: there is nothing in it to play\n", argv[i]);
            return 1;
        }
        played += count;
    }
    (void)printf("%zu played\n", played);
    return played > 0 ? 0 : 1;
}
