/* Whole messages over the simulated network: arrival times, order, and ownership of contents. */
#include "network/messages.h"
#include "support/sim/scenario_text.h"

/* Two hosts with 1 Mbit/s uplinks, 80 ms there and back. */
static const char two[] = "[scenario]\n"
                          "nodes = 2 host, 400 samples/s, up 1 Mbit/s\n"
                          "link = all, rtt 80 ms\n";

#define ARRIVALS_MAX 8

struct arrival {
    uint64_t at_ns;
    uint64_t number;
    uint32_t from;
    uint32_t to;
};

struct net {
    struct event_queue queue;
    struct messages *messages;
    struct arrival arrivals[ARRIVALS_MAX];
    uint32_t count;     /* number of arrivals */
    uint32_t rooms;     /* number of calls of on_room */
    float heard[4];     /* sums of received values */
    uint32_t answer_to; /* number of the message to answer at once; 0 = none */
};

static void on_message(void *self, uint32_t to, uint32_t from, const struct sim_message *message)
{
    struct net *net = self;
    assert_true(net->count < ARRIVALS_MAX);
    net->arrivals[net->count++] = (struct arrival){net->queue.now_ns, message->number, from, to};
    if (message->content)
        content_add(message->content, 2, net->heard);
    if (net->answer_to && message->number == net->answer_to)
        messages_send(net->messages, to, from, &(struct sim_message){.bytes = 125, .number = 99});
}

static void on_room(void *self, uint32_t from)
{
    struct net *net = self;
    assert_true(from < 3);
    net->rooms++;
}

static void open_net(struct net *net, const char *text)
{
    const struct messages_owner owner = {net, on_message, on_room};
    *net = (struct net){0};
    event_queue_init(&net->queue, 0);
    net->messages = messages_new(played(text), &net->queue, 3, &owner);
}

static void run(struct net *net)
{
    while (net->queue.count > 0) {
        const struct event event = event_queue_take(&net->queue);
        messages_on_event(net->messages, &event);
    }
}

static void close_net(struct net *net)
{
    messages_free(net->messages);
    event_queue_free(&net->queue);
}

static void send(struct net *net, uint64_t number, uint64_t bytes, uint32_t priority)
{
    messages_send(net->messages, 0, 1,
                  &(struct sim_message){.bytes = bytes, .number = number, .priority = priority});
}

/* The connection is open after 80 ms. 125,000 bytes leave in a second, and the last one travels for
 * 40 ms. */
static void a_message_arrives_when_its_last_byte_does(void **state)
{
    (void)state;
    struct net net;
    open_net(&net, two);
    net.answer_to = 7;
    send(&net, 7, 125000, 0);
    assert_int_equal(messages_waiting(net.messages, 0, 1), 1);
    run(&net);
    assert_int_equal(net.count, 2);
    assert_in_range(net.arrivals[0].at_ns, 1120 * MS_NS, 1121 * MS_NS);
    assert_true(net.arrivals[0].from == 0 && net.arrivals[0].to == 1);
    assert_in_range(net.arrivals[1].at_ns, 1161 * MS_NS, 1162 * MS_NS);
    assert_true(net.arrivals[1].number == 99 && net.arrivals[1].to == 0);
    assert_int_equal(messages_sent(net.messages, 0), 125000);
    assert_int_equal(messages_received(net.messages, 1), 125000);
    assert_int_equal(messages_sent(net.messages, 1), 125);
    assert_int_equal(messages_waiting(net.messages, 0, 1), 0);
    assert_in_range((uint64_t)(messages_wire(net.messages)->parties[0].up.busy_s * 1e6), 999000,
                    1001000);
    assert_true(net.rooms > 0);
    close_net(&net);
}

