#!/usr/bin/env bash
# A swarm restarts from a base that was saved before a certain member published: test_rewind.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

rewind=("$hearsay" rewind --state "$dir/one" --out "$dir/start.safetensors")
own_id() { page "$1" && sed -n 's/.*"program":"[^"]*","id":"\([0-9a-f]*\)".*/\1/p' "$dir/page.out"; }
published() { page "$1" && says "$dir/page.out" '"rumors_published":[1-9]'; }

"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
nodes=(--set "node.operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")"
    --set exchange.interval_s=1 --set exchange.bytes_per_s=2K
    --set limits.silence_s=120 --set limits.handshake_s=60)

tell 'rewind is refused without a saved base'
mkdir "$dir/one"
expect 1 'this folder has no saved base' "${rewind[@]}"
expect 2 'is not the beginning of an id' "${rewind[@]}" xyz
expect 2 'give the number of a base' "${rewind[@]}" --to first
expect 1 'cannot be read: No such file' "${rewind[@]}" --state "$dir/nowhere"

tell 'node one trains alone and saves'
start one "${nodes[@]}"
wait_for 40 'one to publish' published one
leave one
expect 0 '^  1 ' "${rewind[@]}"
! says "$dir/said.out" '^  2 ' || fail 'one base is listed twice'

tell 'hours later, another node also publishes'
for kept in "$dir"/one/base-2*.safetensors; do
    mv "$kept" "$dir/one/base-20261101-120000.safetensors"
done
rm "$dir/one.log" # it contains the address of the earlier start
start one "${nodes[@]}"
one=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to publish' published two
out=$(own_id two)
knows_two() { shows one "\"id\":\"$out\",\"incarnation\":[0-9]*,\"rumors\":[1-9]"; }
wait_for 40 'one to know the rumors of two' knows_two
leave_together one two

tell "rewind lists the bases and the member's part of each"
expect 0 "the newest base without rumors of ${out:0:8}: hearsay rewind $out --to 2" "${rewind[@]}" "$out"
says "$dir/said.out" '^  1 .* 2  .* [1-9][0-9]*$' || fail 'the newest does not have it'
says "$dir/said.out" '^  2  2026-11-01 12:00 UTC .* 1  .* 0$' || fail 'the older one has it'
expect 1 'there are only 2 bases' "${rewind[@]}" "$out" --to 3

tell 'a damaged base is refused'
cp "$dir/one/base-20261101-120000.safetensors" "$dir/sound"
printf x | dd of="$dir/one/base-20261101-120000.safetensors" bs=1 seek=40000 conv=notrunc status=none
expect 1 'its weights do not match its checksum' "${rewind[@]}" "$out" --to 2
cp "$dir/sound" "$dir/one/base-20261101-120000.safetensors"

tell 'the older base is copied, and the next steps are printed'
expect 0 'swarm = hearsay-2 ' "${rewind[@]}" "$out" --to 2
says "$dir/said.out" "hearsay expel $out --all" || fail 'the output lacks the command that expels the member'
says "$dir/said.out" 'is lost: [0-9.k ]+ of [0-9.k ]+ samples up to the newest save \(20.* UTC\), and all later ones' ||
    fail 'the output does not say up to which save it counts lost samples'
cmp "$dir/sound" "$dir/start.safetensors" || fail 'the copy is another file'
expect 1 'cannot be copied to .*File exists' "${rewind[@]}" "$out" --to 2

tell 'a new swarm starts from the older base, without the expelled member'
again=("${nodes[@]}" --set node.swarm=hearsay-2 --set "model.start=$dir/start.safetensors")
rm "$dir/one.log"
start one "${again[@]}" --set "node.state_dir=$dir/one-2"
one=$(address_of one)
wait_for 40 'one to answer' test -S "$dir/one-2/status.sock"
expect 0 "^order 1: ${out:0:8} is expelled" "$hearsay" expel "$out" --all --reason 'did harm before' \
    --key "$dir/operator.key" --state "$dir/one-2"
start three "${again[@]}" --set "node.peers=$one"
joined() { shows three '"stage":"running"' && says "$dir/page.out" '"members_live":2,'; }
wait_for 60 'three to join' joined
rm -r "${dir:?}/two"
start two "${again[@]}" --set "node.peers=$one"
reap two 4
says "$dir/one.err" '; start [0-9a-f]{16} \(' || fail 'one did not start from a file'
says "$dir/two.err" 'expelled this node from the swarm \(order 1\)' || fail 'two is not told that it is expelled'
leave_together one three
expect 0 '^  1 .* 2  ' "$hearsay" rewind --state "$dir/one-2"

printf '%3d s  done\n' "$SECONDS"
