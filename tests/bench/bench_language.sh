#!/usr/bin/env bash
# Trains nanoGPT's recipe for a CPU (4 x 128, context 64, batch 12, 2,000 steps) with hearsay and
# with PyTorch, for three seeds. Prints the loss on the last tenth of four million bytes of an
# English dictionary.
#
#   tests/bench/bench_language.sh [HEARSAY [PYTHON]]     build/hearsay python3
#
# Needs Debian's dict-gcide, and a PYTHON with PyTorch. A quarter of an hour on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly hearsay=${1:-build/hearsay} python=${2:-python3}
export OPENBLAS_NUM_THREADS=1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
gunzip -c </usr/share/dictd/gcide.dict.dz >"$folder/whole"
head -c 4000000 "$folder/whole" >"$folder/text"
cat >"$folder/recipe.conf" <<RECIPE
[scenario]
strategy = single
seconds = 200
evaluate_s = 200
nodes = 1 only, 120 samples/s, up 100 Mbit/s, down 100 Mbit/s
[model]
name = gpt-char
[data]
source = text
text = $folder/text
context = 64
[train]
optimizer = adam
batch = 12
rate = 0.001
momentum = 0.9
beta2 = 0.99
weight_decay = 0.1
clip = 1
schedule = cosine
warmup_samples = 1200
period_samples = 24000
decay = 0.1
RECIPE
for seed in 1 2 3; do
    "$python" tests/bench/bench_language.py "$folder/text" "$seed"
    "$hearsay" sim "$folder/recipe.conf" --no-report --seed "$seed" --set "model.seed=$seed" |
        sed -n "s/^accuracy .* loss \([0-9.]*\),.*/hearsay, seed $seed: \1 nats/p"
done
