#!/usr/bin/env bash
# `hearsay model` prints the layers of a model and the time of one sample. This tests the form of the
# output, not the speed of this machine.
#
#   test_model_command.sh HEARSAY
set -euo pipefail
hearsay=$1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"

fail() {
    echo "FAILED: $*" >&2
    cat -- out err >&2
    exit 1
}

run() {
    local code=0
    "$hearsay" model "$@" >out 2>err || code=$?
    echo "$code"
}

# A row for each layer, a row for the model, and a line about the measurement.
(($(run --time --passes 3 lenet) == 0)) || fail 'the measurement failed'
grep -qE '^conv 16 5x5 pad 2 +16x28x28 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ %$' out || fail 'no row of a layer'
grep -qE '^relu +16x28x28 +\(in the above\)$' out || fail 'no row of what the layer before computes'
grep -qE '^all, one sample +[0-9.]+ +[0-9.]+ +[0-9.]+ +100.0 %$' out || fail 'no row of all'
grep -qE '^One sample at a time on .+: 3 passes to warm up, 3 timed\.$' out || fail 'no word of how it was measured'

(($(run --time --passes 3 --threads 2 --json 'embed 20 8, residual(norm, attention 2), logits' --context 5) == 0)) ||
    fail 'no JSON'
python3 - out <<'PYTHON' || fail 'the JSON is another'
import json, sys
page = json.load(open(sys.argv[1]))
assert page['passes'] == 3 and page['device'], page
assert [row['layer'] for row in page['layers']] == ['embed 20 8', 'residual(', 'norm', 'attention 2', ')', 'logits']
assert [row['depth'] for row in page['layers']] == [0, 0, 1, 1, 0, 0]
assert page['layers'][0]['output'] == [5, 8] and page['layers'][0]['parameters'] == 160
assert page['layers'][1]['ms'] is None
timed = [row['ms'] for row in page['layers'] if row['ms']]
assert len(timed) == 5 and all(set(ms) == {'mean', 'sd', 'median'} for ms in timed), timed
assert page['ms']['mean'] > 0 and abs(sum(ms['mean'] for ms in timed) - page['ms']['mean']) < 1e-6 + 1e-6 * page['ms']['mean']
PYTHON
(($(run --time --passes 1 'embed 2 8, dense 900000 plain' --context 3) == 0)) || fail 'tokens that are none are drawn'
(($(run --json lenet) == 0)) || fail 'no JSON without times'
python3 -c 'import json; p = json.load(open("out")); assert p["parameters"] == 215370 and "ms" not in p' || fail 'other JSON'
(($(run lenet --classes 5) == 0)) && grep -q '^dense 5 ' out || fail 'the preset has other outputs than --classes'
(($(run xor --classes 5) == 0)) && grep -q '^dense 5 ' out || fail 'a small preset keeps its outputs'
(($(run gpt-char --classes 200) == 0)) && grep -q '^embed 256 ' out || fail 'a language model has another vocabulary'
(($(run --json) == 0)) || fail 'no JSON of presets'
python3 -c 'import json; assert json.load(open("out"))["xor"] == "dense 8, tanh, dense 2"' || fail 'other presets'

(($(run --time) == 2)) && grep -q 'name the model that is to be timed' err || fail '--time without a model is accepted'
(($(run --time --passes 0 lenet) == 2)) && grep -q 'whole number from 1' err || fail 'no passes'
(($(run --time --device toaster lenet) == 2)) && grep -q '"toaster" is no device; write auto, cpu' err || fail 'a strange device'
