#!/usr/bin/env python3
"""Counts the runs in which a simulated swarm of honest sites expels one of them by votes.

    python3 tests/bench/bench_honest_votes.py build/hearsay [--seeds 10] [--from 1] [--jobs 2]
            [--sites 4,8] [--skews 0,0.3,0.1] [--speeds 1,3,6]

One of the sites is as many times as fast as the others as --speeds says. A skew of 0 gives all sites
the same distribution of data, any other the Dirichlet distribution with that parameter. Prints for each
combination the runs with an expulsion and the mean accuracy of the base, in percent, measured every
five seconds of the last third of a minute on 3,000 test samples. Fails if a site was expelled.

Needs Fashion-MNIST (Debian: dataset-fashion-mnist). A run takes about 4 s of one processor.
"""
import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SECONDS = 60
SCENARIO = """[scenario]
about = Honest sites, of which one has another speed
seconds = {seconds}
nodes = {usual} usual, 400 samples/s, up 20 Mbit/s, down 50 Mbit/s, region wan
nodes = 1 other, {speed} samples/s, up 20 Mbit/s, down 50 Mbit/s, region wan
link = wan wan, rtt 50 ms, jitter 5 ms
evaluate_s = 5
evaluate_samples = 3000
skew = {skew}
quarantine = yes
[model]
layers = maxpool 2, dense 32, relu, dense 10
[data]
source = idx
[train]
batch = 32
rate = 0.02
momentum = 0.9
"""


def play(hearsay, sites, skew, speed, seed):
    """Runs the simulator once. Returns whether a site was expelled, and the mean accuracy."""
    with tempfile.NamedTemporaryFile("w", prefix="honest-", suffix=".conf") as file:
        file.write(SCENARIO.format(seconds=SECONDS, usual=sites - 1, speed=400 * speed, skew=skew))
        file.flush()
        told = subprocess.run(
            [hearsay, "sim", file.name, "--no-report", "--seed", str(seed), "--set", f"data.seed={seed}"],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True, capture_output=True)
    text = told.stdout + told.stderr
    marks = [float(mark) for s, mark in re.findall(r"^ *(\d+) s +([\d.]+) %  ", text, re.M)
             if 2 * SECONDS / 3 < int(s) <= SECONDS]
    if told.returncode not in (0, 1) or not marks or "BROKEN" in text:
        raise SystemExit(f"{sites} sites, skew {skew}, speed {speed}, seed {seed}: {text[-800:]}")
    return "expelled" in text, sum(marks) / len(marks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--from", dest="begin", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sites", default="4,8")
    parser.add_argument("--skews", default="0,0.3,0.1")
    parser.add_argument("--speeds", default="1,3,6")
    options = parser.parse_args()
    cases = list(itertools.product(map(int, options.sites.split(",")), options.skews.split(","),
                                   map(int, options.speeds.split(","))))
    seeds = range(options.begin, options.begin + options.seeds)
    expelled = 0
    print("| sites | skew | speed of one | runs with an expulsion | accuracy |\n|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for case in cases:
            runs = list(pool.map(lambda seed, case=case: play(options.hearsay, *case, seed), seeds))
            wrong = sum(run[0] for run in runs)
            expelled += wrong
            print(f"| {case[0]} | {case[1]} | {case[2]} | {wrong} of {len(runs)} | "
                  f"{sum(run[1] for run in runs) / len(runs):.1f} |", flush=True)
    sys.exit(expelled > 0)


main()
