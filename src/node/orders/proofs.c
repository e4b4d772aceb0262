#include "node/orders/proofs.h"

#include <string.h>

#include "crypto/gate.h"
#include "wire/message.h"

#define AT_ONCE 128 /* maximum proofs per message */

_Static_assert(AT_ONCE *PROOF_BYTES + MESSAGE_ADDS <= MESSAGE_MAX, "they fit into one");

struct known {
    uint8_t author[ID_BYTES]; /* id of the accused member */
    bool is_proven;           /* a proof is known: `proof` and `bytes` are valid */
    struct proof proof;
    uint8_t bytes[PROOF_BYTES]; /* the proof with its signatures */
    bool is_decided;       /* most members have voted to expel the author: `decision` is valid */
    struct proof decision; /* limit of the author's rumors that the majority voted for */
    bool is_suspended;     /* the author's rumors stay in the base (suspension.h) */
};

/* Verdict on an author without a proof or a decision: all its rumors stay. */
static const struct proof NOTHING = {
    .kind = PROOF_VOTES, .incarnation = UINT64_MAX, .keep = UINT32_MAX};

struct proofs {
    struct known *known; /* [PROOFS_ACCUSED] one entry for each accused author */
    uint32_t count;      /* entries in use, including those without a proof or decision */
    uint32_t proven;     /* entries with a proof: at most NODE_PROOFS */
    uint32_t changes;    /* proofs stored, replaced or forgotten since the start */
    bool is_full_noted;  /* a note has said that no further proof fits */
    bool is_contested;   /* proofs_are_contested */
};

size_t proofs_arena_bytes(void)
{
    return sizeof(struct proofs) + PROOFS_ACCUSED * sizeof(struct known) + (size_t)2 * 64;
}

static struct known *find(const struct proofs *proofs, const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < proofs->count; i++)
        if (memcmp(proofs->known[i].author, id, ID_BYTES) == 0)
            return &proofs->known[i];
    return NULL;
}

/* Returns the stricter of the proof and the members' decision; NOTHING if there is neither. */
static const struct proof *what_counts(const struct known *known)
{
    if (!known->is_proven)
        return known->is_decided ? &known->decision : &NOTHING;
    return known->is_decided && proof_is_stricter(&known->decision, &known->proof)
               ? &known->decision
               : &known->proof;
}

/* Returns an entry without a proof or a decision; NULL if there is none. */
static struct known *find_free(struct proofs *proofs)
{
    CHECK(proofs->proven <= NODE_PROOFS && proofs->count <= PROOFS_ACCUSED);
    for (uint32_t i = 0; i < proofs->count; i++)
        if (!proofs->known[i].is_proven && !proofs->known[i].is_decided)
            return &proofs->known[i];
    return proofs->count < PROOFS_ACCUSED ? &proofs->known[proofs->count++] : NULL;
}

/* Returns the author's entry, which is added if it is missing. Returns NULL if `known` is full. */
static struct known *find_or_add(struct proofs *proofs, const uint8_t author[static ID_BYTES])
{
    struct known *known = find(proofs, author);
    if (known)
        return known;
    known = find_free(proofs);
    if (known)
        *known = (struct known){0};
    if (known)
        memcpy(known->author, author, ID_BYTES);
    return known;
}

/* Stores a proof in its author's entry. Returns false if there are too many proofs. */
static bool put(struct proofs *proofs, const struct proof *proof, const uint8_t *bytes)
{
    struct known *known = find(proofs, proof->author);
    if (!known || !known->is_proven) {
        if (proofs->proven == NODE_PROOFS)
            return false;
        proofs->proven++;
        /* At most NODE_VOTERS other entries have a decision, so one is free. */
        known = find_or_add(proofs, proof->author);
        CHECK(known);
    }
    known->proof = *proof;
    known->is_proven = true;
    /* assumed until neighbours have reported whether they obey the proof */
    proofs->is_contested = true;
    memcpy(known->bytes, bytes, PROOF_BYTES);
    proofs->changes++;
    return true;
}

