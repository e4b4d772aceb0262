#!/usr/bin/env bash
# Tests the unit tests of the strategies' rules. Builds a test with each mistake of
# tests/planted/rules/*.patch; the test must fail:
#
#   tests/planted/test_rules.sh [--list] [BUILD]
#
#     BUILD   folder of the built tests, which is kept (build-planted)
#     --list  prints the names of the mistakes and stops
#
# Prints for each mistake its name, which begins with the strategy's, the test, and the first
# failure. Fails if a mistake is not found, or if a strategy has none. A crash does not count as
# found, because it does not show which rule is broken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C OPENBLAS_NUM_THREADS=1 # C: the same order of names everywhere

fail() { printf 'test_rules: %s\n' "$*" >&2; exit 1; }

list=no
[[ ${1:-} != --list ]] || { list=yes && shift; }
readonly build=${1:-build-planted}

shopt -s nullglob
names=()
for patch in tests/planted/rules/*.patch; do
    names+=("$(basename -- "$patch" .patch)")
done

# Storms find most mistakes in gossip, which is hearsay's own method. Only mistakes in its learning
# rules are here.
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

# Runs the test that must find a mistake, and prints its first failure. Exit codes of cmocka count
# failed tests, and codes above 128 are signals. cmocka also counts signals that it catches.
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
