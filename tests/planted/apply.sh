#!/usr/bin/env bash
# Writes a copy of a source file for each planted mistake:
#
#   tests/planted/apply.sh FOLDER [PATCHES]     PATCHES: a folder of NAME.patch (tests/planted)
#
#   NAME.patch ─► FOLDER/NAME/FILE, the file of the tree with the mistake
#            └──► FOLDER/list.txt: lines NAME EXPECTED FILE OPTIONS...
#
# A patch is a unified diff of one file with -p1 and three lines of context. These lines come first:
#
#   Invariant: 5          the number in sim/world/check.h that should break; another may break earlier
#   Test: test_ako        instead of Invariant: the unit test that must fail
#   Wrong: ...            the resulting error of the program
#   Options: --twice      optional: further options for hearsay sim
#
# Prints a message for each invalid patch and each patch that does not apply, and then fails.
set -euo pipefail
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
mkdir -p -- "$1"
folder=$(CDPATH='' cd -- "$1" && pwd -P)
patches=${2:-$root/tests/planted}
readonly root folder patches
export GIT_CEILING_DIRECTORIES=$folder # hides the tree's own repository from git apply
failed=0

complain() {
    printf '%s: %s\n' "$patch" "$*" >&2
    failed=1
}

# Prints what follows "$1: " in the line that begins with it. Searches only the lines above the diff.
header() { sed -n "/^---/q; s/^$1: //p" "$patch"; }

# Keeps the time stamp of an unchanged file, so that nothing is rebuilt.
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
