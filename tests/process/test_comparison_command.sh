#!/usr/bin/env bash
# hearsay compare must write a report with a winner, reuse finished plays, continue after Ctrl+C, and
# refuse impossible requests with a message.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1

fail() { printf 'test_comparison_command: %s\n' "$*" >&2; exit 1; }

cat >"$work/tiny.conf" <<'TEXT'
[scenario]
about = Three that learn little
seconds = 8
evaluate_s = 1
nodes = 3 a, 320 samples/s, up 1 Mbit/s, down 1 Mbit/s
link = all, rtt 20 ms
[model]
layers = dense 10
[data]
source = generated
train_count = 1200
test_count = 300
[strategy]
local_steps = 10
TEXT

# Runs hearsay compare; standard output goes to out, standard error to err. Returns its exit code.
compare() {
    local code=0
    "$program" compare "$work/tiny.conf" --out "$work/cmp" "$@" >"$work/out" 2>"$work/err" || code=$?
    return "$code"
}
three=(--strategies 'gossip,localsgd,ako' --seeds 2)

compare "${three[@]}" || fail "compare ends with $?: $(cat "$work/err")"
for file in report.html compare.json curves.csv plays/ako-2.json; do
    [[ -s $work/cmp/$file ]] || fail "there is no $file"
done
grep -Eq '%: [a-z]+ first, after [0-9.]+ s \([0-9.]+ to [0-9.]+\)' "$work/out" ||
    fail "no sentence says who wins: $(cat "$work/out")"
for name in gossip localsgd ako; do
    grep -q "^$name " "$work/out" || fail "the tables lack $name"
    grep -q "\"$name\"" "$work/cmp/report.html" || fail "the page lacks $name"
done
awk 'length > 80' "$work/out" | grep -q . && fail 'a line is wider than 80 columns'
python3 - "$work/cmp/compare.json" <<'TEXT' || fail 'compare.json is not as it should be'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["seeds"] == 2 and [s["strategy"] for s in told["strategies"]] == ["gossip", "localsgd", "ako"]
assert all(len(s["targets"]) == 3 and 0 < s["end_mean"] <= 1 for s in told["strategies"])
assert "hearsay compare" in told["command"]
TEXT

# A second run plays nothing and prints the same figures. A run with another setting plays all
# again.
cp "$work/out" "$work/first"
compare "${three[@]}" || fail 'a second time it does not end with 0'
grep -q '6 of 6 plays are already finished' "$work/err" || fail "compare plays again: $(cat "$work/err")"
cmp -s "$work/out" "$work/first" || fail 'a second time the figures are others'
compare "${three[@]}" --set strategy.local_steps=5 --seeds 1 || fail 'with another setting it ends otherwise'
grep -q 'already' "$work/err" && fail 'plays of another setting count as played'

# Ctrl+C after the first play. The next run continues from there.
rm -rf "$work/cmp"
"$program" compare "$work/tiny.conf" --out "$work/cmp" "${three[@]}" --jobs 1 >"$work/out" \
    2>"$work/err" &
pid=$!
until grep -q '\] 1 of 6 plays' "$work/err"; do kill -0 "$pid" || fail "compare ended early: $(cat "$work/err")"; done
# A second command in the same folder would write the same files, so it must be refused.
kill -STOP "$pid"
code=0
said=$("$program" compare "$work/tiny.conf" --out "$work/cmp" "${three[@]}" 2>&1) || code=$?
kill -CONT "$pid"
((code == 2)) && [[ $said == *'another comparison is running in the folder'* ]] ||
    fail "a second one at the same time: exit code $code: $said"
kill -INT "$pid"
code=0
wait "$pid" || code=$?
((code == 130)) || ((code == 0)) || fail "after Ctrl+C it ends with $code"
if ((code == 130)); then
    grep -q 'the same command continues from here' "$work/err" || fail "$(cat "$work/err")"
    [[ ! -e $work/cmp/report.html ]] || fail 'an interrupted comparison has a report'
fi
compare "${three[@]}" || fail 'after Ctrl+C it does not go on'
grep -Eq '[1-6] of 6 plays are already finished' "$work/err" || fail "compare starts from the beginning: $(cat "$work/err")"
cmp -s "$work/out" "$work/first" || fail 'after Ctrl+C the figures are others'

# Ctrl+C before the first finished play. The process ignores the signal at its start, so it is sent until
# the process ends.
: >"$work/err" # so that the wait does not see the text of the play before
"$program" compare "$work/tiny.conf" --out "$work/long" --strategies gossip --seeds 1 --seconds 86400 \
    >"$work/out" 2>"$work/err" &
