/* Preloaded into a program: prints the table of options that the program gives to getopt_long, "--
 * name" or "--name=", and ends the program. So a test can compare a command's options with its
 * help. */
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
