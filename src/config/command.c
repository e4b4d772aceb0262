#include "config/command.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define EXIT_USAGE       2
#define OPTION_TYPED_MAX 80 /* bytes of an unknown option that are compared with known ones */
/* Value that getopt_long returns for the first option; larger than all characters. */
#define FIRST_OPTION 256

static const struct command_option HELP = {"--help", NULL, "print this help", .member = 0};

const struct command *command_find(const struct command_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->command[i]->name, name) == 0)
            return table->command[i];
    return NULL;
}

const struct command_option *command_option_at(const struct command *command, size_t i)
{
    size_t count = 0;
    while (command->options[count].name)
        count++;
    return i < count ? &command->options[i] : i == count ? &HELP : NULL;
}

const struct command_option *command_option_find(const struct command *command, const char *name)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

/* Lists the options for getopt_long, terminated by zeros. */
static void list_options(const struct command *command,
                         struct option known[static COMMAND_OPTIONS_MAX + 1])
{
    const struct command_option *option;
    int count = 0;
    for (; (option = command_option_at(command, (size_t)count)); count++) {
        CHECK(count < COMMAND_OPTIONS_MAX);
        known[count] =
            (struct option){option->name + 2, option->value ? required_argument : no_argument, NULL,
                            option == &HELP ? 'h' : FIRST_OPTION + count};
    }
    known[count] = (struct option){0};
}

static enum error set_option(void *self, const struct command_option *option, const char *word,
                             struct problem *problem)
{
    void *member = (char *)self + option->member;
    if (option->set)
        return option->set(member, option, word, problem);
    if (option->value)
        *(const char **)member = word;
    else
        *(bool *)member = true;
    return OK;
}

/* Reports an option that getopt_long has refused, and names the most similar one. */
static enum error refuse_option(const struct command *command, const char *typed, const char *title,
                                struct problem *problem)
{
    char name[OPTION_TYPED_MAX] = "";
    const char *words[COMMAND_OPTIONS_MAX];
    size_t count = 0;
    const struct command_option *option;
    for (; (option = command_option_at(command, count)); count++)
        words[count] = option->name + 2;
    if (strncmp(typed, "--", 2) == 0)
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
    const char *nearest = name[0] ? words_nearest(name, words, count) : NULL;
    if (!nearest || strcmp(nearest, name) == 0)
        return problem_set(problem, MALFORMED, "see: %s --help", title);
    return problem_set(problem, MALFORMED, "did you mean --%s? see: %s --help", nearest, title);
}

enum error command_parse(const struct command *command, void *self, int argc, char **argv,
                         bool *is_help, struct problem *problem)
{
    struct option known[COMMAND_OPTIONS_MAX + 1];
    int value;
    CHECK(argc > 0);
    list_options(command, known);
    optind = 0; /* restarts glibc's getopt */
    *is_help = false;
    while ((value = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        *is_help = value == 'h';
        if (*is_help)
            return OK;
        if (value < FIRST_OPTION)
            return refuse_option(command, argv[optind - 1], argv[0], problem);
        const enum error error =
            set_option(self, &command->options[value - FIRST_OPTION], optarg, problem);
        if (error != OK)
            return error;
    }
    if (optind < argc && !command->takes_operands && command_option_find(command, "--config"))
        return problem_set(
            problem, MALFORMED,
            "%s takes no argument \"%.80s\"; name a configuration file with --config", argv[0],
            argv[optind]);
    if (optind < argc && !command->takes_operands)
        return problem_set(problem, MALFORMED, "%s takes no argument \"%.80s\"; see: %s --help",
                           argv[0], argv[optind], argv[0]);
    return command->finish ? command->finish(self, argc - optind, argv + optind, problem) : OK;
}

int command_complain(const struct problem *problem, int code)
{
    (void)fprintf(stderr, "hearsay: %s\n", problem->text);
    return code;
}

int command_read(const struct command *command, void *self, int argc, char **argv)
{
    struct problem problem;
    bool is_help;
    if (command_parse(command, self, argc, argv, &is_help, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    if (is_help)
        command_help(command, stdout);
    return is_help ? 0 : COMMAND_RUNS;
}

static void print_option(FILE *out, const struct command_option *option, int column)
{
    int used = fprintf(out, "  %s%s%s", option->name, option->value ? " " : "",
                       option->value ? option->value : "");
    if (used >= column) {
        (void)fputc('\n', out);
        used = 0;
    }
    (void)fprintf(out, "%*s", column - used, "");
    for (const char *at = option->help; *at; at++) {
        (void)fputc(*at, out);
        if (*at == '\n')
            (void)fprintf(out, "%*s", column, "");
    }
    (void)fputc('\n', out);
}

int command_end(int code)
{
    if (fflush(stdout) == 0)
        return code;
    perror("hearsay: standard output");
    return code == 0 ? 1 : code;
}

void command_help(const struct command *command, FILE *out)
{
    for (size_t i = 0; i < COMMAND_FORMS_MAX && command->forms[i].line; i++)
        (void)fprintf(out, "%s: %s\n", command->forms[i].line, command->forms[i].about);
    if (command->about)
        (void)fprintf(out, "\n%s\n", command->about);
    (void)fputc('\n', out);
    for (size_t i = 0; command_option_at(command, i); i++)
        print_option(out, command_option_at(command, i), command->column);
    (void)fprintf(out, "\n%s%sExit codes: %s\n", command->notes ? command->notes : "",
                  command->notes ? "\n" : "", command->exit_codes);
}

enum error command_set_real(void *member, const struct command_option *option, const char *word,
                            struct problem *problem)
{
    char *end;
    const double value = strtod(word, &end);
    if (end == word || *end || !(value >= (double)option->low && value <= (double)option->high))
        return problem_set(problem, MALFORMED,
                           "%s %.40s: write a number from %" PRIu64 " to %" PRIu64, option->name,
                           word, option->low, option->high);
    *(double *)member = value;
    return OK;
}

enum error command_set_whole(void *member, const struct command_option *option, const char *word,
                             struct problem *problem)
{
    char *end, *end_of_real;
    errno = 0;
    uint64_t value = strtoull(word, &end, 10);
    const bool is_too_large = errno != 0;
    const double real = strtod(word, &end_of_real); /* also accepts 4e5 */
    if (*end && real == floor(real) && real >= 0 && real <= 1e15) {
        value = (uint64_t)real;
        end = end_of_real;
    }
    if (end == word || *end || is_too_large || !(real >= 0) || value < option->low ||
        value > option->high)
        return problem_set(problem, MALFORMED,
                           "%s %.40s: write a whole number from %" PRIu64 " to %" PRIu64,
                           option->name, word, option->low, option->high);
    if (option->bytes == sizeof(uint32_t))
        *(uint32_t *)member = (uint32_t)value;
    else
        *(uint64_t *)member = value;
    return OK;
}
