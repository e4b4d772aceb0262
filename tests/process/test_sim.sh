#!/usr/bin/env bash
# Shipped scenarios must give identical results when played twice and other results with another seed.
# Expectations decide the exit code, and messages name mistakes.
set -euo pipefail
program=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1

fail() { printf 'test_sim: %s\n' "$*" >&2; exit 1; }

# Needs no files and little computation, because it only tests repetition.
readonly small=(--no-report --set data.source=generated --set data.train_count=3000
    --set data.test_count=500 --set model.layers='dense 32, relu, dense 10')

# Prints the hash of a scenario's trace. Expectations may fail, because the plays are short.
hash_of() { { "$program" sim "$@" 2>/dev/null || true; } | awk '$1 == "trace" { print $2 }'; }

for name in sim-home-swarm sim-churn sim-partition; do
    first=$(hash_of "configs/$name.conf" "${small[@]}")
    [[ $first =~ ^[0-9a-f]{16},?$ ]] || fail "$name: no trace hash, but \"$first\""
    [[ $(hash_of "configs/$name.conf" "${small[@]}") == "$first" ]] ||
        fail "$name: two runs of one seed differ"
    [[ $(hash_of "configs/$name.conf" "${small[@]}" --seed 7) != "$first" ]] ||
        fail "$name: another seed, and nothing differs"
done

cat >"$work/tiny.conf" <<'TEXT'
[scenario]
about = Three that make up their updates
seconds = 10
updates = made up
nodes = 3 a, 100 samples/s
expect = one version by 5 s after training
TEXT
"$program" sim "$work/tiny.conf" --out "$work/report" >"$work/out" 2>/dev/null ||
    fail "a scenario whose expectation holds does not end with 0: $(cat "$work/out")"
for file in report.html summary.json series.csv; do
    [[ -s $work/report/$file ]] || fail "the report has no $file"
done

# On a terminal, each play that the report needs besides the first must be named before its
# progress.
cat >"$work/learned.conf" <<'TEXT'
[scenario]
seconds = 3
nodes = 2 a, 100 samples/s
link = all, rtt 20 ms
[model]
layers = dense 10
[data]
source = generated
train_count = 200
test_count = 100
TEXT
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$program" sim "$work/learned.conf" --out "$work/learned" \
    >"$work/out" </dev/null
for name in single ideal; do
    grep -q "for the report, the same with $name (--only leaves it out):" "$work/out" ||
        fail "the play of $name is not named: $(cat "$work/out")"
done

# The first scenario in the manual must be valid, and its table must name every shipped scenario.
awk '/^```/ { if (inside && found) exit; inside = !inside; next }
    inside && /^\[scenario\]/ { found = 1 }
    inside && found { print }' sim/README.md >"$work/manual.conf"
