#!/usr/bin/env bash
# Compares all strategies on all link profiles in one table: bench_profiles.sh HEARSAY DIR [SEEDS [SECONDS]].
#
# Searches the settings of each strategy on dlion-sys, with an equal number of trials (one seed, 20
# virtual seconds). Then plays the eleven profiles with these settings (3 seeds, 30 virtual
# seconds). Prints for each strategy and profile the seconds to the second target and the megabytes
# that a node sent until then, as means over the seeds. A restarted script continues. Two cores take
# about 80 minutes.
#
#   PROFILES="dlion-sys-17mb ..."   other profiles
#   TARGET=3                        another target in the table
#   LAYERS="dense 2048, ..."        another model, with automatic budgets
set -euo pipefail

hearsay=$(realpath "$1") dir=$2 seeds=${3:-3} seconds=${4:-30}
configs=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs")
profiles=(tfako-lan tfako-lan-hetero tfako-wan tfako-wan-hetero dlion-homo dlion-cpu dlion-net
    dlion-sys gaia-11 home-swarm two-sites)
[[ -z ${PROFILES:-} ]] || read -ra profiles <<<"$PROFILES"
with=()
[[ -z ${LAYERS:-} ]] || with=(--set "model.layers=$LAYERS" --set exchange.bytes_per_s=auto)
export TARGET=${TARGET:-2}
mkdir -p "$dir"
cd "$dir"
export OPENBLAS_NUM_THREADS=1
[[ -e tuned/compare.json ]] ||
    "$hearsay" compare "$configs/sim-dlion-sys.conf" --tune --seeds 1 --seconds 20 --out tuned >tuned.txt
for profile in "${profiles[@]}"; do
    [[ -e $profile/compare.json ]] ||
        "$hearsay" compare "$configs/sim-$profile.conf" --settings tuned/compare.json \
            --seeds "$seeds" --seconds "$seconds" --out "$profile" "${with[@]}" >"$profile.txt"
done
/usr/bin/python3 - "${profiles[@]}" <<'PYTHON'
import json
import os
import sys

target = int(os.environ["TARGET"]) - 1

plays = {name: json.load(open(f"{name}/compare.json")) for name in sys.argv[1:]}
cells, ranks = {}, {}
for name, play in plays.items():
    reached = {}
    for strategy in play["strategies"]:
        at = strategy["targets"][target]
        if at["seeds"] == play["seeds"]:
            reached[strategy["strategy"]] = at["mean_s"]
            cells[strategy["strategy"], name] = f'{at["mean_s"]:.1f} s, {at["mean_bytes"] / 1e6:.3g}'
        else:
            cells[strategy["strategy"], name] = "-"
    for strategy in play["strategies"]:
        ranks.setdefault(strategy["strategy"], []).append(
            sorted(reached.values()).index(reached[strategy["strategy"]]) + 1
            if strategy["strategy"] in reached else len(play["strategies"]))
targets = [f'{100 * play["strategies"][0]["targets"][target]["target"]:.1f} %' for play in plays.values()]
print("| | " + " | ".join(plays) + " |")
print("|---" * (len(plays) + 1) + "|")
print("| to | " + " | ".join(targets) + " |")
for strategy in sorted(ranks, key=lambda name: sum(ranks[name])):
    print(f"| `{strategy}` | " + " | ".join(cells[strategy, name] for name in plays) + " |")
PYTHON
