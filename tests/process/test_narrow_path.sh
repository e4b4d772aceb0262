#!/usr/bin/env bash
# A path drops large packets silently: test_narrow_path.sh HEARSAY. The path consists of two network
# namespaces with a router between them. The test is skipped if the namespaces cannot be made.
set -euo pipefail

# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

program=$hearsay
prefix=hearsay-$$-
drop() {
    local name
    for name in a b router; do ip netns del "$prefix$name" 2>/dev/null || true; done
}
trap 'code=$?; drop; (exit $code); cleanup' EXIT

for need in ip iptables sysctl; do
    command -v "$need" >/dev/null || { echo "skipped: no $need"; exit 77; }
done
for name in a b router; do
    ip netns add "$prefix$name" 2>/dev/null || { echo 'skipped: no network namespace can be made'; exit 77; }
    ip -n "$prefix$name" link set lo up
done
within() { ip netns exec "$prefix$1" "${@:2}"; }

tell 'a router drops large packets silently'
within router sysctl -qw net.ipv4.ip_forward=1
within router iptables -A OUTPUT -p icmp --icmp-type destination-unreachable -j DROP 2>/dev/null ||
    { echo 'skipped: iptables cannot be used'; exit 77; }
number=0
for name in a b; do
    number=$((number + 1))
    ip link add e0 netns "$prefix$name" type veth peer name "to-$name" netns "${prefix}router"
    ip -n "$prefix$name" addr add "10.99.$number.2/24" dev e0
    ip -n "${prefix}router" addr add "10.99.$number.1/24" dev "to-$name"
    ip -n "$prefix$name" link set e0 up
    ip -n "${prefix}router" link set "to-$name" up mtu 1200
    ip -n "$prefix$name" route add default via "10.99.$number.1"
    within "$name" sysctl -qw net.ipv4.tcp_mtu_probing=0
    printf '#!/bin/sh\nexec ip netns exec %s %s "$@"\n' "$prefix$name" "$program" >"$dir/in_$name"
    chmod +x "$dir/in_$name"
done

# A base larger than a packet.
large=(--set 'model.layers=dense 256, relu, dense 10' --set train.steps_per_s=40)
hearsay=$dir/in_a
start one "${large[@]}" --set node.listen=0.0.0.0:7770 --set data.shard=1/2
learns() { shows "$1" '"stage":"running"' && ! says "$dir/page.out" '"rumors_published":0,'; }
wait_for 20 'one to learn' learns one

tell 'a joining node adapts and reports it once'
hearsay=$dir/in_b
start two "${large[@]}" --set node.listen=none --set node.peers=10.99.1.2:7770 --set data.shard=2/2
hearsay=$program
wait_for 60 'two to report that large packets do not arrive' notes two '"note":"stalled"'
says "$dir/two.err" 'warning: .* went silent twice .* packets of at most 1024 bytes' ||
    fail 'the warning does not name the packet size'
received() { # prints the number of rumors that node one received
    page "$1"
    sed -n 's/.*"rumors_received":\([0-9]*\),.*/\1/p' "$dir/page.out"
}
hears_more() { local now; now=$(received "$1"); [[ $now ]] && ((now > $2 + 5)); }
for name in one two; do
    before=$(received "$name")
    wait_for 60 "$name to receive rumors" hears_more "$name" "${before:-0}"
done
# One note for each size. A pause of this machine may look like a second loss.
(($(grep -c '"note":"stalled"' "$dir/two.log") <= 2)) || fail 'the node repeats the note'

tell 'the doctor reports the packet size'
expect 0 '^WARN  peer 10.99.1.2:7770: .*packets of 14[0-9][0-9] bytes are lost: .*MTU' \
    "$dir/in_b" doctor "${small[@]}" "${large[@]}" --set node.listen=none \
    --set node.peers=10.99.1.2:7770 --set data.shard=2/2 --set "node.identity=$dir/two.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/three"

tell 'the doctor reports nothing if large packets pass'
for name in a b; do ip -n "${prefix}router" link set "to-$name" mtu 1500; done
expect 0 '^ok    peer 10.99.1.2:7770: is node' \
    "$dir/in_b" doctor "${small[@]}" "${large[@]}" --set node.listen=none \
    --set node.peers=10.99.1.2:7770 --set data.shard=2/2 --set "node.identity=$dir/two.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/three"
! says "$dir/said.out" 'are lost' || fail 'doctor warns of a path without a limit'

echo 'narrow paths are reported and handled'
