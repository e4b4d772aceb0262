#!/usr/bin/env bash
# Checks that the corpora contain the seeds that today's encoders write: test_seeds.sh FUZZ_SEEDS
# CORPUS
set -euo pipefail
fresh=$(mktemp -d)
trap 'rm -rf -- "$fresh"' EXIT
"$1" "$fresh"
cd "$fresh"
count=0
for seed in */*; do
    cmp -- "$seed" "$2/$seed" || { echo "make them again: $1 $2"; exit 1; }
    count=$((count + 1))
done
echo "$count seeds"
