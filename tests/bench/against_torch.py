#!/usr/bin/env python3
"""Trains with common PyTorch methods over Gloo, as rivals of hearsay. tests/bench/against_torch.sh runs it.

  train    runs one process of a rival. The process of rank 0 writes to FOLDER: a line per exchange, and
           the model after an exchange if --every steps have passed since the last saved model
  probe    measures round trip and speed of TCP between the machines of the test network

The model is built from hearsay's own line of layers, and starts from hearsay's initial weights. The
clock starts when all processes have connected. With --test the run measures no time: instead of saving
the model, all processes evaluate it together and rank 0 writes its mark (against_torch_tasks.py).
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

# The first exchanges are slower and left out: buckets are allocated, and PowerSGD sends all entries.
WARM_ROUNDS = 3
PATIENCE_S = 20  # time to measure the pace before a run may be ended as too slow
SILENCE_S = 300  # Gloo's timeout
# A run whose mark is still lower after this many steps has diverged.
LOST_STEPS, LOST_MARK = 300, {"images": 0.2, "language": -3.5}


class Diary:
    """The file in which rank 0 records the exchanges of a run."""

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
        """Returns whether the run will exceed `seconds` (0: no limit) with this many more rounds. Returns False
        until the pace was measured for PATIENCE_S seconds."""
        times, warm = self.times, WARM_ROUNDS
        if not seconds or len(times) < warm + 2 or times[-1] - times[warm - 1] < PATIENCE_S:
            return False
        pace = (times[-1] - times[warm - 1]) / (len(times) - warm)
        return times[-1] + pace * rounds > seconds


class Pace:
    """Simulates a machine that computes at most `steps_per_s` steps a second; 0: no limit.

    hold() returns when that machine would have finished the step. An exchange before hold() overlaps
    with the computation, and an exchange after it adds to the time."""

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
        self.has_hook = hasattr(self.optimizer, "register_step_post_hook")  # since PyTorch 2
        if self.has_hook:  # registered first, so that hold() runs before torchft's exchange
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
        """Returns the mark of the model; each process evaluates a part of the test set."""
        total, count = self.task.marks(self.net, self.asked.rank, self.asked.world)
        both = torch.tensor([total, count], dtype=torch.float64)
        torch.distributed.all_reduce(both)
        return float(both[0] / both[1])

    def leave(self, diary, number):
        """Records step `number` in the diary, with a model or mark if one is due. Returns True if the
        run ends here: too slow, diverged, or target reached."""
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
    os._exit(0)  # a normal exit would make Gloo wait for the other processes


def serve(address, port):
    """Answers the connections of `probe` until the process is killed."""
    listener = socket.create_server((address, port))
    while True:
        end, _ = listener.accept()
        threading.Thread(target=answer, args=(end,), daemon=True).start()


def answer(end):
    """Answers each single byte with one byte. Reads longer data to their end, then sends one byte."""
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
    """Prints the median round trip and the speed of a transfer to --address as JSON. With --listen, answers
    such probes instead."""
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
    one.add_argument("--warmup", type=int, default=1, help="steps of linear warmup")
    one.add_argument("--own", default="127.0.0.1", help="this machine's address")
    one.add_argument("--first", help="file of initial weights (random ones)")
    one.add_argument("--seconds", type=float, help="end the run early if it will take longer")
    one.add_argument("--steps-per-s", type=float, default=0, help="highest speed; 0: no limit")
    one.add_argument("--target", type=float, help="with --test: end the run at this mark")
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
