#!/usr/bin/env bash
# The loader must search no library in the current folder, and programs must be the same in every
# build folder and protected against stack clashes: test_binaries.sh SOURCE BUILD FILE...
set -euo pipefail
source=$(realpath "$1") build=$(realpath "$2")
shift 2
dir=$(mktemp -d "${TMPDIR:-/tmp}/hearsay-test-XXXXXX")
trap 'rm -rf -- "$dir"' EXIT

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

for tool in readelf strip; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool; apt-get install binutils"; exit 77; }
done

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

check_paths() {
    local path
    strip -s -o "$dir/stripped" "$1"
    for path in "$source" "$build"; do
        ! grep -aoF -m 1 "$path/" "$dir/stripped" >"$dir/found" ||
            fail "$1: $(grep -acF "$path/" "$dir/stripped") lines name $path"
    done
    grep -qaF 'src/base/' "$dir/stripped" || fail "$1: a failed CHECK does not name its file"
}

# gcc writes its options into the debug information; clang does not.
check_options() {
    local unit
    while read -r unit; do
        [[ $unit == *-fstack-clash-protection* ]] || fail "$1: no stack clash protection: $unit"
    done < <(readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null | grep 'DW_AT_producer.*GNU C' || true)
}

for file in "$@"; do
    check_folders "$file"
    # Sanitizers add units with other options, and names of files for their reports.
    ! grep -qa -e __asan_init -e __tsan_init "$file" || continue
    check_options "$file"
    check_paths "$file"
    printf '%s\n' "$file"
done
