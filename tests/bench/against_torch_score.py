#!/usr/bin/env python3
"""Evaluates the models of hearsay and its rivals with one program, for tests/bench/against_torch.sh.

  score    prints a JSON line about a run: marks (against_torch_tasks.py), bytes and samples over time,
           from the models and the counters in its folder
  table    prints a table of all such lines, and plots one of the network settings
"""
import argparse
import calendar
import json
import os
import subprocess
import time

import numpy as np
import torch
from torch.nn.utils import vector_to_parameters

from against_torch import WARM_ROUNDS
from against_torch_tasks import TASKS, read_vector

MBIT_BYTES = 125000


def read_lines(path):
    """Returns the complete JSON lines of a file; no lines if there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


class Rival:
    """A run of PyTorch processes: the exchanges and models that rank 0 recorded."""

    def __init__(self, asked):
        lines = read_lines(f"{asked.folder}/rounds.jsonl")
        self.asked, self.start = asked, lines[0]["start"]
        self.rounds = [line for line in lines if "steps" in line]
        self.last = self.rounds[-1]
        self.seconds = self.last["t"]
        self.per_step = TASKS[asked.task].batch * asked.world

    def models(self):
        for line in self.rounds:
            if "file" in line:
                yield line["t"], torch.from_numpy(np.load(f"{self.asked.folder}/{line['file']}"))

    def samples(self, t):
        times = [0] + [line["t"] for line in self.rounds]
        return np.interp(t, times, [0] + [line["steps"] for line in self.rounds]) * self.per_step

    def seconds_per_step(self):
        """Returns the mean time of a step, without the warm-up rounds if the run was longer."""
        warm = WARM_ROUNDS if self.rounds[0]["steps"] == 1 else 1
        first = self.rounds[warm - 1] if len(self.rounds) > warm else {"t": 0, "steps": 0}
        return (self.last["t"] - first["t"]) / (self.last["steps"] - first["steps"])

    def about(self):
        return {"steps": self.last["steps"], "step_s": round(self.seconds_per_step(), 4)}

    def reach(self, reached, bytes_sent):
        """Extrapolates targets that the run did not reach: the time and bytes for the steps that the
        same rival needed in the run on a free network (--steps-to)."""
        for i, steps in enumerate(json.loads(self.asked.steps_to or "[]")):
            if reached[i] is None and steps is not None:
                more = steps - self.last["steps"]
                reached[i] = {
                    "s": round(self.seconds + self.seconds_per_step() * more, 1),
                    "samples": steps * self.per_step,
                    "bytes": round(bytes_sent * steps / self.last["steps"]),
                    "how": "extrapolated"}


def wall(line):
    """Returns the time of a line of a daemon's log, in seconds since 1970."""
    whole, part = line["time"].rstrip("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + part)


class Hearsay:
    """A run of daemons: their logs, and the models that the first daemon saved."""

    def __init__(self, asked):
        self.asked = asked
        self.logs = [read_lines(f"{asked.folder}/node{i + 1}.log") for i in range(asked.world)]
        begin = [next(wall(line) for line in log if line["note"] == "started") for log in self.logs]
        self.start = min(begin)
        self.lines = [[line for line in log if line["note"] == "status"] for log in self.logs]
        self.last = [lines[-1] for lines in self.lines]
        self.seconds = min(wall(line) for line in self.last) - self.start
        self.learned = [([at] + [wall(line) for line in lines],
                         [0] + [line["samples"] for line in lines])
                        for at, lines in zip(begin, self.lines)]

    def models(self):
        folder = f"{self.asked.folder}/models"
        files = [f"{folder}/{name}" for name in os.listdir(folder)]
        for when, file in sorted((os.stat(file).st_mtime, file) for file in files):
            yield when - self.start, read_vector(file)

    def samples(self, t):
        return sum(np.interp(self.start + t, times, counts) for times, counts in self.learned)

    def about(self):
        final = [line for log in self.logs for line in log if line["note"] == "final"]

        def total(key):
            return sum(line[key] for line in self.last)

        return {"rumors_published": total("rumors_published"), "rumors_received": total("rumors_received"),
                "duplicates": total("duplicates"), "rumor_bytes_published": total("rumor_bytes_published"),
                "told_bytes_per_s": round(total("rumor_bytes_published") / self.asked.world / self.seconds),
                "digests": len({line["base_digest"] for line in final})}

    def reach(self, reached, bytes_sent):
        pass  # a run of hearsay is never ended early, so a missed target stays missed


class Links:
    """Bytes that the ports of the switch carried from the nodes ("rx") and to them ("tx")."""

    def __init__(self, asked, start):
        rows = read_lines(f"{asked.folder}/links.jsonl")
        # Bytes a second that the links of all nodes can carry, and the times of the counters.
        self.capacity, self.at = asked.mbit * MBIT_BYTES * asked.world, [r["at"] - start for r in rows]
        self.bytes = {way: [sum(port["stats64"][way]["bytes"] for port in row["ports"])
                            for row in rows] for way in ("rx", "tx")}

    def carried(self, t, way="rx"):
        before, then = np.interp([0, t], self.at, self.bytes[way])
        return float(then - before)

    def use(self, t):
        """Returns the utilization of all links up to time t, from 0 to 1: "up" and "down"."""
        return {name: round(self.carried(t, way) / self.capacity / t, 3)
                for name, way in (("up", "rx"), ("down", "tx"))}


class Judge:
    def __init__(self, asked):
        torch.set_num_threads(asked.threads)
        self.task = TASKS[asked.task](asked)
        self.net = self.task.build()

    def mark(self, vector):
        vector_to_parameters(vector, self.net.parameters())
        total, count = self.task.marks(self.net)
        return round(total / count, 5)


def follow(run, links, judge, targets):
    """Evaluates the models of a run in order, until all targets are reached.

    Returns a row of seconds, samples, bytes and mark per model, and for each target the point at which
    it was reached; None if it was not."""
    rows, reached = [], [None for _ in targets]
    for t, vector in run.models():
        row = [round(t, 2), round(run.samples(t)), round(links.carried(t)), judge.mark(vector)]
        rows.append(row)
        for i, target in enumerate(targets):
            if row[3] >= target and reached[i] is None:
                reached[i] = {"s": row[0], "samples": row[1], "bytes": row[2], "how": "measured"}
        if all(reached):
            break
    return rows, reached


def score(asked):
    run = Hearsay(asked) if asked.contestant == "hearsay" else Rival(asked)
    links = Links(asked, run.start)
    targets = json.loads(asked.targets)
    rows, reached = follow(run, links, Judge(asked), targets)
    run.reach(reached, links.carried(run.seconds))
    said = {"contestant": asked.contestant, "model": asked.model, "point": asked.point,
            "rate": asked.rate, "settings": asked.settings, "seconds": round(run.seconds, 1),
            "samples_per_s": round(run.samples(run.seconds) / run.seconds, 1),
            "use": links.use(run.seconds), "load_before": asked.load}
    said |= run.about()
    said |= {"targets": targets, "best": max((row[3] for row in rows), default=None),
             "reached": reached, "rows": rows}
    print(json.dumps(said))


def told_time(found, shift=0):
    if not found:
        return "-"
    return f"{max(found['s'] - shift, 0):,.0f} s" + ("*" if found["how"] == "extrapolated" else "")


def told_mark(mark):
    """Returns the mark as text: an accuracy in percent, or the loss."""
    return "-" if mark is None else f"{100 * mark:.1f} %" if mark > 0 else f"{-mark:.3f}"


def table_row(said, speed):
    soon, late = said["reached"]
    shift = 0
    if late and said["contestant"] != "hearsay" and speed:
        shift = late["samples"] * (1 / speed["torch"] - 1 / speed["hearsay"])
    return (said["contestant"], said["rate"], told_time(soon), told_time(late),
            told_time(late, shift), f"{late['bytes'] / 1e6:,.1f} MB" if late else "-",
            f"{late['samples']:,}" if late else "-", f"{said['samples_per_s']:,.0f}",
            f"{100 * said['use']['up']:.1f} %", told_mark(said["best"]))


HEAD = ("", "rate", "soon", "late", "equal speed", "sent", "samples", "per s", "link", "best")


def read_speed(folder, model):
    """Returns {"hearsay": …, "torch": …}: the samples/s of each program without communication, summed over
    four processes. Returns None if there was no measurement, because all runs had the same speed limit."""
    path = f"{folder}/speed-{model}.json"
    if not os.path.exists(path):
        return None
    with open(path, encoding="ascii") as file:
        return json.load(file)


def print_table(runs, folder):
    for model, point in dict.fromkeys((run["model"], run["point"]) for run in runs):
        here = [run for run in runs if (run["model"], run["point"]) == (model, point)]
        speed = read_speed(folder, model)
        mbit, ms = point.split("/")
        alone = (f"samples/s of four processes without communication: hearsay {speed['hearsay']:,.0f}, "
                 f"PyTorch {speed['torch']:,.0f}" if speed else "all limited to the same speed")
        print(f"\n{model}, {mbit} Mbit/s, {ms} ms one way; {alone}; PyTorch {torch.__version__}; "
              f"soon: {told_mark(here[0]['targets'][0])}, late: {told_mark(here[0]['targets'][1])}")
        for row in [HEAD] + [table_row(run, speed) for run in here]:
            print(f"{row[0]:14}" + "".join(f"{cell!s:>12}" for cell in row[1:]))
    print("\nsoon, late: time until the mark was reached. equal speed: time until late if all computed as"
          "\nfast as hearsay. sent, samples: of all nodes, until late. link: utilization of the uplinks."
          "\nbest: best measured mark, until late. *: extrapolated from the time of a step in this run and"
          "\nthe number of steps on a free network.")


def plot(runs, asked):
    """Writes marks-MODEL.svg, the marks of all runs over time for one network setting (--point), and
    its data, marks-MODEL.csv."""
    for model in dict.fromkeys(run["model"] for run in runs):
        shown = [run for run in runs if run["model"] == model and run["point"] == asked.point
                 and run["rows"]]
        if not shown:
            continue
        is_loss = shown[0]["targets"][0] < 0
        name, sign = ("loss", -1) if is_loss else ("accuracy", 1)
        path = f"{asked.folder}/marks-{model}"
        with open(path + ".csv", "w", encoding="ascii") as file:
            print(f"contestant,at_s,{name}", file=file)
            for run in shown:
                for row in run["rows"]:
                    print(f"{run['contestant']},{row[0]},{sign * row[3]}", file=file)
        subprocess.run([asked.hearsay, "plot", path + ".csv", "--what", name, "--out", path + ".svg",
                        "--title", f"{model}, {asked.point} (Mbit/s / ms one way)",
                        "--range", "1.6:2.8" if is_loss else "0.7:0.92"], check=True)


def table(asked):
    runs = read_lines(f"{asked.folder}/results.jsonl")
    print_table(runs, asked.folder)
    plot(runs, asked)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("score")
    one.set_defaults(run=score)
    for name in ("task", "contestant", "model", "layers", "data", "first", "folder", "point",
                 "targets"):
        one.add_argument("--" + name, required=True)
    one.add_argument("--settings", default="")
    one.add_argument("--steps-to", help="JSON list: steps until each target in the run on a free network")
    for name in ("mbit", "rate", "load"):
        one.add_argument("--" + name, type=float, required=True)
    for name in ("world", "threads"):
        one.add_argument("--" + name, type=int, required=True)
    one = commands.add_parser("table")
    one.set_defaults(run=table)
    for name in ("folder", "point", "hearsay"):
        one.add_argument("--" + name, required=True)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
