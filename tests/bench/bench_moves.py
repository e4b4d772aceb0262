#!/usr/bin/env python3
"""Measures how far rumors move the base, compared with the limit (net/wire/move.h), in simulated swarms.

    python3 tests/bench/bench_moves.py build/hearsay [--only WORD]

A line has two moves of the rumors, each as median, 99th percentile and maximum over the rumors:
  - an entry: the largest move of a weight by the rumor (limit: 1)
  - together: the norm of the rumor's moves, divided by sqrt(P) for P weights (limit: 1/8; the norm may
    be 1 if that is more)
and the final accuracy. Each swarm trains for --seconds from the initial weights, which have the largest
moves, and then leaves, so the last publications are included. A relay receives all rumors; its trace is
evaluated. Needs Fashion-MNIST and the dictionary of bench_language_exchange.py; takes about ten minutes
of one processor.
"""
import argparse
import gzip
import os
import re
import subprocess
import tempfile

DICTIONARY = "/usr/share/dictd/gcide.dict.dz"
GPT = ("embed 256 96, position 64, 3 * (residual(norm, attention 4), "
       "residual(norm, dense 384, gelu, dense 96)), norm, logits tied")
IMAGES = {"data.source": "idx", "train.batch": 32}
XOR = {"model.name": "xor", "data.source": "xor", "train.batch": 4}
TEXT = {"model.layers": GPT, "data.source": "text", "data.context": 64, "train.batch": 8,
        "train.clip": 1, "train.weight_decay": 0.1, "train.beta2": 0.95}
SGD = {"train.optimizer": "sgd", "train.momentum": 0.9}
ADAM = {"train.optimizer": "adam", "train.momentum": 0.9}
MUON = {"train.optimizer": "muon", "train.momentum": 0.9}
SWARMS = [  # name, number of nodes, samples a second of each node, settings
    ("lenet, SGD 0.02", 1, 1000, {**IMAGES, **SGD, "model.name": "lenet", "train.rate": 0.02}),
    ("lenet, SGD 0.02", 2, 1000, {**IMAGES, **SGD, "model.name": "lenet", "train.rate": 0.02}),
    ("lenet, SGD 0.02", 16, 200, {**IMAGES, **SGD, "model.name": "lenet", "train.rate": 0.02}),
    ("lenet, Adam 0.001", 2, 1000, {**IMAGES, **ADAM, "model.name": "lenet", "train.rate": 0.001}),
    ("lenet, Adam 0.004", 2, 1000, {**IMAGES, **ADAM, "model.name": "lenet", "train.rate": 0.004}),
    ("lenet, Adam 0.002", 16, 200, {**IMAGES, **ADAM, "model.name": "lenet", "train.rate": 0.002}),
    ("lenet, SGD 0.1: diverges", 2, 1000,
     {**IMAGES, **SGD, "model.name": "lenet", "train.rate": 0.1}),
    ("mlp, SGD 0.02", 2, 1000, {**IMAGES, **SGD, "model.name": "mlp", "train.rate": 0.02}),
    ("xor, SGD 0.1", 2, 1000, {**XOR, **SGD, "train.rate": 0.1}),
    ("xor, Adam 0.01", 2, 1000, {**XOR, **ADAM, "train.rate": 0.01}),
    ("gpt, Adam 0.004", 1, 80, {**TEXT, **ADAM, "train.rate": 0.004}),
    ("gpt, Adam 0.004", 4, 80, {**TEXT, **ADAM, "train.rate": 0.004}),
    ("gpt, Adam 0.004, 2 kB/s", 4, 80,
     {**TEXT, **ADAM, "train.rate": 0.004, "exchange.bytes_per_s": 2000}),
    ("gpt, Muon 0.02", 1, 80, {**TEXT, **MUON, "train.rate": 0.02}),
]
MOVED = re.compile(r"apply (\d+) entries, moved by (\S+), together (\S+)")
SCENARIO = """[scenario]
seconds = {seconds}
evaluate_s = 0
nodes = {nodes} home, {speed} samples/s
nodes = 1 relay, region home
link = home home, rtt 20 ms
"""


def play(hearsay, folder, seconds, nodes, speed, settings):
    """Runs the simulator once. Returns the moves (an entry, together) of each rumor that the relay
    received, and the final accuracy as text."""
    with open(f"{folder}/play.conf", "w") as file:
        file.write(SCENARIO.format(seconds=seconds, nodes=nodes, speed=speed))
    if settings["data.source"] == "text":
        settings = {**settings, "data.text": f"{folder}/train", "data.valid": f"{folder}/valid"}
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    told = subprocess.run([hearsay, "sim", f"{folder}/play.conf", *sets, "--no-report",
                           "--trace", f"{folder}/trace"], text=True, capture_output=True,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    if told.returncode != 0:
        raise SystemExit((told.stdout + told.stderr).strip()[-800:])
    accuracy = re.search(r"accuracy +([0-9.]+ %)", told.stdout)[1]
    with open(f"{folder}/trace") as file:
        moves = [(float(found[2]), float(found[3])) for found in map(MOVED.search, file)
                 if found and found.string.split()[1] == str(nodes)]
    return moves, accuracy


def parameters(hearsay, settings):
    line = settings.get("model.layers") or settings["model.name"]
    shape = {"idx": ["--input", "1x28x28"], "xor": ["--input", "1x1x2", "--classes", "2"],
             "text": ["--context", "64"]}[settings["data.source"]]
    told = subprocess.run([hearsay, "model", *shape, line], text=True, capture_output=True)
    return int(re.search(r"^all, .*? {2,}(\d+) ", told.stdout, re.M)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--only", default="", help="run only swarms whose name contains this")
    options = parser.parse_args()
    print("| swarm | nodes | rumors | an entry, median | 99 % | most | together, median | 99 % | most "
          "| accuracy |\n|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        with gzip.open(DICTIONARY, "rb") as file:
            text = file.read()
        for name, part in (("train", text[:3000000]), ("valid", text[-20000:])):
            with open(f"{folder}/{name}", "wb") as file:
                file.write(part)
        for what, nodes, speed, settings in SWARMS:
            if options.only not in what:
                continue
            moves, accuracy = play(options.hearsay, folder, options.seconds, nodes, speed, settings)
            root = parameters(options.hearsay, settings) ** 0.5
            columns = []
            for values, digits in ((sorted(m[0] for m in moves), 3),
                                   (sorted(m[1] / root for m in moves), 4)):
                columns += [f"{values[int(part * (len(values) - 1))]:.{digits}f}"
                            for part in (0.5, 0.99, 1)]
            print(f"| {what} | {nodes} | {len(moves)} |", " | ".join(columns), f"| {accuracy} |",
                  flush=True)


if __name__ == "__main__":
    main()
