#!/usr/bin/env bash
# A member begins again five thousand times, and publishes each time: the client of test_client.sh,
# with --begin-again. Nodes that come and come back then are heard by all: test_begin_again.sh HEARSAY
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

nodes=(--set exchange.interval_s=1 --set exchange.bytes_per_s=2K
    --set limits.silence_s=120 --set limits.handshake_s=60)
start one "${nodes[@]}"
one=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$one"
start three "${nodes[@]}" --set "node.peers=$one"

page() { "$hearsay" status --state "$dir/$1" --json >"$dir/page.out" 2>/dev/null || true; }
shows() { page "$1" && says "$dir/page.out" "$2"; }
digest() { sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$dir/$1.log" | tail -n 1; }
id_of() { sed -n 's/.*hearsay [0-9.]* node \([0-9a-f]*\) in.*/\1/p' "$dir/$1.err" | head -n 1; }

# How many rumors of that member are in the base of this node?
heard_of() {
    page "$1"
    local member
    member=$(grep -o "\"id\":\"$2[^}]*" "$dir/page.out" | grep -o '"base_rumors":[0-9]*' | head -n 1)
    echo "${member#*:}"
}
hears_more_of() { [[ $(heard_of "$1" "$2") -gt $3 ]]; }

tell 'a member begins again and again'
"$hearsay" keygen "$dir/villain.key" >"$dir/villain.out"
villain=$(sed -n 's/.*the identity of node \([0-9a-f]*\)\..*/\1/p' "$dir/villain.out")
for name in one two three; do
    wait_for 40 "$name to know the others" shows "$name" '"members_live":3,'
done
timeout 1200 /usr/bin/python3 -uB "$here/client.py" "$one" --begin-again 5000 \
    --identity "$dir/villain.key" --swarm-key "$dir/swarm.key" --parameters 12730 \
    --model '1x28x28, layout 2: dense 16, relu, dense 10; seed 1' \
    >"$dir/client.out" 2>"$dir/client.err" &
pid[villain]=$!
wait_for 240 'it to have said all' says "$dir/client.out" '^began 5000 times'
wait_for 60 'one to name it' notes one \
    "$villain.*there is no room for another incarnation of this node"

tell 'a node that nobody knows is heard by all'
start late "${nodes[@]}" --set "node.peers=$one"
wait_for 60 'late to say who it is' says "$dir/late.err" ' node [0-9a-f]* in swarm'
for name in one two three; do
    wait_for 90 "$name to hear it" hears_more_of "$name" "$(id_of late)" 1
done

tell 'and so is one that comes back'
two=$(id_of two)
leave two
before=$(heard_of one "$two")
start two "${nodes[@]}" --set "node.peers=$one"
for name in one three late; do
    wait_for 90 "$name to hear it" hears_more_of "$name" "$two" "$before"
done

tell 'all end with one model'
kill "${pid[villain]}"
wait "${pid[villain]}" 2>/dev/null || true
unset 'pid[villain]'
kill -TERM "${pid[one]}" "${pid[two]}" "${pid[three]}" "${pid[late]}"
for name in one two three late; do
    reap "$name" 0
    [[ -n $(digest "$name") && $(digest "$name") == "$(digest one)" ]] || fail 'their digests differ'
done

printf '%3d s  done\n' "$SECONDS"
