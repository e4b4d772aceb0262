/* Preloaded into a program: prints the table of options that it gives getopt_long, "--name" or
 * "--name=", and ends it. So a test can compare what a command takes with what its help says. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

int getopt_long(int argc, char *const *argv, const char *letters, const struct option *known,
                int *index)
{
    (void)argc, (void)argv, (void)letters, (void)index;
    for (; known->name; known++)
        (void)printf("--%s%s\n", known->name, known->has_arg == required_argument ? "=" : "");
    exit(fflush(stdout) != 0);
}
