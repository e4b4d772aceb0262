#!/usr/bin/env bash
# Packs the kit of a visit to a GPU and runs it on the stand-in: test_visit.sh BUILD. The kit must
# be small enough. Each step must report its exit code and output, and must end at its time limit
# before the next step runs. An interrupted visit must keep the results of its earlier steps.
set -euo pipefail
build=$1
visit=$(dirname "${BASH_SOURCE[0]}")/visit.sh
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT
export OUT=$dir/results KIT=$dir/kit

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    head -n 40 "$OUT"/*.tsv "$OUT"/*.txt 2>/dev/null >&2 || true
    exit 1
}

visits() {
    local want=$1 code=0
    shift
    bash "$visit" "$@" >"$dir/said" 2>&1 || code=$?
    ((code == want)) || fail "code $code, not $want: visit.sh $*: $(<"$dir/said")"
}
ended() { grep -qE "^$1	($2)	" "$OUT/summary.tsv" || fail "the step $1 did not end with $2"; }

! grep -q __asan_init "$build/hearsay" ||
    { echo 'skipped: a kit is never built with AddressSanitizer' && exit 77; }

echo 'wrong arguments'
visits 2
visits 2 go
visits 2 go 10 no-such-step
visits 2 pack --no-such-option
visits 1 pack --build "$dir/nothing"
visits 1 pack --build "$build" --llmc "$dir/nothing"
visits 0 --help
grep -q 'none of its code' "$dir/said" || fail 'the help does not say that llm.c is not here'

echo 'the kit'
printf '#!/bin/sh\n' >"$dir/llmc" && chmod +x "$dir/llmc"
visits 0 pack --build "$build" --stand-in --llmc "$dir/llmc" --to "$dir/kit.tar.xz"
(($(stat -c %s "$dir/kit.tar.xz") <= 56000000)) || fail 'the kit is too large'
mkdir "$KIT"
tar -C "$KIT" -xf "$dir/kit.tar.xz"
cmp -s "$dir/llmc" "$KIT/build/train_gpt2cu" || fail 'the program of llm.c is not in the kit'
# The kit must contain each test that runs on the stand-in here.
for name in $(ctest --test-dir "$build" -N | sed -nE 's/.*: (\w+)_(cuda|cudnn)_on_cpu$/\1/p'); do
    [[ $name == random_calls ]] || name=test_$name
    cut -d ' ' -f 1 "$KIT/tests.list" | grep -qx "$name" || fail "$name is not in the kit"
done
for name in test_backend $(cut -d ' ' -f 1 "$KIT/tests.list"); do
    [[ -x $KIT/build/$name ]] || fail "$name is in the list and not in the kit"
done

# Runs only a few tests, which take seconds. ctest runs the others.
grep -E '^test_(entries|gather|rebase)$' "$KIT/tests.list" >"$dir/few"
mv "$dir/few" "$KIT/tests.list"

echo 'steps on the stand-in'
visits 0 go 600 machine tests ours torch llmc kernels mixed script exchange ptx races
ended machine 0
grep -q '^cuda:0: ' "$OUT/machine.txt" || fail 'the stand-in was not chosen'
ended tests 0
for name in test_entries test_gather test_rebase; do
    grep -qE "^$name	0	" "$OUT/tests.txt" || fail "$name has no result"
    (($(grep -c "] Running " "$OUT/tests/$name.txt") >= 2)) || fail "$name did not run on the stand-in"
done
ended ours 0
grep -q '^mlp .* samples/s' "$OUT/ours.txt" || fail 'no samples a second'
ended exchange 0
grep -q ' published, ' "$OUT/exchange.txt" || fail 'no publication was measured'
for name in torch llmc kernels mixed script ptx races; do
    ended "$name" 77
    grep -q '^skipped: ' "$OUT/$name.txt" || fail "the step $name does not say what it lacks"
done

echo 'a failing test fails its step and the visit'
printf '#!/bin/sh\necho broken; exit 3\n' >"$KIT/build/test_rebase"
visits 1 go 600 tests
ended tests '[1-9][0-9]*'
grep -qE '^test_rebase	3	' "$OUT/tests.txt" || fail 'the summary lacks the failure'
grep -qE '^test_entries	0	' "$OUT/tests.txt" || fail 'the other steps did not run'

echo 'a step is cut at its cap, and the next one runs'
printf '#!/bin/sh\necho before the cut; exec sleep 1000\n' >"$KIT/build/test_rebase"
echo test_rebase >"$KIT/tests.list"
printf '#!/bin/sh\necho mlp; exec sleep 1000\n' >"$KIT/build/bench_gpu"
CAP=1 visits 1 go 600 tests ours torch
ended tests '124|137'
ended ours '124|137'
ended torch '77|124|137'

echo 'a visit without time passes over its steps'
visits 0 go 0 machine tests
ended machine 98
ended tests 98

echo 'a visit that is cut keeps its results'
rm "$OUT/ours.txt"
bash "$visit" go 600 machine ours >"$dir/said" 2>&1 &
visitor=$!
until [[ -s $OUT/ours.txt ]]; do
    kill -0 "$visitor" || fail 'the visit ended by itself'
    sleep 0.05
done
kill -TERM "$visitor"
code=0
wait "$visitor" || code=$?
((code == 1)) || fail "a visit that is cut ends with $code"
ended machine 0
ended ours 143
grep -q mlp "$OUT/ours.txt" || fail 'results of the steps before the interruption are lost'
echo 'all is well'
