#!/usr/bin/env python3
"""Measures what a site whose labels are mixed up costs a simulated swarm with unlike data.

    python3 tests/bench/bench_mixed_labels.py build/hearsay [--seeds 3] [--honest 25] [--skews 0.3,0.1] [--speed 400]

First, of four and of eight sites one has shifted or shuffled labels. Prints the accuracy of the base,
the difference in points from the same swarm without that site, how many seconds after the start of the
run the site warns, and how many others name it. The accuracy is on 3,000 test samples, the mean over
the last third of the run and over the seeds. --set data.check_labels=no shows the cost without the check.

Then plays honest swarms of four and eight sites, and counts the sites that hold their publications
(goal: none) for each skew (Dirichlet). --speed 1200: one site is three times as fast as the others.

Needs Fashion-MNIST (Debian: dataset-fashion-mnist). A run takes about 2 s of one processor.
"""
import argparse
import os
import re
import subprocess
import tempfile

SCENARIO = """[scenario]
about = One site may have mixed up its labels
seconds = 60
nodes = {good} good, 400 samples/s, up 20 Mbit/s, down 50 Mbit/s, region wan
nodes = 1 bad, {speed} samples/s, up 20 Mbit/s, down 50 Mbit/s, region wan
link = wan wan, rtt 50 ms, jitter 5 ms
evaluate_s = 5
evaluate_samples = 3000
skew = {skew}
{fault}
[model]
layers = maxpool 2, dense 32, relu, dense 10
[data]
source = idx
[train]
batch = 32
rate = 0.02
momentum = 0.9
"""
HONEST = ""
ABSENT = "fault = crash bad, at 0 s"
MIXED = {"shifted": "fault = ruin bad, with shifted labels, at 0 s",
         "shuffled": "fault = ruin bad, with shuffled labels, at 0 s"}


def play(options, sites, skew, fault, seed):
    """Returns the mean accuracy in percent, the seconds until a site warns of its labels (None: none does),
    and whether others name a site."""
    with tempfile.NamedTemporaryFile("w", prefix="mixed-", suffix=".conf") as file:
        file.write(SCENARIO.format(good=sites - 1, speed=options.speed, skew=skew, fault=fault))
        file.flush()
        command = [options.hearsay, "sim", file.name, "--no-report", "--seed", str(seed), "--set",
                   f"data.seed={seed}"]
        for assignment in options.set:
            command += ["--set", assignment]
        told = subprocess.run(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True,
                              capture_output=True)
    text = told.stdout + told.stderr
    marks = [float(mark) for s, mark in re.findall(r"^ *(\d+) s +([\d.]+) %  ", text, re.M)
             if 40 < int(s) <= 60]
    if told.returncode not in (0, 1) or not marks or "BROKEN" in text:
        raise SystemExit(f"{sites} sites, seed {seed}: {text[-800:]}")
    alarm = re.search(r"^alarms .*; first \S+ at\s+([\d.]+) s: the\s+labels\s+of", text, re.M)
    return (sum(marks) / len(marks), float(alarm.group(1)) if alarm else None,
            bool(re.search(r"^warnings +settings", text, re.M)))


def mean(runs):
    return sum(run[0] for run in runs) / len(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--honest", type=int, default=25)
    parser.add_argument("--skews", default="0.3,0.1")
    parser.add_argument("--speed", type=int, default=400)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    seeds = range(1, options.seeds + 1)
    print("| one of | labels | accuracy | against absent | warns after | named by others |\n|" + "---|" * 6)
    for sites in (4, 8) if options.seeds else ():
        absent = [play(options, sites, 0.3, ABSENT, seed) for seed in seeds]
        for name, fault in MIXED.items():
            runs = [play(options, sites, 0.3, fault, seed) for seed in seeds]
            apart = [run[0] - other[0] for run, other in zip(runs, absent)]
            after = [run[1] for run in runs if run[1] is not None]
            print(f"| {sites} | {name} | {mean(runs):.1f} % | {mean(runs) - mean(absent):+.1f} "
                  f"({min(apart):+.1f} .. {max(apart):+.1f}) | "
                  f"{len(after)} of {len(runs)} runs{f', {min(after):.0f} .. {max(after):.0f} s' if after else ''} | "
                  f"{sum(run[2] for run in runs)} of {len(runs)} runs |", flush=True)
    for skew in options.skews.split(",") if options.honest else ():
        for sites in (4, 8):
            runs = [play(options, sites, skew, HONEST, seed) for seed in range(101, 101 + options.honest)]
            print(f"honest, {sites} sites, skew {skew}: {sum(run[2] for run in runs)} of {len(runs)} runs "
                  f"with a warning, {mean(runs):.1f} %", flush=True)


main()