struct proofs *proofs_new(struct arena *arena, const struct node *node)
{
    struct proofs *proofs = arena_alloc(arena, 1, sizeof *proofs);
    proofs->known = arena_alloc(arena, PROOFS_ACCUSED, sizeof *proofs->known);
    for (size_t at = 0; at < node->options.kept.proofs.bytes; at += PROOF_BYTES) {
        struct proof proof;
        CHECK(proof_parse(node->options.kept.proofs.at + at, node->context,
                          node->options.parameters, &proof) == OK);
        CHECK(put(proofs, &proof, node->options.kept.proofs.at + at));
    }
    proofs->changes = 0;
    return proofs;
}

enum error node_proofs_check(const struct node_options *options, struct problem *problem)
{
    uint8_t context[CONTEXT_BYTES];
    const struct introduction ours = connection_introduction_of(options);
    struct proof proof;
    introduction_context(context, &ours);
    if (options->kept.proofs.bytes % PROOF_BYTES != 0 ||
        options->kept.proofs.bytes > NODE_PROOFS_MAX)
        return problem_set(problem, MALFORMED, "they have an invalid size");
    for (size_t at = 0; at < options->kept.proofs.bytes; at += PROOF_BYTES)
        if (proof_parse(options->kept.proofs.at + at, context, options->parameters, &proof) != OK ||
            proof_verify(options->kept.proofs.at + at, context) != OK)
            return problem_set(problem, MISMATCH,
                               "they are damaged, or belong to another swarm or model");
    return OK;
}

const struct proof *proofs_against(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct known *known = find(node->proofs, id);
    return known && (known->is_proven || known->is_decided) ? what_counts(known) : NULL;
}

const struct proof *proofs_in_force(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct known *known = find(node->proofs, id);
    return known && !known->is_suspended ? proofs_against(node, id) : NULL;
}

uint32_t proofs_number(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct known *known = find(node->proofs, id);
    return known ? (uint32_t)(known - node->proofs->known) : UINT32_MAX;
}

uint32_t proofs_count(const struct node *node)
{
    return node->proofs->count;
}

const struct proof *proofs_at(const struct node *node, uint32_t i)
{
    CHECK(i < node->proofs->count);
    return what_counts(&node->proofs->known[i]);
}

const uint8_t *proofs_author(const struct node *node, uint32_t i)
{
    CHECK(i < node->proofs->count);
    return node->proofs->known[i].author;
}

bool proofs_is_suspended(const struct node *node, uint32_t i)
{
    CHECK(i < node->proofs->count);
    return node->proofs->known[i].is_suspended;
}

void proofs_suspend(struct node *node, uint32_t i, bool is_suspended)
{
    CHECK(i < node->proofs->count);
    node->proofs->known[i].is_suspended = is_suspended;
}

bool proofs_are_contested(const struct node *node)
{
    return node->proofs->is_contested;
}

void proofs_contest(struct node *node, bool is_contested)
{
    node->proofs->is_contested = is_contested;
}

static void note_full(struct node *node)
{
    if (node->proofs->is_full_noted)
        return;
    node->proofs->is_full_noted = true;
    (void)notes_add(&node->notes, node->now_ns, NOTE_EXPELLED, LEVEL_ERROR,
                    "the table of proofs is full with %u proven attackers, so an attacker creates "
                    "identities; give the swarm a new key (hearsay rekey), or list its members",
                    (unsigned)NODE_PROOFS);
}

enum error proofs_take(struct node *node, const uint8_t in[static PROOF_BYTES], bool *is_new)
{
    struct proof proof;
    *is_new = false;
    enum error error = proof_parse(in, node->context, node->options.parameters, &proof);
    if (error != OK)
        return error;
    const struct known *known = find(node->proofs, proof.author);
    if (known && known->is_proven && !proof_is_stricter(&proof, &known->proof))
        return OK;
    error = proof_verify(in, node->context);
    if (error != OK)
        return error;
    *is_new = put(node->proofs, &proof, in);
    if (!*is_new)
        note_full(node);
    return OK;
}

bool proofs_is_proven(const struct node *node, uint32_t i)
{
    CHECK(i < node->proofs->count);
    return node->proofs->known[i].is_proven;
}

void proofs_forget(struct node *node, uint32_t i)
{
    struct proofs *proofs = node->proofs;
    CHECK(proofs_is_proven(node, i) && proofs->proven > 0);
    proofs->known[i].is_proven = false;
    proofs->proven--;
    proofs->changes++;
    proofs->is_full_noted = false;
}

