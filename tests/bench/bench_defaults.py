#!/usr/bin/env python3
"""Compares the default training settings with others over many epochs, with one node and with many.

    python3 tests/bench/bench_defaults.py build/hearsay [--seeds 1] [--jobs 2] [--only mlp/4,wd]
                                    [--nodes 1,4,16,32] [--kept FILE]

Runs the simulator. All nodes have the same speed, and each has its own shard:
  mlp20, mlp  a dense net on Fashion-MNIST for 20 and for 100 epochs of 60,000 samples
  half, half100   a convolutional net (half of lenet) for 20 and for 100 epochs
  resnet8     a residual net with batch norm (5,266 parameters) for 20 epochs
  gpt         a GPT of 0.37 M parameters on 4 MB of an English dictionary, 4,800 samples a node
  gpt-long    the same GPT for 19,200 samples a node
Prints one line per run. For images its first columns are from evaluations of the base on 5,000 test
samples: the mean accuracy over the last eighth of them, and the best. The last two columns are the final
accuracy of the base and of the averaged base on all 10,000 test samples. For text the last two columns
are the loss in nats a byte, and the other columns are accuracies.

Settings of images (SGD, rate 0.02, momentum 0.9):
  none       neither weight decay nor clipping
  clip       clip 1
  clip+wd    clip 1 and weight decay 5e-4
  default    the default settings
  cosine     the default, with a rate that falls to 1/100 at the end of the run, which it must know
Settings of text (Muon):
  default    the default settings: the rate falls as an inverse root
  constant   a rate of 0.004
  cosine     a rate that falls from 0.004 to 1/100 at the end of the run
  cosine-5x  the same from 0.02

--only: places and settings whose names have all these parts, such as half/16,cosine. A run takes one and
a half to five minutes of one processor, 100 epochs of half 25 minutes. --kept FILE: reads the results of
earlier runs from FILE, and appends new ones. Text needs Debian's dict-gcide.
"""
import argparse
import gzip
import json
import os
import re
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

HALF = "conv 8 5x5 pad 2, relu, maxpool 2, conv 16 5x5 pad 2, relu, maxpool 2, dense 64, relu, dense 10"
MLP = "dense 64, relu, dense 10"
RESNET8 = ("conv 8 3x3 stride 2 pad 1 plain, batchnorm, relu, residual(conv 8 3x3 pad 1 plain, batchnorm, relu, "
           "conv 8 3x3 pad 1 plain, batchnorm), relu, residual(conv 16 3x3 stride 2 pad 1 plain, batchnorm, relu, "
           "conv 16 3x3 pad 1 plain, batchnorm | conv 16 1x1 stride 2 plain, batchnorm), relu, avgpool, dense 10")
GPT = ("embed 256 96, position 64, 3 * (residual(norm, attention 4), "
       "residual(norm, dense 384, gelu, dense 96)), norm, logits tied")
PLACES = {"mlp20": (MLP, 20), "mlp": (MLP, 100), "half": (HALF, 20), "half100": (HALF, 100),
          "resnet8": (RESNET8, 20)}  # layers, epochs
TEXTS = {"gpt": 4800, "gpt-long": 19200}  # samples of each node
DICTIONARY, TEXT_BYTES = "/usr/share/dictd/gcide.dict.dz", 4000000
IMAGES = 60000
EVALUATIONS, TEXT_EVALUATIONS = 40, 10
DEFAULT = "clip = 5\nweight_decay = 0.0005\n"
COSINE = "schedule = cosine\ndecay = 0.01\nperiod_samples = {samples}\n"
SETTINGS = {
    "none": "clip = 0\nweight_decay = 0\n",
    "clip": "clip = 1\nweight_decay = 0\n",
    "clip+wd": "clip = 1\nweight_decay = 0.0005\n",
    "default": DEFAULT,
    "cosine": DEFAULT + COSINE,
}
TEXT_SETTINGS = {
    "default": "",
    "constant": "rate = 0.004\n",
    "cosine": "rate = 0.004\n" + COSINE,
    "cosine-5x": "rate = 0.02\n" + COSINE,
}
SCENARIO = """
[scenario]
seconds = {seconds:.3f}
settle_s = 5
evaluate_s = {every:.4f}
evaluate_samples = 5000
nodes = {nodes} home, 640 samples/s, up 20 Mbit/s, down 100 Mbit/s
link = home home, rtt 30 ms
[model]
layers = {layers}
[data]
source = idx
[train]
"""
TEXT_SCENARIO = """
[scenario]
seconds = {seconds:.3f}
settle_s = 5
evaluate_s = {every:.4f}
evaluate_samples = 300
nodes = {nodes} home, 40 samples/s, up 10 Mbit/s, down 50 Mbit/s
link = home home, rtt 40 ms
[model]
layers = {layers}
[data]
source = text
text = {folder}/text
[train]
batch = 8
"""


