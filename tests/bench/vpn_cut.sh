#!/usr/bin/env bash
# Measures the cost of a six-minute failure of the tunnel of one of five sites.
#
#   tests/bench/vpn_cut.sh [--hearsay PROGRAM] [--delay PROGRAM] [--cut-s 360] [--keep FOLDER]
#
#   five sites, 20 Mbit/s up and down, 20 ms one way; the fifth is cut off ─► logs ─┐
#   five equal sites at the same time on another network without a cut ─────► logs ─┴► table
#
# A site makes at most five steps a second. So both runs leave a machine with two cores mostly idle,
# and do not slow each other. Takes 2.5 times the length of the cut, with at least a minute before
# and after it.
#
# Exit code 0, if compared with the uncut run:
#   - each run ends with one base
#   - no other site learned less, within 2 %
#   - the fifth site, and the base, lost at most the samples that a site learns during the cut,
#     within 2 %
#   - the base's accuracy is at most a point lower
#   - the fifth site had a neighbour within 30 s after the cut, the longest time between two dials
#   - it had the digest of another site within another 30 s
#
# The networks consist of namespaces that end with this script. Needs root or user namespaces.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
readonly here nodes=5 cut_site=5 mbit=20 delay_ms=20 queue_ms=200
readonly steps_per_s=5 batch=16 less_percent=2 accuracy_points=1 found_s=30
readonly data=/usr/share/datasets/fashion-mnist
hearsay=$here/../../build/hearsay
delay=$here/../../build/delay
cut_s=360
keep=
play=
export OPENBLAS_NUM_THREADS=1

fail() {
    printf 'vpn_cut: %s\n' "$*" >&2
    exit 2
}

# shellcheck source=tests/bench/shaped_network.sh
source "$here/shaped_network.sh"

options=("$@")
while (($#)); do
    (($# > 1)) || fail "$1: see the head of $0"
    case $1 in
    --hearsay) hearsay=$2 ;;
    --delay) delay=$2 ;;
    --cut-s) cut_s=$2 ;;
    --keep) keep=$2 ;;
    --play) play=$2 ;; # internal option: plays only the run "cut" or "whole"
    *) fail "unknown option $1; see the head of $0" ;;
    esac
    shift 2
done
[[ $cut_s =~ ^[1-9][0-9]*$ ]] || fail "$cut_s is no number of seconds"
part() { echo "$(($1 > 60 ? $1 : 60))"; }
before_s=$(part $((cut_s * 2 / 3)))
after_s=$(part $((cut_s * 5 / 6)))

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'jq jq' 'unshare util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    [[ -x $hearsay ]] || fail "$hearsay not found; build it with ./run build"
    [[ -x $delay ]] || fail "$delay not found; build it with ./run test -R nothing"
    [[ -e $data/train-images-idx3-ubyte.gz ]] || fail "no $data; ./run deps installs it"
}

# Prints the configuration. Site 1 evaluates the base twice a minute, the others as by default.
site_config() { # site, folder
    local first=10.0.0.1:7770
    (($1 > 1)) || first='""'
    cat <<CONF
[node]
listen = 10.0.0.$1:7770
peers = $first
identity = $2/node$1.key
swarm_key = $2/swarm.key
state_dir = $2/node$1
log = $2/node$1.log
[model]
name = lenet
[data]
source = idx
dir = $data
shard = $1/$nodes
[train]
batch = $batch
steps_per_s = $steps_per_s
rate = 0.02
$( (($1 > 1)) || printf 'evaluate_s = 30\nevaluate_part = 1/5')
CONF
}

start_site() { # site, folder
    "$hearsay" keygen "$2/node$1.key" >/dev/null
    site_config "$1" "$2" >"$2/node$1.conf"
    ip netns exec "node$1" "$hearsay" node --config "$2/node$1.conf" >"$2/node$1.out" 2>&1 \
        </dev/null &
    pids+=("$!")
}

wait_for() {
    local until=$((SECONDS + 120))
    until grep -qs -- "$3" "$2/node$1.log"; do
        kill -0 "${pids[$1 - 1]}" || fail "site $1 ended: $(tail -n 3 "$2/node$1.out")"
        ((SECONDS < until)) || fail "timed out waiting for site $1 to log: $3"
        sleep 0.1
    done
}

