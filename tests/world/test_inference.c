/* A node serves inference clients between steps, for at most a fiftieth of the learner's time, and
 * does not make them members. The random-walk learner predicts the sum of a sample's bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/puppet.h"
#include "wire/reply.h"

#define STEP_NS   (20 * MS_NS)
#define PREDICTS  (STEP_NS / 4) /* time that the simulated learner takes for a request */
#define MOST      4             /* maximum samples of a request */
#define EACH      3             /* bytes of a sample */
#define CLIENTS   4
#define ASKS_MAX  256
#define MINUTE_NS (60 * SECOND_NS)

static struct puppet puppet, others[CLIENTS];
static float said[MOST];
static char about[64];

static void note_reply(struct puppet *who, const struct message *message)
{
    (void)who;
    if (message->kind != REPLY)
        return;
    assert_true(message->bulk.count <= sizeof said && message->text.count < sizeof about);
    if (message->bulk.count > 0)
        memcpy(said, message->bulk.at, message->bulk.count);
    memset(about, 0, sizeof about);
    if (message->text.count > 0)
        memcpy(about, message->text.at, message->text.count);
}

static struct node_options answering(void)
{
    struct node_options options = usual_options();
    options.limits.answers = (struct inference_form){
        .samples_max = MOST, .sample_bytes = EACH, .outputs = 1, .about = "three bytes"};
    return options;
}

static void begin(const struct node_options *options)
{
    start_swarm(1, options);
    run(12 * SECOND_NS);
    puppet_init(&puppet, 0, 9);
    puppet.on_heard = note_reply;
    puppet_meet(&puppet);
}

static void ask_of(struct puppet *who, uint32_t count)
{
    static const uint8_t samples[MOST * EACH] = {1, 2, 3, 10, 20, 30, 0, 0, 7, 255, 255, 255};
    puppet_say(
        who, &(struct message){.kind = INFERENCE, .count = count, .bulk = {samples, count * EACH}});
}

static void ask(uint32_t count)
{
    ask_of(&puppet, count);
}

static const struct message *reply_of(const struct puppet *who, uint32_t replies)
{
    assert_int_equal(who->heard[REPLY], replies);
    return &who->last[REPLY];
}

static const struct message *reply(uint32_t replies)
{
    return reply_of(&puppet, replies);
}

static void must_be_hung_up(enum bye_reason reason, const char *why)
{
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, reason);
    assert_string_equal(puppet.bye, why);
}

static void serves_a_request_between_two_steps(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    ask(0);
    assert_int_equal(reply(1)->reason, REPLY_DONE);
    assert_int_equal(reply(1)->count, MOST);
    assert_int_equal(reply(1)->wait, 0);
    assert_string_equal(about, "three bytes");
    const uint64_t steps = stats_of(0).steps;
    ask(MOST);
    run(STEP_NS);
    assert_true(stats_of(0).steps <= steps + 2);
    assert_int_equal(reply(2)->reason, REPLY_DONE);
    assert_int_equal(reply(2)->count, MOST);
    assert_true(said[0] == 6 && said[1] == 60 && said[2] == 7 && said[3] == 765);
    puppet_free(&puppet);
}

static void a_client_is_no_member_and_no_neighbour(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    ask(1);
    run(STEP_NS);
    (void)reply(1);
    assert_int_equal(neighbours(0), 0);
    assert_int_equal(stats_of(0).members_live, 1);
    puppet_say(&puppet, &(struct message){.kind = BYE, .reason = BYE_LEAVING});
    run(SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 0);
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED], 0);
    assert_int_equal(puppet.heard[HELLO] + puppet.heard[VERSION] + puppet.heard[PING], 0);
    puppet_free(&puppet);
}

static void all_clients_together_get_a_fiftieth_of_the_learner(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    uint32_t done = 0;
    const uint64_t from_ns = world_now_ns(&world);
    /* Sends each request after the wait that the last reply demanded. */
    while (world_now_ns(&world) - from_ns < 20 * SECOND_NS) {
        ask(1);
        run(STEP_NS);
        done += reply(puppet.heard[REPLY])->reason == REPLY_DONE;
        run(reply(puppet.heard[REPLY])->wait * MS_NS);
        assert_false(puppet.closed);
    }
    const uint64_t took_ns = world_now_ns(&world) - from_ns;
    assert_true(done * PREDICTS * 50 <= took_ns + 50 * PREDICTS);
    assert_true(done * PREDICTS * 50 > took_ns / 2);
    puppet_free(&puppet);
}

static void disconnects_a_client_that_does_not_wait(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    ask(1);
    run(STEP_NS);
    const uint64_t wait_ns = reply(1)->wait * MS_NS;
    assert_in_range(wait_ns, 48 * PREDICTS, 50 * PREDICTS);
    /* Still too soon: the node accepts half the wait, because a client's clock may be fast. */
    run(wait_ns / 2 - 2 * STEP_NS);
    ask(1);
    must_be_hung_up(BYE_BROKEN, "sent a request too soon");
    run(wait_ns);
    puppet_meet(&puppet); /* the demanded wait also applies to a new connection */
    ask(1);
    run(STEP_NS);
    assert_int_equal(reply(1)->reason, REPLY_DONE);
    ask(1);
    must_be_hung_up(BYE_BROKEN, "sent a request too soon");
    puppet_meet(&puppet);
    ask(1);
    run(STEP_NS);
    assert_int_equal(reply(1)->reason, REPLY_BUSY);
    puppet_free(&puppet);
}

