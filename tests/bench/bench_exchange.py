#!/usr/bin/env python3
"""Compares the rule for interval, gain and beta (src/node/rate/outer_step.h) with fixed settings.

    python3 tests/bench/bench_exchange.py build/hearsay [--seeds 2] [--jobs 2] [--only far,sixteen]
                                    [--kept FILE] [--measured]

A place has a number of nodes, links and data. Simulates each place with each fixed setting and with the
rule (all settings at auto). With the first seed all settings run. With the other seeds only the rule,
the usual setting and the best fixed setting of the first seed run (--all-seeds: all settings).

Prints one line per place: the accuracy of the base with the best fixed setting, the usual setting, the
rule, the worst setting, and synchronous SGD over a network without costs. The accuracy is a mean over
the last third of the run, measured once a second on 5,000 test samples. All columns except the last two
are also means over the seeds, which draw the order of the samples.

exchange.bytes_per_s is configured, so that all settings may send the same number of bytes;
--measured: the nodes measure it themselves, as by default. --kept FILE: reads the results of
earlier runs from FILE, and appends new ones. The rule was developed without the last five places.

Needs Fashion-MNIST (Debian: dataset-fashion-mnist). Takes about twenty minutes of one processor for
each seed (--all-seeds: 25).
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

# steps: steps per second of each node. mbit, ms: rate and one-way delay of each link. skew: Dirichlet's
# alpha, 0 = the same data on all nodes. seconds: length of the run.
MLP = dict(model="mlp", optimizer="sgd", momentum=0.9, rate=0.01, skew=0, seconds=12)
PLAIN = dict(momentum=0, rate=0.1)  # SGD without local momentum
ADAM = dict(optimizer="adam", rate=0.001)

PLACES = {
    "two, near": dict(nodes=2, steps=160, mbit=200, ms=5),
    "four": dict(nodes=4, steps=80, mbit=20, ms=50),
    "four, plain": dict(nodes=4, steps=80, mbit=20, ms=50, **PLAIN),
    "four, thin": dict(nodes=4, steps=80, mbit=0.2, ms=50),
    "four, skew": dict(nodes=4, steps=80, mbit=20, ms=50, skew=0.3),
    "four, far, fast": dict(nodes=4, steps=400, mbit=20, ms=800, seconds=8),
    "four, lenet": dict(nodes=4, steps=8, mbit=20, ms=50, seconds=20, model="lenet", rate=0.02),
    "sixteen": dict(nodes=16, steps=20, mbit=20, ms=50, seconds=18),
    "sixteen, plain": dict(nodes=16, steps=20, mbit=20, ms=50, seconds=18, **PLAIN),
    "sixteen, thin": dict(nodes=16, steps=20, mbit=2, ms=50, seconds=18),
    "sixteen, skew": dict(nodes=16, steps=20, mbit=20, ms=50, seconds=18, skew=0.3),
    "sixteen, far": dict(nodes=16, steps=20, mbit=20, ms=800, seconds=36),
    "sixty-four, thin": dict(nodes=64, steps=6, mbit=2, ms=100, seconds=15),
    "two, thin": dict(nodes=2, steps=100, mbit=0.2, ms=20),
    "four, Adam": dict(nodes=4, steps=80, mbit=20, ms=50, **ADAM),
    "eight, far, skew": dict(nodes=8, steps=40, mbit=10, ms=300, seconds=18, skew=0.3),
    "eight, Adam, skew": dict(nodes=8, steps=40, mbit=50, ms=20, skew=0.3, **ADAM),
    "thirty-two": dict(nodes=32, steps=10, mbit=10, ms=100, seconds=18),
}

RULE = "rule"
USUAL = "0.25 s, 10 %, gain 1, beta 0.3, 16 steps"
IDEAL = "ideal"
SETTINGS = {RULE: {}, IDEAL: {}}
for line in (USUAL, "0.25 s, 10 %, gain 1, beta 0.6, 4 steps",
             "0.25 s, 3 %, gain 2, beta 0, 4 steps", "1 s, 10 %, gain 2, beta 0.3, 4 steps"):
    words = re.findall(r"[\d.]+", line)
    SETTINGS[line] = dict(interval_s=words[0], density_max=float(words[1]) / 100, gain=words[2],
                          beta=words[3], steps_min=words[4])

SCENARIO = """
[scenario]
seconds = {seconds}
evaluate_s = 1
evaluate_samples = 5000
settle_s = 30
skew = {skew}
strategy = {strategy}
nodes = {nodes} home, {samples} samples/s, up {mbit} Mbit/s, down {mbit} Mbit/s, region here
link = here here, rtt {rtt} ms
[data]
seed = {seed}
[model]
name = {model}
[train]
optimizer = {optimizer}
batch = 32
rate = {rate}
momentum = {momentum}
[exchange]
bytes_per_s = {bytes}
"""


def scenario(place, setting, seed, measured):
    """Returns the scenario's text. A node's budget is 7/10 of its link's rate, divided by the number of
    other nodes; with `measured` the nodes find it."""
    p = {**MLP, **PLACES[place]}
    budget = max(1000, int(0.7 * p["mbit"] * 1e6 / 8 / (p["nodes"] - 1)))
    budget = "auto" if measured else budget
    text = SCENARIO.format(**p, seed=seed, samples=32 * p["steps"], rtt=2 * p["ms"], bytes=budget,
                           strategy="ideal" if setting == IDEAL else "gossip")
    return text + "".join(f"{key} = {value}\n" for key, value in SETTINGS[setting].items())


def play(hearsay, place, setting, seed, measured):
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(scenario(place, setting, seed, measured))
        file.flush()
        told = subprocess.run([hearsay, "sim", file.name, "--no-report", "--seed", str(seed)],
                              env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True,
                              capture_output=True)
    text = told.stdout + told.stderr
    marks = [float(mark) for mark in re.findall(r"^ *\d+ s +([\d.]+) %  ", text, re.M)]
    if told.returncode != 0 or not marks:
        raise SystemExit(f"{place}, {setting}, seed {seed}: {text[-500:]}")
    last = marks[-max(1, len(marks) // 3):]
    return sum(last) / len(last)


class Bench:
    def __init__(self, hearsay, kept, measured):
        self.hearsay = hearsay
        self.measured = measured
        self.kept = kept
        self.lock = threading.Lock()
        self.known = {}
        if kept and os.path.exists(kept):
            with open(kept) as file:
                self.known = {(p, s, n): mark for p, s, n, mark in map(json.loads, file)}

    def mark(self, place, setting, seed):
        what = (place, setting, seed)
        if what not in self.known:
            mark = play(self.hearsay, *what, self.measured)
            with self.lock:
                self.known[what] = mark
                if self.kept:
                    with open(self.kept, "a") as file:
                        file.write(json.dumps([*what, mark]) + "\n")
        return self.known[what]

    def mean(self, place, setting, seeds):
        marks = [self.mark(place, setting, seed) for seed in range(1, seeds + 1)]
        return sum(marks) / len(marks)

    def line(self, place, seeds, all_seeds):
        fixed = [setting for setting in SETTINGS if setting not in (RULE, IDEAL)]
        best = max(fixed, key=lambda s: self.mean(place, s, seeds if all_seeds else 1))
        worst = min(self.mark(place, s, 1) for s in fixed)
        marks = [self.mean(place, s, seeds) for s in (best, USUAL, RULE)]
        ideal = self.mean(place, IDEAL, 1)
        return (f"| {place} | {best} | " + " | ".join(f"{m:.2f}" for m in marks) +
                f" | {marks[2] - marks[0]:+.2f} | {worst:.2f} | {ideal:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--all-seeds", action="store_true")
    parser.add_argument("--measured", action="store_true")
    parser.add_argument("--rule", action="store_true", help="run only the rule, to compare programs")
    parser.add_argument("--only", default="")
    parser.add_argument("--kept")
    options = parser.parse_args()
    bench = Bench(options.hearsay, options.kept, options.measured)
    places = [place for place in PLACES if all(w in place for w in options.only.split(","))]
    if options.rule:
        for place in places:
            print(f"| {place} | {bench.mean(place, RULE, options.seeds):.2f} |", flush=True)
        return
    print("| place | best fixed setting | best | usual | rule | rule - best | worst | ideal |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda p: bench.line(p, options.seeds, options.all_seeds), places):
            print(line, flush=True)


main()
