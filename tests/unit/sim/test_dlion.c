/* DLion: weighted mean of gradients, messages that fit each link, and moves towards the best
 * worker. */
#include "strategies/max_n.h"
#include "workers/workers_stage.h"

static const char *const plain[] = {"max_n=100", "transfer_steps=0"};

static void full_messages_and_equal_batches_give_the_mean(void **state)
{
    (void)state;
    struct workers *stage = stage_open(dlion_play, 2, 2, plain, 2);
    stage_step(stage, 0, (const float[]){4, 0});
    assert_int_equal(stage->posts[0].message.bytes, 8 + 2 * 4);
    assert_true(stage_weights(stage, 0)[0] == 2);
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 1)[0] ==
                0); /* worker 1's next step will use the gradients received so far */
    stage_step(stage, 1, (const float[]){8, 2});
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 1)[0] == 6 && stage_weights(stage, 1)[1] == 1);
    stage_step(stage, 0, NULL);
    assert_true(stage_weights(stage, 0)[0] == 6 && stage_weights(stage, 0)[1] == 1);
    stage_step(stage, 0, NULL); /* the gradient is applied only once */
    assert_true(stage_weights(stage, 0)[0] == 6);
    stage_close(stage);
}

static void gradients_are_weighted_by_their_batches(void **state)
{
    (void)state;
    struct workers *stage = stage_open(dlion_play, 2, 1, plain, 2);
    stage->batches[1] = 40;
    stage_step(stage, 0, (const float[]){8});
    stage_step(stage, 1, (const float[]){6});
    stage_deliver_all(stage);
    assert_true(stage_weights(stage, 0)[0] == 4 && stage_weights(stage, 1)[0] == 3);
    stage_step(stage, 0, NULL);
    stage_step(stage, 1, NULL);
    assert_true(stage_weights(stage, 0)[0] == 4 + 12 && stage_weights(stage, 1)[0] == 3 + 1);
    stage_close(stage);
}

/* Each of two receivers gets half of the uplink, 30 bytes a step: two entries and 8 bytes. */
static void messages_fit_what_the_link_carries_in_a_step(void **state)
{
    (void)state;
    const float change[10] = {1, -5, 4, 2, 3, 4.9f, 0, 0, 0, 0};
    static const char *const links[] = {"transfer_steps=0"};
    struct workers *stage = stage_open(dlion_play, 3, 10, links, 1);
    stage->up[0] = 60;
    stage_step(stage, 0, change);
    assert_int_equal(stage->posts_count, 2);
    const struct content *content = stage->posts[0].message.content;
    assert_int_equal(stage->posts[0].message.bytes, 8 + 2 * 8);
    assert_true(content->count == 2 && content->indexes[0] == 1 && content->indexes[1] == 5);
    assert_true(content->values[0] == 5); /* a gradient */
    stage->up[0] = 200;                   /* 100 bytes a step, enough for all entries in 48 bytes */
    stage_step(stage, 0, change);
    assert_int_equal(stage->posts[2].message.bytes, 8 + 10 * 4);
    stage->up[0] = 2; /* at least the entries within 0.85 % of the largest */
    stage_step(stage, 0, (const float[10]){1, -0.992f, 0.991f});
    assert_int_equal(stage->posts[4].message.content->count, 2);
    stage->up[0] = 0; /* unlimited */
    stage_step(stage, 0, change);
    assert_int_equal(stage->posts[6].message.content->count, 10);
    stage_close(stage);
}

static void the_largest_entry_is_found_for_each_tensor(void **state)
{
    (void)state;
    struct arena arena;
    struct model *model;
    struct problem problem;
    const struct shape in = {.channels = 1, .height = 1, .width = 2};
    arena_init_growing(&arena);
    assert_int_equal(model_new(&model, &arena, NULL, "dense 2", in, 2, 1, &problem), OK);
    const float values[6] = {100, 50, 90, 10, 1, -0.9375f}; /* four weights and two biases */
    struct max_n *max_n = max_n_new(model, 6);
    max_n_rank(max_n, values);
    struct content *content = max_n_content(max_n, values, 1000); /* within a tenth */
    assert_true(content->count == 4 && content->indexes[0] == 0 && content->indexes[1] == 2 &&
                content->indexes[2] == 4 && content->indexes[3] == 5);
    assert_int_equal(max_n_bytes(max_n, 625), 3 * 8);
    assert_int_equal(max_n_bytes(max_n, MAX_N_ALL), 6 * 4);
    assert_int_equal(max_n_fit(max_n, 23), 624);
    assert_int_equal(max_n_fit(max_n, 24), MAX_N_ALL);
    max_n_rank(max_n, (const float[6]){1}); /* in a tensor of zeros no entry is kept */
    assert_int_equal(max_n_bytes(max_n, MAX_N_ALL - 1), 8);
    content_drop(content);
    max_n_free(max_n);
    model_free(model);
    arena_release(&arena);
}

static void workers_move_towards_the_best_every_transfer_steps(void **state)
{
    (void)state;
    static const char *const often[] = {"max_n=100", "transfer_steps=3"};
    struct workers *stage = stage_open(dlion_play, 3, 1, often, 2);
    const double losses[] = {2, 1, 3};
    memcpy(stage->losses, losses, sizeof losses);
    for (uint32_t step = 0; step < 6; step++) {
        stage->losses[2] = step < 3 ? 3 : 0.01; /* recent losses count: 3, then 2.701 */
        stage_step(stage, step % 3, NULL);
    }
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 3; i++)
        *stage_weights(stage, i) = (float)(8 * i);
    stage_step(stage, 0, NULL);
    assert_int_equal(stage->posts_count, 3);
    assert_true(stage->posts[0].to == 1 && stage->posts[0].message.bytes == 8);
    stage_step(stage, 1, NULL);
    assert_int_equal(stage->posts_count, 5); /* the best worker requests nothing */
    stage_deliver_all(stage);
    assert_true(stage_weights(stage, 0)[0] == 6 && stage_weights(stage, 1)[0] == 8);
    assert_int_equal(stage->sent_bytes, 16 * (8 + 4) + 8 + 4);
    stage_step(stage, 2, NULL);
    assert_true(stage->posts_count == 3 && stage->posts[0].to == 1);
    stage_close(stage);
}

static void a_worker_of_unknown_loss_is_not_the_best(void **state)
{
    (void)state;
    static const char *const always[] = {"max_n=100", "transfer_steps=1"};
    struct workers *stage = stage_open(dlion_play, 2, 1, always, 2);
    stage->losses[0] = 2;
    stage_step(stage, 0, NULL);
    stage_step(stage, 0, NULL);
    assert_int_equal(stage->posts_count, 2); /* gradients */
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_messages_and_equal_batches_give_the_mean),
        cmocka_unit_test(gradients_are_weighted_by_their_batches),
        cmocka_unit_test(messages_fit_what_the_link_carries_in_a_step),
        cmocka_unit_test(the_largest_entry_is_found_for_each_tensor),
        cmocka_unit_test(workers_move_towards_the_best_every_transfer_steps),
        cmocka_unit_test(a_worker_of_unknown_loss_is_not_the_best),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