pid=$!
until grep -q 'virtual time each' "$work/err" 2>/dev/null; do kill -0 "$pid" || fail 'compare ended early'; done
while kill -INT "$pid" 2>/dev/null; do :; done
code=0
wait "$pid" || code=$?
((code == 130)) || fail "after an early Ctrl+C it ends with $code"
grep -Fxq 'hearsay: 1 plays of 1d00h virtual time each, 1 at a time (fewer: --strategies A,B --seeds 1)' "$work/err" ||
    fail "the number of plays is missing: $(cat "$work/err")"
grep -q 'interrupted; no play was finished, so nothing is kept' "$work/err" || fail "$(cat "$work/err")"

compare --strategies localsgd,ako --seeds 1 --seconds 3 --tune --targets 20%,0.1 || fail "--tune: $(cat "$work/err")"
grep -q 'best of the trials' "$work/out" || fail 'the chosen settings are not printed'
grep -Eq '^ako .*train.rate=[0-9.e-]+, strategy.partitions=(auto|4|16)' "$work/out" ||
    fail "no setting of ako: $(cat "$work/out")"
[[ $(grep -oE '^[0-9]+ %:' "$work/out" | tr -d '\n') == '10 %:20 %:' ]] ||
    fail "the targets are not those that were asked for, the easiest first: $(cat "$work/out")"

cp "$work/cmp/compare.json" "$work/found.json"
sed -n '/^ako .*train.rate/p' "$work/out" >"$work/chosen"
compare --strategies ako --seeds 1 --seconds 3 --settings "$work/found.json" || fail "--settings: $(cat "$work/err")"
sed -n '/^ako .*train.rate/p' "$work/out" | cmp -s - "$work/chosen" || fail 'the settings are others than were found'

compare --strategies ako --seeds 1 --seconds 3 || fail "without --settings: $(cat "$work/err")"
grep -q 'already' "$work/err" && fail 'a play with other settings counts as played'

refused() {
    local wanted=$1 words=$2 code=0
    shift 2
    compare "$@" || code=$?
    ((code == wanted)) || fail "$*: exit code $code"
    grep -q "$words" "$work/err" || fail "$*: $(cat "$work/err")"
}
refused 2 'there is no strategy "gosip"; did you mean gossip' --strategies gosip
refused 2 'ako is named twice' --strategies ako,ako
refused 2 '"good" is not a level' --targets good
refused 2 'an accuracy is 1 at most; in percent: 85%' --targets 85
refused 2 'more than 3' --targets 0.1,0.2,0.3,0.4
refused 2 'allowed: accuracy, loss' --metric f1
refused 2 'seeds 0: write a whole number from 1 to 100' --seeds 0
refused 2 'choose one of them' --tune --settings "$work/found.json"
refused 2 'give the compare.json of a comparison' --settings "$work/cmp/plays/ako-1.json"
refused 2 '/nowhere' --settings /nowhere
refused 2 'too small' --set strategy.rank=0
refused 1 'streaming_diloco-1: .*is more than local_steps = 10' \
    --strategies gossip,streaming_diloco --seeds 1 --set strategy.fragments=20
grep -q '^gossip ' "$work/out" || fail 'an invalid strategy prevents the others from playing'
compare --strategies streaming_diloco,single,gossip,localsgd --seeds 1 --set strategy.fragments=20 || true
python3 - "$work/cmp" <<'TEXT' || fail 'a curve has the name of another strategy'
import csv, json, sys
page = open(sys.argv[1] + "/report.html").read()
begin = page.index('id="snapshot">') + len('id="snapshot">')
told = json.loads(page[begin:page.index("</script>", begin)])
drawn = {s["name"]: s["points"] for s in next(f for f in told["figures"] if f["name"] == "time")["series"]}
rows = list(csv.DictReader(open(sys.argv[1] + "/curves.csv")))
assert list(drawn) == ["single", "gossip", "localsgd"], list(drawn)
for name, points in drawn.items():
    kept = [float(row["accuracy"]) for row in rows if row["strategy"] == name]
    assert len(kept) == len(points) > 0, name
    assert all(abs(100 * k - p[1]) < 1e-3 for k, p in zip(kept, points)), name
TEXT
compare --strategies single --seeds 1 --seconds 3 || fail "a strategy that sends nothing has no report: $(cat "$work/err")"
sed 's/, 320 samples.s//' "$work/tiny.conf" >"$work/idle.conf"
for strategy in gossip ako; do
    code=0
    "$program" sim "$work/idle.conf" --no-report --set "scenario.strategy=$strategy" >"$work/err" 2>&1 || code=$?
    { ((code == 1 || code == 2)) && grep -q 'no node trains; give a group its speed' "$work/err"; } ||
        fail "$strategy without training nodes: exit code $code: $(cat "$work/err")"
done
code=0
"$program" compare >"$work/out" 2>&1 || code=$?
((code == 2)) || fail "without a scenario it ends with $code"
"$program" compare --help | grep -q 'hearsay compare SCENARIO' || fail '--help does not help'
