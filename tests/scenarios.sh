#!/usr/bin/env bash
# Plays the shipped scenarios and checks their expectations.
#
#   tests/scenarios.sh [--part COMMIT] HEARSAY
#
#     --part COMMIT  plays the eighth that the commit selects; the eight parts are a partition
#
# Plays configs/sim-*.conf, two at a time, and prints a line for each: its duration, and any
# expectation that it does not meet. Fails if an expectation is not met. A thousand nodes take five
# minutes, and all scenarios half an hour of processor time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C OPENBLAS_NUM_THREADS=1 # C: the same order of names everywhere
readonly parts=8

fail() { printf 'scenarios: %s\n' "$*" >&2; exit 1; }

part=''
if [[ ${1:-} == --part ]]; then
    hash=$(git rev-parse --verify --quiet "${2:?--part wants a commit}^{commit}" || sha1sum <<<"$2" | cut -c1-40)
    part=$((16#${hash:0:4} % parts))
    shift 2
fi
program=${1:?"usage: tests/scenarios.sh [--part COMMIT] HEARSAY"}

# play FILE
play() {
    local begin=$SECONDS code=0 said
    said=$("$program" sim "$1" --no-report 2>&1) || code=$?
    printf '%s: %s after %d s\n' "$1" "$( ((code == 0)) && echo met || echo 'NOT MET')" $((SECONDS - begin))
    ((code == 0)) || grep -E '^NOT MET|^BROKEN|^hearsay:' <<<"$said" || tail -3 <<<"$said"
    return "$code"
}
export -f play
export program

files=()
at=0
for file in configs/sim-*.conf; do
    ((${part:-at % parts} != at % parts)) || files+=("$file")
    at=$((at + 1))
done
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P 2 bash -c 'play "$1"' play || fail 'an expectation is not met'
printf '%d scenarios meet their expectations\n' "${#files[@]}"
