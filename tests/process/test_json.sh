#!/usr/bin/env bash
# With --json, each command that reports something must print exactly one JSON object to standard
# output. Exit code 77: no jq here.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"; [[ -z ${node:-} ]] || kill -KILL "$node" 2>/dev/null || true' EXIT
export OPENBLAS_NUM_THREADS=1
cd "$work"

fail() { printf 'test_json: %s\n' "$*" >&2; exit 1; }
if ! command -v jq >/dev/null; then
    [[ -z ${REQUIRE_SHELLS:-} ]] || fail 'no jq here'
    echo 'skipped: no jq here'
    exit 77
fi

# Runs a command. It must end with exit code $1 and print exactly one JSON object, for which the jq
# filter $2 is true.
gives() {
    local code=0
    "$program" "${@:3}" >out 2>err || code=$?
    [[ $code == "$1" ]] || fail "${*:3}: exit code $code, not $1: $(<err)"
    jq -es "length == 1 and (.[0] | type == \"object\" and ($2))" out >/dev/null ||
        fail "${*:3}: not $2: $(<out)"
}
hex='test("^[0-9a-f]{64}$")'

gives 0 ".file == \"node.key\" and (.id | $hex)" keygen --json
gives 0 '.file == "swarm.key" and (has("id") | not)' swarmkey --json
gives 0 ".file == \"operator.key\" and (.id | $hex)" operatorkey --json
operator=$(jq -r .id out)

readonly small=(--set data.source=generated --set data.train_count=600 --set data.test_count=200
    --set 'model.layers=dense 16, relu, dense 10')
gives 0 '.training_samples == 300 and .shard == "1/2" and (.training_counts | add) == 300 and
    .outputs == 10 and (.numbers.deviation > 0) and (.notes | type) == "array"' \
    data --set data.source=generated --set data.train_count=600 --set data.shard=1/2 --json
printf 'to be or not to be' >text.txt
gives 0 '.files[0] | .file == "text.txt" and .shape == [18] and .counts[98] == 2 and .problem == null' \
    data --json text.txt
gives 1 '(.files | length) == 2 and (.files[1].problem | test("nothing"))' data --json text.txt nothing.npy

cat >tiny.conf <<'TEXT'
[scenario]
about = small
seconds = 2
nodes = 2 desk, 320 samples/s
evaluate_s = 1
[model]
layers = dense 16, relu, dense 10
[data]
source = generated
train_count = 600
test_count = 200
TEXT
gives 0 '.strategy == "gossip" and .seconds == 2 and (.nodes | length) == 2' sim tiny.conf --no-report --json
gives 0 '.seeds == 1 and ([.strategies[].strategy] == ["single", "gossip"])' \
    compare tiny.conf --strategies single,gossip --seeds 1 --jobs 1 --json

gives 0 '.failed == 0 and (.lines | length) > 8 and all(.lines[]; .verdict != "FAIL" and .subject and .text)' \
    doctor "${small[@]}" --set node.listen=127.0.0.1:0 --json
gives 1 '.failed > 0 and any(.lines[]; .verdict == "FAIL" and .subject == "identity")' \
    doctor "${small[@]}" --set node.identity=nothing.key --json

"$program" node "${small[@]}" --set node.listen=127.0.0.1:0 --set "node.operator=$operator" \
    --log node.log 2>node.err &
node=$!
until grep -q '"status".*"steps":[1-9]' node.log 2>/dev/null; do
    kill -0 "$node" 2>/dev/null || fail "the node ended: $(<node.err)"
    read -rt 0.1 <><(:) || true
done
gives 0 '.stage == "running"' status --json
gives 0 ".members | length == 1 and (.[0].id | $hex)" members --json
me=$(jq -r '.members[0].id' out)
gives 0 ".orders | length == 1 and .[0].number == 1 and .[0].id == \"$me\"" admit --present --json
gives 0 '.orders[0] | .number == 2 and .text == "practice" and (.id | '"$hex)" \
    rekey --reason practice --json
gives 0 ".orders[0] | .number == 3 and (.id | startswith(\"abc\")) and .text == \"noise\"" \
    expel "abc$(printf '%061d' 0)" --reason noise --json
kill "$node"
wait "$node" || fail "the node did not end well: $(<node.err)"
node=

gives 0 '.what == "loss" and (.curves[0].x | length) > 0' plot node.log --json
gives 0 '.bases[0] | .n == 1 and .samples > 0 and (.digest | length) == 16 and .age_s >= 0' rewind --json
gives 0 '.copied_to == "start.safetensors" and .rumors > 0' rewind --to 1 --json
gives 0 '.loss > 0 and .test_samples == 200' eval --data-source generated --test-count 200 --json

mkdir text
for _ in {1..400}; do echo 'to be or not to be, that is the question'; done >text/all.txt
"$program" node --set node.listen=127.0.0.1:0 --set data.source=text --set data.text=text/all.txt \
    --set data.context=8 --set 'model.layers=embed 256 8, norm, logits' \
    --set train.samples_max=64 --set node.state_dir=text/state --log text/log 2>text/err &
node=$!
until grep -q '"status".*"samples":[1-9]' text/log 2>/dev/null; do
    kill -0 "$node" 2>/dev/null || fail "the node ended: $(<text/err)"
    read -rt 0.1 <><(:) || true
done
kill "$node"
wait "$node" || fail "the node of text did not end well: $(<text/err)"
node=
gives 0 '.prompt == "to" and (.tokens | length) == 20 and has("text")' \
    generate --state text/state --prompt to --tokens 20 --json

gives 0 '.ok == true and (.nodes | length) == 2' swarm --nodes 2 --data generated \
    --layers 'dense 16, relu, dense 10' --target 20 --samples 20000 --json -
