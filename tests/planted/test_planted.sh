#!/usr/bin/env bash
# Tests the invariants of the storms. Builds the program with each mistake of tests/planted/*.patch,
# and plays storms 1, 2, 3, ... until one finds it:
#
#   tests/planted/test_planted.sh [--quarter COMMIT] [--list] [SEEDS [BUILD]]
#
#     SEEDS             largest number of storms for each mistake (1000)
#     BUILD             folder of the built programs, which is kept (build-planted)
#     --quarter COMMIT  plays the quarter of the mistakes that the commit selects; the four quarters
#                       are a partition
#     --list            prints the names of the mistakes and stops
#
# Prints for each mistake its name, the broken invariant (sim/world/check.h) and the number of
# storms. Invariant "-" is a failed CHECK or another crash. Fails if a mistake is not found. Without
# --quarter, also fails if no mistake breaks one of the invariants.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly invariants=(1 2 3 4 5 6 7 8 9 10 11)
export LC_ALL=C OPENBLAS_NUM_THREADS=1 # C: the same order of names everywhere

fail() { printf 'test_planted: %s\n' "$*" >&2; exit 1; }

commit='' list=no
while [[ ${1:-} == --* ]]; do
    case $1 in
    --quarter) commit=${2:?"--quarter wants a commit"} && shift 2 ;;
    --list) list=yes && shift ;;
    *) fail "unknown option $1" ;;
    esac
done
readonly seeds=${1:-1000} build=${2:-build-planted}

# Prints the quarter of a commit, 0 to 3. All names of a commit give the same quarter.
quarter_of() {
    local full
    full=$(git rev-parse --verify --quiet "$1^{commit}" 2>/dev/null) || full=$1
    full=$(cksum <<<"$full")
    echo $((${full%% *} % 4))
}

shopt -s nullglob
names=()
quarter=$([[ -z $commit ]] || quarter_of "$commit")
at=0
for patch in tests/planted/*.patch; do
    ((${quarter:-at % 4} != at % 4)) || names+=("$(basename -- "$patch" .patch)")
    at=$((at + 1))
done
if [[ $list == yes ]]; then
    printf '%s\n' "${names[@]}"
    exit
fi

cmake -G Ninja -S . -B "$build" -DPLANTED=ON -DTESTS=OFF -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C "$build" --quiet hearsay "${names[@]/#/planted_}"

# Prints the failed line with the lowest seed. All lower seeds have been played.
first_failure() { awk '$1 == "seed" && $2 ~ /:$/ && (!n || $2 + 0 < n) { n = $2 + 0; line = $0 }
                      END { print line }' <<<"$1"; }

# Prints the invariant of a line such as "seed 7: at 3.000 s: 2: node 4 heard ...", or -.
invariant_of() {
    [[ $1 =~ ^seed\ [0-9]+:\ (at\ [0-9.]+\ s:\ )?([0-9]+):\  ]] && echo "${BASH_REMATCH[2]}" || echo -
}

declare -A broken=()
survivors=()
for name in "${names[@]}"; do
    read -r _ expected _ options < <(grep "^$name " "$build/planted/list.txt")
    # shellcheck disable=SC2086 # words
    said=$("$build/planted/$name/planted_$name" sim --faults --seeds "1..$seeds" --stop \
        $options 2>&1) && survivors+=("$name")
    line=$(first_failure "$said")
    if [[ -z $line ]]; then
        printf '%-30s %2s  not found in %s storms\n' "$name" "$expected" "$seeds"
        continue
    fi
    invariant=$(invariant_of "$line")
    broken[$invariant]=1
    count=${line#seed }
    printf '%-30s %2s  %4s  %.90s\n' "$name" "$invariant" "${count%%:*}" "${line#*: }"
done

((${#survivors[@]} == 0)) || fail "not found: ${survivors[*]}"
[[ -z $commit ]] || exit 0
for invariant in "${invariants[@]}"; do
    [[ -n ${broken[$invariant]:-} ]] || fail "nothing has broken invariant $invariant"
done
