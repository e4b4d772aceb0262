#!/usr/bin/env bash
# A core dump of a node must contain no key: test_keys.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

skip_if_sanitized 'memory that is locked'

layers='dense 16, relu, dense 10' parameters=12730
"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")
nodes=(--set "node.operator=$operator" --set exchange.interval_s=1 "${patient[@]}")

# Searches a node for its identity, its swarm keys and the keys derived from them:
# look_into NAME [OPTION...]
look_into() {
    local name=$1 code=0
    shift
    start_member keys.py looker "$layers" "$parameters" "$(address_of "$name")" \
        --pid "${pid[$name]}" --node-identity "$dir/$name.key" "$@"
    wait "${pid[looker]}" || code=$?
    unset 'pid[looker]'
    sed 's/^/     /' "$dir/client.out"
    if ((code == 77)); then
        echo 'skipped: needs to be root, or kernel.yama.ptrace_scope = 0'
        [[ ${REQUIRE_PYTHON:-0} != 1 ]] || exit 1
        exit 77
    fi
    ((code == 0)) || fail "a core dump of $name has keys, or the looker does not find them ($code)"
}

tell 'a debugger reads the memory of one of two nodes'
start one "${nodes[@]}"
one=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'both nodes to be connected' shows one '"members_live":2,'
"$hearsay" keygen "$dir/looker.key" >/dev/null
look_into one --node-swarm-key "$dir/swarm.key"

tell 'a new swarm key from a neighbour'
expect 0 'the swarm gets a new key' "$hearsay" rekey --key "$dir/operator.key" --state "$dir/one" \
    --anyone --both 24
wait_for 40 'two to have the key' test -e "$dir/two/swarm.key"
look_into two --node-swarm-key "$dir/swarm.key" --node-swarm-key "$dir/two/swarm.key"
look_into one --node-swarm-key "$dir/swarm.key" --node-swarm-key "$dir/one/swarm.key"
leave_together one two

tell 'a node that may not lock memory warns and runs'
may_not=()
((EUID != 0)) || may_not=(setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock)
hearsay_here=$hearsay
"$hearsay" keygen "$dir/three.key" >/dev/null
unlocked() { ulimit -l 0 && exec "${may_not[@]}" "$hearsay_here" "$@"; }
hearsay=unlocked
start three "${nodes[@]}"
hearsay=$hearsay_here
look_into three --node-swarm-key "$dir/swarm.key"
notes three 'keys may be swapped out: [0-9]+ KiB cannot be locked in memory: .*ulimit -l' ||
    fail 'three does not warn that keys may be swapped out'
! notes one 'keys may be swapped out' || fail 'one cannot lock its memory'
leave three

printf '%3d s  done\n' "$SECONDS"
