"""Trains the GPT of src/python/examples/char_gpt.py on several machines, with hearsay's package and with
rivals. tests/bench/bench_package.sh runs it.

  worker   runs one process: hearsay's package, DistributedDataParallel, DiLoCo, or one process with all
           data
  judge    prints the loss of the models that a run saved, on held-out text, and the bytes that each
           port sent

All strategies except `alone` have the same limit of steps a second. All have one learning-rate schedule
over the samples of all processes. The first process saves the shared model every --leave-s seconds, and
writes the time since its start and the samples of all processes.
"""
import argparse
import json
import os
import pathlib
import sys
import time
import types

import numpy as np
import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector, vector_to_parameters

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src/python/examples")]
import char_gpt  # noqa: E402
from against_torch_rivals import DiLoCo  # noqa: E402

LAYERS, WIDTH, HEADS, CONTEXT = 3, 96, 4, 64
DECAY, CLIP, BETAS = 0.1, 1.0, (0.9, 0.95)


def build():
    torch.manual_seed(1)
    return char_gpt.CharGPT(LAYERS, WIDTH, HEADS, CONTEXT)


def load(folder):
    return {part: torch.from_numpy(np.fromfile(f"{folder}/{part}", np.uint8)) for part in ("train", "valid")}


class Hearsay:
    """A node of hearsay's package: steps wait for no other node, and swarm_samples counts all samples."""

    def __init__(self, net, optimizer, asked):
        import hearsay
        self.net, self.asked = net, asked
        self.node = hearsay.Node(net, optimizer, config=f"{asked.folder}/{asked.number}/node.conf")
        self.node.join()

    def samples(self):
        return self.node.swarm_samples

    def stepped(self, count, loss):
        self.node.count(count, loss)

    def shared(self):
        """Returns the shared model as one vector, in the order of the parameters."""
        state = self.node.state_dict()
        return torch.cat([state[name].reshape(-1) for name, _ in self.net.named_parameters()])

    def end(self):
        """Waits until all processes of --at-end have written the same digest. Returns the digest and the
        bytes that this node sent."""
        folder = pathlib.Path(self.asked.folder)
        while True:
            self.node.settle()
            (folder / f"digest{self.asked.number}.new").write_text(f"{self.node.info().digest:016x}")
            (folder / f"digest{self.asked.number}.new").rename(folder / f"digest{self.asked.number}")
            paths = [folder / f"digest{number}" for number in self.asked.at_end.split()]
            digests = {path.read_text() for path in paths if path.exists()}
            if len(digests) == 1 and all(path.exists() for path in paths):
                return {"digest": digests.pop(), "sent": self.node.info().sent_bytes}


class Gloo:
    """A process of a synchronous strategy over Gloo: all processes make the same number of steps."""

    def __init__(self, asked):
        self.asked, self.steps = asked, 0
        torch.distributed.init_process_group(
            "gloo", init_method=f"tcp://{asked.address}", rank=asked.number - 1, world_size=asked.world)

    def samples(self):
        return self.steps * self.asked.batch * self.asked.world

    def end(self):
        return {}


class Ddp(Gloo):
    def __init__(self, net, optimizer, asked):
        super().__init__(asked)
        self.plain, self.net = net, DistributedDataParallel(net)

    def stepped(self, *_):
        self.steps += 1

    def shared(self):
        return parameters_to_vector(self.plain.parameters()).detach()


class Diloco(Gloo):
    def __init__(self, net, optimizer, asked):
        super().__init__(asked)
        self.net = net
        self.outer = DiLoCo(net, types.SimpleNamespace(local_steps=asked.every, world=asked.world), optimizer)

    def stepped(self, *_):
        self.steps += 1
        if self.steps % self.asked.every == 0:
            self.outer.exchange()

    def shared(self):
        return self.outer.shared


class Alone:
    """One process that trains on as many samples as all processes of the other strategies together."""

    def __init__(self, net, optimizer, asked):
        self.net, self.count = net, 0

    def samples(self):
        return self.count

    def stepped(self, count, _):
        self.count += count

    def shared(self):
        return parameters_to_vector(self.net.parameters()).detach()

    def end(self):
        return {}


