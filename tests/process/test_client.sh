#!/usr/bin/env bash
# A client in another language, written only from net/README.md, takes part in a swarm of real nodes:
# test_client.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

layers='dense 96, relu, dense 10' # ten blocks: more than one FETCH asks for
nodes=(--set "model.layers=$layers" --set exchange.interval_s=1 --set exchange.bytes_per_s=2K
    "${patient[@]}")

expect_lines() {
    local want=$1 code=0 pattern
    shift
    wait "${pid[client]}" || code=$?
    unset 'pid[client]'
    ((code == want)) || fail "the client ended with $code, not $want"
    for pattern in "$@"; do
        says "$dir/client.out" "$pattern" || fail "the client does not print \"$pattern\""
    done
}

# Pattern of a line of the client about its version of the base.
version='[0-9]+ rumors, version [0-9a-f]{16}, digest [0-9a-f]{16}$'

start one "${nodes[@]}"
one=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$one"
two=$(address_of two)
"$hearsay" keygen "$dir/client.key" >/dev/null
"$hearsay" swarmkey "$dir/other.key" >/dev/null

tell 'a client of another swarm or model is refused with a reason'
start_client client "$layers" 76330 "$one" --swarm-key "$dir/other.key"
expect_lines 3 '^turned away: closed without a word: it has another swarm key'
start_client client "$layers" 76330 "$one" --swarm other
expect_lines 3 '^turned away: refused: it has another swarm$'
start_client client "$layers" 76330 "$one" --model "1x28x28, layout 2: $layers; seed 2"
expect_lines 3 '^turned away: refused: it has another model$'
start_client client "$layers" 76330 "$one" --model "1x28x28, layout 2: dense 10; seed 1" --parameters 7850
expect_lines 3 '^turned away: refused: it has another model, another number of parameters$'

tell 'a rumor with a forged signature closes the connection'
start_member hostile.py client "$layers" 76330 "$one" --attack forge
expect_lines 3 '^turned away: BYE 5: .*(forged)'

tell 'a client takes over the base, publishes a rumor, and has the digests of both nodes'
start_client client "$layers" 76330 "$one" "$two"
expect_lines 0 '^speaks version 12$' "^took over 10 blocks: $version" "^heard more: $version" \
    "^published one: $version" '^2 neighbours hold it, with the right digest$'

tell 'the client takes over the base in another incarnation, with the previous protocol version, and stays until the nodes leave'
start_client client "$layers" 76330 "$two" "$one" --stay --newest 11
wait_for 240 'the client to publish' says "$dir/client.out" '^2 neighbours hold it'
leave two
leave one
expect_lines 0 '^speaks version 11$' "^took over 10 blocks: $version" "^the others left: $version"

tell 'the client ends with the digest of the last saved base'
expect 0 '"digest"' "$hearsay" eval --state "$dir/one" --data-source generated --test-count 200 \
    --json
digest=$(sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$dir/said.out")
expect_digest="^the others left: .* digest $digest$"
says "$dir/client.out" "$expect_digest" || fail "the saved base has digest $digest"

tell 'no node has seen a digest other than its own'
! grep -h '"level":"error"' "$dir/one.log" "$dir/two.log" || fail 'a node logged an error'

printf '%3d s  done\n' "$SECONDS"
