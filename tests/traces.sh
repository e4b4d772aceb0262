#!/usr/bin/env bash
# Does a commit that only moves or renames leave every byte on the wire as it was?
#
#   tests/traces.sh FROM..TO         build each commit of the range, and the one before it, and
#                                    compare the hashes of twenty storms and three scenarios
#   tests/traces.sh --program FILE   only print the hashes of this program
#
# A hash covers the moment, the sender and the size of everything that is sent, and the bytes. It
# changes with what nodes decide and say, not with how the program's parts are called. Prints a line
# for each commit, "same" or "differs"; fails when one differs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly storms=20 scenarios=(home-swarm tfako-wan-hetero gaia-11)
export OPENBLAS_NUM_THREADS=1

fail() { printf 'traces: %s\n' "$*" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"; git worktree prune' EXIT

hash_of() { awk '$3 == "send"' "$1" | sha256sum | cut -c1-16; }

# One line of hashes: what the program $1 does with the scenarios of the tree $2.
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
            --trace "$folder/trace" >/dev/null 2>&1) || true # its expectations need longer
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