code=0
"$program" sim "$work/manual.conf" "${small[@]}" >"$work/out" 2>&1 || code=$?
((code < 2)) || fail "the scenario of sim/README.md: $(cat "$work/out")"
for file in configs/sim-*.conf; do
    name=${file#configs/sim-}
    grep -q "^|.*\`${name%.conf}\`" sim/README.md || fail "sim/README.md does not name $file"
done

code=0
{ cat "$work/tiny.conf" && echo 'expect = copies <= 0.5'; } >"$work/strict.conf"
"$program" sim "$work/strict.conf" --no-report >"$work/out" 2>/dev/null || code=$?
((code == 1)) || fail "an expectation that does not hold ends with $code"
grep -q 'NOT MET' "$work/out" || fail 'the expectation that does not hold is not named'

mistake() {
    local wanted=$1 code=0
    shift
    "$program" sim "$@" >"$work/out" 2>"$work/err" || code=$?
    ((code == 2)) || fail "sim $*: ends with $code"
    grep -q -- "$wanted" "$work/err" || fail "sim $*: says \"$(cat "$work/err")\", not $wanted"
}
mistake 'name a scenario'
mistake 'no-such-file.conf' "$work/no-such-file.conf"
mistake 'takes --seeds' --faults "$work/tiny.conf"
mistake 'need --faults' "$work/tiny.conf" --seeds 1..2
mistake '--seeds 5..1' --faults --seeds 5..1
mistake 'needs one seed' --faults --seeds 1..2 --trace "$work/trace"
mistake 'scenario.seconds' "$work/tiny.conf" --seconds soon
mistake 'cannot create the folder' "$work/tiny.conf" --out "$work/none/report"
[[ ! -s $work/out ]] || fail 'a report that cannot be written is found out about after the play'
printf 'nodes = 3 b, 100 smaples/s\n' >>"$work/tiny.conf"
mistake 'tiny.conf:7' "$work/tiny.conf"

# Interrupts a play. The report must describe the finished part and say that it is incomplete. The
# live line shows that the play has begun, so this does not depend on speed.
cat >"$work/long.conf" <<'TEXT'
[scenario]
seconds = 800000
updates = made up
nodes = 3 a, 100 samples/s
link = all, rtt 20 ms
expect = one version by 5 s after training
TEXT
mkfifo "$work/live"
"$program" sim "$work/long.conf" --out "$work/part" >"$work/out" 2>"$work/live" &
exec {live}<"$work/live"
read -r -u "$live"
kill -TERM $!
code=0
wait $! || code=$?
said=$(cat <&"$live")
exec {live}<&-
((code == 143)) || fail "interrupted, it ends with $code"
grep -q 'interrupted after' <<<"$said" || fail "interrupted, it says: $said"
grep -q 'NOT MET' "$work/out" && fail 'an expectation was judged on a part'
grep -q '"interrupted_s": [1-9]' "$work/part/summary.json" || fail 'summary.json tells a whole run'
grep -q '\["interrupted",' "$work/part/report.html" || fail 'report.html tells a whole run'

# Interrupts before the play begins: the scenario is a pipe without data. A new folder must be
# removed; an existing folder must stay.
must_run() { kill -0 $! 2>/dev/null || fail "the program has ended: $(cat "$work/err")"; }
has_no_pending_signal() { grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$!/status" 2>/dev/null; }
mkfifo "$work/held.conf"
for folder in new there; do
    [[ $folder == new ]] || mkdir "$work/there"
    "$program" sim "$work/held.conf" --out "$work/$folder" >"$work/out" 2>"$work/err" &
    exec {held}>"$work/held.conf" # the program has opened the pipe
    kill -TERM $!
    until has_no_pending_signal; do must_run; done
    cat "$work/long.conf" >&"$held"
    exec {held}>&-
    code=0
    wait $! || code=$?
    ((code == 143)) || fail "interrupted at once, it ends with $code: $(cat "$work/err")"
    grep -q 'nothing to report' "$work/err" || fail "interrupted at once, it says: $(cat "$work/err")"
done
[[ ! -e $work/new ]] || fail 'interrupted at once, it leaves the folder that it made'
[[ -d $work/there ]] || fail 'interrupted at once, it removes a folder that it did not make'

# A second signal must end the program at once, although it writes its page to a pipe without
# reader.
sed 's/800000/20/' "$work/long.conf" >"$work/short.conf"
mkdir "$work/drawn"
mkfifo "$work/drawn/report.html"
"$program" sim "$work/short.conf" --out "$work/drawn" --only >"$work/out" 2>"$work/err" &
until [[ -s $work/drawn/summary.json ]]; do must_run; done
kill -TERM $!
until has_no_pending_signal; do must_run; done # otherwise two pending signals would become one
kill -TERM $!
code=0
wait $! || code=$?
((code == 143)) || fail "a second signal ends it with $code"

code=0
"$program" sim "$work/tiny.conf" --trace "$work/none/trace" >/dev/null 2>&1 || code=$?
((code != 0)) || fail 'a trace that cannot be written is no failure'
# Only the simulator contains attackers and other strategies, not the daemon's program.
readonly rivals='hostile_rumor|poisoner_|sparseloco|storm_play'
grep -aqE "$rivals" "$program-sim" || fail "$program-sim has no attackers"
! grep -aqE "$rivals" "$program" || fail "$program contains attackers or other strategies"
cp -- "$program" "$work/hearsay"
code=0
"$work/hearsay" sim "$work/tiny.conf" >/dev/null 2>"$work/err" || code=$?
if ((code != 1)) || ! grep -q "cannot start the simulator $work/hearsay-sim: No such file" "$work/err"; then
    fail "without hearsay-sim it ends with $code and says: $(<"$work/err")"
fi

echo 'the simulator repeats itself, and says what is wrong'
