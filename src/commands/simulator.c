#include "commands/simulator.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/command.h"

#define SIMULATOR   "hearsay-sim"
#define EXIT_FAILED 1
#define PATH_BYTES  4096

int simulator_start(const char *command, int argc, char **argv)
{
    struct problem problem;
    char self[PATH_BYTES] = "", path[PATH_BYTES + sizeof "/" SIMULATOR];
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) {
        (void)problem_set(&problem, FAILED,
                          "cannot find the simulator: /proc/self/exe: %s; mount /proc",
                          strerror(errno));
        return command_complain(&problem, EXIT_FAILED);
    }
    char **words = memory_new((size_t)argc + 2, sizeof *words);
    (void)snprintf(path, sizeof path, "%s/" SIMULATOR, dirname(self));
    words[0] = (char *)SIMULATOR;
    words[1] = (char *)command;
    for (int i = 1; i < argc; i++)
        words[i + 1] = argv[i];
    (void)execv(path, words);
    (void)problem_set(&problem, FAILED,
                      "cannot start the simulator %.400s: %s; install hearsay again, so that both "
                      "programs are in one folder",
                      path, strerror(errno));
    free(words);
    return command_complain(&problem, EXIT_FAILED);
}
