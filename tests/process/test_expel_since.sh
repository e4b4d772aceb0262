#!/usr/bin/env bash
# A member of a swarm of real nodes is expelled during training, and all bases lose its rumors since
# some moment. A witness in Python receives all rumors and recomputes the base: test_expel_since.sh
# HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

expel=("$hearsay" expel --key "$dir/operator.key" --state "$dir/one" --reason 'its labels are wrong')
layers='dense 16, relu, dense 10'

tell 'three nodes with an operator train'
"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
nodes=(--set "node.operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")"
    --set exchange.interval_s=1 --set exchange.bytes_per_s=2K "${patient[@]}")
start_three "${nodes[@]}"
know_each_other
page three
out=$(sed -n 's/.*"program":"[^"]*","id":"\([0-9a-f]*\)".*/\1/p' "$dir/page.out")

tell 'a witness receives all earlier and all new rumors'
"$hearsay" keygen "$dir/witness.key" >/dev/null
start_member witness.py witness "$layers" 12730 "$one" "$two" --heard "$dir/heard" --layers "$layers"
# Prints the number of versions that the witness checked. The witness ends at the first wrong
# digest.
versions() { sed -n 's/^\([0-9]*\) versions are the sum.*/\1/p' "$dir/client.out" | tail -n 1; }
has_seen() { local now && now=$(versions) && { dead witness || ((${now:-0} >= $1)); }; }
sees() {
    wait_for 240 'the witness to have the sum' has_seen "$1"
    alive witness || fail 'a digest differs from that of the sum'
}
sees 5

# Number of rumors of node three that node one knows; and whether a given number has arrived.
known() { page one && sed -n "s/.*\"id\":\"$out\",\"incarnation\":[0-9]*,\"rumors\":\([0-9]*\).*/\1/p" "$dir/page.out"; }
comes_to() { local now && now=$(known) && [[ -n $now ]] && ((now >= $1)); }

tell 'node three publishes before and after a moment'
wait_for 120 'three to publish' comes_to 8
moment=$(date -u '+%Y-%m-%d %H:%M:%S')
before=$(known) # upper bound of node three's rumors at that moment
wait_for 120 'three to publish more' comes_to $((before + 8))
sees $(($(versions) + 2)) # so a slow witness has also received these rumors

tell 'invalid and too early moments are refused'
expect 2 'say how long ago, such as 90s' "${expel[@]}" "$out" --since 'a while'
expect 2 'this time is in the future' "${expel[@]}" "$out" --since '2999-01-01 00:00'
expect 2 'give either --since or --all' "${expel[@]}" "$out" --since 1h --all

tell 'all nodes remove the rumors since that moment'
expect 0 "^order 1: ${out:0:8} is expelled from the swarm: its labels are wrong$" \
    "${expel[@]}" "$out" --since "$moment"
says "$dir/said.out" "of its rumors .* are retracted from the base, and [0-9]* stay, which arrived before $(date -u '+%Y-%m-')" ||
    fail 'the output lacks the number of kept rumors'
kept=$(sed -n 's/.* and \([0-9]*\) stay, .*/\1/p' "$dir/said.out")
((kept > 0 && kept <= before)) || fail "$kept stay, and $before had come"
reap three 4
for name in one two; do
    wait_for 20 "$name to obey" shows "$name" "\"id\":\"$out\",\"incarnation\":[0-9]*,\"rumors\":$kept,"
done

tell 'training continues, and the witness computes the same bases without those rumors'
sees $(($(versions) + 5))

tell 'a restarted node lacks the earlier rumors'
leave two
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to have the order' shows two "\"number\":1,\"id\":\"$out\""
page one
first=$(sed -n 's/.*"program":"[^"]*","id":"\([0-9a-f]*\)".*/\1/p' "$dir/page.out")
wait_for 40 'two to know the rumors of one' shows two "\"id\":\"$first\",\"incarnation\":[0-9]*,\"rumors\""
expect 1 'log has the rumors of .* since .*hearsay rewind' \
    "${expel[@]}" --state "$dir/two" "${first:0:12}" --since "$moment"

tell 'the sum of all rumors equals each weight of the saved bases'
leave_together one two
reap witness 0
expect 0 "digest $(digest one); rumors: .*\\b${out:0:8} $kept of [0-9]+" /usr/bin/python3 -B \
    "$(dirname "${BASH_SOURCE[0]}")/recompute.py" "$dir/heard" \
    "$dir/one/base.safetensors" "$dir/two/base.safetensors"
heard=$(sed -n "s/.*one.*${out:0:8} $kept of \([0-9]*\).*/\1/p" "$dir/said.out")
((heard > kept)) || fail "the witness received $heard of its rumors, but $kept stay"
! grep -h '"level":"error"' "$dir/one.log" "$dir/two.log" || fail 'a node logged an error'

printf '%3d s  done\n' "$SECONDS"
