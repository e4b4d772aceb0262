/* A trial start on the GPU. A child process builds the learner with all scratch buffers, as a node
 * does, and reports how much GPU memory is left. If memory runs out, only the child ends, with an
 * error message. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/doctor/doctor.h"

#define PREFIX "hearsay: " /* start of every error message with which a process ends */

static void report(int pipe, const struct device_memory *memory)
{
    if (write(pipe, memory, sizeof *memory) != (ssize_t)sizeof *memory)
        _exit(1);
}

/* Opens the device and returns its memory before the start; total is 0 if it is no GPU or cannot be
 * opened. */
static struct device_memory memory_at_first(const struct config *config)
{
    struct backend *backend;
    struct team *team;
    struct problem problem;
    char text[DEVICE_TEXT_MAX];
    struct device_memory memory = {0};
    if (setup_device(config, &backend, &team, text, &problem) != OK)
        return memory; /* the check of the device reports the problem */
    memory = backend->memory(backend);
    if (team)
        team->close(team);
    backend->close(backend);
    return memory;
}

/* Runs in the child process. Leaves out the keys, because they use no GPU memory. */
static _Noreturn void rehearse(const struct config *config, int pipe)
{
    struct own_keys keys = {.swarm_key = {0}};
    struct setup setup = {.keys = &keys};
    struct problem problem;
    struct device_memory memory = memory_at_first(config);
    report(pipe, &memory);
    if (memory.total > 0 && setup_make(&setup, config, &problem) == OK) {
        memory = setup.backend->memory(setup.backend);
        report(pipe, &memory);
    }
    _exit(0);
}

/* Reads the child's standard error to its end and keeps the last line in `why`. */
static void keep_last_line(int from, char *why, size_t room)
{
    char piece[256], line[256] = "";
    size_t used = 0;
    ssize_t count;
    while ((count = read(from, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < count; i++)
            if (piece[i] == '\n') {
                line[used] = '\0';
                (void)snprintf(
                    why, room, "%s",
                    line + (strncmp(line, PREFIX, sizeof PREFIX - 1) == 0 ? sizeof PREFIX - 1 : 0));
                used = 0;
            } else if (used + 1 < sizeof line) {
                line[used++] = piece[i];
            }
}

static void read_figures(struct rehearsal *rehearsal, int from)
{
    struct device_memory memory;
    if (read(from, &memory, sizeof memory) != (ssize_t)sizeof memory)
        return;
    rehearsal->free_bytes = memory.free;
    rehearsal->total_bytes = memory.total;
    if (read(from, &memory, sizeof memory) == (ssize_t)sizeof memory)
        rehearsal->left_bytes = memory.free > 0 ? memory.free : 1;
}

void doctor_rehearse(struct doctor *doctor)
{
    int figures[2], words[2], status;
    struct rehearsal *rehearsal = &doctor->rehearsal;
    if (strcmp(doctor->config.train.device, "cpu") == 0 || doctor->is_taken)
        return;
    CHECK(pipe(figures) == 0 && pipe(words) == 0);
    (void)fflush(NULL);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)dup2(words[1], STDERR_FILENO);
        rehearse(&doctor->config, figures[1]);
    }
    (void)close(figures[1]);
    (void)close(words[1]);
    keep_last_line(words[0], rehearsal->why, sizeof rehearsal->why);
    read_figures(rehearsal, figures[0]);
    (void)close(figures[0]);
    (void)close(words[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
}