ask() { # seconds, folder
    local until=$((SECONDS + $1)) i
    while ((SECONDS < until)); do
        for ((i = 1; i <= nodes; i++)); do
            printf '{"at":%s,"site":%d,"page":%s}\n' "$EPOCHREALTIME" "$i" \
                "$("$hearsay" status --state "$2/node$i" --json | tr -d '\n' || true)"
        done
        sleep 0.5
    done >>"$2/asked"
}

mark() { printf '{"%s":%s}\n' "$1" "$EPOCHREALTIME" >>"$2/marks"; }

play_one() { # folder, whether the tunnel is cut
    local i folder=$1
    pids=()
    make_network
    set_point "$mbit"
    begin_links "$delay_ms" "$folder"
    "$hearsay" swarmkey "$folder/swarm.key" >/dev/null
    for ((i = 1; i <= nodes; i++)); do
        start_site "$i" "$folder"
        ((i > 1)) || wait_for 1 "$folder" '"started"'
    done
    for ((i = 1; i <= nodes; i++)); do
        wait_for "$i" "$folder" '"steps":[1-9]'
    done
    mark begin "$folder"
    sleep "$before_s"
    mark down "$folder"
    [[ $2 != cut ]] || ip -n hub link set "port$cut_site" down
    sleep "$cut_s"
    [[ $2 != cut ]] || ip -n hub link set "port$cut_site" up
    mark up "$folder"
    ask "$((after_s < 90 ? after_s : 90))" "$folder"
    sleep "$((after_s < 90 ? 0 : after_s - 90))"
    mark end "$folder"
    kill -TERM "${pids[@]}"
    for ((i = 1; i <= nodes; i++)); do
        wait "${pids[i - 1]}" || fail "site $i failed: $(tail -n 3 "$folder/node$i.out")"
    done
    end_links
    "$hearsay" eval --state "$folder/node1" --data-dir "$data" --json >"$folder/eval"
}

# Computes the samples of each site in each part of a run from the logs. Interpolates linearly
# between two status lines.
measure() { # folder
    # shellcheck disable=SC2016 # variables of jq
    jq -n --slurpfile marks "$1/marks" --slurpfile eval "$1/eval" --slurpfile asked "$1/asked" \
        --argjson cut_site "$cut_site" '
def wall: (.time[:19] + "Z" | fromdate) + ("0" + .time[19:23] | tonumber);
def between($x):
    (map(select(.x <= $x)) | last) as $a | (map(select(.x > $x)) | first) as $b |
    if $a == null then $b.y elif $b == null then $a.y
    else $a.y + ($b.y - $a.y) * ($x - $a.x) / ($b.x - $a.x) end;
($marks | add) as $at |
def site:
    (map(select(.samples) | {x: wall, y: .samples})) as $counts |
    ($counts | [between($at.begin, $at.down, $at.up, $at.end)]) as $n |
    {samples: (map(select(.note == "final")) | last | .samples),
     digest: (map(select(.note == "final")) | last | .base_digest),
     before: (($n[1] - $n[0]) / ($at.down - $at.begin)),
     during: (($n[2] - $n[1]) / ($at.up - $at.down)),
     after: (($n[3] - $n[2]) / ($at.end - $at.up)),
     found: (map(select(.note == "neighbour" and wall > $at.up)) | first | if . then wall - $at.up else null end)};
def in_step:
    ([$asked[] | select(.site != $cut_site) | .page.digest] | unique) as $theirs |
    [$asked[] | select(.site == $cut_site and (.page.digest as $d | $theirs | index([$d]) != null))] |
    first | if . then .at - $at.up else null end;
[inputs | . + {from: input_filename}] | group_by(.from) | map(site) as $sites |
{sites: $sites, in_step: in_step, in_base: $eval[0].samples, accuracy: $eval[0].accuracy, loss: $eval[0].loss,
 cut_s: ($at.up - $at.down), run_s: ($at.end - $at.begin),
 digests: ($sites | map(.digest) | unique | length)}' "$1"/node?.log
}

