#!/usr/bin/env python3
"""Opens the web page of a real swarm in a browser: test_web_page.py HEARSAY

Four daemons train. The page of one prints nothing on the console and sends requests only to its node. Its
curves grow, the badge reports that all copies are in step, and a killed node turns grey. The test also uses
dark mode, a phone's size and the keyboard, and measures drawing with 256 members. Exits with 77 if Chromium
is missing, or with 1 if REQUIRE_CHROMIUM=1.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import browser

NODES = 4
GRAY_S = 10  # a killed node is grey by then: after limits.silence_s (4 s) and the next updates


class Swarm:
    def __init__(self, hearsay, folder):
        self.hearsay, self.folder, self.nodes = hearsay, folder, []
        subprocess.run([hearsay, "swarmkey"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for n in range(1, NODES + 1):
            self.start(n)

    def start(self, n):
        place = self.folder / f"{n}.jsonl"
        subprocess.run([self.hearsay, "keygen", f"{n}.key"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        keys = {"node.identity": f"{n}.key", "node.state_dir": f"state{n}", "node.listen": "127.0.0.1:0",
                "node.http": "127.0.0.1:0", "node.swarm": "four <b>places</b>", "data.source": "generated",
                "data.shard": f"{n}/{NODES}", "train.device": "cpu", "train.steps_per_s": "10",
                "train.evaluate_s": "2", "limits.silence_s": "4"}
        if self.nodes:
            keys["node.peers"] = self.noted(1, "started", r"(127\.0\.0\.1:\d+)")
        options = [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]
        self.nodes.append(subprocess.Popen([self.hearsay, "node", "--log", str(place), *options],
                                           cwd=self.folder, stderr=open(self.folder / f"{n}.out", "w")))

    def noted(self, n, kind, pattern):
        """Waits for a note of this kind in the log of node n that the pattern matches. Returns the first
        group of the match."""
        place = self.folder / f"{n}.jsonl"
        while True:
            lines = place.read_text().splitlines() if place.exists() else []
            for line in lines:
                note = json.loads(line) if line.endswith("}") else {}
                found = note.get("note") == kind and re.search(pattern, json.dumps(note))
                if found:
                    return found.group(1)
            if self.nodes[n - 1].poll() is not None:
                raise AssertionError((self.folder / f"{n}.out").read_text())
            time.sleep(0.1)

    def address(self, n):
        return self.noted(n, "web", r"(http://127\.0\.0\.1:\d+/)")

    def end(self):
        for node in self.nodes:
            node.kill()
            node.wait()


def points_of(page, name):
    return page.value(f"window.Dygraph && document.querySelector('#figure-{name} .chart') && "
                      f"document.querySelector('#figure-{name} .chart').getAttribute('aria-label')")


def watch(page, swarm, address):
    page.wait("document.getElementById('badge') !== null")
    page.wait("document.querySelectorAll('#figures canvas').length >= 16")
    assert page.value("document.querySelector('h1').textContent") == "Swarm four <b>places</b>"
    page.wait(f"document.querySelectorAll('#tables tbody')[0].rows.length === {NODES}")
    page.wait("document.querySelectorAll('#tables tbody')[1].rows.length >= 3")
    page.wait("/in step|are equal/.test(document.getElementById('badge').textContent)")
    page.wait("document.getElementById('badge').className === 'good'")
    page.wait("document.getElementById('limit').textContent.includes('% used')")
    page.wait("document.getElementById('spent-text').textContent.includes('computing')")
    before = points_of(page, "loss")
    page.wait("document.querySelector('#figure-loss .chart').getAttribute('aria-label') !== "
              + json.dumps(before))
    page.wait("/shared model: from .* to/.test(document.querySelector('#figure-accuracy .chart')"
              ".getAttribute('aria-label'))")
    assert all(asked.startswith(address) or asked.startswith("data:") for asked in page.asked), page.asked


def enlarge(page):
    """Zooms into the loss by dragging, zooms out, and switches to a logarithmic axis."""
    tools = "document.querySelectorAll('#figure-loss .tools button')"
    assert page.value(f"{tools}[0].hidden") is False, "the loss has no button for a logarithmic axis"
    assert page.value("document.querySelector('#figure-share .tools button').hidden"), \
        "shares, which may be 0, have a button for a logarithmic axis"
    page.value("document.getElementById('figure-loss').scrollIntoView()")
    x, y, width, height = page.value("(() => { const box = document.querySelector('#figure-loss .chart')"
                                     ".getBoundingClientRect(); return [box.x, box.y, box.width, box.height] })()")
    for kind, part in ("mousePressed", 0.4), ("mouseMoved", 0.6), ("mouseMoved", 0.8), ("mouseReleased", 0.8):
        page.do("Input.dispatchMouseEvent", type=kind, x=x + part * width, y=y + 0.5 * height, button="left",
                buttons=int(kind != "mouseReleased"), clickCount=1)
    page.wait(f"{tools}[1].hidden === false")
    page.value(f"{tools}[1].click()")
    page.wait(f"{tools}[1].hidden")
    page.value(f"{tools}[0].click()")
    page.wait(f"{tools}[0].getAttribute('aria-pressed') === 'true'")
    page.wait("document.querySelectorAll('#figure-loss .dygraph-axis-label').length > 3")


def use_keys(page):
    page.value("document.getElementById('drawing').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.do("Input.dispatchKeyEvent", type="keyDown", key=key)
    assert "this node" in page.value("document.getElementById('pointed').textContent")


def kill_one(page, swarm):
    last = page.value("[...document.querySelectorAll('#tables tbody')[0].rows].at(-1).cells[0].textContent")
    victim = next(i for i in range(NODES) if last in (swarm.folder / f"{i + 1}.out").read_text().split(
        "node ", 1)[1].split()[0])
    begin = time.monotonic()
    swarm.nodes[victim].send_signal(signal.SIGKILL)
    page.wait("[...document.querySelectorAll('#tables tbody')[0].rows].some((row) => ['lost', 'dead'].includes(row.className))")
    took = time.monotonic() - begin
    page.wait("document.getElementById('drawing-about').textContent.includes('3 live')")
    return took


def draw_many(page):
    """Returns the mean time, in ms, that the page takes to draw a snapshot of 256 nodes."""
    return page.value("""(() => {
        const nodes = [...Array(256)].map((_, i) => ({name: 'n' + i, state: 'live', share: 1 / 256,
            is_self: i === 0, dials_only: i % 3 === 0}));
        const links = [...Array(1024)].map((_, i) => ({from: i % 256, to: (i * 7 + 1) % 256,
            rate_bytes_per_s: 1e6, use: (i % 10) / 10, trip_s: 0.04}));
        const begin = performance.now();
        for (let turn = 0; turn < 20; turn++)
            window.hearsayPage.show({swarm: {nodes, links}});
        return (performance.now() - begin) / 20;
    })()""")


def main():
    hearsay = str(pathlib.Path(sys.argv[1]).resolve())
    if not browser.find():
        print("skipped: no Chromium to open the page with; apt-get install chromium")
        return 1 if os.environ.get("REQUIRE_CHROMIUM") == "1" else 77
    folder = pathlib.Path(tempfile.mkdtemp())
    swarm = Swarm(hearsay, folder)
    try:
        with browser.Browser() as chromium:
            address = swarm.address(1)
            page = chromium.open(address)
            watch(page, swarm, address)
            use_keys(page)
            enlarge(page)
            page.picture(folder / "phone.png", 390, 844, is_dark=True)
            wide = page.value("document.documentElement.scrollWidth <= window.innerWidth")
            assert wide, "the page is wider than a phone's screen"
            page.picture(folder / "page.png", 1000, 1700)
            if len(sys.argv) > 2:
                shutil.copy(folder / "page.png", sys.argv[2])
            took = kill_one(page, swarm)
            assert took < GRAY_S, f"a killed node turned grey after {took:.1f} s, limit {GRAY_S} s"
            many_ms = draw_many(page)
            assert page.said == [], page.said
            print(f"a killed node was grey after {took:.1f} s; 256 nodes are drawn in {many_ms:.1f} ms")
    finally:
        swarm.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


sys.exit(main())
