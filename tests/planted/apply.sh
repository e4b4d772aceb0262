#!/usr/bin/env bash
# Makes the programs' files with a planted mistake each:
#
#   tests/planted/apply.sh FOLDER [PATCHES]     PATCHES: a folder of NAME.patch (tests/planted)
#
#   NAME.patch ─► FOLDER/NAME/FILE, the file of the tree with the mistake in it
#            └──► FOLDER/list.txt: NAME EXPECTED FILE OPTIONS... of each, a line each
#
# A patch is a unified diff of one file with -p1 and three lines of context, after these lines:
#
#   Invariant: 5          of sim/world/check.h, expected to break; another one may notice first
#   Test: test_ako        in its place: a unit test, which must fail
#   Wrong: what is wrong with the program then
#   Options: --twice      further options for hearsay sim, if any
#
# Fails with a sentence for each patch that is not like this or does not apply.
set -euo pipefail
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
mkdir -p -- "$1"
folder=$(CDPATH='' cd -- "$1" && pwd -P)
patches=${2:-$root/tests/planted}
readonly root folder patches
export GIT_CEILING_DIRECTORIES=$folder # the tree's own repository has no say in the build folder
failed=0

complain() {
    printf '%s: %s\n' "$patch" "$*" >&2
    failed=1
}

# The rest of the line that begins with "$1: ", before the diff.
header() { sed -n "/^---/q; s/^$1: //p" "$patch"; }

# A file keeps its time of change while its text is the same, so that nothing is built in vain.
keep_if_same() {
    if cmp -s -- "$1" "$2"; then rm -- "$1"; else mv -- "$1" "$2"; fi
}

apply() {
    local name file expected made said
    name=$(basename -- "$patch" .patch)
    expected=$(header Invariant)$(header Test)
    file=$(sed -n 's/^--- a\///p' "$patch")
    [[ $expected =~ ^([1-9]|1[01]|test_[a-z0-9_]+)$ ]] ||
        { complain 'no "Invariant: N", of 1 to 11, and no "Test: test_NAME"'; return; }
    [[ $expected != test_* || -e $root/tests/world/$expected.c ]] ||
        compgen -G "$root/tests/unit/*/$expected.c" >/dev/null ||
        { complain "there is no test $expected"; return; }
    [[ -n $(header Wrong) ]] || { complain 'no "Wrong: ..."'; return; }
    [[ $file == *.c && $file != *$'\n'* ]] || { complain 'a diff of one .c file is expected'; return; }
    [[ -e $root/$file ]] || { complain "there is no $file"; return; }
    made=$folder/$name.new
    rm -rf -- "$made"
    mkdir -p -- "$made/$(dirname "$file")" "$folder/$name/$(dirname "$file")"
    cp -- "$root/$file" "$made/$file"
    if said=$(cd -- "$made" && git apply --whitespace=nowarn - 2>&1 <"$patch") &&
        ! cmp -s -- "$root/$file" "$made/$file"; then
        keep_if_same "$made/$file" "$folder/$name/$file"
        printf '%s %s %s %s\n' "$name" "$expected" "$file" "$(header Options)" >>"$folder/list.new"
    else
        complain "does not apply to $file: $said"
    fi
    rm -rf -- "$made"
}

: >"$folder/list.new"
for patch in "$patches"/*.patch; do
    patch=$(realpath -- "$patch")
    apply
done
keep_if_same "$folder/list.new" "$folder/list.txt"
exit "$failed"
