#!/usr/bin/env bash
# One of four sites counts its labels from 1 instead of 0. It must name the classes and publish nothing, and
# the others must name the site: test_mixed_labels.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

# Samples are noisy corners of a cube, and the label is the number of the corner.
cat >"$dir/make.py" <<'END'
import array, random, struct, sys
def save(name, kind, shape, numbers):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(numbers.tobytes())
folder, seed, by = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
corners = [chance.randrange(8) for _ in range(4000)]
x = array.array("f", (2 * (c >> k & 1) - 1 + chance.gauss(0, 0.4) for c in corners for k in range(3)))
save(folder + "/x%d.npy" % seed, "<f4", (4000, 3), x)
save(folder + "/y%d.npy" % seed, "|u1", (4000,), array.array("B", ((c + by) % 8 for c in corners)))
END

# begin NUMBER NAME SHIFT [OPTION...]
begin() {
    local number=$1 name=$2 by=$3
    shift 3
    python3 "$dir/make.py" "$dir" "$number" "$by"
    start "$name" --set data.source=npy --set "data.x=$dir/x$number.npy" --set "data.y=$dir/y$number.npy" \
        --set data.classes=8 --set 'model.layers=dense 16, relu, dense 8' --set train.steps_per_s=200 \
        --set exchange.interval_s=0.5 "$@"
}

tell 'four sites learn, one of them with labels that are shifted by one'
begin 1 one 0
one=$(address_of one)
begin 2 two 0 --set "node.peers=$one"
begin 3 three 0 --set "node.peers=$one"
for name in one two three; do
    wait_for 40 "$name to have two neighbours" shows "$name" '"members_live":3,'
done
begin 4 four 1 --set "node.peers=$one"

tell 'the site with the shifted labels names its classes'
wait_for 120 'the warning' notes four '"note":"training","level":"warning".*contradict the shared model'
notes four 'what the shared model calls 7, 0, 1, 2 is labelled 0, 1, 2, 3' ||
    fail 'the warning does not name the classes'
notes four 'so it publishes nothing' || fail 'it does not say that it publishes nothing'
wait_for 20 'the status to report it' shows four '"is_well":false'
expect 0 'alarm: +training has a problem' "$hearsay" status --state "$dir/four"

tell 'the others name the site'
four=$(sed -n 's/^node \([0-9a-f]\{8\}\).*/\1/p' <("$hearsay" status --state "$dir/four"))
for name in one two three; do
    wait_for 40 "$name to name it" notes "$name" "\"note\":\"settings\".*$four.*its labels contradict the shared model"
    ! notes "$name" '"note":"training","level":"(warning|error)"' || fail "$name accuses itself"
done

tell 'the site publishes nothing more'
page four
published=$(sed -n 's/.*"rumors_published":\([0-9]*\).*/\1/p' "$dir/page.out")
rises() { grep -c 'has risen' "$dir/four.log" || true; }
risen=$(rises)
learned() { page four; (($(sed -n 's/.*"steps":\([0-9]*\).*/\1/p' "$dir/page.out") >= $1)); }
wait_for 40 'more steps' learned "$(($(sed -n 's/.*"steps":\([0-9]*\).*/\1/p' "$dir/page.out") + 1600))"
shows four "\"rumors_published\":$published," || fail 'it publishes'
(($(rises) == risen)) || fail 'it warns of the loss against its wrong labels'

tell 'all leave with one model, which has learned the corners'
leave_together one two three four
expect 0 'accuracy +(9[0-9]|100)' "$hearsay" eval --state "$dir/one/base.safetensors"

printf '%3d s  done\n' "$SECONDS"