static bool is_same(const struct proof *one, const struct proof *other)
{
    return one->kind == other->kind && one->incarnation == other->incarnation &&
           one->keep == other->keep;
}

bool proofs_decide(struct node *node, const uint8_t id[static ID_BYTES],
                   const struct proof *decision)
{
    CHECK(!decision || decision->kind == PROOF_VOTES);
    struct proofs *proofs = node->proofs;
    struct known *known = decision ? find_or_add(proofs, id) : find(proofs, id);
    CHECK(known || !decision); /* only members that may vote are accused: at most NODE_VOTERS */
    if (!known)
        return false;
    const bool was_out = known->is_proven || known->is_decided;
    const struct proof before = *what_counts(known);
    known->is_decided = decision != NULL;
    if (decision)
        known->decision = *decision;
    const bool is_out = known->is_proven || known->is_decided;
    proofs->is_contested |= is_out;
    return was_out != is_out || !is_same(&before, what_counts(known));
}

bool proofs_is_decided(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct known *known = find(node->proofs, id);
    CHECK(!known || !known->is_decided || known->decision.kind == PROOF_VOTES);
    return known && known->is_decided;
}

/* Returns a hash of all known proofs, whatever the order of their arrival. */
static uint64_t hash_of_all(const struct proofs *proofs)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < proofs->count; i++) {
        const struct proof *proof = &proofs->known[i].proof;
        if (proofs->known[i].is_proven)
            hash += rng_mix(bytes_get(proof->author, 8) ^
                            rng_mix(proof->incarnation ^ rng_mix(proof->keep)));
    }
    return hash;
}

/* Writes the proofs of up to `most` entries from index `from` on to `out`. Returns the number of
 * bytes. */
static size_t put_all(const struct proofs *proofs, uint32_t from, uint32_t most, uint8_t *out)
{
    size_t bytes = 0;
    for (uint32_t i = from; i < proofs->count && i - from < most; i++) {
        if (!proofs->known[i].is_proven)
            continue; /* this entry is only a decision, which spreads as votes */
        memcpy(out + bytes, proofs->known[i].bytes, PROOF_BYTES);
        bytes += PROOF_BYTES;
    }
    return bytes;
}

static bool say(struct node *node, const struct peer *peer, const uint8_t *proofs, size_t bytes)
{
    return connection_say(node, peer,
                          &(struct message){.kind = PROOF,
                                            .hash = hash_of_all(node->proofs),
                                            .bulk = {proofs, bytes}});
}

void proofs_say(struct node *node, const struct peer *peer)
{
    for (uint32_t from = 0; from < node->proofs->count; from += AT_ONCE) {
        const size_t bytes = put_all(node->proofs, from, AT_ONCE, node->scratch);
        if (bytes > 0 && !say(node, peer, node->scratch, bytes))
            return; /* the queue is full; these proofs are sent later */
    }
}

static bool has_any(const struct proofs *proofs)
{
    uint32_t i = 0;
    while (i < proofs->count && !proofs->known[i].is_proven)
        i++;
    return i < proofs->count;
}

void proofs_say_one(struct node *node, const struct peer *peer, const uint8_t id[static ID_BYTES])
{
    const struct known *known = find(node->proofs, id);
    if (known && known->is_proven)
        (void)say(node, peer, known->bytes, PROOF_BYTES);
}

void proofs_on_shown(struct node *node, const struct peer *from, uint64_t hash)
{
    if (hash == hash_of_all(node->proofs))
        return;
    if (has_any(node->proofs))
        proofs_say(node, from);
    else
        (void)say(node, from, NULL, 0); /* an empty PROOF asks the neighbour for all its proofs */
}

void proofs_show_one(struct node *node)
{
    const struct peer *peer = has_any(node->proofs) ? connection_random(node) : NULL;
    if (peer)
        (void)say(node, peer, NULL, 0);
}

uint32_t node_proofs_changes(const struct node *node)
{
    return node->proofs->changes;
}

size_t node_proofs(const struct node *node, uint8_t *out)
{
    return put_all(node->proofs, 0, PROOFS_ACCUSED, out);
}
