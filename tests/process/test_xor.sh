#!/usr/bin/env bash
# 25 daemons with the same four cases learn exclusive or. They must end with bitwise equal models,
# which predict every case with at least 98 %.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1

fail() { printf 'test_xor: %s\n' "$*" >&2; exit 1; }

"$program" swarm --nodes 25 --model xor --data xor --target 100 --dir "$work/swarm" --set train.batch=4 \
    --set train.rate=0.5 --set train.steps_per_s=25 --set train.evaluate_s=2 >"$work/out" 2>&1 ||
    fail "the swarm ends with $?: $(tail -5 "$work/out")"
grep -q 'All nodes hold the same model, bit for bit' "$work/out" || fail "$(tail -5 "$work/out")"

# The four cases as an array of NumPy: bytes of shape [4, 1, 1, 2].
{
    header="{'descr': '|u1', 'fortran_order': False, 'shape': (4, 1, 1, 2), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    printf '\x00\x00\x00\xff\xff\x00\xff\xff'
} >"$work/cases.npy"
for node in 1 25; do
    "$program" predict --state "$work/swarm/node$node" --input "$work/cases.npy" >"$work/said" ||
        fail "predict ends with $?"
    awk '{ sub(/%,?/, "", $3); if ($2 != (NR == 2 || NR == 3) || $3 < 98) exit 1 } END { exit NR != 4 }' \
        "$work/said" || fail "node $node says: $(cat "$work/said")"
done
