# Functions for tests that use client.py, a member written in Python. Source it like story.sh, which it
# includes. Exits 77 if Python or one of its modules is missing, unless REQUIRE_PYTHON=1.
# shellcheck shell=bash
if ! missing=$(/usr/bin/python3 -c 'import msgpack, nacl' 2>&1); then
    echo "skipped: no Python client: ${missing##*$'\n'}; apt-get install python3-nacl python3-msgpack"
    [[ ${REQUIRE_PYTHON:-0} == 1 ]] && exit 1
    exit 77
fi
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

# Python decodes rumors slowly, above all on a busy machine.
# shellcheck disable=SC2034 # used by the sourcing script
patient=(--set limits.silence_s=120 --set limits.handshake_s=60)

# Starts a program of this folder in the background, as a member of this swarm:
# start_member PROGRAM NAME LAYERS PARAMETERS [OPTION...]. PARAMETERS is the number of parameters of the
# layers. Later options override earlier ones. The program writes client.out and client.err.
start_member() {
    local program=$1 name=$2 layers=$3 parameters=$4
    shift 4
    timeout 1200 /usr/bin/python3 -uB "$(dirname "${BASH_SOURCE[0]}")/$program" \
        --identity "$dir/$name.key" --swarm-key "$dir/swarm.key" \
        --model "1x28x28, layout 2: $layers; seed 1" --parameters "$parameters" \
        "$@" >"$dir/client.out" 2>"$dir/client.err" &
    pid[$name]=$!
}

start_client() { start_member client.py "$@"; }

# Starts the nodes one, two and three with these options and sets $one, $two and $three to their
# addresses.
start_three() {
    start one "$@"
    one=$(address_of one)
    start two "$@" --set "node.peers=$one"
    start three "$@" --set "node.peers=$one"
    # shellcheck disable=SC2034
    two=$(address_of two) three=$(address_of three)
}

# Makes a key for a hostile member and sets $villain to the first 8 digits of its id.
make_villain() {
    "$hearsay" keygen "$dir/villain.key" >"$dir/villain.out"
    # shellcheck disable=SC2034
    villain=$(sed -n 's/.*the identity of node \([0-9a-f]*\)\..*/\1/p' "$dir/villain.out")
}

# Starts a member with the key of make_villain in a swarm of this model: start_villain ATTACK
# ADDRESS... [OPTION...]
villain_layers='dense 16, relu, dense 10' villain_parameters=12730
start_villain() {
    start_member hostile.py villain "$villain_layers" "$villain_parameters" --attack "$@"
}

know_each_other() {
    local name
    for name in one two three; do
        wait_for 40 "$name to be connected to the others" shows "$name" '"members_live":3,'
    done
}
