#!/usr/bin/env bash
# The loader must search no library in the current folder: test_binaries.sh FILE...
set -euo pipefail

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

command -v readelf >/dev/null || { echo 'skipped: no readelf; apt-get install binutils'; exit 77; }

# Each element of RPATH and RUNPATH must be absolute, or relative to the file ($ORIGIN).
check_folders() {
    local line folders folder
    while read -r line; do
        folders=${line#*[}
        folders=${folders%]*}
        [[ :$folders: != *::* ]] || fail "$1: [$folders] has an empty element"
        IFS=: read -ra folders <<<"$folders"
        for folder in "${folders[@]}"; do
            # shellcheck disable=SC2016 # the loader replaces $ORIGIN
            [[ $folder == /* || $folder == '$ORIGIN'* ]] || fail "$1: $folder is relative"
        done
    done < <(readelf -dW "$1" | grep -E '\((RPATH|RUNPATH)\)')
}

for file in "$@"; do
    check_folders "$file"
    printf '%s\n' "$file"
done
