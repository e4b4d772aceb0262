#!/usr/bin/env bash
# Measures the cost of the protocol per node by number of nodes: tests/bench/bench_scale.sh
# [HEARSAY] [N ...]
#
# Plays configs/sim-1000.conf with several sizes, a fifth of the nodes in each region. There is no
# training, and each node publishes a rumor every ten seconds. Prints a line for each size. Control
# traffic and copies are means over the second half of 60 virtual seconds. A thousand nodes take some
# minutes and gigabytes.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
program=${1:-$root/build/hearsay}
shift || true
(($#)) || set -- 4 16 64 256 1000
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1

# Prints the scenario with $1 nodes, distributed evenly over its regions, and without its
# expectations.
scenario() {
    local left=$1 regions=5 share
    while IFS= read -r line; do
        if [[ $line =~ ^nodes\ =\ [0-9]+\ (.*) ]]; then
            share=$(((left + regions - 1) / regions))
            left=$((left - share))
            regions=$((regions - 1))
            ((share == 0)) || printf 'nodes = %d %s\n' "$share" "${BASH_REMATCH[1]}"
        elif [[ ! $line =~ ^(expect|link\ =\ .*saopaulo) || $1 -ge 5 && $line == link* ]]; then
            printf '%s\n' "$line"
        fi
    done <"$root/configs/sim-1000.conf"
}

printf '%6s %9s %9s %11s %7s %9s %9s %8s\n' nodes 'told B/s' 'heard B/s' 'control B/s' copies \
    events/s 'MB a node' 'CPU s'
for nodes in "$@"; do
    scenario "$nodes" >"$work/scale.conf"
    "$program" sim "$work/scale.conf" --only --out "$work/report" >"$work/out" 2>&1 || {
        cat "$work/out" >&2
        exit 1
    }
    python3 - "$work/report" "$nodes" <<'PYTHON'
import csv, json, sys
folder, nodes = sys.argv[1], int(sys.argv[2])
with open(folder + "/summary.json") as file:
    found = json.load(file)
result = found.get("outcome", found)
told = result["rumor_bytes_published"] / nodes / result["seconds"]
print("%6d %9.0f %9.0f %11.0f %7.3f %9.0f %9.2f %8.1f" % (
    nodes, told, told * (nodes - 1), result["control_bytes_per_s"], result["copies"],
    result["events"] / result["cpu_s"], result["rss_bytes_max"] / nodes / 1e6, result["cpu_s"]))
PYTHON
done
