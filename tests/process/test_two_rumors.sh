#!/usr/bin/env bash
# A member gives three real nodes a rumor each under one number, all three different: the client of
# test_client.sh, with --equivocate: test_two_rumors.sh HEARSAY
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
two=$(address_of two)
three=$(address_of three)

# What a node answers when it is asked how it is.
page() { "$hearsay" status --state "$dir/$1" --json >"$dir/page.out" 2>/dev/null || true; }
shows() { page "$1" && says "$dir/page.out" "$2"; }
digest() { sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$dir/$1.log" | tail -n 1; }
has_its_rumor() { shows "$1" "\"id\":\"$villain[0-9a-f]*\",\"incarnation\":[0-9]*,\"rumors\""; }

tell 'a member signs a rumor for each of three nodes, under one number'
"$hearsay" keygen "$dir/villain.key" >"$dir/villain.out"
villain=$(sed -n 's/.*the identity of node \([0-9a-f]*\)\..*/\1/p' "$dir/villain.out")
for name in one two three; do
    wait_for 40 "$name to know the others" shows "$name" '"members_live":3,'
done
timeout 1200 /usr/bin/python3 -uB "$here/client.py" "$one" "$two" "$three" --equivocate \
    --identity "$dir/villain.key" --swarm-key "$dir/swarm.key" --parameters 12730 \
    --model '1x28x28, layout 2: dense 16, relu, dense 10; seed 1' \
    >"$dir/client.out" 2>"$dir/client.err" &
pid[villain]=$!
wait_for 240 'the villain to be turned away' says "$dir/client.out" \
    '^turned away: BYE 9: it signed two different rumors under one number'
reap villain 3

tell 'all nodes put it out, and keep the proof'
for name in one two three; do
    wait_for 40 "$name to say so" notes "$name" \
        "$villain.*has signed two different rumors under one number and is put out of the swarm"
    wait_for 20 "$name to take out what it had of it" eval "! has_its_rumor $name"
    wait_for 20 "$name to write the proof down" test -s "$dir/$name/proofs"
    shows "$name" '"members_live":3,' || fail "$name counts it"
done

tell 'a node that comes back remembers'
leave two
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to answer' shows two '"members_live":3,'
! timeout 60 /usr/bin/python3 -uB "$here/client.py" "$(address_of two | tail -n 1)" --equivocate \
    --identity "$dir/villain.key" --swarm-key "$dir/swarm.key" --parameters 12730 \
    --model '1x28x28, layout 2: dense 16, relu, dense 10; seed 1' \
    >"$dir/again.out" 2>"$dir/again.err" || fail 'two lets it in'
says "$dir/again.out" '^turned away: BYE 9: it signed two' || fail 'two does not say why'

tell 'and what is no proof is not read'
leave three
cp "$dir/three/proofs" "$dir/proofs.good"
printf 'x' >>"$dir/three/proofs"
start three "${nodes[@]}" --set "node.peers=$one"
reap three 1
says "$dir/three.err" 'proofs: they are of impossible size' || fail 'it does not say what is wrong'
cp "$dir/proofs.good" "$dir/three/proofs"
start three "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'three to be back' shows three '"members_live":3,'

tell 'all end with one model'
kill -TERM "${pid[one]}" "${pid[two]}" "${pid[three]}"
for name in one two three; do
    reap "$name" 0
    [[ -n $(digest "$name") && $(digest "$name") == "$(digest one)" ]] || fail 'their digests differ'
done
! grep -h '"kind":"digest"' "$dir"/*.log || fail 'a node is blamed'

printf '%3d s  done\n' "$SECONDS"
