#!/usr/bin/env bash
# Trains nanoGPT's recipe for Shakespeare by characters on one GPU, with a single node: 6 x 384,
# context 256, dropout 0.2, batch 64, 5,000 steps of AdamW. Measures the loss of the base on the last
# tenth of the text every four seconds and prints these losses at the end. nanoGPT reports 1.47 nats
# as its best.
#
#   tests/bench/bench_char_gpt.sh HEARSAY TEXT [DEVICE [SAMPLES]]     cuda:0 320000
#
# TEXT is tinyshakespeare's input.txt (karpathy/char-rnn, data/tinyshakespeare). A minute on an H100.
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/../process/story.sh"

text=$2 device=${3:-cuda:0} samples=${4:-320000}
attention='residual(norm, attention 6, dropout 0.2)'
dense='residual(norm, dense 1536, gelu, dense 384, dropout 0.2)'
small=(--set node.listen=127.0.0.1:0 --set data.source=text --set "data.text=$text"
    --set data.context=256 --set "train.device=$device" --set train.precision=bf16
    --set "model.layers=embed 256 384, position 256, dropout 0.2, 6 * ($attention, $dense), norm, logits tied"
    --set train.optimizer=adam --set train.batch=64 --set train.rate=0.001 --set train.beta2=0.99
    --set train.weight_decay=0.1 --set train.clip=1 --set train.schedule=cosine
    --set train.warmup_samples=6400 --set train.period_samples=320000 --set train.decay=0.1
    --set train.evaluate_s=4 --set "train.samples_max=$samples")

has_learned() {
    alive node || fail 'the node has ended'
    page node
    says "$dir/page.out" "\"samples\":${samples}[,}]"
}

start node
wait_for 1200 'the node to learn' has_learned
leave node
grep -o 'the base.*' "$dir/node.err"
