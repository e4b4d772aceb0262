#!/usr/bin/env bash
# Runs all harnesses, or the named ones, for SECONDS each: fuzz.sh BUILD SECONDS [NAME...]
#
# BUILD/fuzz/corpus/NAME keeps the inputs for the next run. BUILD/fuzz/found keeps the inputs that
# fail. Prints a table, and fails if any input failed.
set -euo pipefail
build=$(cd "$1" && pwd) seconds=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
shift 2
export OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=quarantine_size_mb=16
[[ $seconds =~ ^[0-9]+$ ]] || { echo "fuzz: \"$seconds\" is no number of seconds" >&2 && exit 2; }
if (($# == 0)); then
    for source in "$root"/tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        set -- "$@" "${name%.c}"
    done
fi

# Prints files of the tree that are also seeds of a harness.
seeds_of() {
    case $1 in
    config) ls "$root"/configs/node.conf ;;
    scenario) ls "$root"/configs/sim-*.conf ;;
    esac
}

# Prints the number after $2 in the last such line of log $1, or 0.
last() { grep -aoE "$2 *[0-9]+(/[0-9]+[KMb]*)?" "$1" | tail -n 1 | grep -oE '[0-9]+(/.*)?' || echo 0; }

play() {
    local name=$1 corpus=$build/fuzz/corpus/$1 found=$build/fuzz/found log=$build/fuzz/$1.log
    local seeds options=(-max_len=4096)
    seeds=$(seeds_of "$name" | paste -sd,)
    # A script frees all its memory, so the detection of leaks is not needed.
    [[ $name != member ]] || options=(-max_len=400 -len_control=30 -detect_leaks=0 -entropic=0)
    [[ -z $seeds ]] || options+=("-seed_inputs=$seeds")
    mkdir -p -- "$corpus" "$found"
    local corpora=("$corpus" "$root/tests/fuzz/corpus/$name")
    [[ -e ${corpora[1]} ]] || unset 'corpora[1]'
    "$build/fuzz_$name" "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 \
        -artifact_prefix="$found/$name-" "${corpora[@]}" &>"$log" || true
    printf '%-12s %12s %10s %7s %14s %6s\n' "$name" "$(last "$log" number_of_executed_units:)" \
        "$(last "$log" average_exec_per_sec:)" "$(last "$log" cov:)" "$(last "$log" corp:)" \
        "$(find "$found" -name "$name-*" | wc -l)"
}

for name; do
    [[ -x $build/fuzz_$name ]] || { echo "fuzz: there is no harness \"$name\"" >&2 && exit 2; }
done
printf '%-12s %12s %10s %7s %14s %6s\n' harness executions per_s edges corpus found
for name; do
    play "$name"
done
code=0
for name; do
    for file in "$build/fuzz/found/$name"-*; do
        [[ -e $file ]] || continue
        ((code)) || echo 'found; to play it again:'
        echo "  $build/fuzz_$name $file"
        code=1
    done
done
exit "$code"
