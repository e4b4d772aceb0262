# What the tests with the client of client.py share: story.sh, and a member that is not our code.
# Sourced as story.sh is. Exits 77 where Python or one of its modules is missing, unless
# REQUIRE_PYTHON=1.
# shellcheck shell=bash
if ! missing=$(/usr/bin/python3 -c 'import msgpack, nacl' 2>&1); then
    echo "skipped: no Python client: ${missing##*$'\n'}; apt-get install python3-nacl python3-msgpack"
    [[ ${REQUIRE_PYTHON:-0} == 1 ]] && exit 1
    exit 77
fi
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

# Python decodes rumors at leisure, and slowly on a busy machine.
# shellcheck disable=SC2034 # for who sources this
patient=(--set limits.silence_s=120 --set limits.handshake_s=60)

# The client, in the background, as a member of this swarm: its name, the layers of its model, the
# number of their parameters, then options, of which later ones win. It speaks into client.out.
start_client() {
    local name=$1 layers=$2 parameters=$3
    shift 3
    timeout 1200 /usr/bin/python3 -uB "$(dirname "${BASH_SOURCE[0]}")/client.py" \
        --identity "$dir/$name.key" --swarm-key "$dir/swarm.key" \
        --model "1x28x28, layout 2: $layers; seed 1" --parameters "$parameters" \
        "$@" >"$dir/client.out" 2>"$dir/client.err" &
    pid[$name]=$!
}

# The nodes one, two and three, as started with these options; their addresses are $one, $two and
# $three.
start_three() {
    start one "$@"
    one=$(address_of one)
    start two "$@" --set "node.peers=$one"
    start three "$@" --set "node.peers=$one"
    # shellcheck disable=SC2034
    two=$(address_of two) three=$(address_of three)
}

# A key for the client that means ill, whose id is $villain.
make_villain() {
    "$hearsay" keygen "$dir/villain.key" >"$dir/villain.out"
    # shellcheck disable=SC2034
    villain=$(sed -n 's/.*the identity of node \([0-9a-f]*\)\..*/\1/p' "$dir/villain.out")
}

# The client with that key: the addresses of nodes, and what it does to them.
start_villain() { start_client villain 'dense 16, relu, dense 10' 12730 "$@"; }

know_each_other() {
    local name
    for name in one two three; do
        wait_for 40 "$name to know the others" shows "$name" '"members_live":3,'
    done
}