def scenario(place, nodes, setting, folder):
    if place in TEXTS:
        seconds, layers = TEXTS[place] / 40, GPT
        samples, every, text = nodes * TEXTS[place], seconds / TEXT_EVALUATIONS, TEXT_SCENARIO
        with gzip.open(DICTIONARY) as file, open(f"{folder}/text", "wb") as copy:
            copy.write(file.read(TEXT_BYTES))
    else:
        layers, passes = PLACES[place]
        samples, text = passes * IMAGES, SCENARIO
        seconds = samples / (nodes * 640)
        every = seconds / EVALUATIONS
    text = text.format(seconds=seconds, every=every, nodes=nodes, layers=layers, folder=folder)
    return text + (TEXT_SETTINGS if place in TEXTS else SETTINGS)[setting].format(samples=samples)


def play(hearsay, place, nodes, setting, seed):
    """Runs the simulator once. Returns the accuracy of each evaluation in percent, and the final score
    of the base and of the averaged base: an accuracy, or the loss of a text."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/defaults.conf", "w") as file:
            file.write(scenario(place, nodes, setting, folder))
        ran = subprocess.run([hearsay, "sim", f"{folder}/defaults.conf", "--no-report", "--only",
                              "--seed", str(seed)],
                             env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True,
                             capture_output=True)
    out = ran.stdout + ran.stderr
    score = r"[\d.]+ %, loss ([\d.]+)" if place in TEXTS else r"([\d.]+) %"
    marks = [float(mark) for mark in re.findall(r"^ *\d+ s +([\d.]+) %  ", out, re.M)]
    end = re.search(rf"^accuracy +{score}", out, re.M)
    averaged = re.search(rf"^averaged +{score}", out, re.M)
    if not marks or not end or not averaged:
        raise SystemExit(f"{place}/{nodes}, {setting}, seed {seed}: {out[-500:]}")
    return marks, float(end[1]), float(averaged[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--nodes", default="1,4,16,32")
    parser.add_argument("--only", default="")
    parser.add_argument("--kept")
    options = parser.parse_args()
    known, lock = {}, threading.Lock()
    if options.kept and os.path.exists(options.kept):
        with open(options.kept) as file:
            known = {tuple(key): numbers for key, *numbers in map(json.loads, file)}
    runs = [(place, int(nodes), setting, seed) for place in (*PLACES, *TEXTS)
            for nodes in options.nodes.split(",")
            for setting in (TEXT_SETTINGS if place in TEXTS else SETTINGS)
            for seed in range(1, options.seeds + 1)
            if all(part in f"{place}/{nodes} {setting}" for part in options.only.split(","))]

    def line(run):
        if run not in known:
            numbers = play(options.hearsay, *run)
            with lock:
                known[run] = numbers
                if options.kept:
                    with open(options.kept, "a") as file:
                        file.write(json.dumps([run, *numbers]) + "\n")
        marks, end, averaged = known[run]
        last = marks[-max(1, len(marks) // 8):]
        place, nodes, setting, seed = run
        return (f"| {place}/{nodes} | {setting} | {seed} | {sum(last) / len(last):.2f} | {max(marks):.2f} | "
                f"{end:.4g} | {averaged:.4g} |")

    print("| place | setting | seed | last eighth | best | end | averaged |\n|---|---|---|---|---|---|---|",
          flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for text in pool.map(line, runs):
            print(text, flush=True)


main()
