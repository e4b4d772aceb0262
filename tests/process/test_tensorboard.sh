#!/usr/bin/env bash
# TensorBoard's own reader must read the files of hearsay plot --tensorboard. Exit code 77: neither
# python3 nor the Python that TENSORBOARD_PYTHON names has tensorboard.
set -euo pipefail
command -v jq >/dev/null || { echo 'skipped: no jq here' && exit 77; }
program=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{
    echo 'at_s,strategy,loss,samples'
    for i in {0..999}; do echo "$i,gossip,$((1000 - i)).5,$((i * 70000000))"; done
    echo '3,"a/../b",0.25,4'
} >"$work/series.csv"
"$program" plot "$work/series.csv" --by samples --tensorboard "$work/board"
code=0
"${TENSORBOARD_PYTHON:-python3}" "$here/read_events.py" "$work/board" >"$work/events.json" || code=$?
((code != 77)) || echo 'skipped: no tensorboard in this Python (TENSORBOARD_PYTHON)'
((code == 0)) || exit "$code"
jq -e '(.gossip.loss | length) == 1000 and .gossip.loss[999] == [69930000000, 1.5] and
    .["a_.._b"].samples == [[4, 4]]' "$work/events.json" >/dev/null