static void a_higher_priority_overtakes_waiting_messages(void **state)
{
    (void)state;
    static const uint64_t order[] = {1, 4, 2, 3};
    struct net net;
    open_net(&net, two);
    while (event_queue_next_ns(&net.queue) <= 80 * MS_NS) {
        const struct event event = event_queue_take(&net.queue);
        messages_on_event(net.messages, &event);
    }
    send(&net, 1, 100000, 0); /* sent at once */
    send(&net, 2, 1000, 1);
    send(&net, 3, 1000, 1);
    send(&net, 4, 1000, 2);
    assert_int_equal(messages_waiting(net.messages, 0, 1), 3);
    run(&net);
    assert_int_equal(net.count, 4);
    for (uint32_t k = 0; k < 4; k++)
        assert_int_equal(net.arrivals[k].number, order[k]);
    close_net(&net);
}

static void a_content_is_shared_and_freed_with_the_last_message(void **state)
{
    (void)state;
    struct net net;
    open_net(&net, two);
    struct content *run_of_two = content_run(1, 2);
    run_of_two->values[0] = 1;
    run_of_two->values[1] = 10;
    run_of_two->references = 3;
    const struct sim_message message = {.bytes = 8, .content = run_of_two};
    messages_send(net.messages, 0, 1, &message);
    messages_send(net.messages, 0, 1, &message);
    const float values[] = {0, 0, 0, 5};
    struct content *places = content_of_nonzero(values, 4);
    assert_true(places->count == 1 && places->indexes[0] == 3 && places->values[0] == 5);
    messages_send(net.messages, 1, 0, &(struct sim_message){.bytes = 8, .content = places});
    run(&net);
    assert_int_equal(run_of_two->references, 1);
    content_drop(run_of_two);
    content_drop(NULL);
    assert_true(net.heard[0] == 0 && net.heard[1] == 4 && net.heard[2] == 40 && net.heard[3] == 10);
    send(&net, 5, 8, 0); /* undelivered messages are also freed */
    messages_send(net.messages, 0, 1,
                  &(struct sim_message){.bytes = 8, .content = content_run(0, 4)});
    close_net(&net);
}

static void a_message_to_oneself_costs_no_time_and_no_bytes(void **state)
{
    (void)state;
    struct net net;
    open_net(&net, two);
    messages_send(net.messages, 1, 1, &(struct sim_message){.bytes = 1 << 20, .number = 3});
    assert_int_equal(net.count, 0);
    run(&net);
    assert_int_equal(net.count, 1);
    assert_true(net.arrivals[0].at_ns == 0 && net.arrivals[0].from == 1 && net.arrivals[0].to == 1);
    assert_int_equal(messages_sent(net.messages, 1), 0);
    close_net(&net);
}

/* Two hosts with uplinks of 8 Mbit/s share a line of 8 Mbit/s between the regions. */
static void messages_share_the_link_between_two_regions(void **state)
{
    (void)state;
    struct net net;
    open_net(&net, "[scenario]\n"
                   "nodes = 2 west, 400 samples/s, up 8 Mbit/s\n"
                   "nodes = 1 east, 400 samples/s\n"
                   "link = west east, rate 8 Mbit/s\n");
    messages_send(net.messages, 0, 2, &(struct sim_message){.bytes = 500000, .number = 1});
    messages_send(net.messages, 1, 2, &(struct sim_message){.bytes = 500000, .number = 2});
    run(&net);
    assert_int_equal(net.count, 2);
    assert_in_range(net.arrivals[0].at_ns, 930 * MS_NS, 1010 * MS_NS);
    assert_in_range(net.arrivals[1].at_ns, 1000 * MS_NS, 1010 * MS_NS);
    close_net(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_arrives_when_its_last_byte_does),
        cmocka_unit_test(a_higher_priority_overtakes_waiting_messages),
        cmocka_unit_test(a_content_is_shared_and_freed_with_the_last_message),
        cmocka_unit_test(a_message_to_oneself_costs_no_time_and_no_bytes),
        cmocka_unit_test(messages_share_the_link_between_two_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
