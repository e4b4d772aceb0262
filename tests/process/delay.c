/* A long path between network interfaces: a switch that relays each frame after a delay.
 *
 *   port 1 ─┐                                       ┌─► port 1
 *   port 2 ─┼─► read ─► a queue, in order of time ──┼─► port 2
 *   port n ─┘                                       └─► port n
 *
 *   delay MILLISECONDS PORT...     runs until SIGTERM or SIGINT, then prints one JSON object with
 * what it did
 *
 * The machine behind port i (from 1) has an Ethernet address that ends in byte i. Frames for a
 * group go to all other ports. All frames wait equally long, so the queue is a ring. It stores
 * QUEUE_BYTES, more than half a second of four ports at 400 Mbit/s. Frames have the header that
 * says which checksums and segments are still to be made (PACKET_VNET_HDR), so no offload of the
 * interfaces has to be switched off. The queueing discipline of a port limits what leaves it. It
 * drops frames that it has no space for, as a real line does. Such drops are counted separately
 * from frames that the relay itself loses.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX    64
#define QUEUE_BYTES  ((size_t)128 << 20)
#define FRAME_MAX    (((size_t)1 << 16) + 256)
#define HEADER_BYTES 10 /* size of struct virtio_net_hdr */
#define SOCKET_BYTES (64 << 20)
#define READ_AT_ONCE 64

/* A waiting frame. Its bytes follow this struct. */
struct frame {
    uint64_t due_ns;
    uint32_t bytes;
    uint32_t from; /* index of the port that received the frame */
};

struct relay {
    struct pollfd ports[PORTS_MAX];
    uint32_t count;
    uint64_t delay_ns;

    uint8_t *queue;
    /* Offset of the next frame to send, and offset at which the next frame is written. */
    size_t head, tail;
    size_t end; /* end of the bytes written before `tail` returned to 0 */
    size_t waiting;

    uint64_t frames, lost_here, lost_at_ports;
    uint64_t late_ns_sum, late_ns_max;
};

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void set(int port, int level, int name, int value)
{
    if (setsockopt(port, level, name, &value, sizeof value) != 0)
        die("setsockopt");
}

/* Sets a socket buffer's size, above the system's limit if that is allowed. beyond: the option that
 * ignores the limit. */
static void set_buffer(int port, int beyond, int name)
{
    const int bytes = SOCKET_BYTES;
    if (setsockopt(port, SOL_SOCKET, beyond, &bytes, sizeof bytes) != 0)
        set(port, SOL_SOCKET, name, bytes);
}

static int port_open(const char *name)
{
    const struct sockaddr_ll at = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETH_P_ALL),
                                   .sll_ifindex = (int)if_nametoindex(name)};
    const int port = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (at.sll_ifindex == 0 || port < 0)
        die(name);
    set(port, SOL_PACKET, PACKET_VNET_HDR, 1);
    set(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
    set_buffer(port, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(port, SO_SNDBUFFORCE, SO_SNDBUF);
    if (bind(port, (const struct sockaddr *)&at, sizeof at) != 0)
        die(name);
    return port;
}

/* Returns memory for one more frame of any size, or NULL if the queue is full. Continues at the
 * beginning of the ring if the end is too near. */
static struct frame *queue_room(struct relay *relay)
{
    const size_t need = sizeof(struct frame) + FRAME_MAX;
    if (relay->waiting == 0)
        relay->head = relay->tail = 0;
    const bool has_turned = relay->waiting > 0 && relay->tail <= relay->head;
    if (!has_turned && QUEUE_BYTES - relay->tail < need) {
        if (relay->head < need)
            return NULL;
        relay->end = relay->tail;
        relay->tail = 0;
    } else if (has_turned && relay->head - relay->tail < need) {
        return NULL;
    }
    return (struct frame *)(relay->queue + relay->tail);
}

static const struct frame *queue_first(struct relay *relay)
{
    if (relay->waiting == 0)
        return NULL;
    if (relay->tail <= relay->head && relay->head == relay->end)
        relay->head = 0;
    return (const struct frame *)(relay->queue + relay->head);
}

static size_t frame_room(const struct frame *frame)
{
    const size_t align = _Alignof(struct frame);
    return (sizeof *frame + frame->bytes + align - 1) / align * align;
}

/* Reads a frame from a port into the queue. Drops and counts the frame if the queue is full or the
 * frame has an impossible size. Returns false if there was no frame. */
static bool read_frame(struct relay *relay, uint32_t from)
{
    uint8_t refused[FRAME_MAX];
    struct frame *frame = queue_room(relay);
    void *to = frame ? (void *)(frame + 1) : refused;
    const ssize_t bytes = recv(relay->ports[from].fd, to, FRAME_MAX, MSG_TRUNC);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR || errno == ENETDOWN))
        return false;
    if (bytes < 0)
        die("recv");
    if (!frame || (size_t)bytes > FRAME_MAX || bytes < HEADER_BYTES + ETH_HLEN) {
        relay->lost_here++;
        return true;
    }
    *frame = (struct frame){
        .due_ns = now_ns() + relay->delay_ns, .bytes = (uint32_t)bytes, .from = from};
    relay->tail += frame_room(frame);
    relay->waiting++;
    return true;
}