STRATEGIES = {"hearsay": Hearsay, "ddp": Ddp, "diloco": Diloco, "alone": Alone}


def worker(asked):
    torch.set_num_threads(1)
    text = load(asked.data)["train"]
    net = build()
    optimizer = torch.optim.AdamW(net.parameters(), lr=asked.rate, betas=BETAS, weight_decay=DECAY)
    random = torch.Generator().manual_seed(100 + asked.number)
    strategy = STRATEGIES[asked.strategy](net, optimizer, asked)
    begin = due = time.time()
    left = -1.0
    diary = open(f"{asked.folder}/diary{asked.number}.jsonl", "w", encoding="ascii")
    steps = 0

    def leave(**more):
        line = {"t": time.time() - begin, "steps": steps, "samples": strategy.samples(), **more}
        if asked.number == 1:
            line["file"] = f"{steps}.npy"
            np.save(f"{asked.folder}/{steps}.npy", strategy.shared().numpy())
        diary.write(json.dumps(line) + "\n")
        diary.flush()

    while strategy.samples() < asked.samples and time.time() - begin < asked.seconds:
        due = max(due + 1 / asked.steps_per_s, time.time() - 1) if asked.steps_per_s else time.time()
        for group in optimizer.param_groups:
            group["lr"] = char_gpt.rate(strategy.samples(), asked)
        tokens = char_gpt.draw(text, asked.batch, CONTEXT, random)
        optimizer.zero_grad()
        inner = strategy.net
        loss = torch.nn.functional.cross_entropy(inner(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        optimizer.step()
        time.sleep(max(0, due - time.time()))  # simulates a machine of --steps-per-s
        steps += 1
        strategy.stepped(len(tokens), loss.detach())
        if time.time() - begin - left >= asked.leave_s:
            left = time.time() - begin
            leave()
    leave(end=strategy.end())
    sys.stdout.flush()
    os._exit(0)


def judge(asked):
    valid = load(asked.data)["valid"]
    at = torch.arange(0, len(valid) - CONTEXT - 1, CONTEXT * 8)
    windows = torch.stack([valid[i:i + CONTEXT + 1] for i in at.tolist()]).long()
    net = build().eval()
    for text in open(f"{asked.folder}/diary1.jsonl", encoding="ascii"):
        line = json.loads(text)
        vector_to_parameters(torch.from_numpy(np.load(f"{asked.folder}/{line.pop('file')}")), net.parameters())
        with torch.no_grad():
            losses = [net.loss(part).item() * len(part) for part in windows.split(64)]
        print(json.dumps({**line, "loss": round(sum(losses) / len(windows), 4)}), flush=True)
    ports = [{port["ifname"]: port["stats64"]["rx"]["bytes"] for port in json.loads(text)["ports"]}
             for text in open(f"{asked.folder}/links.jsonl", encoding="ascii")]
    print(json.dumps({"sent": {name: last - ports[0][name] for name, last in ports[-1].items()}}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("worker")
    one.set_defaults(run=worker)
    one.add_argument("--strategy", choices=STRATEGIES, required=True)
    for name in ("folder", "data"):
        one.add_argument("--" + name, required=True)
    one.add_argument("--address", help="address of the first process, for Gloo")
    one.add_argument("--at-end", default="", help="numbers of the processes that run until the end")
    for name, value in (("number", 1), ("world", 1), ("batch", 8), ("every", 50), ("samples", 64000)):
        one.add_argument("--" + name, type=int, default=value)
    for name, value in (("rate", 0.004), ("steps-per-s", 0.0), ("seconds", 1e9), ("leave-s", 10.0)):
        one.add_argument("--" + name, type=float, default=value)
    one = commands.add_parser("judge")
    one.set_defaults(run=judge)
    one.add_argument("--folder", required=True)
    one.add_argument("--data", required=True)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
