# Part of planted.cmake: mistakes about bases that are taken over, saved and restored.

# Taking over a base, in blocks.

plant(block_as_it_came 1 src/node/transfer/pending_blocks.c
  [[        add(pending, (uint64_t)pending->block * node->options.block_entries, update);
]]
  [[]]
  "a block is written without the rumors that it lacks")

plant(block_counts_twice 1 src/node/transfer/pending_blocks.c
  [[pending->missing += applied - pending->version[place];]]
  [[pending->version[place] -= pending->version[place] > 0; pending->missing += applied - pending->version[place];]]
  "the last rumor of each origin that a block is the sum of is added to it again")

plant(block_with_a_gap 1 src/node/transfer/pending_blocks.c
  [[if (pending->missing > 0) {]]
  [[if (false) {]]
  "a block is written although what it lacks is in no log any more")

plant(block_ahead 1 src/node/transfer/pending_blocks.c
  [[            return false;
        pending->missing +=]]
  [[            continue;
        pending->missing +=]]
  "a block is written that knows more than the learner has been given")

plant(block_while_telling 1 src/node/transfer/pending_blocks.c
  [[if (!transfer->is_ready && node->publish != PUBLISH_OUT)]]
  [[if (!transfer->is_ready)]]
  "a block is written while a telling is under way")

plant(negatives_cut_off 1 net/wire/block.c
  [[(int32_t)(code & 1 ? -half - 1 : half)]]
  [[(int32_t)(code & 1 ? -half : half)]]
  "negative units of a block are off by one")

plant(read_when_said 1 src/node/transfer/serve.c
  [[    for (uint32_t place = reading->origins; place < node->versions.count; place++)
        reading->next[place] = 0;
]]
  [[    for (uint32_t place = 0; place < node->versions.count; place++)
        reading->next[place] = node->versions.origins[place].applied;
]]
  "a block is said to be of the version of when it is said, not of when it was read")

plant(own_when_asked 1 src/node/transfer/serve.c
  [[    reading->next[own] = node->own->next;
]]
  [[]]
  "what we told while a block was waiting to be read is not counted")

plant(rest_believed 1 src/node/transfer/pending_blocks.c
  [[return !are_known ? MISSING : is_sure ? OK : MISMATCH;]]
  [[return are_known ? OK : MISSING;]]
  "what is not listed beside a block is taken to be as we have it, whatever the hash says")

plant(rest_unknown 1 src/node/broadcast/version.c
  [[            ours -= hash_of(from->tag, from->next);]]
  [[            ours = rest.theirs;]]
  "of what is not listed all but the latest is taken to be known, whatever the hash says")

plant(gives_halves 1 src/node/transfer/serve.c
  [[    return !node->transfer.is_fetching;]]
  [[    return node->blocks > 0;]]
  "who is taking over a base gives it, before it is whole")

plant(kept_not_counted 1 src/node/transfer/takeover.c
  [[versions->digest = digest_add(versions->digest, digest_of_logged(node, place, seq));]]
  [[(void)digest_of_logged(node, place, seq);]]
  "what is kept beyond a base that is taken over does not count in the digest")

plant(life_goes_on 7 src/node/transfer/takeover.c
  [[if (is_published_lost && !begin_incarnation(node))]]
  [[if (false)]]
  "who drops what it told numbers other rumors the same")

plant(life_unsaid 5 src/node/transfer/takeover.c
  [[    node->options.incarnation++;
]]
  [[]]
  "who begins to tell anew says that it is who it was")

plant(own_is_foreign 4 src/node/transfer/takeover.c
  [[    node->remembers = true;
]]
  [[]]
  "who told something before hears it as anybody's")

plant(told_in_vain 4 src/node/transfer/pending_blocks.c
  [[.keep_weights = transfer->keep_weights]]
  [[.keep_weights = false]]
  "what was told and is in nobody's base is not kept")

plant(unlearns_all 4 src/node/transfer/takeover.c
  [[(rapport->partitioned && node->training_asked) ||]]
  [[true ||]]
  "who has learned nothing tells the difference to the base it takes over")

plant(blocks_counted_on 1 src/node/transfer/fetch.c
  [[    transfer->cursor = transfer->blocks_written = 0;
]]
  [[    transfer->cursor = 0;
]]
  "blocks of the base before count for the one after")

plant(blocks_done_before 5 src/node/transfer/fetch.c
  [[    memset(transfer->from, 0, node->blocks * sizeof *transfer->from);
]]
  [[]]
  "blocks that were there of the base before are not asked for again")

plant(samples_forgotten 5 src/node/transfer/takeover.c
  [[            origin->samples = told.samples;
]]
  [[]]
  "the samples of a base that was taken over count nothing")

plant(own_not_handed 5 src/node/broadcast/broadcast_tree.c
  [[        node->own->applied = node->own->next;
]]
  [[]]
  "what we told is not known to be in our base")

plant(passed_by_twice 1 src/node/broadcast/broadcast_tree.c
  [[if (entry->seq == applied)]]
  [[if (entry->seq <= applied)]]
  "what the base taken over has already is given to the learner")

plant(gone_unheard 5 src/node/broadcast/repair.c
  [[        node_rapport(node, from)->ahead = true;
]]
  [[        (void)0;
]]
  "who is told that rumors are in no log any more goes on asking for them")

plant(hash_of_before 5 src/node/broadcast/version.c
  [[versions->hash += hash_of(origin->tag, next) - hash_of(origin->tag, origin->next);]]
  [[versions->hash += hash_of(origin->tag, next);]]
  "rumors that were dropped still count in the version")

# Halves that meet again.

plant(both_win 5 src/node/transfer/partition.c
  [[contest->ours > contest->theirs
                                          : contest->first_is_ours;]]
  [[true : true;]]
  "of two halves both keep their base")

# Checkpoints.

plant(own_not_saved 9 src/node/transfer/serve.c
  [[put_told(origin, reading->next[place],]]
  [[put_told(origin, reading->next[place] - (origin == node->own && origin->next > 0),]]
  "our last rumor is in the base that is saved, and not in its history")

plant(saved_version_late 9 src/node/transfer/serve.c
  [[put_told(origin, reading->next[place], reading->samples[place],]]
  [[put_told(origin, origin->applied, 0,]]
  "a checkpoint has the history of when it was copied")

plant(history_ignored 9 src/node/node.c
  [[    restore(node);
]]
  [[]]
  "who begins with what it saved has forgotten what that is the sum of")

plant(restores_one_less 9 src/node/node.c
  [[versions_set(&node->versions, origin, told.next, told.samples);]]
  [[versions_set(&node->versions, origin, told.next - 1, told.samples);]]
  "the last rumor of each origin that was saved is heard again")

plant(restored_is_foreign 4 src/node/node.c
  [[node->remembers = options->history_bytes > 0;]]
  [[node->remembers = false;]]
  "what was told after the checkpoint comes back as anybody's")

plant(weights_not_restored 9 model/exchange/replica.c
  [[    backend->upload(backend, replica->weights, state->weights, bytes);
]]
  [[]]
  "the base comes back from a checkpoint, what was learned and not told does not")

plant(since_not_restored 9 model/exchange/replica.c
  [[    backend->upload(backend, replica->base_at_last_publish, state->base_at_last_publish, bytes);
]]
  [[]]
  "what the base did before the checkpoint is gone on with")

plant(since_not_written 4 model/exchange/replica.c
  [[    backend->upload(backend, replica->base_at_last_publish + first, host, bytes);
]]
  [[]]
  "the change to another base is gone on with as a step of the swarm")

plant(weights_stay 4 model/backend/cpu/cpu_exchange.c
  [[w[c] = host_base[c] == base[c] ? w[c] : moved; /* there and back may round */]]
  [[(void)moved;]]
  "another base comes under the weights and they stay")

plant(own_charged_nothing 4 model/backend/cpu/cpu_exchange.c
  [[        return (step - tau) * level;
    return left]]
  [[        return step * level;
    return left]]
  "what was told before the checkpoint and comes back is learned twice")
