#!/usr/bin/env python3
"""Opens the report in a browser: test_page.py PROGRAM

PROGRAM --write DIR NODES writes a report.html, as test_report does. The report must draw every figure with
its curves, print nothing on the console, and make no network request. The test also checks that it detects a
broken report. Exits with 77 if Chromium is missing, or with 1 if REQUIRE_CHROMIUM=1.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import browser

FIGURES = ("accuracy", "loss", "bytes", "up", "down", "lag", "share", "traffic")
INK_MIN = 300  # drawn pixels that a figure with curves has at least

# Counts the non-empty pixels of the curves' canvas.
INK = """(() => {{
    const canvas = document.querySelector('#figure-{} .chart canvas');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let ink = 0;
    for (let i = 3; i < data.length; i += 4) ink += data[i] > 100;
    return ink;
}})()"""


def check_checks(chromium, folder):
    """Checks that a broken page is detected: a console warning, an exception and a network request."""
    bad = folder / "bad.html"
    bad.write_text('<img src="http://elsewhere.example/picture.png"><script>console.warn("a warning");'
                   "nowhere();</script>")
    page = chromium.open(f"file://{bad}")
    page.wait("document.readyState === 'complete'")
    assert any("a warning" in text for text in page.said), page.said
    assert any("nowhere" in text for text in page.said), page.said
    assert any("elsewhere.example" in address for address in page.asked), page.asked


def check_report(chromium, report):
    page = chromium.open(f"file://{report}")
    page.wait(f"document.querySelectorAll('#figures figure').length === {len(FIGURES)}")
    for name in FIGURES:
        ink = page.value(INK.format(name))
        assert ink > INK_MIN, f"the figure {name} is empty: {ink} pixels"
    assert page.value("document.querySelectorAll('#verdicts li').length") > 0
    assert page.value("document.querySelectorAll('#tables table').length") >= 2
    assert page.value("document.getElementById('command').textContent").startswith("hearsay sim")
    assert page.said == [], page.said
    assert page.asked == [f"file://{report}"], page.asked


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    if not browser.find():
        print("skipped: no Chromium to open the report with; apt-get install chromium")
        return 1 if os.environ.get("REQUIRE_CHROMIUM") == "1" else 77
    with tempfile.TemporaryDirectory() as name, browser.Browser() as chromium:
        folder = pathlib.Path(name)
        subprocess.run([program, "--write", folder / "report", "10"], check=True,
                       stdout=subprocess.DEVNULL)
        check_checks(chromium, folder)
        check_report(chromium, folder / "report" / "report.html")
    print(f"{len(FIGURES)} figures drawn, no console messages, no network requests")
    return 0


sys.exit(main())
