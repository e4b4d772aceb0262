#!/usr/bin/env bash
# Rewrites the patches of planted mistakes after changes of the code near them. Applies each patch
# with fuzz and writes it with today's context.
#
#   tests/planted/refresh.sh     prints the patches to rewrite by hand, and leaves them unchanged
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
lost=0
for patch in tests/planted/*.patch tests/planted/rules/*.patch; do
    file=$(sed -n 's|^+++ b/||p' "$patch")
    mkdir -p "$tree/a/$(dirname "$file")" "$tree/b/$(dirname "$file")"
    cp "$file" "$tree/a/$file"
    cp "$file" "$tree/b/$file"
    if ! patch -s -p1 -F 3 --no-backup-if-mismatch -r - -d "$tree/b" <"$patch" >/dev/null; then
        printf 'refresh: %s: by hand\n' "$patch" >&2
        lost=1
        continue
    fi
    {
        sed '/^--- /,$d' "$patch"
        (cd "$tree" && diff -U 3 --label "a/$file" --label "b/$file" "a/$file" "b/$file") || true
    } >"$tree/new"
    cp "$tree/new" "$patch"
done
exit "$lost"
