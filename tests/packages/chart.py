"""Tests the Helm chart: chart.py ROOT OUT. chart.sh runs it in a Python that has Helm's own engine.

    configs/deploy/helm ─► helm lint --strict ─► no finding
                        ─► helm template ─┬─► kubernetes-validate, strict: no unknown field
                                          ├─► equals configs/deploy/kubernetes/hearsay.yaml
                                          └─► node.conf, written to OUT for chart.sh
"""

from __future__ import annotations

import pathlib
import re
import sys
from typing import Any

import helm_python
import kubernetes_validate
import yaml

VERSIONS = ("1.25", "1.29", "1.33", "1.37")
NAME = "swarm"


def fail(what: str) -> None:
    sys.exit(f"FAILED: {what}")


def render(chart: helm_python.Chart, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the chart's manifests for these values, by their kind."""
    files = chart.render(values, name=NAME, namespace="default", is_install=True)
    manifests = [
        manifest
        for name, text in sorted(files.items())
        if name.endswith(".yaml")
        for manifest in yaml.safe_load_all(text)
    ]
    return {manifest["kind"]: manifest for manifest in manifests}


def validate(manifests: dict[str, dict[str, Any]]) -> None:
    for version in VERSIONS:
        for manifest in manifests.values():
            kubernetes_validate.validate(manifest, version, strict=True)


def without_names(value: Any) -> Any:
    """Returns a manifest without the names, labels and image that may differ between two deployments."""
    if isinstance(value, dict):
        skipped = ("labels", "matchLabels", "selector", "annotations", "image")
        return {key: without_names(item) for key, item in value.items() if key not in skipped}
    if isinstance(value, list):
        return [without_names(item) for item in value]
    return "NAME" if value in ("hearsay", NAME) else value


def compare(manifests: dict[str, dict[str, Any]], file: pathlib.Path) -> None:
    """Fails if the chart's manifests differ from the file in more than names and node.conf's order."""
    for manifest in yaml.safe_load_all(file.read_text()):
        ours, theirs = manifests[manifest["kind"]], manifest
        if manifest["kind"] == "ConfigMap":
            lines = [set(one["data"]["node.conf"].split("\n")) for one in (ours, theirs)]
            if lines[0] - {""} != lines[1] - {""}:
                fail(f"node.conf differs: {lines[0] ^ lines[1]}")
        elif without_names(ours) != without_names(theirs):
            fail(f"{manifest['kind']} differs from {file.name}:\n{ours}\n{theirs}")


def main() -> None:
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder = root / "configs/deploy/helm"
    report = helm_python.lint(folder, strict=True)
    findings = [message for message in report["messages"] if message["severity"] > 1]
    if findings or report["errors"]:
        fail(f"helm lint: {findings} {report['errors']}")
    chart = helm_python.Chart.load(folder)
    version = re.search(r"project\(hearsay VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())
    if version is None or chart.metadata["appVersion"] != version[1]:
        fail(f"appVersion {chart.metadata['appVersion']} is not the version in CMakeLists.txt")

    manifests = render(chart, {})
    validate(manifests)
    compare(manifests, root / "configs/deploy/kubernetes/hearsay.yaml")

    other = render(
        chart,
        {
            "replicas": 7,
            "image": {"repository": "example.org/x", "tag": "9"},
            "resources": {"limits": {"nvidia.com/gpu": 1}},
            "storage": {"class": "fast"},
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "config": {"train": {"samples_max": 40000000, "rate": 0.02, "nesterov": True}},
        },
    )
    validate(other)
    spec = other["StatefulSet"]["spec"]
    node = spec["template"]["spec"]["containers"][0]
    if spec["replicas"] != 7 or {"name": "HEARSAY_SHARDS", "value": "7"} not in node["env"]:
        fail("replicas or HEARSAY_SHARDS is not the 7 of the values")
    if node["image"] != "example.org/x:9" or node["resources"]["limits"]["nvidia.com/gpu"] != 1:
        fail("the image or the GPU limit is not that of the values")
    out.write_text(other["ConfigMap"]["data"]["node.conf"])
    print(f"chart {chart.version}, by Helm {helm_python.helm_sdk_version()}: no error found")


main()
