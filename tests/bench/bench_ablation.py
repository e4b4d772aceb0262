#!/usr/bin/env python3
"""Measures the benefit of each part of the exchange: simulates runs with all parts and with all but one.

    python3 tests/bench/bench_ablation.py build/hearsay [--seeds 3] [--seconds 60] [--jobs 2]
                                    [--only WORDS] [--places N] [--kept FILE]

The places are shipped scenarios, one of them with different data on each node (Dirichlet 0.3). Prints
one line per setting: the accuracy of the base, in percent, and half of its range over the seeds. The
accuracy is measured every five seconds on 3,000 test samples, and its mean is over the last third of
the run and over the seeds. A seed also draws the order of the samples.

`ideal` is synchronous SGD with the samples of all nodes over a network without costs, at several
learning rates. Its batches have the size of one machine's batch, or one such batch per machine.

--only ideal,everything: only settings with one of these words. --places 4: only the first four
places. --kept FILE: reads the results of earlier runs from FILE, and appends new ones.

Needs Fashion-MNIST (Debian: dataset-fashion-mnist). A run takes about 25 s of one processor.
"""
import argparse
import json
import os
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = {
    "dlion-sys": (6, {}),
    "tfako-wan-hetero": (3, {}),
    "gaia-11": (11, {}),
    "home-swarm": (8, {}),
    "dlion-sys, skew": (6, {"scenario.skew": "0.3"}),
}
SETTINGS = {
    "everything on": {},
    "everything on, rate 0.01": {"train.rate": "0.01"},
    "all shares equal (throughput not weighed)": {"exchange.weigh_throughput": "no"},
    "fixed threshold, 0.01": {"exchange.tau": "0.01"},
    "fixed interval, 0.25 s": {"exchange.interval_s": "0.25"},
    "publishes after 1 step": {"exchange.steps_min": "1"},
    "publishes after 1 step, rate 0.01": {"exchange.steps_min": "1", "train.rate": "0.01"},
    "batches of 16 (of 32), rate 0.01": {"train.batch": "16", "train.rate": "0.01"},
    "no base momentum": {"exchange.beta": "0"},
    "base momentum 0.6": {"exchange.beta": "0.6"},
    "no limit on the published part": {"exchange.density_max": "1"},
    "gain 1": {"exchange.gain": "1"},
    "plain sum (gain n)": {"exchange.gain": "{nodes}"},
    "ideal, rate 0.01": {"scenario.strategy": "ideal", "train.rate": "0.01"},
    "ideal, rate 0.02": {"scenario.strategy": "ideal"},
    "ideal, batches of 16, rate 0.01": {"scenario.strategy": "ideal", "train.batch": "16",
                                        "train.rate": "0.01"},
    "ideal, rate 0.05": {"scenario.strategy": "ideal", "train.rate": "0.05"},
    "ideal, a batch for each, rate 0.02": {"scenario.strategy": "ideal", "train.batch": "{batches}"},
    "ideal, a batch for each, rate 0.05": {"scenario.strategy": "ideal", "train.batch": "{batches}",
                                           "train.rate": "0.05"},
    "ideal, a batch for each, rate 0.1": {"scenario.strategy": "ideal", "train.batch": "{batches}",
                                          "train.rate": "0.1"},
}


def play(hearsay, place, setting, seconds, seed):
    """Runs the simulator once. Returns the mean accuracy over the last third of the run, in percent."""
    nodes, changes = PLACES[place]
    changes = {"scenario.evaluate_samples": 3000, "scenario.evaluate_s": 5, "data.seed": seed,
               **changes, **SETTINGS[setting]}
    command = [hearsay, "sim", f"{HERE}/../../configs/sim-{place.split(',')[0]}.conf", "--no-report",
               "--seed", str(seed), "--seconds", str(seconds)]
    for key, value in changes.items():
        command += ["--set", f"{key}={value}".format(nodes=nodes, batches=32 * nodes)]
    told = subprocess.run(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True,
                          capture_output=True)
    marks = [float(mark) for mark in re.findall(r"^ *\d+ s +([\d.]+) %  ", told.stderr, re.M)]
    if told.returncode > 1 or not marks:  # exit code 1: the scenario's expectation failed, allowed here
        raise SystemExit(f"{' '.join(command)}: {told.stderr[-500:]}")
    last = marks[-max(1, len(marks) // 3):]
    return sum(last) / len(last)


class Bench:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.known = {}
        if options.kept and os.path.exists(options.kept):
            with open(options.kept) as file:
                self.known = {tuple(what): mark for what, mark in map(json.loads, file)}

    def mark(self, what):
        if what not in self.known:
            mark = play(self.options.hearsay, *what)
            with self.lock:
                self.known[what] = mark
                if self.options.kept:
                    with open(self.options.kept, "a") as file:
                        file.write(json.dumps([what, mark]) + "\n")
        return self.known[what]

    def begin(self, pool, setting, place):
        return [pool.submit(self.mark, (place, setting, self.options.seconds, seed))
                for seed in range(1, self.options.seeds + 1)]

    @staticmethod
    def cell(runs):
        marks = [run.result() for run in runs]
        apart = f" ±{(max(marks) - min(marks)) / 2:.1f}" if len(marks) > 1 else ""
        return f"{sum(marks) / len(marks):.2f}{apart}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--places", type=int, default=len(PLACES))
    parser.add_argument("--kept")
    options = parser.parse_args()
    bench = Bench(options)
    places = list(PLACES)[:options.places]
    print("| | " + " | ".join(places) + " |\n|" + "---|" * (len(places) + 1), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        wanted = [s for s in SETTINGS if any(word in s for word in options.only.split(","))]
        lines = [(s, [bench.begin(pool, s, place) for place in places]) for s in wanted]
        for setting, cells in lines:
            print(f"| {setting} | " + " | ".join(map(bench.cell, cells)) + " |", flush=True)


main()
