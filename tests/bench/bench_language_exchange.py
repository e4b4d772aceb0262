#!/usr/bin/env python3
"""Compares gossip with DiLoCo and its variants on a language model with few bytes, in the simulator.

    python3 tests/bench/bench_language_exchange.py build/hearsay
    python3 tests/bench/bench_language_exchange.py build/hearsay --strategies sparseloco --parts 300
                                    --tops 32 --rates 0.004      one line of it
    python3 tests/bench/bench_language_exchange.py build/hearsay --steps 60 --parts 20 --rates 0.004
                                    --layers "embed 256 32, position 32, residual(norm, attention 2),
                                    residual(norm, dense 64, gelu, dense 32), norm, logits tied"
                                    --context 32 --valid-bytes 20000      all of it, in seconds

Simulates a small GPT on an English dictionary, on --nodes machines of ten steps a second, for each
strategy, learning rate and byte budget. Dense exchange is a ring all-reduce of float32 gradients in each
step: 8P(n-1)/n bytes a node. A budget is a fraction of dense exchange; --parts 100 is a hundredth.

  gossip      exchange.bytes_per_s is set so that the rumors to all other nodes use the budget
  diloco      local_steps is set so that the rounds use the budget
  sparseloco  as diloco, for each of --tops (32: a message has one entry of 32)
  streaming_diloco  as diloco; overlap_steps is set so that nodes do not wait, if possible
  noloco      as diloco; a round exchanges weights and progress with one partner
  gasloc      as diloco; a round exchanges weights with one partner
  powersgd    each step is a round, for each of --ranks; the links limit the number of steps
  ideal       one learner with the batches of all nodes, without network costs: the bound
  single      each node trains alone: the mean of their losses

Links are so fast that the budget uses 0.7 of their rate, and have --rtt-ms. Nodes wait for the rounds,
so fewer steps fit in the time; --untimed: nodes do not wait, and make all steps. Local steps are chosen
so that whole rounds fill the time; a budget without room for one round is left out. The schedule (linear
warmup over a tenth, then a cosine to a tenth) ends with the last step that a strategy makes.

Nodes with slow links: --thin of the gossip nodes publish 1/--thin-part of dense exchange. --thin-gain
sets exchange.gain of these nodes; by default the rule sets it.

A line has the budget, the local steps, the steps made, the part of dense exchange that was really sent
(for gossip: rumors and control messages), and the loss of the base in nats a byte, on the last
--valid-bytes of the text. The last table has the best learning rate of each strategy and budget. All are
means over the seeds, which draw weights, shards and the order of samples.

Needs Debian's dict-gcide, or another --text. Each node has a part of the text. With --text A,B,C,D each
of four nodes has one text, and all nodes are evaluated on the ends of all four. With the default model a
line takes about a minute of one processor for 500 steps, and all lines nearly three hours. --kept FILE:
reads the results of earlier runs from FILE, and appends new ones. --set KEY=VALUE holds for all runs,
--line "fault = ..." adds a line to the scenario; both may be repeated.
"""
import argparse
import gzip
import json
import math
import os
import re
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

DICTIONARY = "/usr/share/dictd/gcide.dict.dz"
LAYERS = ("embed 256 96, position 64, 3 * (residual(norm, attention 4), "
          "residual(norm, dense 384, gelu, dense 96)), norm, logits tied")
LINK_USE = 0.7
ROUNDS = ("diloco", "streaming_diloco", "sparseloco", "noloco", "gasloc", "powersgd")
FRAGMENTS = 4  # fragments of the model in streaming_diloco
CHUNK, ENTRY_BITS = 4096, 14  # format of SparseLoCo's messages (sim/strategies/sparse.h)

SCENARIO = """
[scenario]
strategy = {strategy}
seconds = {seconds}
evaluate_s = 0
settle_s = 60
{groups}
link = here here, rtt {rtt_ms} ms
[strategy]
local_steps = {local_steps}
top_part = {top_part}
fragments = {fragments}
overlap_steps = {overlap}
rank = {rank}
[data]
seed = {seed}
source = text
text = {folder}/train
valid = {folder}/valid
context = {context}
[model]
seed = {seed}
layers = {layers}
[train]
optimizer = adam
batch = {batch}
rate = {rate}
momentum = 0.9
beta2 = 0.95
weight_decay = 0.1
clip = 1
schedule = cosine
warmup_samples = {warmup}
period_samples = {period}
decay = 0.1
[exchange]
bytes_per_s = {published}
"""


