#!/usr/bin/env bash
# Installs, runs and removes the packages on a clean Debian 12: packages.sh [FOLDER]
#
#   ./run packages ─► dist/*.deb, dist/*.tar.gz ─┬─► lintian: no error
#                                                └─► a root made by mmdebstrap: in_root.sh
#
# Exits with 77 if a tool is missing or no mirror of Debian can be reached (with 1 if
# REQUIRE_PACKAGES is set). The root is a temporary folder. Without root privileges, user namespaces
# create it.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=${here%/tests/*}
given=$(realpath -- "${1:-$root/dist}")
readonly here root given
work=$(mktemp -d "${TMPDIR:-/tmp}/hearsay-packages-XXXXXX")
trap 'rm -rf -- "$work"' EXIT

skip() {
    echo "skipped: $*"
    [[ -z ${REQUIRE_PACKAGES:-} ]] || exit 1
    exit 77
}

for tool in lintian mmdebstrap; do
    command -v "$tool" >/dev/null || skip "no $tool (Debian package $tool)"
done
ls "$given"/hearsay_*.deb "$given"/hearsay-*.tar.gz >/dev/null || exit 1

# Shows warnings and fails on errors. The maintainer's address is an example on purpose, so its
# check is suppressed.
echo 'lintian'
lintian --fail-on error --suppress-tags bogus-mail-host,initial-upload-closes-no-bugs \
    --allow-root "$given"/*.deb

# The tarball must also run on Ubuntu 22.04, which has glibc 2.35.
echo 'glibc'
mkdir "$work/tarball"
tar -C "$work/tarball" -xzf "$given"/hearsay-*.tar.gz
newest=$(find "$work/tarball" -type f \( -name '*.so*' -o -path '*/bin/hearsay*' \) -exec objdump -T {} + |
    grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1)
echo "the tarball needs $newest"
((${newest#GLIBC_2.} <= 35)) || { echo "FAILED: the tarball needs $newest" >&2 && exit 1; }

mkdir "$work/given"
cp -- "$given"/*.deb "$given"/*.tar.gz "$work/given"
cp -- "$here/in_root.sh" "$root/tests/process/page_program.sh" "$work/given"
mmdebstrap --simulate --variant=apt bookworm "$work/none" >/dev/null 2>"$work/simulated" ||
    skip "no mirror of Debian can be reached: $(tail -n 1 "$work/simulated")"

# The command is text for the shell of mmdebstrap, which sets "$1" to the root.
# shellcheck disable=SC2016
mmdebstrap --quiet --format=null --variant=apt --customize-hook="copy-in '$work/given' /" \
    --customize-hook='chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin bash /given/in_root.sh' bookworm -