static void send_to(struct relay *relay, const struct frame *frame, uint32_t to)
{
    if (send(relay->ports[to].fd, frame + 1, frame->bytes, 0) >= 0)
        return;
    if (errno == ENOBUFS || errno == ENETDOWN)
        relay->lost_at_ports++;
    else
        relay->lost_here++;
}

static void send_frame(struct relay *relay, const struct frame *frame)
{
    const uint8_t *address = (const uint8_t *)(frame + 1) + HEADER_BYTES;
    const uint32_t behind = address[ETH_ALEN - 1];
    const bool to_all = address[0] & 1;
    for (uint32_t to = 0; to < relay->count; to++)
        if (to != frame->from && (to_all || to + 1 == behind))
            send_to(relay, frame, to);
}

static void send_due(struct relay *relay)
{
    const struct frame *frame;
    uint64_t now;
    while ((frame = queue_first(relay)) && frame->due_ns <= (now = now_ns())) {
        send_frame(relay, frame);
        const uint64_t late_ns = now - frame->due_ns;
        relay->late_ns_sum += late_ns;
        relay->late_ns_max = late_ns > relay->late_ns_max ? late_ns : relay->late_ns_max;
        relay->frames++;
        relay->head += frame_room(frame);
        relay->waiting--;
    }
}

/* Waits for a frame or until the first frame is due. Returns false after a signal. */
static bool wait_for_frames(struct relay *relay, const sigset_t *open)
{
    const struct frame *first = queue_first(relay);
    struct timespec left = {0};
    if (first) {
        const uint64_t now = now_ns();
        const uint64_t wait_ns = first->due_ns > now ? first->due_ns - now : 0;
        left = (struct timespec){(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
    }
    return ppoll(relay->ports, relay->count, first ? &left : NULL, open) >= 0;
}

static void on_signal(int number)
{
    (void)number; /* interrupting ppoll is enough */
}

/* Blocks the signals that end the relay. Returns the mask with which the relay waits. */
static sigset_t hold_signals(void)
{
    sigset_t held, open;
    const struct sigaction action = {.sa_handler = on_signal};
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGTERM);
    (void)sigaddset(&held, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &held, &open);
    (void)sigdelset(&open, SIGTERM);
    (void)sigdelset(&open, SIGINT);
    return open;
}

static uint64_t unread_lost(const struct relay *relay)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < relay->count; i++) {
        struct tpacket_stats stats = {0};
        socklen_t bytes = sizeof stats;
        if (getsockopt(relay->ports[i].fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0)
            lost += stats.tp_drops;
    }
    return lost;
}

static void print_report(const struct relay *relay)
{
    const double frames = relay->frames > 0 ? (double)relay->frames : 1;
    (void)printf("{\"frames\": %llu, \"lost_here\": %llu, \"lost_at_ports\": %llu, "
                 "\"late_us_mean\": %.1f, \"late_us_max\": %.1f}\n",
                 (unsigned long long)relay->frames,
                 (unsigned long long)(relay->lost_here + unread_lost(relay)),
                 (unsigned long long)relay->lost_at_ports,
                 (double)relay->late_ns_sum / frames * 1e-3, (double)relay->late_ns_max * 1e-3);
}

/* Requests exact timing under load: small timer slack and real-time priority. Continues without
 * them if they are not allowed. */
static void hurry(void)
{
    const struct sched_param first = {.sched_priority = 1};
    (void)prctl(PR_SET_TIMERSLACK, 1000ul);
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
}

int main(int argc, char **argv)
{
    char *rest = NULL;
    const double delay_ms = argc > 2 ? strtod(argv[1], &rest) : -1;
    if (argc - 2 > PORTS_MAX || !(delay_ms >= 0 && delay_ms <= 10000) || *rest) {
        (void)fprintf(stderr, "delay MILLISECONDS PORT...\n");
        return EXIT_FAILURE;
    }
    struct relay relay = {.delay_ns = (uint64_t)(delay_ms * 1e6)};
    relay.queue = mmap(NULL, QUEUE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (relay.queue == MAP_FAILED)
        die("mmap");
    for (int i = 2; i < argc; i++)
        relay.ports[relay.count++] = (struct pollfd){.fd = port_open(argv[i]), .events = POLLIN};
    const sigset_t open = hold_signals();
    hurry();
    while (wait_for_frames(&relay, &open)) {
        for (uint32_t i = 0; i < relay.count; i++)
            for (int n = 0; n < READ_AT_ONCE && relay.ports[i].revents && read_frame(&relay, i);
                 n++)
                ;
        send_due(&relay);
    }
    print_report(&relay);
    return EXIT_SUCCESS;
}
