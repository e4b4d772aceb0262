#!/usr/bin/env bash
# Searches the Promela models of this folder completely with Spin.
#
#   tests/spin/test_spin.sh [MODEL...]
#
# Each model must have no error: no assertion fails, every assertion is reached, and no run goes on
# without end. Each weakening of a model (#ifdef WEAKEN_…), which is a plausible mistake in the C
# code, must be found. A search that does not reach all states fails. Exits 77 if spin is missing,
# unless REQUIRE_SPIN=1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
    echo 'skipped: apt-get install spin gcc'
    [[ ${REQUIRE_SPIN:-0} != 1 ]] || exit 1
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    tail -n 40 said >&2
    exit 1
}

# Searches a model: search MODEL [WEAKENING]. In a model with a label for progress, a run without end
# that never passes the label is an error. Writes pan's report to the file `said`.
search() {
    local options=(-DSAFETY) flags=()
    if grep -q '^progress' "$here/$1.pml"; then
        options=(-DNP) flags=(-l)
    fi
    rm -f pan.*
    spin -a ${2:+"-D$2"} "$here/$1.pml" >said 2>&1 || fail "$1: spin cannot read it"
    # A weakening is found after few states, so compiling it takes longer than searching.
    gcc "$([[ -n ${2:-} ]] && echo -O0 || echo -O2)" -w -DMEMLIM=1900 "${options[@]}" -o pan pan.c
    ./pan "${flags[@]}" -m200000 >said 2>&1 || fail "$1: the search ended early"
}

# Returns success if the search has reached all states or ended with an error.
is_complete() {
    ! grep -q 'max search depth too small\|out of memory\|reached -DMEMLIM' said
}

models=("$@")
if ((${#models[@]} == 0)); then
    for file in "$here"/*.pml; do
        models+=("$(basename -- "$file" .pml)")
    done
fi
for model in "${models[@]}"; do
    search "$model"
    if ! grep -q 'errors: 0$' said || ! is_complete || grep -q 'Search not completed' said; then
        fail "$model"
    fi
    # pan lists the statements that it has never reached, with their lines
    while read -r line; do
        ! sed -n "${line}p" "$here/$model.pml" | grep -q 'assert' || fail "$model: line $line is never reached"
    done < <(sed -n 's/^\t.*\.pml:\([0-9]*\), state.*/\1/p' said)
    printf '%3d s  %s: %s states, no error\n' "$SECONDS" "$model" \
        "$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' said)"
    mapfile -t weakenings < <(grep -o 'WEAKEN_[a-z_]*' "$here/$model.pml" | sort -u)
    ((${#weakenings[@]} >= 2)) || fail "$model has fewer than two weakenings"
    for weakening in "${weakenings[@]}"; do
        search "$model" "$weakening"
        how=$(grep -o 'assertion violated\|non-progress cycle' said | head -n 1) ||
            fail "$model: $weakening is not found"
        printf '%3d s  %s: %s found: %s\n' "$SECONDS" "$model" "$weakening" "$how"
    done
done
