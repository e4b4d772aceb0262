#!/usr/bin/env bash
# Are the invariants of the storms alive? The program is built once with each mistake of
# planted.cmake, and storms 1, 2, 3, ... are played until one finds it:
#
#   tests/planted/test_planted.sh [SEEDS [BUILD]]    at most SEEDS storms (1000) for each; the folder
#                                            BUILD (build-planted) is made and kept
#
# A line for each: its name, the invariant (sim/checks/check.h) that broke, after how many storms. An
# invariant "-" is a CHECK in the program, or another sign of death. Fails when a mistake is not
# found, or when an invariant is broken by none of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly seeds=${1:-1000} build=${2:-build-planted}
readonly invariants=(1 2 3 4 5 6 7 8 9 10)
export OPENBLAS_NUM_THREADS=1

fail() { printf 'test_planted: %s\n' "$*" >&2; exit 1; }

cmake -G Ninja -S . -B "$build" -DPLANTED=ON -DTESTS=OFF -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C "$build" --quiet hearsay planted

# What stands after "seed N:" of the lowest seed that failed: those before it have been played.
first_failure() { awk '$1 == "seed" && $2 ~ /:$/ && (!n || $2 + 0 < n) { n = $2 + 0; line = $0 }
                      END { print line }' <<<"$1"; }

# Of "seed 7: at 3.000 s: 2: node 4 heard ...".
invariant_of() {
    [[ $1 =~ ^seed\ [0-9]+:\ (at\ [0-9.]+\ s:\ )?([0-9]+):\  ]] && echo "${BASH_REMATCH[2]}" || echo -
}

declare -A broken=()
survivors=()
while read -r name expected _ options; do
    # shellcheck disable=SC2086 # options are words
    said=$("$build/planted/$name/planted_$name" sim --faults --seeds "1..$seeds" --stop \
        $options 2>&1) && survivors+=("$name")
    line=$(first_failure "$said")
    if [[ -z $line ]]; then
        printf '%-22s %2s  not found in %s storms\n' "$name" "$expected" "$seeds"
        continue
    fi
    invariant=$(invariant_of "$line")
    broken[$invariant]=1
    count=${line#seed }
    printf '%-22s %2s  %4s  %.90s\n' "$name" "$invariant" "${count%%:*}" "${line#*: }"
done <"$build/planted.txt"

((${#survivors[@]} == 0)) || fail "not found: ${survivors[*]}"
for invariant in "${invariants[@]}"; do
    [[ -n ${broken[$invariant]:-} ]] || fail "nothing has broken invariant $invariant"
done
