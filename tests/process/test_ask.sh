#!/usr/bin/env bash
# A device that has only the swarm key sends inference requests to a running node. The answers must
# equal those of the saved model, the node must continue, and the device must not become a member.
# Devices without permission receive the reason, and invalid requests are refused with a message:
# test_ask.sh HEARSAY
set -euo pipefail

# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

# Writes NAME.npy: samples NAME COUNT TYPE SIDE..., with random values of type |u1 or <f4.
samples() {
    python3 - "$dir/$1.npy" "${@:2}" <<'PYTHON'
import random, struct, sys
name, count, kind, *sides = sys.argv[1:]
shape = (int(count), *map(int, sides))
numbers = 1
for side in shape:
    numbers *= side
random.seed(5)
head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
head += b' ' * (63 - (10 + len(head)) % 64) + b'\n'
body = (random.randbytes(numbers) if kind == '|u1' else
        struct.pack(f'<{numbers}f', *(random.gauss(0, 1) for _ in range(numbers))))
open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + body)
PYTHON
}

# Sets `ask` to a command that sends an inference request to this node.
ask_of() {
    local address
    address=$(address_of "$1")
    ask=("$hearsay" predict --node "$address" --swarm-key "$dir/swarm.key")
}
file_digest() { grep -ao '"digest":"[0-9a-f]*"' "$1" | head -n 1; }

# Copies the node's saved base to saved.safetensors and requests all predictions. Returns failure
# unless the node had this base before and after the request.
asks_of_saved() {
    local saved=$dir/saved.safetensors before
    cp "$dir/one/base.safetensors" "$saved" 2>/dev/null && before=$(file_digest "$saved") &&
        shows one "$before" &&
        "${ask[@]}" --json --top 10 "$dir/images.npy" >"$dir/remote.out" && shows one "$before"
}

tell 'a node answers inference requests like its saved model'
samples images 150 '|u1' 1 28 28
samples others 2 '|u1' 1 27 28
samples floats 2 '<f4' 1 28 28
start one --set node.answers=yes --set train.samples_max=3200 --set node.save_s=1
ask_of one
stopped() {
    shows one '"samples":3200,"samples_per_second":0\.0,"share":0\.0,' &&
        ! says "$dir/page.out" '"trains":true' && notes one 'samples_max is reached'
}
wait_for 30 'one to have learned' stopped
expect 0 'training   off after 3,200 samples: this node relays only' "$hearsay" status --state "$dir/one"
wait_for 30 'one to save what it answers by' asks_of_saved
"$hearsay" predict --json --top 10 --state "$dir/saved.safetensors" "$dir/images.npy" >"$dir/local.out"
python3 - "$dir/remote.out" "$dir/local.out" <<'PYTHON' || fail 'the answers differ from those of the saved model'
import json, sys
remote, local = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
assert len(remote) == len(local) == 150, (len(remote), len(local))
for a, b in zip(remote, local):
    assert a['sample'] == b['sample'] and sorted(a['classes']) == list(range(10))
    for kind, p in zip(a['classes'], a['probabilities']):
        assert abs(p - b['probabilities'][b['classes'].index(kind)]) < 1e-5, (a, b)
assert len({row['classes'][0] for row in local}) > 1, 'to this model all samples are one'
PYTHON
expect 0 '^ +149  [0-9] [0-9.]+ %, ' "${ask[@]}" "$dir/images.npy"

tell 'no client is a member or is in the log'
shows one '"members_live":1,' || fail 'the client is a member'
! notes one '"note":"(refused|neighbour|mismatch)"' || fail 'the client is in the log'

tell 'invalid requests are refused'
expect 1 'its shape is \[2, 1, 27, 28\], and the model takes n samples as \[n, 28, 28\]' "${ask[@]}" "$dir/others.npy"
expect 1 'the model was trained on bytes' "${ask[@]}" "$dir/floats.npy"
"$hearsay" swarmkey "$dir/other.key" >/dev/null
expect 1 'closed without an answer: another swarm key' \
    "${ask[@]}" --swarm-key "$dir/other.key" "$dir/images.npy"
expect 1 'no-such.key' \
    "${ask[@]}" --swarm-key "$dir/no-such.key" "$dir/images.npy"
expect 1 'port' "${ask[@]}" --node 127.0.0.1 "$dir/images.npy"

tell 'a node with node.answers = no refuses requests'
start two
ask_of two
expect 1 'does not serve inference; set node.answers = yes there' "${ask[@]}" "$dir/images.npy"
! notes two 'invalid' || fail 'the node received the request'

tell 'with a list of members, only members receive answers'
"$hearsay" keygen "$dir/guest.key" | sed -n '/^[0-9a-f]\{64\}$/p' >"$dir/members"
"$hearsay" keygen "$dir/three.key" | sed -n '/^[0-9a-f]\{64\}$/p' >>"$dir/members"
start three --set node.answers=yes --set "node.members=$dir/members"
ask_of three
expect 1 "not on this swarm's list of members" "${ask[@]}" "$dir/images.npy"
expect 0 '^ +149  ' "${ask[@]}" --identity "$dir/guest.key" "$dir/images.npy"

tell 'node.answers is refused for a model of sequences'
printf 'so much text that some windows fit into it, and a few more %.0s' {1..40} >"$dir/text"
expect 1 'answers = yes: inference works only for models of images or tables' \
    "$hearsay" node "${small[@]}" --set "node.identity=$dir/one.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/none" --set node.answers=yes \
    --set data.source=text --set "data.text=$dir/text" --set data.context=16 \
    --set 'model.layers=embed 256 8, logits'

tell 'the nodes leave normally'
leave one
leave three
