#!/usr/bin/env python3
"""Measures the time until a language model has the loss of a thousand steps of DistributedDataParallel.

    python3 tests/bench/bench_time_to_loss.py build/hearsay                    10 Mbit/s, 40 ms one way
    python3 tests/bench/bench_time_to_loss.py build/hearsay --mbit 1000 --rtt-ms 2
    python3 tests/bench/bench_time_to_loss.py build/hearsay --strategies streaming_diloco --local-steps 20

Four nodes train the small GPT of bench_language_exchange.py in the simulator, at a constant learning rate
after a warmup. Each makes ten steps a second and has a link of --mbit up and down. The target is the
loss after --steps synchronous steps with the batches of all nodes. DistributedDataParallel is assumed to
overlap computing and communication completely: its step takes as long as computing, or as a ring
all-reduce of float32 gradients over these links, whichever is longer.

Simulates all other strategies over the same links, for --span times the computing time of --steps steps,
and includes all their waiting. Rivals run with each of --local-steps; streaming fragments overlap with as
many steps as their exchange takes, if there are enough. SparseLoCo sends 1/--tops of the entries, and
PowerSGD runs with each of --ranks. hearsay measures the links' capacity itself. A line has the virtual
time until an evaluation of the base reached the target, the speedup over DistributedDataParallel, and
the bytes that a node had sent by then.
"""
import csv
import math
import tempfile
from concurrent.futures import ThreadPoolExecutor

import bench_language_exchange as language


class Line(language.Line):
    """A strategy over links of a given rate, with a given number of local steps."""

    def __init__(self, options, strategy, local_steps=None, top=None, rank=None):
        super().__init__(options, strategy, top=top, rank=rank)
        self.steps = options.warmup_steps * 10  # the base class warms up over a tenth of its steps
        self.link = options.mbit * 125000
        self.local_steps = local_steps or 1
        if strategy == "streaming_diloco":
            self.fragments = min(language.FRAGMENTS, self.local_steps)
            self.overlapped(options, self.exchange(options)[1])

    def name(self):
        setting = {"powersgd": f"rank {self.rank}"}.get(self.strategy, f"{self.local_steps} steps")
        return self.strategy if self.strategy == "gossip" else f"{self.strategy}, {setting}"


class Bench(language.Bench):
    def read(self, folder, summary):
        """Returns the learning curve: time in seconds, loss and bytes sent at each evaluation."""
        with open(f"{folder}/series.csv") as file:
            return [[float(row["at_s"]), float(row["loss"]), int(row["sent_bytes"])]
                    for row in csv.DictReader(file) if row["loss"]]


def lines(options):
    for strategy in options.strategies:
        if strategy == "gossip":
            yield Line(options, strategy)
        elif strategy == "powersgd":
            yield from (Line(options, strategy, rank=rank) for rank in options.ranks)
        else:
            for local_steps in options.local_steps:
                for top in options.tops if strategy == "sparseloco" else [None]:
                    yield Line(options, strategy, local_steps, top)


def reached(curve, loss):
    return next(((at, sent) for at, known, sent in curve if known <= loss), (math.inf, None))


def ddp(options, bench):
    """Returns the target loss (the best over the rates), and the seconds and bytes that
    DistributedDataParallel needs for it."""
    line = language.Line(options, "ideal")
    line.steps = options.warmup_steps * 10
    ring_s = (2 * (options.nodes - 1) * options.rtt_ms / 2000 +
              line.dense / (options.mbit * 125000))
    step_s = max(1 / options.steps_per_s, ring_s)
    losses = {}
    for rate in options.rates:
        curve = bench.play(line, rate, 1)
        losses[rate] = min(loss for at, loss, _ in curve
                           if at <= options.target_steps / options.steps_per_s + 0.1)
    return min(losses.values()), step_s * options.target_steps, line.dense * options.target_steps


def main():
    parser = language.parser(__doc__.splitlines()[0])
    parser.add_argument("--mbit", type=float, default=10)
    parser.add_argument("--local-steps", type=lambda text: list(map(int, text.split(","))),
                        default=[20, 50, 100])
    parser.add_argument("--span", type=float, default=2.5)
    parser.set_defaults(rates=[0.004], steps=1000, rtt_ms=80, tops=[32],
                        strategies=["gossip", *language.ROUNDS])
    options = language.checked(parser)
    options.target_steps, options.warmup_steps = options.steps, options.steps // 10
    options.steps = int(options.steps * options.span)
    options.set += ["train.schedule=constant", "train.period_samples=0", "scenario.evaluate_s=5",
                    "scenario.evaluate_samples=1000"]
    with tempfile.TemporaryDirectory() as folder:
        language.split(options, folder)
        options.parameters = language.parameters(options)
        bench = Bench(options, folder)
        target, ddp_s, ddp_bytes = ddp(options, bench)
        print(f"{options.parameters:,} parameters, {options.nodes} nodes, {options.mbit:g} Mbit/s, "
              f"{options.rtt_ms:g} ms round trip; {target:.3f} nats\n\n"
              "| | seconds | times as fast as DDP | sent by a node | rate |\n|---|---|---|---|---|\n"
              f"| DDP | {ddp_s:.0f} | 1 | {ddp_bytes / 1e6:.0f} MB | |", flush=True)
        plays = [(line, rate) for line in lines(options) for rate in options.rates]
        with ThreadPoolExecutor(options.jobs) as pool:
            for (line, rate), curve in zip(plays, pool.map(lambda p: bench.play(*p, 1), plays)):
                at, sent = reached(curve, target)
                told = (f"{at:.0f} | {ddp_s / at:.1f} | {sent / options.nodes / 1e6:.1f} MB"
                        if sent is not None else f"not in {options.steps / options.steps_per_s:.0f}, "
                        f"{min(loss for _, loss, _ in curve):.3f} nats | |")
                print(f"| {line.name()} | {told} | {rate:g} |", flush=True)


main()
