#!/usr/bin/env python3
"""Measures the damage of hostile members in a simulated swarm of thirty-two nodes, six of them hostile.

    python3 tests/bench/bench_attacks.py build/hearsay [--seeds 3] [--from 1] [--jobs 2]
            [--places like,unlike] [--only WORDS] [--set KEY=VALUE]... [--seconds 60] [--kept FILE]

Places: `like` has the same distribution of data on all nodes, `unlike` a different one on each
(Dirichlet 0.5). Prints one line per attack. For each place:
  - the accuracy of the honest nodes' base, in percent, and half of its range over the seeds. It is
    measured every five seconds on 3,000 test samples; the mean is over the last third of the run and
    over the seeds.
  - the difference, in points, from the same swarm in which the six nodes are absent.
Then the number of runs that ended with one version on all nodes, the warnings by kind (`false alarm`:
of an honest node), and the defence against that attack.

--set KEY=VALUE, as in `hearsay sim`, holds for all runs, for example to turn a defence on or off.
--only absent,flip: only attacks with one of these words. --kept FILE: reads the results of earlier
runs from FILE and appends new ones, so that an interrupted bench continues; use one file per program
and choice of --set.

Needs Fashion-MNIST (Debian: dataset-fashion-mnist). A run takes about 3 s of one processor.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

SCENARIO = """[scenario]
about = Twenty-six honest machines and six others
seconds = {seconds}
nodes = 26 good, 400 samples/s, up 20 Mbit/s, down 50 Mbit/s, region wan
nodes = 6 bad, 400 samples/s, up 20 Mbit/s, down 50 Mbit/s, region wan
link = wan wan, rtt 50 ms, jitter 5 ms
evaluate_s = 5
evaluate_samples = 3000
skew = {skew}
{faults}
[model]
layers = maxpool 2, dense 32, relu, dense 10
[data]
source = idx
[train]
batch = 32
rate = 0.02
momentum = 0.9
[exchange]
bytes_per_s = 5000
density_max = 0.1
"""
PLACES = {"like": 0, "unlike": 0.5}
ABSENT = "absent"
NORM = "bound on a rumor's length"
SHARES = "shares.h"
NOTHING = "none: harmless"
EFFECT = "outlier detection, and votes"
# For each attack: the fault lines of its scenario, and the defence against it.
ATTACKS = {
    ABSENT: (["crash bad, at 0 s"], "-"),
    "none, they are honest": ([], "-"),
    "flipped labels": (["poison bad, with flipped labels"], EFFECT),
    "sign flip": (["poison bad, with sign flip"], EFFECT),
    "sign flip, 10 times": (["poison bad, with sign flip 10"], f"{NORM}; {EFFECT}"),
    "scaled, 10 times": (["poison bad, with scaled 10"], NORM),
    "scaled, 100 times": (["poison bad, with scaled 100"], NORM),
    "noise": (["poison bad, with noise"], NOTHING),
    "noise, 10 times": (["poison bad, with noise 10"], NORM),
    "a little is enough, 1.5": (["poison bad, with a little"], EFFECT),
    "a little is enough, 0.3": (["poison bad, with a little 0.3"], NOTHING),
    "mean shift": (["poison bad, with mean shift"], EFFECT),
    "mean shift, 10 times": (["poison bad, with mean shift 10"], f"{NORM}; {EFFECT}"),
    "slow drift": (["poison bad, with drift"], NOTHING),
    "collusion": (["poison bad, with collusion"], EFFECT),
    "collusion, 10 times": (["poison bad, with collusion 10"], NORM),
    "free ride": (["poison bad, with free ride"], NOTHING),
    "claims, 100 times": (["poison bad, with claims"], f"{SHARES}; {NORM}"),
    "claims and sign flip": (["poison bad, with claims", "poison bad, with sign flip"],
                             f"{SHARES}; {NORM}; {EFFECT}"),
    "claims and scaled, 10 times": (["poison bad, with claims", "poison bad, with scaled 10"],
                                    f"{SHARES}; {NORM}"),
}


def play(options, attack, place, seed):
    """Runs the simulator once. Returns the mean accuracy in percent, whether all nodes ended with one
    version, and the report's line of warnings."""
    faults = "".join(f"fault = {line}\n" for line in ATTACKS[attack][0])
    with tempfile.NamedTemporaryFile("w", prefix="attack-", suffix=".conf") as file:
        file.write(SCENARIO.format(seconds=options.seconds, skew=PLACES[place], faults=faults))
        file.flush()
        command = [options.hearsay, "sim", file.name, "--no-report", "--seed", str(seed),
                   "--set", f"data.seed={seed}"]
        for assignment in options.set:
            command += ["--set", assignment]
        told = subprocess.run(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True,
                              capture_output=True)
    text = told.stdout + told.stderr
    marks = {int(s): float(mark) for s, mark in
             re.findall(r"^ *(\d+) s +([\d.]+) %  ", text, re.M) if int(s) <= options.seconds}
    if told.returncode not in (0, 1) or not marks or "BROKEN" in text:
        raise SystemExit(f"{attack}, {place}, seed {seed}: {text[-800:]}")
    last = [mark for s, mark in sorted(marks.items())][-max(1, len(marks) // 3):]
    warnings = re.search(r"^warnings +(.*)", text, re.M)
    return [sum(last) / len(last), bool(re.search(r"^one version +[\d.]+ s", text, re.M)),
            warnings.group(1) if warnings else ""]


class Bench:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.known = {}
        if options.kept and os.path.exists(options.kept):
            with open(options.kept) as file:
                self.known = {tuple(what): result for what, result in map(json.loads, file)}

    def result(self, *what):
        key = (*what, self.options.seconds)
        if key not in self.known:
            result = play(self.options, *what)
            with self.lock:
                self.known[key] = result
                if self.options.kept:
                    with open(self.options.kept, "a") as file:
                        file.write(json.dumps([key, result]) + "\n")
        return self.known[key]

    def begin(self, pool, attack, place):
        return [pool.submit(self.result, attack, place, seed)
                for seed in range(self.options.begin, self.options.begin + self.options.seeds)]


def mean(runs):
    return sum(run[0] for run in runs) / len(runs)


def cell(runs, absent):
    marks = [run[0] for run in runs]
    return f"{mean(runs):.1f} ±{(max(marks) - min(marks)) / 2:.1f} ({mean(runs) - mean(absent):+.1f})"


def alarms(runs):
    """Summarizes the warnings of several runs: "doubt of 6 in 3 runs; false alarm: ...".

    The first number is the largest number of nodes warned of in one run."""
    said = {}
    for run in runs:
        for kind, count, group in re.findall(r"(\w+) (\d+) of (\w+)", run[2]):
            most, times = said.get((kind, group), (0, 0))
            said[kind, group] = max(most, int(count)), times + 1
    return "; ".join(f"{'false alarm: ' if group == 'good' else ''}{kind} of {most} in {times} runs"
                     for (kind, group), (most, times) in said.items()) or "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--from", type=int, default=1, dest="begin")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--places", default=",".join(PLACES))
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--kept")
    options = parser.parse_args()
    bench = Bench(options)
    places = options.places.split(",")
    wanted = [a for a in ATTACKS if any(word in a for word in options.only.split(","))]
    print("| six of 32 | " + " | ".join(f"{place} data" for place in places) +
          " | one version | warnings | to be mended by |\n|" + "---|" * (len(places) + 4), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        absent = {place: bench.begin(pool, ABSENT, place) for place in places}
        lines = [(a, [bench.begin(pool, a, place) for place in places]) for a in wanted]
        absent = {place: [run.result() for run in runs] for place, runs in absent.items()}
        for attack, cells in lines:
            cells = [[run.result() for run in runs] for runs in cells]
            runs = [run for cell_ in cells for run in cell_]
            print(f"| {attack} | " + " | ".join(
                cell(runs_, absent[place]) for place, runs_ in zip(places, cells)) +
                f" | {sum(run[1] for run in runs)} of {len(runs)} | {alarms(runs)} | "
                f"{ATTACKS[attack][1]} |", flush=True)


main()
