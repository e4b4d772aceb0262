#!/usr/bin/env bash
# No other user of the machine may read what a node writes: test_modes.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

mode() { stat -c %a "$1"; }
umask 000

tell 'a node that creates its folder'
"$hearsay" operatorkey "$dir/operator.key" >"$dir/operator.out"
start one --set node.save_s=0.5 --set "$(sed -n 's/^\(node.operator\) = /\1=/p' "$dir/operator.out")"
wait_for 60 'one to save' notes one '"note":"saved"'
leave one
for file in one:700 one/base.safetensors:640 one/incarnation:600 one/started.conf:640 one.log:640; do
    [[ $(mode "$dir/${file%:*}") == "${file#*:}" ]] || fail "${file%:*} has mode $(mode "$dir/${file%:*}")"
done
for file in "$dir"/one/checkpoint-*; do
    [[ $(mode "$file") == 600 ]] || fail "$file has mode $(mode "$file")"
done
open=$(find "$dir/one" "$dir"/*.key "$dir/one.log" -perm /007)
[[ -z $open ]] || fail "others may read $open"
! notes one 'all users of this machine may enter' || fail 'it names a closed folder'

tell 'an existing folder keeps its mode, and the node says what that means'
chmod 755 "$dir/one"
rm "$dir/one.log"
chmod 644 "$dir/one/base.safetensors"
start one --set node.save_s=0.5
wait_for 60 'one to save' notes one '"note":"saved"'
leave one
[[ $(mode "$dir/one") == 755 ]] || fail "the folder has mode $(mode "$dir/one")"
[[ $(mode "$dir/one/base.safetensors") == 640 ]] || fail 'the next save leaves the model open'
notes one "all users of this machine may enter the state folder; if they should not: chmod o= $dir/one" ||
    fail 'it does not say so'

tell 'a folder in which all users may write is a danger, and the note says what to do'
chmod 777 "$dir/one"
rm "$dir/one.log"
start one
wait_for 60 'one to name the danger' notes one '"level":"warning","text":"all users of this machine may replace the checkpoints and the model in the state folder; take that right from them: chmod o= '
leave one

tell 'other commands'
"$hearsay" doctor "${small[@]}" --set "node.identity=$dir/one.key" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.state_dir=$dir/two" >"$dir/said.out" 2>&1 || true
[[ ! -e $dir/two || $(mode "$dir/two") == 700 ]] || fail "hearsay doctor makes a folder of mode $(mode "$dir/two")"

printf '%3d s  done\n' "$SECONDS"
