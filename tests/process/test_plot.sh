#!/usr/bin/env bash
# hearsay plot draws a node's log and a simulation as characters, SVG and PNG.
# Exit code 77: no rsvg-convert here (the rest was checked).
set -euo pipefail
program=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1 LC_ALL=C.UTF-8
unset NO_COLOR

fail() { printf 'test_plot: %s\n' "$*" >&2; exit 1; }
for need in jq python3 script; do
    command -v "$need" >/dev/null && continue
    [[ -z ${REQUIRE_SHELLS:-} ]] || fail "no $need here"
    echo "skipped: no $need here" && exit 77
done
refuses() {
    local code=0
    PATH=${path:-$PATH} "$program" plot "${@:3}" >"$work/out" 2>"$work/err" || code=$?
    [[ $code == "$1" ]] || fail "plot ${*:3}: exit code $code, not $1"
    grep -qF -- "$2" "$work/err" || fail "plot ${*:3}: not \"$2\" in: $(<"$work/err")"
}

# Two nodes, each alone, train until their first evaluation and leave a log.
mkdir -- "$work/node1" "$work/node2"
(cd "$work" && "$program" keygen && "$program" swarmkey) >"$work/keys"
for i in 1 2; do
    (cd "$work" && exec "$program" node --log "node$i/node.log" --set node.listen=127.0.0.1:0 \
        --set "node.state_dir=node$i/state" --set data.source=generated --set data.train_count=500 \
        --set data.test_count=100 --set model.layers='dense 16, relu, dense 10' --set train.batch=20 \
        --set train.samples_max=2000 --set train.evaluate_s=0.2 --set "model.seed=$i") \
        2>"$work/node.err" &
    node=$!
    while ! grep -q '"evaluated"' "$work/node$i/node.log" 2>/dev/null ||
        (($(grep -c '"status".*"loss":[0-9]' "$work/node$i/node.log") < 2)); do
        kill -0 "$node" 2>/dev/null || fail "the node ended: $(tail -n 3 "$work/node.err")"
        read -rt 0.1 <><(:) || true
    done
    kill "$node"
    wait "$node" || fail "the node did not end well: $(tail -n 3 "$work/node.err")"
done

"$program" plot "$work/node1/node.log" >"$work/out" || fail 'no curve of a log'
grep -q '^ *loss$' "$work/out" || fail "no name of the axis: $(<"$work/out")"
grep -qP '[\x{2800}-\x{28ff}]' "$work/out" || fail 'no braille'
! grep -q $'\033' "$work/out" || fail 'colours into a file'
LC_ALL=C "$program" plot "$work"/node?/node.log --what accuracy >"$work/out" || fail 'two logs'
! LC_ALL=C grep -q '[^ -~]' "$work/out" || fail 'output has more than ASCII although LC_ALL=C'
grep -q 'a  node1  b  node2' "$work/out" || fail "no legend of both: $(<"$work/out")"
# Draws on a terminal of $1 columns after the shell command $2. NO_COLOR switches colours off.
on_terminal() { script -qec "stty cols $1; $2 '$program' plot $work/node?/node.log" /dev/null; }
on_terminal 100 'TERM=xterm' >"$work/out" || fail 'on a terminal'
grep -q $'\033\[36m' "$work/out" || fail 'no colours on a terminal'
[[ $(grep -o '└─*' "$work/out") =~ ^└─{90}$ ]] || fail 'the chart is not as wide as the terminal'
on_terminal 60 'NO_COLOR=1 TERM=xterm' >"$work/out"
! grep -q $'\033' "$work/out" || fail 'colours in spite of NO_COLOR'
on_terminal 60 'TERM=dumb' >"$work/out"
! grep -q $'\033' "$work/out" || fail 'colours on a dumb terminal'

"$program" plot "$work"/node?/node.log --by samples --json >"$work/points.json"
jq -e '.what == "loss" and .by == "samples" and (.curves | length) == 2 and
    (.curves[0] | .name == "node1" and (.x | length) == (.y | length) and (.x | length) > 1)' \
    "$work/points.json" >/dev/null || fail "the points: $(<"$work/points.json")"

