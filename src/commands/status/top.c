#include "commands/status/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system_clock.h"
#include "commands/config_options.h"
#include "commands/status/status.h"
#include "commands/status/top_view.h"
#include "commands/terminal.h"

#define REFRESH_MS 1000
/* Time limit for the status page. Keys that are pressed during this wait take effect after it. */
#define WAIT_MS 1000

/* ANSI escape sequences (ECMA-48). The first two switch to the terminal's alternate screen and
 * back. */
#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"
#define HOME         "\033[H"
#define REST_OF_LINE "\033[K"
#define REST_BELOW   "\033[J"

/* ended: the command must end, after a signal or the key q, or without its terminal. paused: Ctrl+Z
 * was pressed. */
static volatile sig_atomic_t ended;
static volatile sig_atomic_t paused;

static void on_end(int number)
{
    (void)number;
    ended = 1;
}

static void on_pause(int number)
{
    (void)number;
    paused = 1;
}

static void on_resize(int number)
{
    (void)number; /* the signal itself ends the wait, and the next screen has the new size */
}

static void put(const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t wrote = write(STDOUT_FILENO, bytes, count);
        if (wrote < 0 && errno != EINTR) {
            ended = 1; /* the terminal is gone */
            return;
        }
        bytes += wrote > 0 ? wrote : 0;
        count -= wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Sets the terminal so that keys arrive one by one and are not shown; Ctrl+C stays a signal. */
static void enter(const struct termios *before)
{
    struct termios raw = *before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put(ENTER_SCREEN, strlen(ENTER_SCREEN));
}

static void leave(const struct termios *before)
{
    put(LEAVE_SCREEN, strlen(LEAVE_SCREEN));
    (void)tcsetattr(STDIN_FILENO, TCSANOW, before);
}

/* Handles Ctrl+Z: restores the terminal, stops, and sets the terminal up again when continued. */
static void pause_here(const struct termios *before)
{
    leave(before);
    (void)raise(SIGSTOP);
    paused = 0;
    enter(before);
}

/* Installs the signal handlers, and blocks these signals except during the wait for the next
 * second. So no signal arrives while output is half written. */
static void catch_signals(sigset_t *while_waiting)
{
    static const struct {
        int number;
        void (*handler)(int number);
    } CAUGHT[] = {
        {SIGINT, on_end},  {SIGTERM, on_end},   {SIGHUP, on_end},
        {SIGQUIT, on_end}, {SIGTSTP, on_pause}, {SIGWINCH, on_resize},
    };
    sigset_t all;
    (void)sigemptyset(&all);
    for (size_t i = 0; i < sizeof CAUGHT / sizeof CAUGHT[0]; i++) {
        const struct sigaction action = {.sa_handler = CAUGHT[i].handler};
        (void)sigaction(CAUGHT[i].number, &action, NULL);
        (void)sigaddset(&all, CAUGHT[i].number);
    }
    (void)sigprocmask(SIG_BLOCK, &all, while_waiting);
    for (size_t i = 0; i < sizeof CAUGHT / sizeof CAUGHT[0]; i++)
        (void)sigdelset(while_waiting, CAUGHT[i].number);
}

static void wait_for_key(const sigset_t *while_waiting)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    const struct timespec second = {.tv_sec = REFRESH_MS / 1000};
    char key = 0;
    if (ppoll(&keys, 1, &second, while_waiting) <= 0)
        return;
    const ssize_t got = read(STDIN_FILENO, &key, 1);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN) || key == 'q' || key == 'Q')
        ended = 1;
}

/* Prints a screen of lines. Each line ends with an escape sequence that clears the remainder of the
 * old line. The last line has no line feed, so that the screen does not scroll. */
static void show(const char *text)
{
    char *screen = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&screen, &bytes);
    if (!out)
        memory_missing(BUFSIZ);
    (void)fputs(HOME, out);
    for (; *text; text++) {
        if (*text == '\n')
            (void)fprintf(out, REST_OF_LINE "%s", text[1] ? "\r\n" : "");
        else
            (void)fputc(*text, out);
    }
    (void)fputs(REST_BELOW, out);
    CHECK(fclose(out) == 0);
    put(screen, bytes);
    free(screen);
}

static void refresh(const char *dir, struct top_view *view)
{
    json_t *page;
    struct problem problem;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        memory_missing(BUFSIZ);
    if (status_ask(dir, WAIT_MS, &page, &problem) == OK) {
        const struct terminal terminal = terminal_of(STDOUT_FILENO);
        top_view_see(view, page, monotonic_s());
        top_view_draw(view, out, page, monotonic_s(), &terminal);
        json_decref(page);
    } else {
        (void)fprintf(out, "hearsay top: %s\n\nTrying again every second; q ends.\n", problem.text);
    }
    CHECK(fclose(out) == 0);
    show(text);
    free(text);
}

static void watch(const char *dir)
{
    struct termios before;
    sigset_t while_waiting;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return;
    struct top_view *view = memory_new(1, sizeof *view);
    catch_signals(&while_waiting);
    enter(&before);
    while (!ended) {
        refresh(dir, view);
        wait_for_key(&while_waiting);
        if (paused)
            pause_here(&before);
    }
    leave(&before);
    top_view_free(view);
    free(view);
}

static int run(int argc, char **argv)
{
    struct config_options options = {0};
    struct config config;
    struct problem problem;
    const int code = command_read(&top_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (config_options_read(&config, &options, &problem) != OK)
        return command_complain(&problem, 2);
    if (!isatty(STDIN_FILENO) || terminal_of(STDOUT_FILENO).rows == 0) {
        (void)fprintf(stderr, "hearsay: top needs a terminal with cursor movement; in a script, "
                              "use hearsay status or hearsay status --json\n");
        return 1;
    }
    watch(config.node.state_dir);
    return 0;
}

const struct command top_command = {
    .name = "top",
    .summary = "show the state of this machine's node, updated every second",
    .forms = {{"hearsay top [options]", "watch the node of this machine"}},
    .options = (const struct command_option[]){CONFIG_OPTIONS_OF_NODE, {0}},
    .column = 26,
    .notes =
        "Shows hearsay status on the whole terminal, updated every second, with the loss since "
        "the\nstart of hearsay top, each member's part of all samples, and the last changes. The "
        "terminal\nneeds 60 columns; NO_COLOR turns colours off. q or Ctrl+C ends.",
    .exit_codes = "0 ended by q or a signal, 1 no terminal, 2 wrong usage.",
    .finish = config_options_check,
    .run = run,
};