def message_bytes(parameters, top):
    """Returns the bytes of a SparseLoCo message, as sim/strategies/sparse.c counts them."""
    chunks = [CHUNK] * (parameters // CHUNK) + [parameters % CHUNK] * (parameters % CHUNK > 0)
    kept = sum(max(1, int(chunk / top + 0.5)) for chunk in chunks)
    return (kept * ENTRY_BITS + 7) // 8


def paired(options):
    """Returns the fraction of nodes that have a partner in a round. If their number is odd, one has none."""
    return options.nodes // 2 * 2 / options.nodes


class Line:
    """One strategy with one budget.

    part    1/part of dense exchange is the budget; None: the strategy has no budget
    top     SparseLoCo sends 1/top of the entries; None for other strategies
    rank    rank of PowerSGD; None for other strategies"""

    def __init__(self, options, strategy, part=None, top=None, rank=None):
        self.strategy, self.part, self.top, self.rank = strategy, part, top, rank
        n, steps = options.nodes, options.steps
        self.dense = 8 * options.parameters * (n - 1) / n
        self.budget = self.dense / part * options.steps_per_s if part else None
        self.link = None
        if part and not (options.untimed and strategy != "gossip"):
            self.link = self.budget / LINK_USE
        self.rounds, self.local_steps, self.steps = None, 1, steps
        self.fragments, self.overlap = 1, 0
        if strategy == "powersgd" and part:
            self.fit_steps(options)
        elif strategy in ROUNDS and part:
            self.fit_rounds(options)

    def exchange(self, options):
        """Returns the bytes that a node sends in a round, and the seconds that the exchange takes; 0 s
        if links are unlimited."""
        others = options.nodes - 1
        sent, transfers = {
            "diloco": lambda: (self.dense, 2 * others),
            "streaming_diloco": lambda: (self.dense / 8, 2 * others * self.fragments),
            "sparseloco": lambda: (others * message_bytes(options.parameters, self.top), others),
            "noloco": lambda: (8 * options.parameters * paired(options), 1),
            "gasloc": lambda: (4 * options.parameters * paired(options), 1),
            "powersgd": lambda: (options.factor_bytes[self.rank], 4 * others),
        }[self.strategy]()
        return sent, transfers * options.rtt_ms / 2000 + sent / self.link if self.link else 0

    def overlapped(self, options, exchange_s):
        """Sets the steps that overlap with a fragment's exchange, and returns the remaining waiting time
        of a round in seconds."""
        needed = math.ceil(exchange_s / self.fragments * options.steps_per_s - 1e-9)
        self.overlap = min(needed, self.local_steps // self.fragments)
        return max(0, exchange_s - self.fragments * self.overlap / options.steps_per_s)

    def fit_rounds(self, options):
        """Sets rounds, local steps and steps so that whole rounds fill the time."""
        span_s = options.steps / options.steps_per_s
        self.local_steps = max(1, round(self.exchange(options)[0] * self.part / self.dense))
        if self.strategy == "streaming_diloco":
            self.fragments = min(FRAGMENTS, self.local_steps)
        exchange_s = self.exchange(options)[1]
        if self.strategy == "streaming_diloco":
            exchange_s = self.overlapped(options, exchange_s)
        fitting = span_s / (self.local_steps / options.steps_per_s + exchange_s)
        self.rounds = round(fitting) if fitting >= 0.75 else 0
        if self.rounds:
            free_s = span_s / self.rounds - exchange_s
            self.local_steps = max(self.fragments * max(1, self.overlap),
                                   int(free_s * options.steps_per_s + 1e-9))
            self.steps = self.rounds * self.local_steps

    def fit_steps(self, options):
        """Sets the number of steps. Each step has an exchange. With limited links, as many steps as possible
        fit in the time. With unlimited links, all steps are made if the budget allows them, otherwise none."""
        sent, exchange_s = self.exchange(options)
        span_s, step_s = options.steps / options.steps_per_s, 1 / options.steps_per_s + exchange_s
        fits = self.link or sent * self.part <= self.dense
        self.rounds = self.steps = int(span_s / step_s + 1e-9) if fits else 0

    def groups(self, options):
        """Returns the scenario's lines of nodes; --thin of the gossip nodes publish less."""
        link = f"{int(self.link)} B/s" if self.link else "unlimited"
        each = (f"{options.batch * options.steps_per_s} samples/s, up {link}, down {link}, "
                "region here")
        thin = options.thin if self.strategy == "gossip" else 0
        lines = [f"nodes = {options.nodes - thin} home, {each}"]
        if thin:
            budget = self.dense / options.thin_part * options.steps_per_s / (options.nodes - 1)
            gain = f", set exchange.gain={options.thin_gain}" if options.thin_gain else ""
            lines.append(f"nodes = {thin} thin, {each}, set exchange.bytes_per_s={int(budget)}{gain}")
        return "\n".join(lines + options.line)

    def scenario(self, options, rate, seed, folder):
        others = options.nodes - 1
        learners = 1 if self.strategy == "single" else options.nodes
        period = learners * options.batch * self.steps
        published = "auto" if not self.budget else max(1, int(self.budget / others))
        # Adds half a step to the time, so that rounding does not lose the last step.
        return SCENARIO.format(
            strategy=self.strategy, seconds=(options.steps + 0.5) / options.steps_per_s,
            local_steps=self.local_steps, fragments=self.fragments, overlap=self.overlap,
            top_part=1 / self.top if self.top else 1, rank=self.rank or 1,
            groups=self.groups(options),
            rtt_ms=options.rtt_ms if self.link else 0, seed=seed, folder=folder, rate=rate,
            context=options.context, layers=" ".join(options.layers.split()), batch=options.batch,
            warmup=period // 10, period=period, published=published)

    def name(self):
        top = f", top 1/{self.top}" if self.top else f", rank {self.rank}" if self.rank else ""
        budget = f"1/{self.part}" if self.part else ""
        return f"{self.strategy}{top} | {budget} | {self.local_steps if self.rounds else ''}"


def lines(options):
    for strategy in options.strategies:
        if strategy in ("ideal", "single"):
            yield Line(options, strategy)
            continue
        for part in options.parts:
            for top in options.tops if strategy == "sparseloco" else [None]:
                for rank in options.ranks if strategy == "powersgd" else [None]:
                    yield Line(options, strategy, part, top, rank)


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.lock = threading.Lock()
        self.known = {}
        if options.kept and os.path.exists(options.kept):
            with open(options.kept) as file:
                self.known = dict(map(json.loads, file))

    def play(self, line, rate, seed):
        """Returns the loss, samples and bytes of a run; runs it unless --kept has the result."""
        options = self.options
        scenario = line.scenario(options, rate, seed, self.folder)
        what = json.dumps([scenario.replace(self.folder, ""), options.text, options.set])
        if what not in self.known:
            mark = self.run(scenario, seed)
            with self.lock:
                self.known[what] = mark
                if options.kept:
                    with open(options.kept, "a") as file:
                        file.write(json.dumps([what, mark]) + "\n")
        return self.known[what]

    def run(self, scenario, seed):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            with open(f"{folder}/play.conf", "w") as file:
                file.write(scenario)
            sets = [word for key in self.options.set for word in ("--set", key)]
            told = subprocess.run([self.options.hearsay, "sim", f"{folder}/play.conf", *sets,
                                   "--out", f"{folder}/report", "--seed", str(seed)],
                                  env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, text=True,
                                  capture_output=True)
            if told.returncode != 0:
                raise SystemExit(f"{scenario}{(told.stdout + told.stderr).strip()[-800:]}")
            with open(f"{folder}/report/summary.json") as file:
                return self.read(f"{folder}/report", json.load(file))

    def read(self, folder, summary):
        """Returns the results of a run to keep: loss, samples and bytes sent."""
        if summary["loss"] is None:
            raise SystemExit("a run ended without a loss: was the time too short for an evaluation?")
        return [summary[key] for key in ("loss", "samples", "sent_bytes")]

    def mark(self, line, rate):
        """Returns means over the seeds: the loss, the steps of a node, and the bytes sent as a fraction
        of dense exchange."""
        options = self.options
        marks = [self.play(line, rate, seed) for seed in range(1, options.seeds + 1)]
        loss, samples, sent = (sum(values) / len(marks) for values in zip(*marks))
        learners = options.batch * options.nodes
        return loss, samples / learners, sent / options.nodes / line.dense / options.steps


def row(line, rate, mark):
    loss, steps, sent = mark
    part = f"1/{1 / sent:.0f}" if sent else ""
    return f"| {line.name()} | {steps:.0f} | {part} | {rate:g} | {loss:.3f} |"


def parser(about):
    def numbers(kind):
        return lambda text: [kind(word) for word in text.split(",")]

    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("hearsay")
    parser.add_argument("--strategies", type=numbers(str),
                        default=["ideal", "single", "gossip", *ROUNDS])
    parser.add_argument("--rates", type=numbers(float), default=[0.002, 0.004, 0.008])
    parser.add_argument("--parts", type=numbers(int), default=[100, 300, 1000, 5000])
    parser.add_argument("--tops", type=numbers(int), default=[32, 128])
    parser.add_argument("--ranks", type=numbers(int), default=[1])
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--steps-per-s", type=float, default=10)
    parser.add_argument("--rtt-ms", type=float, default=20)
    parser.add_argument("--layers", default=LAYERS)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--text", default=DICTIONARY)
    parser.add_argument("--valid-bytes", type=int, default=300000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--untimed", action="store_true")
    parser.add_argument("--thin", type=int, default=0)
    parser.add_argument("--thin-part", type=int, default=5000)
    parser.add_argument("--thin-gain", type=float)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--line", action="append", default=[])
    parser.add_argument("--kept")
    return parser


def checked(parser):
    options = parser.parse_args()
    known = ["ideal", "single", "gossip", *ROUNDS]
    for strategy in options.strategies:
        if strategy not in known:
            parser.error(f"--strategies {strategy}: known are {', '.join(known)}")
    if not 0 <= options.thin < options.nodes:
        parser.error("--thin must be less than --nodes")
    if options.nodes < 2:
        parser.error("--nodes must be at least 2")
    return options


def split(options, folder):
    """Writes the files `train` and `valid`: the text without its end, and its end.

    Several texts are cut to the length of the shortest. `train` joins their beginnings, and `valid`
    joins their ends, which have valid_bytes together."""
    texts = []
    for name in options.text.split(","):
        with (gzip.open if name.endswith((".dz", ".gz")) else open)(name, "rb") as file:
            texts.append(file.read())
    shortest, apart = min(map(len, texts)), options.valid_bytes // len(texts)
    if shortest < 2 * apart:
        raise SystemExit(f"{options.text} has {shortest} bytes: choose fewer --valid-bytes")
    for name, part in (("train", slice(-apart)), ("valid", slice(-apart, None))):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(b"".join(text[:shortest][part] for text in texts))


def parameters(options):
    told = subprocess.run([options.hearsay, "model", "--context", str(options.context),
                           " ".join(options.layers.split())], text=True, capture_output=True)
    found = re.search(r"^all, .*? {2,}(\d+) ", told.stdout, re.M)
    if told.returncode != 0 or not found:
        raise SystemExit((told.stdout + told.stderr).strip())
    return int(found[1])


def factor_bytes(options, bench, rank):
    """Measures the bytes that a node sends in a step of PowerSGD, in a run over unlimited links."""
    line = Line(options, "powersgd", rank=rank)
    _, samples, sent = bench.play(line, options.rates[0], 1)
    return sent * options.batch / samples


def main():
    options = checked(parser(__doc__.splitlines()[0]))
    with tempfile.TemporaryDirectory() as folder:
        split(options, folder)
        options.parameters = parameters(options)
        bench = Bench(options, folder)
        if "powersgd" in options.strategies:
            options.factor_bytes = {rank: factor_bytes(options, bench, rank)
                                    for rank in options.ranks}
        head = ("| strategy | budget | local steps | steps | sent | rate | loss |\n"
                "|---|---|---|---|---|---|---|")
        print(f"{options.parameters:,} parameters, {options.nodes} nodes\n\n{head}", flush=True)
        plays = [(line, rate) for line in lines(options) for rate in options.rates
                 if line.rounds != 0]
        best = {}
        with ThreadPoolExecutor(options.jobs) as pool:
            for (line, rate), mark in zip(plays, pool.map(lambda p: bench.mark(*p), plays)):
                print(row(line, rate, mark), flush=True)
                if line.name() not in best or mark[0] < best[line.name()][0]:
                    best[line.name()] = mark[0], row(line, rate, mark)
        if len(options.rates) > 1:
            print(f"\n{head}", *(text for _, text in best.values()), sep="\n")


if __name__ == "__main__":
    main()