static void refuses_a_second_request_before_the_answer(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    for (uint32_t i = 0; i < ASKS_MAX && !puppet.closed && puppet.heard[REPLY] == 0; i++)
        ask(1);
    must_be_hung_up(BYE_BROKEN, "sent a request too soon");
    run(SECOND_NS); /* the reply is ready after its client has gone */
    puppet_meet(&puppet);
    ask(1);
    run(STEP_NS);
    assert_int_equal(reply(1)->reason, REPLY_DONE);
    puppet_free(&puppet);
}

static void serves_four_clients_at_once_and_refuses_others(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        puppet_init(&others[i], 0, (uint8_t)(20 + i));
        puppet_meet(&others[i]);
        ask_of(&others[i], 0);
        (void)reply_of(&others[i], 1);
    }
    ask(0);
    must_be_hung_up(BYE_FULL, "too many clients; try again later");
    puppet_say(&others[2], &(struct message){.kind = BYE, .reason = BYE_LEAVING});
    run(SECOND_NS);
    puppet_meet(&puppet);
    ask(0);
    (void)reply(1);
    for (uint32_t i = 0; i < CLIENTS; i++)
        puppet_free(&others[i]);
    puppet_free(&puppet);
}

static void serves_two_clients_of_one_network_at_once(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    for (uint32_t i = 0; i < 2; i++) {
        ask(0);
        (void)reply(1);
        peer_end(&puppet.peer); /* the first connection stays open while the puppet opens another */
        puppet.slot++;
        puppet_meet(&puppet);
    }
    ask(0);
    must_be_hung_up(BYE_FULL, "too many clients; try again later");
    puppet_free(&puppet);
}

static void a_client_connection_lasts_a_minute(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    ask(0);
    run(MINUTE_NS - SECOND_NS);
    assert_false(puppet.closed);
    ask(0);
    (void)reply(2);
    run(2 * SECOND_NS);
    must_be_hung_up(BYE_RENEW, "the client's session has reached its time limit");
    puppet_free(&puppet);
}

static void a_client_connection_has_a_limit_of_requests(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    for (uint32_t i = 0; i < ASKS_MAX; i++) {
        ask(0);
        run(10 * MS_NS); /* a new link has a small congestion window */
    }
    (void)reply(ASKS_MAX);
    ask(0);
    must_be_hung_up(BYE_RENEW, "the client's session has reached its request limit");
    puppet_free(&puppet);
}

static void invalid_requests_end_the_connection(void **state)
{
    (void)state;
    static const uint8_t samples[(MOST + 1) * EACH];
    const struct message wrong[] = {
        {.kind = INFERENCE, .count = MOST + 1, .bulk = {samples, (MOST + 1) * EACH}},
        {.kind = INFERENCE, .count = UINT64_MAX, .bulk = {samples, EACH}},
        {.kind = INFERENCE, .count = 2, .bulk = {samples, 2 * EACH - 1}},
        {.kind = INFERENCE, .count = 0, .bulk = {samples, EACH}},
        {.kind = INFERENCE, .count = 1},
    };
    const struct node_options options = answering();
    begin(&options);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        puppet_say(&puppet, &wrong[i]);
        must_be_hung_up(BYE_BROKEN, "the request does not fit this node's model");
        run(SECOND_NS);
        puppet_meet(&puppet);
    }
    puppet_say(&puppet, &(struct message){.kind = REPLY});
    must_be_hung_up(BYE_BROKEN, "sent a message before HELLO");
    run(SECOND_NS);
    puppet_meet(&puppet);
    ask(0);
    puppet_hello(&puppet);
    must_be_hung_up(BYE_BROKEN, "sent a message before HELLO");
    puppet_free(&puppet);
}

static void refuses_requests_of_a_neighbour(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    puppet_hello(&puppet);
    assert_int_equal(neighbours(0), 1);
    ask(1);
    must_be_hung_up(BYE_BROKEN, "sent an inference message as a neighbour");
    puppet_free(&puppet);
}

static void refuses_requests_when_not_serving(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    begin(&options);
    ask(0);
    must_be_hung_up(BYE_BROKEN, "this node answers no inference requests; set node.answers");
    puppet_free(&puppet);
}

static void a_leaving_node_has_no_model_to_ask(void **state)
{
    (void)state;
    const struct node_options options = answering();
    begin(&options);
    add(&options);
    world_introduce(&world, 0, 1);
    world_start(&world, 1);
    run(12 * SECOND_NS);
    puppet_meet(&puppet);
    cut(0, 1); /* node 0 stays, waiting for a neighbour that does not answer */
    world_leave(&world, 0);
    ask(1);
    assert_int_equal(reply(1)->reason, REPLY_NONE);
    assert_int_equal(reply(1)->wait, 10000);
    puppet_free(&puppet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(serves_a_request_between_two_steps),
        STORY(a_client_is_no_member_and_no_neighbour),
        STORY(all_clients_together_get_a_fiftieth_of_the_learner),
        STORY(disconnects_a_client_that_does_not_wait),
        STORY(refuses_a_second_request_before_the_answer),
        STORY(serves_four_clients_at_once_and_refuses_others),
        STORY(serves_two_clients_of_one_network_at_once),
        STORY(a_client_connection_lasts_a_minute),
        STORY(a_client_connection_has_a_limit_of_requests),
        STORY(invalid_requests_end_the_connection),
        STORY(refuses_requests_of_a_neighbour),
        STORY(refuses_requests_when_not_serving),
        STORY(a_leaving_node_has_no_model_to_ask),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
