#!/usr/bin/env bash
# A member gives a joiner the true history of the swarm and blocks of zeros: the client of
# test_client.sh, with --false-base: test_false_base.sh HEARSAY
#
# Exits 77 where Python or one of its modules is missing, unless REQUIRE_PYTHON=1.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
if ! missing=$(/usr/bin/python3 -c 'import msgpack, nacl' 2>&1); then
    echo "skipped: no Python client: ${missing##*$'\n'}; apt-get install python3-nacl python3-msgpack"
    [[ ${REQUIRE_PYTHON:-0} == 1 ]] && exit 1
    exit 77
fi
# shellcheck source=tests/process/story.sh
source "$here/story.sh"

nodes=(--set exchange.interval_s=0.2 --set exchange.bytes_per_s=4K
    --set limits.silence_s=120 --set limits.handshake_s=60)

# What a node answers when it is asked how it is.
page() { "$hearsay" status --state "$dir/$1" --json >"$dir/page.out" 2>/dev/null || true; }
shows() { page "$1" && says "$dir/page.out" "$2"; }
digest() { sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$dir/$1.log" | tail -n 1; }

tell 'two nodes train, until who joins needs a base'
start one "${nodes[@]}"
one=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$one"
two=$(address_of two)
wait_for 60 'many rumors' shows one '"rumors_known":[2-9][0-9][0-9]'

tell 'one that joins is given zeros, before it reaches anybody else'
leave two
start three "${nodes[@]}" --set "node.peers=$two" --set train.enabled=no
three=$(address_of three)
"$hearsay" keygen "$dir/liar.key" >"$dir/liar.out"
liar=$(sed -n 's/.*the identity of node \([0-9a-f]*\)\..*/\1/p' "$dir/liar.out")
timeout 1200 /usr/bin/python3 -uB "$here/client.py" "$one" --false-base "$three" \
    --identity "$dir/liar.key" --swarm-key "$dir/swarm.key" --parameters 12730 \
    --model '1x28x28, layout 2: dense 16, relu, dense 10; seed 1' \
    >"$dir/client.out" 2>"$dir/client.err" &
pid[liar]=$!
wait_for 240 'the liar to be turned away' says "$dir/client.out" \
    '^turned away: BYE 5: gave a base that is not what it says'
reap liar 3
notes three "\"note\":\"false_base\".*$liar" || fail 'three does not say who gave it'
! notes three 'holds the base of the swarm' || fail 'three takes zeros for the base'

tell 'it takes the base of another'
start two "${nodes[@]}" --set "node.listen=$two" --set "node.peers=$one"
wait_for 120 'three to hold the base' notes three 'holds the base of the swarm'
wait_for 60 'three to know both' shows three '"neighbours":2,'

tell 'all end with one model'
kill -TERM "${pid[one]}" "${pid[two]}" "${pid[three]}"
for name in one two three; do
    reap "$name" 0
    [[ -n $(digest "$name") && $(digest "$name") == "$(digest one)" ]] || fail 'their digests differ'
done
! grep -h '"level":"error"' "$dir"/*.log || fail 'a node shows an error'

printf '%3d s  done\n' "$SECONDS"
