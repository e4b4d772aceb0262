#include "experiment/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/error.h"

static volatile sig_atomic_t first;
static const char *volatile empty_folder;

static void on_signal(int number)
{
    const char *folder = empty_folder;
    if (first == 0) {
        first = number;
        return;
    }
    if (folder)
        (void)rmdir(folder);
    _exit(128 + number);
}

static void watch(int number)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    CHECK(sigaction(number, NULL, &before) == 0);
    if (before.sa_handler != SIG_IGN)
        CHECK(sigaction(number, &action, NULL) == 0);
}

void interrupt_watch(void)
{
    watch(SIGINT);
    watch(SIGTERM);
}

int interrupt_signal(void)
{
    return first;
}

void interrupt_remove(const char *folder)
{
    empty_folder = folder;
}
