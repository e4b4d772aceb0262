#!/usr/bin/env bash
# Checks that commits which only move or rename code change no byte on the wire.
#
#   tests/traces.sh FROM..TO         builds each commit of the range and its parent, and compares the
#                                    hashes of twenty storms and three scenarios
#   tests/traces.sh --program FILE   only prints the hashes of this program
#
# A hash covers time, sender, size and bytes of each sent message. It changes with the decisions and
# messages of nodes, not with names in the program. Prints "same" or "differs" for each commit;
# fails if one differs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly storms=20 scenarios=(home-swarm tfako-wan-hetero gaia-11)
export OPENBLAS_NUM_THREADS=1

fail() { printf 'traces: %s\n' "$*" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"; git worktree prune' EXIT

hash_of() { awk '$3 == "send"' "$1" | sha256sum | cut -c1-16; }

# Prints a line of hashes: program $1 plays the storms, and the scenarios of tree $2.
hashes() {
    local seed name all=()
    for ((seed = 1; seed <= storms; seed++)); do
        "$1" sim --faults --seeds "$seed..$seed" --trace "$folder/trace" &>/dev/null ||
            fail "storm $seed failed"
        all+=("$(hash_of "$folder/trace")")
    done
    for name in "${scenarios[@]}"; do
        rm -f -- "$folder/trace"
        (cd "$2" && "$1" sim "configs/sim-$name.conf" --seconds 8 --no-report \
            --trace "$folder/trace" >/dev/null 2>&1) || true # expectations may fail, because the plays are short
        [[ -s $folder/trace ]] || fail "$name was not played"
        all+=("$(hash_of "$folder/trace")")
    done
    echo "${all[@]}"
}

hashes_of_commit() {
    local tree=$folder/$1
    git worktree add --quiet --detach "$tree" "$1"
    cmake -G Ninja -S "$tree" -B "$tree/build" -DTESTS=OFF -DCMAKE_BUILD_TYPE=Release >/dev/null
    ninja -C "$tree/build" --quiet hearsay >&2
    hashes "$tree/build/hearsay" "$tree"
    git worktree remove --force "$tree"
}

if [[ ${1:-} == --program ]]; then
    hashes "$(realpath "${2:?which program?}")" "$PWD"
    exit
fi
[[ ${1:-} == *..* ]] || fail 'usage: tests/traces.sh FROM..TO | --program FILE'
mapfile -t commits < <(git rev-list --reverse "$1")
((${#commits[@]} > 0)) || fail "no commit in $1"
before=$(hashes_of_commit "$(git rev-parse "${commits[0]}^")")
differ=0
for commit in "${commits[@]}"; do
    now=$(hashes_of_commit "$commit")
    [[ $now == "$before" ]] && verdict=same || { verdict=differs; differ=1; }
    printf '%-8s %s\n' "$verdict" "$(git log -1 --format='%h %s' "$commit")"
    before=$now
done
exit "$differ"
