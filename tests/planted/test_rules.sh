#!/usr/bin/env bash
# Are the rules of the simulator's strategies held by tests? A unit test is built once with each
# mistake of tests/planted/rules/*.patch, and must fail:
#
#   tests/planted/test_rules.sh [--list] [BUILD]
#
#     BUILD   the folder in which the tests are built (build-planted); it is kept
#     --list  prints the names of the mistakes and stops
#
# A line for each: its name, which begins with that of its strategy, the test, and what failed in it.
# Fails when a mistake is not found, or a strategy has none. A test that dies of a signal has found
# nothing: that says that something is wrong, and not what the rule is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C OPENBLAS_NUM_THREADS=1 # names have one order

fail() { printf 'test_rules: %s\n' "$*" >&2; exit 1; }

list=no
[[ ${1:-} != --list ]] || { list=yes && shift; }
readonly build=${1:-build-planted}

shopt -s nullglob
names=()
for patch in tests/planted/rules/*.patch; do
    names+=("$(basename -- "$patch" .patch)")
done

# Of gossip, which is hearsay itself, storms find most mistakes; those of its rules for learning are here.
mapfile -t strategies < <(sed -n 's/^ *EACH([A-Z_]*, \([a-z_]*\)).*/\1/p' sim/scenario/strategy_kind.h)
((${#strategies[@]} > 0)) || fail 'sim/scenario/strategy_kind.h has no strategy'
strategies+=(gossip)
rest=("${names[@]}")
for strategy in "${strategies[@]}"; do
    others=()
    for name in "${rest[@]}"; do
        [[ $name == "$strategy" || $name == "${strategy}"_* ]] || others+=("$name")
    done
    ((${#others[@]} < ${#rest[@]})) || fail "there is no mistake in $strategy"
    rest=("${others[@]}")
done
((${#rest[@]} == 0)) || fail "of no strategy: ${rest[*]}"
if [[ $list == yes ]]; then
    printf '%s\n' "${names[@]}"
    exit
fi

cmake -G Ninja -S . -B "$build" -DPLANTED=ON -DTESTS=ON -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C "$build" --quiet rules

# Runs the test that must find a mistake, and says what failed first in it. The code of cmocka is the
# number of tests that failed, a signal's is above 128; but cmocka catches some, and counts them, too.
try() {
    local name=$1 test=$2 said code=0
    said=$("$build/rules/$name/rules_$name" 2>&1) || code=$?
    if ((code >= 128)) || [[ $said == *'failed with exception'* ]]; then
        fail "$name: $test died of it (code $code)"
    fi
    [[ $said == *'[  FAILED  ] '* ]] || fail "$name: not found by $test"
    said=${said#*'[  FAILED  ] '}
    printf '%-32s %-24s %s\n' "$name" "$test" "${said%%$'\n'*}"
}
export -f fail try
export build
cut -d ' ' -f 1,2 "$build/rules/list.txt" | xargs -P "$(nproc)" -L 1 bash -c 'try "$@"' try ||
    fail 'not all mistakes are found'
