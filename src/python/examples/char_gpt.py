"""Trains a small GPT on the bytes of a text, as a node of a swarm.

    python -m hearsay.local --nodes 2 char_gpt.py --text corpus.txt

The learning rate follows the samples of the whole swarm, so a late joiner uses the same rate as the
other nodes.
"""

import argparse
import gzip
import math
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

import hearsay
from hearsay.local import shard


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, 2))  # fmt: skip
        scores = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)
        past = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        mixed = scores.masked_fill(~past, -math.inf).softmax(3) @ v
        x = x + self.project(mixed.transpose(1, 2).reshape(n, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class CharGPT(nn.Module):
    def __init__(self, layers, width, heads, context):
        super().__init__()
        self.context = context
        self.token, self.place = nn.Embedding(256, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256, bias=False)
        self.head.weight = self.token.weight  # tied
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                last = name.endswith(("project.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * layers) if last else 0.02)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.norm(self.blocks(x)))

    def loss(self, tokens):
        return F.cross_entropy(self(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def read(path):
    """Returns the bytes of a file, plain or gzip, as a uint8 tensor."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8)


def draw(text, count, context, generator):
    """Returns random pieces of the text: int64 [count, context + 1]."""
    first = torch.randint(len(text) - context - 1, (count,), generator=generator)
    return torch.stack([text[i : i + context + 1] for i in first.tolist()]).long()


@torch.no_grad()
def validate(model, text, batches=50):
    """Returns the mean loss, in nats per byte, of the same random pieces in every call."""
    generator = torch.Generator().manual_seed(7)
    losses = [model.loss(draw(text, 32, model.context, generator)).item() for _ in range(batches)]
    return sum(losses) / len(losses)


def rate(samples, options):
    """Returns the learning rate after this many samples of the swarm: a linear warmup, then a cosine
    from options.rate to a tenth of it."""
    warmup = options.samples / 20
    if samples < warmup:
        return options.rate * (samples + options.batch) / (warmup + options.batch)
    part = min((samples - warmup) / (options.samples - warmup), 1)
    return options.rate * (0.55 + 0.45 * math.cos(math.pi * part))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", type=pathlib.Path, default="/usr/share/dictd/gcide.dict.dz")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.004)
    parser.add_argument("--samples", type=int, default=32000, help="sequences that the swarm trains on")
    parser.add_argument("--seed", type=int, default=1, help="seed of this node's random sequences")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if not options.text.exists():
        parser.error(
            f"{options.text} does not exist: apt install dict-gcide, or --text FILE (plain or gzip)"
        )
    return options


def main():
    options = arguments()
    torch.set_num_threads(1)
    text = read(options.text)
    train, valid = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]
    torch.manual_seed(1)  # the same initial weights on all nodes
    model = CharGPT(options.layers, options.width, options.heads, options.context).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.1)
    generator = torch.Generator().manual_seed(1000 * options.seed + shard()[0])
    with hearsay.Node(model, optimizer) as node:
        steps = 0
        while node.swarm_samples < options.samples:
            node.set_rate(rate(node.swarm_samples, options))
            tokens = draw(train, options.batch, options.context, generator).to(options.device)
            loss = model.loss(tokens)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            node.count(len(tokens), loss)
            steps += 1
            if steps % 100 == 0:
                nodes = node.info().members
                print(f"{node.swarm_samples:7} sequences, loss {loss.item():.3f}, {nodes} nodes")
        node.finish(60)
        shared = CharGPT(options.layers, options.width, options.heads, options.context)
        shared.load_state_dict(node.state_dict())
    print(f"validation {validate(shared, valid):.4f} nats per byte")


if __name__ == "__main__":
    main()
