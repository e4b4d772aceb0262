#include "support/state/checkpoint_story.h"

#include "base/digest.h"

#define UPDATE 20 /* entries of an update */

size_t story_part;

void story_init(struct story *story, size_t parameters, uint32_t moments)
{
    memset(story->vectors, 0x5A, sizeof story->vectors);
    memset(story->own, 0x5A, OWN);
    learner_state_init(&story->state, story->vectors, parameters, moments);
    story->checkpoint =
        (struct checkpoint){.model = MODEL, .state = story->state, .own = story->own};
}

void story_fill(struct story *story, uint64_t generation)
{
    struct checkpoint *checkpoint = &story->checkpoint;
    struct learner_state *state = &story->state;
    struct rng rng = rng_new(generation, 5);
    uint8_t *vectors[] = {(uint8_t *)state->base, (uint8_t *)state->weights,
                          (uint8_t *)state->moment[0], (uint8_t *)state->moment[1]};
    for (size_t i = 0; i < OWN; i++)
        story->own[i] = (uint8_t)rng_next(&rng);
    checkpoint->own_bytes = OWN;
    checkpoint->incarnation = rng_next(&rng);
    state->samples = rng_next(&rng);
    state->epoch = rng_next(&rng);
    state->at = (uint32_t)rng_next(&rng);
    state->random_walk = rng_next(&rng);
    state->steps = rng_next(&rng);
    state->swarm_samples = rng_next(&rng);
    state->batch = (uint32_t)rng_next(&rng);
    checkpoint->state = *state;
    for (size_t v = 0; v < 4 && vectors[v]; v++)
        for (size_t i = 0; i < state->parameters * sizeof(float); i++)
            vectors[v][i] = (uint8_t)rng_next(&rng);
}

/* Copies a part of the story's state, as snapshot_save does for a real learner. */
static void story_take(void *learner, struct learner_state *part)
{
    const struct learner_state *state = &((struct story *)learner)->state;
    const size_t first = part->first, bytes = part->parameters * sizeof(float);
    memcpy(part->base, state->base + first, bytes);
    memcpy(part->weights, state->weights + first, bytes);
    for (uint32_t i = 0; i < part->moments; i++)
        memcpy(part->moment[i], state->moment[i] + first, bytes);
}

static void story_replay(void *self, const struct snapshot_record *record)
{
    const struct learner_state *state = &((struct story *)self)->state, *part = &record->part;
    const size_t first = part->first, bytes = part->parameters * sizeof(float);
    if (record->kind == SNAPSHOT_PART) {
        memcpy(state->base + first, part->base, bytes);
        memcpy(state->weights + first, part->weights, bytes);
        for (uint32_t i = 0; i < part->moments; i++)
            memcpy(state->moment[i] + first, part->moment[i], bytes);
    } else {
        const struct update *update = &record->update;
        for (uint32_t i = 0; i < update->count; i++) {
            int32_t *units = &state->base[update->index[i]];
            const int level = update->level[i];
            *units = (int32_t)((uint32_t)*units + update->amount * (uint32_t)level);
            state->weights[update->index[i]] = record->beta + update->tau + (float)record->kind;
        }
    }
}

/* Applies an update whose entries are spread over all parameters. */
static void story_move(struct story *story, struct snapshot_queue *queue, struct rng *rng,
                       enum snapshot_kind kind)
{
    uint32_t index[UPDATE];
    int8_t level[UPDATE];
    const uint32_t parameters = (uint32_t)story->state.parameters;
    struct snapshot_record all = {
        .kind = kind, .beta = 0.25f * (float)rng_below(rng, 4), .end = parameters};
    all.update = (struct update){
        .tau = 0.5f, .amount = 1 + rng_below(rng, 1000), .index = index, .level = level};
    for (uint32_t i = 0; i < UPDATE && i < parameters; i++) {
        index[i] = (uint32_t)((uint64_t)parameters * i / UPDATE);
        level[i] = (int8_t)(1 + rng_below(rng, 100));
        all.update.count += i == 0 || index[i] > index[i - 1];
    }
    story_replay(story, &all);
    snapshot_note_update(queue, kind, &all.update, all.beta);
}

void story_walk(struct story *story, uint64_t generation, struct checkpoint_writer *writer)
{
    static const enum snapshot_kind KINDS[] = {SNAPSHOT_APPLIED, SNAPSHOT_OWN};
    const size_t parameters = story->state.parameters;
    const size_t part = story_part < parameters ? story_part : parameters;
    const uint32_t moments = story->state.moments;
    struct rng rng = rng_new(generation, 6);
    struct snapshot_queue queue;
    struct arena arena;
    arena_init(&arena, snapshot_queue_bytes(part, moments, UPDATE));
    snapshot_queue_init(&queue, &arena, parameters, part, moments, UPDATE);
    for (size_t first = 0; first < parameters;) {
        for (int i = 0; first > 0 && i < 2; i++)
            story_move(story, &queue, &rng, KINDS[i]);
        first += snapshot_take(&queue, first, story_take, story);
        for (const struct snapshot_record *record; (record = snapshot_next(&queue));) {
            if (writer)
                checkpoint_put(writer, record);
            snapshot_done(&queue);
        }
    }
    arena_release(&arena);
}