# shellcheck disable=SC2016 # variables of jq
readonly table='
def digits($n): if . == null then "never" else . * pow(10; $n) | round / pow(10; $n) end;
def line($name; $a; $b): "\($name)\t\($a)\t\($b)";
def learned: .sites | map(.samples) | add;
def others($part): .sites[:4] | map(.[$part]) | add / 4 | digits(1);
$whole[0] as $a | $cut[0] as $b |
line(""; "uncut"; "cut"),
(range($a.sites | length) | line("samples of site \(. + 1)"; $a.sites[.].samples; $b.sites[.].samples)),
(("before", "during", "after") as $part |
 line("samples/s of sites 1 to 4, \($part)"; $a | others($part); $b | others($part))),
(("before", "during", "after") as $part |
 line("samples/s of site 5, \($part)"; $a.sites[4][$part] | digits(1); $b.sites[4][$part] | digits(1))),
line("samples learned by all"; $a | learned; $b | learned),
line("samples that are in the base"; $a.in_base; $b.in_base),
line("accuracy of the base, %"; 100 * $a.accuracy | digits(2); 100 * $b.accuracy | digits(2)),
line("loss of the base"; $a.loss | digits(4); $b.loss | digits(4)),
line("different bases at the end"; $a.digests; $b.digests),
line("site 5 has a neighbour again, s"; "-"; $b.sites[4].found | digits(1)),
line("site 5 is in step again, s"; "-"; $b.in_step | digits(1))'

# shellcheck disable=SC2016
readonly verdict='
$whole[0] as $a | $cut[0] as $b |
def at_least($x; $y): $x >= $y * (1 - $less / 100);
(1 - $b.cut_s / $b.run_s) as $left |
[if $a.digests != 1 or $b.digests != 1 then "a run ends with more than one base" else empty end,
 (range(4) | select(at_least($b.sites[.].samples; $a.sites[.].samples) | not) |
  "site \(. + 1) learned less than uncut"),
 if at_least($b.sites[4].samples; $a.sites[4].samples * $left) then empty
 else "site 5 lost more than the samples of the cut" end,
 if at_least($b.in_base; $a.in_base - $a.sites[4].samples * (1 - $left)) then empty
 else "the base lost more than the samples of the cut" end,
 if ($a.accuracy - $b.accuracy) * 100 > $points then "the base is worse" else empty end,
 if ($b.sites[4].found // 1e9) > $found_s then "site 5 did not find the others" else empty end,
 if ($b.in_step // 1e9) > 2 * $found_s then "site 5 was not in step" else empty end] | .[]'

compare() { # folder
    local runs=(--slurpfile whole "$1/whole.json" --slurpfile cut "$1/cut.json") wrong
    jq -n -r "${runs[@]}" "$table" | column -t -s $'\t'
    wrong=$(jq -n -r "${runs[@]}" --argjson less "$less_percent" --argjson points "$accuracy_points" \
        --argjson found_s "$found_s" "$verdict")
    [[ -z $wrong ]] || { printf 'NOT AS CLAIMED: %s\n' "$wrong" >&2; return 1; }
    echo 'As claimed.'
}

if [[ -n $play ]]; then
    [[ ${SHAPED_NETWORK:-} == inside ]] || enter "${options[@]}"
    mount -t tmpfs none /run # for ip netns
    play_one "$keep" "$play"
    exit
fi

needs
[[ -n $keep ]] || { keep=$(mktemp -d) && trap 'rm -rf -- "$keep"' EXIT; }
mkdir -p -- "$keep/whole" "$keep/cut"
keep=$(realpath -- "$keep")
printf 'five sites, twice; site %d is cut off for %d s of %d s\n' "$cut_site" "$cut_s" \
    "$((before_s + cut_s + after_s))"
declare -A world_of=()
for run in whole cut; do
    "$BASH" "$0" --hearsay "$(realpath -- "$hearsay")" --delay "$(realpath -- "$delay")" \
        --cut-s "$cut_s" --keep "$keep/$run" --play "$run" &
    world_of[$run]=$!
done
for run in whole cut; do
    wait "${world_of[$run]}" || fail "the run \"$run\" failed"
    measure "$keep/$run" >"$keep/$run.json"
done
compare "$keep"
