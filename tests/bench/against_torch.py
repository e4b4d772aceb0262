#!/usr/bin/env python3
"""Trains with the usual PyTorch methods over Gloo, as rivals of hearsay. tests/bench/against_torch.sh runs it.

  train    one process of a rival: the first leaves in FOLDER a line for each round of exchange and,
           every so many steps, after an exchange, the model
  probe    round trip and speed of TCP between the machines of the test network

The data are read and the model is built from hearsay's own line of layers, so that rivals start
from the weights that hearsay starts from. The clock begins when all processes have met. With --test
it does not count: then all compute the mark (against_torch_tasks.py) together whenever a model
would be left.
"""
import argparse
import datetime
import json
import os
import socket
import sys
import threading
import time

import numpy as np
import torch
import torch.distributed
from torch.nn.utils import parameters_to_vector

from against_torch_rivals import RIVALS
from against_torch_tasks import TASKS

WARM_ROUNDS = 3  # the first are not like the others: buckets are made, PowerSGD sends all
PATIENCE_S = 20  # with a run that cannot end in time
SILENCE_S = 300
LOST_STEPS, LOST_MARK = 300, {"images": 0.2, "language": -3.5}  # not better by then: it diverged


class Diary:
    """The record of the first process."""

    def __init__(self, folder):
        self.folder, self.start, self.times = folder, time.time(), []
        self.file = open(f"{folder}/rounds.jsonl", "w", encoding="ascii")
        self.write({"start": self.start})

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def round(self, steps, model, mark):
        line = {"t": time.time() - self.start, "steps": steps}
        self.times.append(line["t"])
        if model is not None:
            line["file"] = f"model-{steps}.npy"
            np.save(f"{self.folder}/{line['file']}", model)
        if mark is not None:
            line["mark"] = mark
        self.write(line)

    def is_hopeless(self, rounds, seconds):
        """Returns whether the remaining rounds clearly need more than this time."""
        times, warm = self.times, WARM_ROUNDS
        if not seconds or len(times) < warm + 2 or times[-1] - times[warm - 1] < PATIENCE_S:
            return False
        pace = (times[-1] - times[warm - 1]) / (len(times) - warm)
        return times[-1] + pace * rounds > seconds


class Pace:
    """A machine that computes no more than so many steps a second: hold() returns when it would
    have computed the step. What is exchanged meanwhile costs it no time, what comes later does."""

    def __init__(self, steps_per_s):
        self.step_s, self.begin = 1 / steps_per_s if steps_per_s else 0, 0

    def step(self):
        self.begin = time.monotonic()

    def hold(self):
        time.sleep(max(0, self.begin + self.step_s - time.monotonic()))


class Process:
    """One of the processes of a rival."""

    def __init__(self, asked):
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.asked, self.task = asked, TASKS[asked.task](asked)
        net = self.task.build()
        self.task.keep(asked.rank, asked.world)
        self.pace = Pace(asked.steps_per_s)
        self.optimizer, self.schedule = self.task.optimizer(net, asked.rate, asked.warmup)
        self.has_hook = hasattr(self.optimizer, "register_step_post_hook")  # PyTorch 2 has
        if self.has_hook:  # before torchft's, which exchanges
            self.optimizer.register_step_post_hook(lambda *_: self.pace.hold())
        torch.distributed.init_process_group("gloo", init_method=f"tcp://{asked.address}",
                                             rank=asked.rank, world_size=asked.world,
                                             timeout=datetime.timedelta(seconds=SILENCE_S))
        self.rival = RIVALS[asked.rival](net, asked, self.optimizer)
        self.net, self.left = net, 0

    def step(self, number):
        self.pace.step()
        inputs, labels = self.task.samples()
        self.optimizer.zero_grad()
        self.task.loss(self.rival.net, inputs, labels).backward()
        self.optimizer.step()
        if not self.has_hook:
            self.pace.hold()
        if self.schedule:
            self.schedule.step()
        if number % self.rival.every == 0:
            self.rival.exchange()

    def mark(self):
        """Of the model, each process a part of the test."""
        total, count = self.task.marks(self.net, self.asked.rank, self.asked.world)
        both = torch.tensor([total, count], dtype=torch.float64)
        torch.distributed.all_reduce(both)
        return float(both[0] / both[1])

    def leave(self, diary, number):
        """After a step; true if that was the last."""
        asked, is_round = self.asked, number % self.rival.every == 0
        is_due = is_round and number - self.left >= asked.every
        self.left = number if is_due else self.left
        mark = self.mark() if asked.test and is_due else None
        if diary and is_round:
            has_model = is_due and not asked.test
            model = parameters_to_vector(self.net.parameters()).detach() if has_model else None
            diary.round(number, model, mark)
            rounds = (asked.steps - number) / self.rival.every
            if diary.is_hopeless(rounds, asked.seconds):
                return True
        if mark is None:
            return False
        is_lost = number >= LOST_STEPS and mark < LOST_MARK[asked.task]
        return is_lost or asked.target is not None and mark >= asked.target


def train(asked):
    process = Process(asked)
    torch.distributed.barrier()
    diary = Diary(asked.folder) if asked.rank == 0 else None
    for number in range(1, asked.steps + 1):
        process.step(number)
        if process.leave(diary, number):
            break
    sys.stdout.flush()
    os._exit(0)  # Gloo would wait for the others


def serve(address, port):
    listener = socket.create_server((address, port))
    while True:
        end, _ = listener.accept()
        threading.Thread(target=answer, args=(end,), daemon=True).start()


def answer(end):
    """One byte: said again. More: swallowed, and at their end one byte."""
    with end:
        while True:
            got = end.recv(1 << 16)
            if not got:
                break
            if len(got) == 1:
                end.sendall(b".")
        try:
            end.sendall(b".")
        except OSError:
            pass


def probe(asked):
    if asked.listen:
        serve(asked.address, 9999)
    with socket.create_connection((asked.address, 9999)) as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips = []
        for _ in range(10):
            begin = time.perf_counter()
            end.sendall(b"?")
            end.recv(1)
            trips.append(time.perf_counter() - begin)
    with socket.create_connection((asked.address, 9999)) as end:
        begin, count = time.perf_counter(), int(asked.mbit * 125000 * asked.seconds)
        end.sendall(bytes(count))
        end.shutdown(socket.SHUT_WR)
        end.recv(1)
        took = time.perf_counter() - begin
    print(json.dumps({"rtt_ms": round(1000 * sorted(trips)[5], 2),
                      "mbit_per_s": round(count * 8e-6 / took, 2)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("train")
    one.set_defaults(run=train)
    for name in ("task", "rival", "layers", "data", "folder", "address"):
        one.add_argument("--" + name, required=True)
    for name in ("rank", "world", "steps", "every", "local-steps"):
        one.add_argument("--" + name, type=int, required=True)
    one.add_argument("--rate", type=float, required=True)
    one.add_argument("--warmup", type=int, default=1, help="steps in which the rate rises")
    one.add_argument("--own", default="127.0.0.1", help="this machine's address")
    one.add_argument("--first", help="the weights to start from, instead of PyTorch's own")
    one.add_argument("--seconds", type=float, help="end early if the steps will take longer")
    one.add_argument("--steps-per-s", type=float, default=0, help="at most; 0: no limit")
    one.add_argument("--target", type=float, help="with --test: a mark that ends it")
    one.add_argument("--test", action="store_true")
    one = commands.add_parser("probe")
    one.set_defaults(run=probe)
    one.add_argument("--address", required=True)
    one.add_argument("--listen", action="store_true")
    one.add_argument("--mbit", type=float)
    one.add_argument("--seconds", type=float)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
