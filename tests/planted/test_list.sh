#!/usr/bin/env bash
# Checks the patches of planted mistakes. Each must apply, and an invalid patch must be refused. The
# four quarters of test_planted.sh must be a partition. Each strategy must have a mistake. Skipped
# without git.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")"
command -v git >/dev/null || { echo 'skipped: no git to apply patches with'; exit 77; }

fail() { printf 'planted_list: %s\n' "$*" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

bash apply.sh "$work/all"
bash test_planted.sh --list >"$work/names"
[[ $(cut -d ' ' -f 1 "$work/all/list.txt") == "$(<"$work/names")" ]] || fail 'a patch was left out'
bash apply.sh "$work/rules" rules
bash test_rules.sh --list >"$work/rules/names"
[[ $(cut -d ' ' -f 1 "$work/rules/list.txt") == "$(<"$work/rules/names")" ]] || fail 'a rule was left out'
! cut -d ' ' -f 2 "$work/all/list.txt" | grep test_ || fail 'storms run no unit test'
! cut -d ' ' -f 2 "$work/rules/list.txt" | grep -v test_ || fail 'a rule has no test'

# Damages the first patch with sed: refused WHY SCRIPT MESSAGE
refused() {
    local said
    mkdir -p -- "$work/bad"
    sed "$2" "$(head -n 1 "$work/names").patch" >"$work/bad/bad.patch"
    ! said=$(bash apply.sh "$work/made" "$work/bad" 2>&1) || fail "taken although $1"
    [[ $said == *"bad.patch: $3"* ]] || fail "where $1, it said: $said"
}
refused 'its context is gone' 's/^ .*[a-z].*/ gone/' 'does not apply to'
refused 'it has no invariant' '/^Invariant/d' 'no "Invariant: N"'
refused 'its test is gone' 's/^Invariant:.*/Test: test_gone/' 'there is no test test_gone'
refused 'it does not say what is wrong' '/^Wrong/d' 'no "Wrong: ..."'
refused 'its file is gone' 's|^--- a/|--- a/gone/|' 'there is no gone/'

declare -A quarters=()
for ((commit = 1; ${#quarters[@]} < 4; commit++)); do
    ((commit <= 100)) || fail "100 commits play ${#quarters[@]} quarters"
    part=$(bash test_planted.sh --quarter "no-commit-$commit" --list)
    quarters[$part]=1
done
diff "$work/names" <(printf '%s\n' "${!quarters[@]}" | sort) || fail 'the quarters are no partition'
