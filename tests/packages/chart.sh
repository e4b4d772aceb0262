#!/usr/bin/env bash
# Tests the Helm chart: chart.sh HEARSAY. Helm's own engine (as a Python package) lints and renders it.
# The result must match the schemas of several Kubernetes versions, and the program must accept the
# configuration.
#
# Exits with 77 if pip reaches no index (with 1 if REQUIRE_PACKAGES is set).
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
hearsay=$1
root=${here%/tests/*}
work=$(mktemp -d)
readonly here hearsay root work
trap 'rm -rf -- "$work"' EXIT

skip() {
    echo "skipped: $*"
    [[ -z ${REQUIRE_PACKAGES:-} ]] || exit 1
    exit 77
}

/usr/bin/python3 -m venv "$work/venv" || skip 'no venv (Debian package python3-venv)'
"$work/venv/bin/pip" -q install helm-python-sdk==0.2.2 kubernetes-validate==1.37.0 ||
    skip 'pip has no index to install from'
"$work/venv/bin/python" "$here/chart.py" "$root" "$work/node.conf"
"$hearsay" node --config "$work/node.conf" --print-config >"$work/printed"
for line in 'samples_max = 40000000' 'rate = 0.02' 'nesterov = yes' 'evaluate_s = 30' 'name = lenet'; do
    grep -qxF -- "$line" "$work/printed" || { echo "FAILED: the node does not have $line" >&2 && exit 1; }
done
