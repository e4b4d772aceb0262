#!/usr/bin/env python3
"""Measures when a language model is as good as after a thousand steps of DistributedDataParallel.

    python3 tests/bench/bench_time_to_loss.py build/hearsay                    10 Mbit/s, 40 ms one way
    python3 tests/bench/bench_time_to_loss.py build/hearsay --mbit 1000 --rtt-ms 2
    python3 tests/bench/bench_time_to_loss.py build/hearsay --strategies streaming_diloco --local-steps 20

Four nodes of ten steps a second, each behind a line of --mbit up and down, train the small GPT of
bench_language_exchange.py in the simulator, at a constant rate after a warm-up. The loss to be reached is
that of synchronous steps with the batches of all after --steps of them. With DistributedDataParallel
such a step takes as long as a ring all-reduce of float32 gradients does over these lines, or as
computing, whichever is longer: as if one were hidden behind the other altogether.

All others are played over the same lines for --span times the computing of those steps, with everything
that they wait for; rivals with each of --local-steps (fragments overlap with as many steps as an exchange
takes, if there are so many), SparseLoCo with a --tops-th of the entries, PowerSGD with each of --ranks.
hearsay finds out by itself what the lines carry. A line: virtual time until the base was that good in an
evaluation, how many times as fast as DistributedDataParallel that is, and what a node had sent by then.
"""
import csv
import math
import tempfile
from concurrent.futures import ThreadPoolExecutor

import bench_language_exchange as language


class Line(language.Line):
    """A strategy over given lines, with local steps that are set."""

    def __init__(self, options, strategy, local_steps=None, top=None, rank=None):
        super().__init__(options, strategy, top=top, rank=rank)
        self.steps = options.warmup_steps * 10  # bench_language_exchange.py warms up in a tenth
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
        """The curve: time, loss and bytes sent."""
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
    """The loss that is to be reached at each rate, and the seconds that it takes."""
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
              f"{options.rtt_ms:g} ms there and back; {target:.3f} nats\n\n"
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