# --tensorboard. This does not need TensorBoard; test_tensorboard.sh uses TensorBoard's reader.
"$program" plot "$work"/node?/node.log --by samples --tensorboard "$work/board" || fail 'no events'
"$program" plot "$work"/node?/node.log --by samples --tensorboard "$work/board" || fail 'no events again'
code=0
python3 tests/process/read_events.py "$work/board" >"$work/events.json" || code=$?
((code == 0 || code == 77)) || fail "the events cannot be read: exit code $code"
jq -e --slurpfile points "$work/points.json" \
    '(keys == ["node1", "node2"]) and (.node1 | has("accuracy") and has("test_loss") and has("share")) and
    (.node1.loss | length) == ($points[0].curves[0].x | length) and
    .node1.loss[-1][0] == $points[0].curves[0].x[-1]' "$work/events.json" >/dev/null ||
    fail "the events: $(head -c 2000 "$work/events.json")"
refuses 1 'cannot write' --tensorboard "$work/nowhere/board" "$work/node1/node.log"
refuses 1 'cannot open' --tensorboard "$work/board" "$work/nothing"

"$program" plot "$work"/node?/node.log --title 'Two & more' --out "$work/loss.svg" || fail 'no SVG'
python3 -c '
import sys, xml.etree.ElementTree as tree
svg = tree.parse(sys.argv[1]).getroot()
space = "{http://www.w3.org/2000/svg}"
assert svg.tag == space + "svg", svg.tag
assert len(svg.findall(f".//{space}polyline")) == 2
texts = [text.text for text in svg.iter(space + "text")]
assert {"Two & more", "node1", "node2", "loss", "seconds"} <= set(texts), texts
' "$work/loss.svg" || fail 'the SVG is not what it should be'

cat >"$work/tiny.conf" <<'TEXT'
[scenario]
seconds = 10
updates = made up
nodes = 3 a, 100 samples/s
TEXT
"$program" sim "$work/tiny.conf" --out "$work/report" >"$work/out" 2>&1 || fail "$(<"$work/out")"
"$program" plot "$work/report/series.csv" --what samples --by bytes >"$work/out" ||
    fail 'no curve of a simulation'
grep -q 'bytes sent' "$work/out" || fail 'the axis does not show bytes'
"$program" plot "$work/report/nodes.csv" --what share --json >"$work/points.json"
[[ $(jq '.curves | length' "$work/points.json") == 3 ]] || fail 'the chart lacks a curve for each node'

refuses 2 'name at least one FILE'
refuses 2 'ends in .svg or in .png' --out x.pdf "$work/node1/node.log"
refuses 2 'time, samples or bytes' --by rumors "$work/node1/node.log"
refuses 2 'the lower one first' --range 2:1 "$work/node1/node.log"
refuses 2 'give only one of --json, --out and --tensorboard' --json --out x.svg "$work/node1/node.log"
refuses 1 'cannot open' "$work/nothing"
refuses 1 'unknown format; name a log of a node' configs/node.conf
refuses 1 'has no "nonsense" by time; it has: ' --what nonsense "$work/node1/node.log"
refuses 1 'cannot write' --out "$work/nowhere/x.svg" "$work/node1/node.log"
mkdir "$work/empty"
path=$work/empty refuses 1 'apt-get install librsvg2-bin' --out "$work/x.png" "$work/node1/node.log"
[[ ! -e $work/x.png ]] || fail 'a picture that was not drawn is left behind'

if ! command -v rsvg-convert >/dev/null; then
    [[ -z ${REQUIRE_SHELLS:-} ]] || fail 'no rsvg-convert here'
    echo 'skipped: no rsvg-convert here (librsvg2-bin)'
    exit 77
fi
"$program" plot "$work"/node?/node.log --out "$work/loss.png" || fail 'no PNG'
[[ $(head -c 8 "$work/loss.png" | od -An -tx1) == ' 89 50 4e 47 0d 0a 1a 0a' ]] || fail 'no PNG in it'
