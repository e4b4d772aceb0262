# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the sourcing script sets nodes and queue_ms and uses load
# Simulates slow links between network namespaces. The sourcing script sets nodes, queue_ms and
# delay (the program), defines a function fail, and calls enter before make_network.
#
#   node1 ─ tbf ─┐                            ┌─ tbf ─► node1
#   ...          ├─► a switch: tests/process/delay.c ─┤        ...      tbf: the rate, up and down
#   node4 ─ tbf ─┘                            └─ tbf ─► node4   delay: one way
#
# begin_links starts the delay program, records the counters of all ports twice a second
# (links.jsonl), and sets load to the load of this machine.

# Restarts the script as the first process of new namespaces, which end with it. SHAPED_NETWORK is
# "inside" there.
enter() { # the script's arguments
    local own=(--net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || own+=(--map-root-user)
    unshare "${own[@]}" true || fail 'cannot create namespaces; run this as root'
    SHAPED_NETWORK=inside unshare "${own[@]}" "$BASH" "$0" "$@" &
    world=$!
    trap 'kill -KILL "$world"; exit 130' HUP INT TERM
    wait "$world"
    exit
}

# Creates node1, node2 and so on, each with a port of the switch. The last byte of an address is the
# node's number.
make_network() {
    local i
    ip link set lo up
    ip netns add hub
    for ((i = 1; i <= nodes; i++)); do
        ip netns add "node$i"
        ip -n hub link add "port$i" type veth peer name eth0 netns "node$i"
        ip -n "node$i" link set eth0 address "02:00:00:00:00:0$i"
        ip -n "node$i" addr add "10.0.0.$i/24" dev eth0
        ip netns exec "node$i" sysctl -q -w net.ipv4.tcp_no_metrics_save=1 \
            net.ipv6.conf.all.disable_ipv6=1
        ip netns exec hub sysctl -q -w "net.ipv6.conf.port$i.disable_ipv6=1"
        ip -n "node$i" link set lo up
        ip -n "node$i" link set eth0 up
        ip -n "node$i" route replace 10.0.0.0/24 dev eth0 src "10.0.0.$i" congctl cubic
        ip -n hub link set "port$i" up
    done
}

# Limits interface $2 of namespace $1 to $3 Mbit/s. A segment of TCP has the packets that take 2 ms,
# and one more.
limit() {
    local segments=$((1 + $3 * 250 / 1500))
    ip -n "$1" link set "$2" gso_max_segs "$segments"
    tc -n "$1" qdisc replace dev "$2" root tbf rate "$3mbit" burst $((1600 * (segments + 4))) \
        latency "${queue_ms}ms"
}

set_point() { # Mbit/s
    local i
    for ((i = 1; i <= nodes; i++)); do
        limit "node$i" eth0 "$1"
        limit hub "port$i" "$1"
    done
}

begin_links() { # milliseconds, folder
    local ports
    ports=$(printf 'port%d ' $(seq "$nodes"))
    read -r load _ </proc/loadavg
    # shellcheck disable=SC2086 # a list of words
    ip netns exec hub "$delay" "$1" $ports >"$2/delay.json" &
    relay=$!
    while sleep 0.5; do
        printf '{"at":%s,"ports":%s}\n' "$EPOCHREALTIME" \
            "$(ip -n hub -s -j link show type veth | tr -d '\n')"
    done >"$2/links.jsonl" &
    watcher=$!
}

end_links() {
    kill -TERM "$relay" "$watcher"
    wait "$relay" "$watcher" || true
}
