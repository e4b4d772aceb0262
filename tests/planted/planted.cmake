# Mistakes that somebody may make some day, one program with each: every one must be found by
# storms of faults (tests/planted/test_planted.sh). Nothing of this is in the program itself.
#
#   plant(NAME INVARIANT FILE OLD NEW WHAT)
#       FILE with NEW in place of OLD, and what is wrong then; INVARIANT (sim/checks/check.h) is what it is
#       expected to break, though another one may notice first. What follows are options for sim.
#
# With -DPLANTED=ON each is a target planted_NAME, all of them are `planted`, and planted.txt in the
# build folder lists them. `cmake -P tests/planted/planted.cmake` only looks whether each OLD still stands
# in its file, once, so that the list cannot rot in silence; ctest does that always.
cmake_minimum_required(VERSION 3.22)

get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(PLANTED_LIST "")

if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_library(planted_main OBJECT src/main.c) # once for all of them
  target_link_libraries(planted_main PRIVATE commands sim)
  add_custom_target(planted)
endif()

# The mistake's file is linked before the library that has the right one, which is left out then.
function(add_planted NAME FILE TEXT)
  get_filename_component(BASE "${FILE}" NAME)
  set(COPY "${CMAKE_BINARY_DIR}/planted/${NAME}/${BASE}")
  set(BEFORE "")
  if(EXISTS "${COPY}")
    file(READ "${COPY}" BEFORE)
  endif()
  if(NOT BEFORE STREQUAL TEXT)
    file(WRITE "${COPY}" "${TEXT}")
  endif()
  add_executable(planted_${NAME} EXCLUDE_FROM_ALL "${COPY}" $<TARGET_OBJECTS:planted_main>)
  target_link_libraries(planted_${NAME} PRIVATE commands sim)
  target_compile_options(planted_${NAME} PRIVATE -w) # what a mistake leaves unused is no news
  set_target_properties(planted_${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY planted/${NAME})
  add_dependencies(planted planted_${NAME})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${ROOT}/${FILE}")
endfunction()

function(plant NAME INVARIANT FILE OLD NEW WHAT)
  file(READ "${ROOT}/${FILE}" TEXT)
  string(FIND "${TEXT}" "${OLD}" FIRST)
  string(FIND "${TEXT}" "${OLD}" LAST REVERSE)
  if(FIRST EQUAL -1 OR NOT FIRST EQUAL LAST)
    message(FATAL_ERROR "tests/planted/planted.cmake: ${NAME}: this must stand once in ${FILE}:\n${OLD}")
  endif()
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    string(REPLACE "${OLD}" "${NEW}" TEXT "${TEXT}")
    add_planted(${NAME} "${FILE}" "${TEXT}")
  endif()
  set(PLANTED_LIST "${PLANTED_LIST}${NAME} ${INVARIANT} ${FILE} ${ARGN}\n" PARENT_SCOPE)
endfunction()

# Rumors.

plant(seq_off_by_one 2 src/node/broadcast/broadcast_tree.c
  [[if (origin && head.seq < origin->next) {]]
  [[if (origin && head.seq + 1 < origin->next) {]]
  "the rumor heard last is heard again when it comes again")

plant(seq_skips_one 3 src/node/broadcast/broadcast_tree.c
  [[if (head.seq > (origin ? origin->next : 0)) {]]
  [[if (head.seq > (origin ? origin->next + 1 : 0)) {]]
  "the one after the next is taken for the next")

plant(own_comes_back 2 src/node/broadcast/broadcast_tree.c
  [[if (origin && head.seq < origin->next) {]]
  [[if (origin && origin != node->own && head.seq < origin->next) {]]
  "what we told is heard like anybody's when it comes back")

plant(handed_and_forgotten 2 src/node/broadcast/broadcast_tree.c
  [[    origin->applied++;
    rumor_log_applied(&node->log);
]]
  [[]]
  "what the learner was given does not count")

plant(handed_too_early 1 src/node/broadcast/broadcast_tree.c
  [[head.count > node->options.apply_window))
        return false;]]
  [[head.count > node->options.apply_window)) {
        origin->applied++;
        rumor_log_applied(&node->log);
        return false;
    }]]
  "what the learner has no room for is passed over")

plant(scratch_mistaken 1 src/node/broadcast/broadcast_tree.c
  [[    decoded_keep(&node->decoded, node->log.newest);
]]
  [[    decoded_keep(&node->decoded, node->log.newest + 1);
]]
  "what was decoded when it was heard is taken for the one after it")

plant(own_digest 1 src/node/broadcast/broadcast_tree.c
  [[                                    .amount = update->amount,
]]
  [[]]
  "our own publications do not count in the digest")

plant(want_from_next 5 src/node/broadcast/push_backlog.c
  [[for (uint32_t next = from; next < origin->next; next++) {]]
  [[for (uint32_t next = from + 1; next < origin->next; next++) {]]
  "who asks for rumor n is answered from n + 1 on")

plant(never_asks 5 src/node/timers.c
  [[        repair_review(node);
]]
  [[]]
  "what did not come by itself is never asked for")

plant(asks_once 5 src/node/broadcast/repair.c
  [[if (asked->tag == tag && asked->at_ns && node->now_ns - asked->at_ns < AGAIN_NS)]]
  [[if (asked->tag == tag && asked->at_ns)]]
  "an origin not known yet is asked for once only, of somebody who may be gone")

plant(learner_starves 5 src/node/node.c
  [[    node->applying -= entries;
]]
  [[]]
  "the learner's room is never given back")

plant(tells_once_alone 8 src/node/node.c
  [[    node->publish = PUBLISH_IDLE;
    node->publications++;]]
  [[    if (node_neighbours(node) > 0)
        node->publish = PUBLISH_IDLE;
    node->publications++;]]
  "who tells while nobody is there never tells again")

include("${CMAKE_CURRENT_LIST_DIR}/planted_bases.cmake")

# Versions and origins.

plant(tag_without_life 5 src/node/broadcast/version.c
  [[bytes_put(in + ID_BYTES, incarnation, 8);]]
  [[bytes_put(in + ID_BYTES, 0, 8);]]
  "a node that starts again is taken for what it was before")

plant(coarse_incarnation 3 src/node/node.c
  [[versions_add(&node->versions, options->identity->id, options->incarnation);]]
  [[versions_add(&node->versions, options->identity->id, options->incarnation / 60000);]]
  "two lives within a minute number their rumors in one stream")

plant(same_by_count 3 src/node/broadcast/anti_entropy.c
  [[const bool same = version->hash == ours->hash;]]
  [[const bool same = version->rumors == ours->rumors;]]
  "as many rumors are taken for the same rumors")

# Replicas.

plant(residual_lost 4 model/backend/cpu/cpu_exchange.c
  [[        w[c] += step * (float)level;
    }
    host_update->count = told;]]
  [[        w[c] = QUANTUM * (float)base[c];
    }
    host_update->count = told;]]
  "what is left of the progress after telling is dropped")

plant(share_forgotten 4 model/backend/cpu/cpu_exchange.c
  [[const float step = QUANTUM * (float)amount - tau;]]
  [[const float step = -tau;]]
  "what was told leaves the weights and does not come back at our share")

plant(hears_base_only 4 model/backend/cpu/cpu_exchange.c
  [[        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        w[c] += step * (float)level;
    }
}

/* How far]]
  [[        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
    }
}

/* How far]]
  "what is heard enters the base and not the weights")

plant(beta_twice 4 model/backend/cpu/cpu_exchange.c
  [[const float step = survey->beta * QUANTUM;]]
  [[const float step = 2 * survey->beta * QUANTUM;]]
  "what the base did is gone on with twice as far")

plant(amount_cut_off 1 model/exchange/replica.c
  [[capacity(replica, terms->budget_bytes), told);]]
  [[                 capacity(replica, terms->budget_bytes), told);
    told->amount = (uint32_t)(terms->gain * terms->share * (double)told->tau / (double)QUANTUM);
]]
  "the amount is rounded for the base and cut off for the others")

# Conversations.

plant(silence_unnoticed 6 src/node/timers.c
  [[if (now_ns - peer->heard_ns > patience_ns(node, peer))]]
  [[if (now_ns - peer->pinged_ns > patience_ns(node, peer))]]
  "who asks for a sign of life takes the question for the answer")

plant(handshake_forever 6 src/node/timers.c
  [[    if (peer->state < PEER_OPEN && now_ns - peer->born_ns > node->options.handshake_ns)
        node_hang_up(node, peer, BYE_SILENT, "it did not finish the handshake in time");
]]
  [[]]
  "who begins a conversation and is gone keeps its place for ever")

plant(neighbour_forgotten 5 src/node/membership/dialer.c
  [[    candidate->conn = 0;
]]
  [[]]
  "who was called once is never called again")

plant(slot_leaks 5 src/node/node.c
  [[    peer_end(peer);
]]
  [[    if (!peer->hangup_asked)
        peer_end(peer);
]]
  "a conversation that we ended keeps its place for ever")

plant(hangs_up_for_ever 6 src/node/node.c
  [[    peer->hangup_asked = true;
]]
  [[]]
  "one goodbye is asked for again and again")

plant(closed_stays_open 6 src/node/inside.c
  [[    slots_put(&node->open, node_slot(node, peer), false);
    slots_put(&node->ready]]
  [[    slots_put(&node->ready]]
  "who was said goodbye to is still a neighbour")

plant(pieces_overwrite 5 src/node/connection/peer.c
  [[memcpy(peer->in + peer->in_bytes, *data, moved);]]
  [[memcpy(peer->in, *data, moved);]]
  "of a frame that comes in pieces each is put over the one before")

# Members.

plant(records_unverified 5 src/node/membership/members.c
  [[    error = record_verify(bytes, context);
]]
  [[]]
  "anybody speaks for anybody")

plant(waits_for_company 8 src/node/timers.c
  [[    if (node->company_ns == 0 && node->now_ns]]
  [[    if (node->company_ns != 0 && node->now_ns]]
  "who finds nobody waits for ever, and does not train")

plant(trains_in_company 8 src/node/node.c
  [[    if (!node->joined || node->training_asked]]
  [[    if (!node->joined || node_neighbours(node) == 0 || node->training_asked]]
  "training begins once there is a neighbour")

# Secrets and bounds.

plant(entropy_rounds_down 7 net/crypto/secret.c
  [[entropy->used_blocks += (bytes + STREAM_BLOCK_BYTES - 1) / STREAM_BLOCK_BYTES;]]
  [[entropy->used_blocks += bytes / STREAM_BLOCK_BYTES;]]
  "every conversation has the same ephemeral key")

plant(counter_wraps 7 net/crypto/session.c
  [[    session->sent_records++;
]]
  [[    session->sent_records = (uint8_t)(session->sent_records + 1);
]]
  "after 256 records the nonces begin again")

plant(one_key_both_ways 7 net/crypto/handshake.c
  [[hkdf(initiator ? send_key : receive_key, initiator ? receive_key : send_key, NULL,]]
  [[hkdf(send_key, receive_key, NULL,]]
  "both sides seal with the same key")

plant(tag_ignored 7 net/crypto/secret.c
  [[    bool holds = crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, in, bytes, associated,
                                                           associated_bytes, nonce, key) == 0;
    return holds ? OK : FORGED;
}

void secret_seal_wide]]
  [[    (void)associated, (void)associated_bytes;
    bool holds =
        crypto_stream_chacha20_ietf_xor_ic(out, in, bytes - TAG_BYTES, nonce, 1, key) == 0;
    return holds ? OK : FORGED;
}

void secret_seal_wide]]
  "a record is opened without a look at its tag")

plant(signature_ignored 7 net/wire/rumor.c
  [[    if (signature_check(in, bytes, context) != OK)
        return FORGED;
]]
  [[]]
  "anybody tells in anybody's name")

plant(context_ignored 7 net/wire/rumor.c
  [[secret_blake2b(hash, 64, rumor, bytes, context, CONTEXT_BYTES);]]
  [[(void)context;
    secret_blake2b(hash, 64, rumor, bytes, NULL, 0);]]
  "the rumors of another swarm are heard")

plant(limits_ignored 7 net/wire/rumor.c
  [[    if (!limits_hold(tau, amount, count))
        return MALFORMED;
]]
  [[]]
  "amounts of any size are heard")

plant(index_unbounded 7 net/wire/body_decode.c
  [[return next <= parameters ? OK : MALFORMED;]]
  [[return OK;]]
  "a rumor about entries that the model does not have is heard")

plant(rest_ignored 7 net/wire/body_decode.c
  [[    if (position > end || end - position > 7)
        return MALFORMED;]]
  [[    if (position > end || end - position > 7)
        return OK;]]
  "two encodings of one rumor are both heard")

plant(sign_of_the_last 5 net/wire/body_decode.c
  [[    for (; at < count; at++)
        level[at] =]]
  [[    for (; at + 1 < count; at++)
        level[at] =]]
  "the last sign is not read")

# The same seed, the same trace; and time.

plant(seed_from_address 10 src/node/node.c
  [[node->rng = rng_new(seed, ]]
  [[node->rng = rng_new(seed ^ (uintptr_t)node, ]]
  "what is drawn depends on where memory lies" --twice)

plant(keys_from_system 10 src/node/node.c
  [[entropy_from_seed(&node->entropy, options->entropy);]]
  [[entropy_from_system(&node->entropy);]]
  "keys are drawn from the system whatever was asked for" --twice)

plant(wakes_in_the_past 6 src/node/timers.c
  [[node->check_ns = now_ns + CHECK_NS;]]
  [[node->check_ns += CHECK_NS;]]
  "after standing still, every wake that was missed is made up for")

if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(WRITE "${CMAKE_BINARY_DIR}/planted.txt" "${PLANTED_LIST}")
endif()
