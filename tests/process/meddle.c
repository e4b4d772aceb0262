/* An attacker on the path: relays a connection and changes one bit of it.
 *
 *   meddle PORT        listens on a free port of the loopback, which it prints, and relays every
 *                      connection to PORT until it is killed
 *
 * Connection i is changed as treatments[i] says; later ones are unchanged.
 */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct treatment {
    enum { ASKED, ANSWERED } way; /* sender of the changed bytes: caller or acceptor */
    long flip;   /* index of the byte whose lowest bit is flipped; -1 = none */
    bool replay; /* dials PORT again and repeats the caller's first bytes */
} treatments[] = {
    {ASKED, 20, false},    /* in the gate */
    {ANSWERED, 60, false}, /* in the acceptor's answer to the greeting */
    {ASKED, 130, false},   /* in the caller's proof */
    {ASKED, 400, false},   /* in the session's records */
    {ASKED, -1, true},     {ANSWERED, 2000, false},
};

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int call(uint16_t port)
{
    const struct sockaddr_in to = loopback(port);
    const int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0 || connect(end, (const struct sockaddr *)&to, sizeof to) != 0)
        die("call");
    return end;
}

static int listen_anywhere(void)
{
    struct sockaddr_in at = loopback(0);
    socklen_t bytes = sizeof at;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, 16) != 0 || getsockname(listener, (struct sockaddr *)&at, &bytes) != 0)
        die("listen");
    printf("%u\n", (unsigned)ntohs(at.sin_port));
    (void)fflush(stdout);
    return listener;
}

static void write_all(int to, const uint8_t *bytes, ssize_t count)
{
    while (count > 0) {
        const ssize_t wrote = write(to, bytes, (size_t)count);
        if (wrote <= 0)
            exit(EXIT_SUCCESS); /* one end has closed, so the relay closes the other one */
        bytes += wrote;
        count -= wrote;
    }
}

static void say_again(uint16_t port, const uint8_t *bytes, ssize_t count)
{
    uint8_t answer[512];
    const int end = call(port);
    write_all(end, bytes, count);
    (void)!read(end, answer, sizeof answer);
    (void)close(end);
}

/* Relays the available bytes in one direction and adds their number to *done. flip: index in the
 * stream of the byte to change. */
static void pass(int from, int to, long *done, long flip)
{
    uint8_t bytes[4096];
    const ssize_t count = read(from, bytes, sizeof bytes);
    if (count <= 0)
        exit(EXIT_SUCCESS);
    if (flip >= *done && flip < *done + count)
        bytes[flip - *done] ^= 1;
    *done += count;
    write_all(to, bytes, count);
}

_Noreturn static void meddle(int caller, uint16_t port, struct treatment treatment)
{
    const int called = call(port);
    struct pollfd ends[] = {{.fd = caller, .events = POLLIN}, {.fd = called, .events = POLLIN}};
    long done[] = {0, 0};
    if (treatment.replay) {
        uint8_t first[512];
        const ssize_t count = read(caller, first, sizeof first);
        if (count <= 0)
            exit(EXIT_SUCCESS);
        write_all(called, first, count);
        say_again(port, first, count);
    }
    while (poll(ends, 2, -1) > 0)
        for (int way = ASKED; way <= ANSWERED; way++)
            if (ends[way].revents)
                pass(ends[way].fd, ends[1 - way].fd, &done[way],
                     treatment.way == (unsigned)way ? treatment.flip : -1);
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    const size_t count = sizeof treatments / sizeof *treatments;
    if (argc != 2)
        return EXIT_FAILURE;
    const uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
    const int listener = listen_anywhere();
    (void)signal(SIGCHLD, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0;; i++) {
        const int caller = accept(listener, NULL, NULL);
        if (caller < 0)
            die("accept");
        const struct treatment none = {ASKED, -1, false};
        if (fork() == 0)
            meddle(caller, port, i < count ? treatments[i] : none);
        (void)close(caller);
    }
}