uint64_t story_digest(const struct learner_state *state)
{
    uint64_t digest = 0;
    for (size_t c = 0; c < state->parameters; c++)
        digest = digest_add(digest, digest_of_entry((uint32_t)c, (uint32_t)state->base[c]));
    return digest;
}

static bool story_vector_is(const void *a, const void *b, const struct learner_state *state)
{
    return !a || memcmp(a, b, state->parameters * sizeof(float)) == 0;
}

bool story_is(const struct story *got, uint64_t generation)
{
    static struct story want;
    const struct learner_state *a = &got->state, *b = &want.state;
    const struct learner_state *numbers = &got->checkpoint.state;
    story_init(&want, a->parameters, a->moments);
    story_fill(&want, generation);
    story_walk(&want, generation, NULL);
    return story_vector_is(a->base, b->base, a) && story_vector_is(a->weights, b->weights, a) &&
           story_vector_is(a->moment[0], b->moment[0], a) &&
           story_vector_is(a->moment[1], b->moment[1], a) && numbers->steps == b->steps &&
           numbers->samples == b->samples && numbers->swarm_samples == b->swarm_samples &&
           numbers->batch == b->batch && numbers->epoch == b->epoch && numbers->at == b->at &&
           numbers->random_walk == b->random_walk && got->checkpoint.digest == story_digest(b) &&
           got->checkpoint.incarnation == want.checkpoint.incarnation &&
           got->checkpoint.own_bytes == OWN && memcmp(got->own, want.own, OWN) == 0;
}

static void story_refused(void *context, const struct problem *why)
{
    struct story_refusals *seen = context;
    seen->count++;
    seen->last = *why;
}

struct memory_disk disk;
struct story saved, loaded;
struct checkpoint_series series;
struct story_refusals refusals;
struct problem problem;

int begin(void **state)
{
    (void)state;
    memory_disk_init(&disk);
    story_init(&saved, P, 1);
    story_part = 1500;
    series = (struct checkpoint_series){.next = 1};
    refusals = (struct story_refusals){0};
    return 0;
}

enum error save(struct memory_disk *to)
{
    static struct checkpoint_writer writer;
    const size_t parameters = saved.state.parameters;
    const uint64_t generation = series.next;
    story_fill(&saved, generation);
    checkpoint_begin(&writer, &to->table, FOLDER, &saved.checkpoint,
                     story_part < parameters ? story_part : parameters, &series);
    story_walk(&saved, generation, &writer);
    return checkpoint_end(&writer, &saved.checkpoint, &series, &problem);
}

size_t story_stream(struct memory_disk *on, uint64_t generation, uint8_t stream[FILE_MAX])
{
    const struct memory_file *file = file_of(on, generation);
    size_t bytes = 0;
    for (size_t at = 0; at < file->size; at += CHUNK_BYTES) {
        const size_t left = file->size - at, chunk = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        memcpy(stream + bytes, file->bytes + at, chunk - (CHUNK_BYTES - CHUNK_PAYLOAD));
        bytes += chunk - (CHUNK_BYTES - CHUNK_PAYLOAD);
    }
    return bytes;
}

void story_put_stream(struct memory_disk *on, uint64_t generation, const uint8_t *stream,
                      size_t bytes)
{
    static struct checksummed_writer writer;
    char name[CHECKPOINT_NAME_MAX];
    struct atomic_file file;
    checkpoint_name(name, generation);
    atomic_file_begin(&file, &on->table, FOLDER, name, ATOMIC_FILE_PRIVATE);
    checksummed_writer_init(&writer, &file, generation);
    checksummed_write(&writer, stream, bytes);
    checksummed_write_end(&writer);
    assert_int_equal(atomic_file_end(&file), 0);
}

enum error load_with(struct memory_disk *from, size_t parameters, uint32_t moments)
{
    const struct checkpoint_refusal refusal = {&refusals, story_refused};
    refusals = (struct story_refusals){0};
    story_init(&loaded, parameters, moments);
    const struct checkpoint_target target = {&loaded, story_replay};
    return checkpoint_load(&from->table, FOLDER, &loaded.checkpoint, &target, &series, &refusal,
                           &problem);
}

enum error load(struct memory_disk *from)
{
    return load_with(from, P, 1);
}

void save_two(void)
{
    assert_int_equal(save(&disk), OK);
    assert_int_equal(save(&disk), OK);
}

struct memory_file *file_of(struct memory_disk *on, uint64_t generation)
{
    char name[CHECKPOINT_NAME_MAX];
    checkpoint_name(name, generation);
    return memory_disk_file(on, name);
}

void must_load(struct memory_disk *from, uint64_t generation, int refused)
{
    assert_int_equal(load(from), OK);
    assert_int_equal(series.good, generation);
    assert_int_equal(refusals.count, refused);
    assert_true(story_is(&loaded, generation));
}
