"""Communication strategies of hearsay's rivals, for tests/bench/against_torch.sh.

A strategy has `net`, the module to train, `every`, the number of steps between two exchanges, and
exchange(), which the trainer calls after each `every` steps.
"""
import datetime

import numpy as np
import torch
import torch.distributed
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector, vector_to_parameters

OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9
ONE_BUCKET_MB = 1000


class Dense:
    """Averages the gradients of all processes in each step: DistributedDataParallel, either plain or
    with the fp16 or PowerSGD hook."""
    every = 1

    def __init__(self, net, asked, _):
        if asked.rival == "powersgd":
            # All parameters must be one bucket if more than two processes use Gloo. With several
            # buckets, processes start their sums in different orders and deadlock.
            torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = ONE_BUCKET_MB << 20
            self.net = DistributedDataParallel(net, bucket_cap_mb=ONE_BUCKET_MB)
        else:
            self.net = DistributedDataParallel(net)
        if asked.rival == "fp16":
            self.net.register_comm_hook(None, default_hooks.fp16_compress_hook)
        elif asked.rival == "powersgd":
            state = power.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
            self.net.register_comm_hook(state, power.powerSGD_hook)

    def exchange(self):
        pass


class Alone:
    """Trains without any communication."""

    def __init__(self, net, asked, _):
        self.net, self.every = net, asked.local_steps

    def exchange(self):
        pass


class Local:
    """Trains `every` local steps, then averages the weights of all processes. A subclass replaces the
    average by another outer step."""

    def __init__(self, net, asked, _):
        self.net, self.every, self.world = net, asked.local_steps, asked.world
        self.shared = parameters_to_vector(net.parameters()).detach().clone()

    def exchange(self):
        down = self.shared - parameters_to_vector(self.net.parameters()).detach()
        self.shared -= self.outer(down)
        vector_to_parameters(self.shared.clone(), self.net.parameters())

    def outer(self, down):
        """Returns the amount to subtract from the shared weights.

        down    the shared weights minus this process's weights"""
        return self.mean(down)

    def mean(self, vector):
        torch.distributed.all_reduce(vector)
        return vector / self.world


class DiLoCo(Local):
    """Takes an outer step with Nesterov momentum along the mean difference (Douillard et al. 2023)."""

    def __init__(self, net, asked, _):
        super().__init__(net, asked, _)
        self.speed = torch.zeros_like(self.shared)

    def outer(self, down):
        down = self.mean(down)
        self.speed.mul_(OUTER_MOMENTUM).add_(down)
        return OUTER_RATE * (down + OUTER_MOMENTUM * self.speed)


class SparseLoCo(Local):
    """Sends the largest 1/32 of each chunk of 4,096 differences, quantized to two bits, and keeps the
    remainder as error feedback (Sarfi et al. 2025, arXiv 2508.15706).

    A message has for each chunk the means of four buckets as float16, then 14 bits per sent entry:
    12 for its index in the chunk and 2 for its bucket."""
    chunk, entry_bits, part, error_decay, buckets, sigmas = 4096, 14, 32, 0.95, 4, 1.5

    def __init__(self, net, asked, _):
        super().__init__(net, asked, _)
        self.error = torch.zeros_like(self.shared)

    def chunks(self):
        for at in range(0, len(self.shared), self.chunk):
            size = min(self.chunk, len(self.shared) - at)
            yield at, size, max(1, round(size / self.part))

    def outer(self, down):
        self.error = self.error_decay * self.error + down
        message = torch.from_numpy(np.concatenate(
            [self.encode(self.error[at:at + size], kept) for at, size, kept in self.chunks()]))
        self.error -= self.decode(message)
        everybody = [torch.empty_like(message) for _ in range(self.world)]
        torch.distributed.all_gather(everybody, message)
        return sum(self.decode(one) for one in everybody) / self.world

    def encode(self, values, kept):
        """Returns the message bytes for the `kept` values of a chunk with the largest magnitude.

        The four buckets are 1.5 standard deviations wide, the third is centred on the mean, and the
        first and the last are unbounded."""
        places = values.abs().topk(kept).indices.numpy()
        chosen = values.numpy()[places]
        width = self.sigmas * (chosen.std(ddof=1) if kept > 1 else 0) or 1
        bucket = np.clip(np.rint((chosen - chosen.mean()) / width) + self.buckets // 2,
                         0, self.buckets - 1).astype(np.int64)
        means = [chosen[bucket == b].mean() if (bucket == b).any() else 0
                 for b in range(self.buckets)]
        words = places * self.buckets + bucket
        bits = (words[:, None] >> np.arange(self.entry_bits)) & 1
        return np.concatenate([np.array(means, "<f2").view(np.uint8),
                               np.packbits(bits.astype(np.uint8), axis=None)])

    def decode(self, message):
        vector, raw, begin = np.zeros(len(self.shared), np.float32), message.numpy(), 0
        for at, _, kept in self.chunks():
            means = raw[begin:begin + 2 * self.buckets].view("<f2").astype(np.float32)
            begin += 2 * self.buckets
            end = begin + (kept * self.entry_bits + 7) // 8
            bits = np.unpackbits(raw[begin:end])[:kept * self.entry_bits]
            words = bits.reshape(kept, -1).astype(np.int64) @ (1 << np.arange(self.entry_bits))
            vector[at + words // self.buckets] = means[words % self.buckets]
            begin = end
        return torch.from_numpy(vector)


class Torchft:
    """Runs torchft's DiLoCo, with its manager, its lighthouse and a quorum for each exchange.

    The rival "streaming" exchanges the model in four fragments. Each fragment's exchange overlaps with
    as many steps as possible, and its result is mixed in with weight 0.5."""
    parts, port, patience = 4, 7780, datetime.timedelta(seconds=300)

    def __init__(self, net, asked, optimizer):
        from torchft import Manager, ProcessGroupGloo
        from torchft.coordination import LighthouseServer
        from torchft.local_sgd import DiLoCo as Outer
        self.net, self.every = net, asked.local_steps
        host, own = asked.address.split(":")[0], asked.own
        if asked.rank == 0:
            self.lighthouse = LighthouseServer(bind=f"{host}:{self.port}", min_replicas=asked.world)
        self.store = torch.distributed.TCPStore(own, 0, is_master=True, wait_for_workers=False)
        self.manager = Manager(
            pg=ProcessGroupGloo(timeout=self.patience), min_replica_size=asked.world,
            load_state_dict=lambda _: None, state_dict=dict, use_async_quorum=False,
            init_sync=False, timeout=self.patience, quorum_timeout=self.patience,
            replica_id=f"rank{asked.rank}", rank=0, world_size=1, hostname=own, store_addr=own,
            store_port=self.store.port, lighthouse_addr=f"http://{host}:{self.port}")
        is_streaming = asked.rival == "streaming"
        parts = self.split(net) if is_streaming else [net]
        outer = [torch.optim.SGD(part.parameters(), lr=OUTER_RATE, momentum=OUTER_MOMENTUM,
                                 nesterov=True) for part in parts]
        self.outer = Outer(self.manager, parts, optimizer, outer, sync_every=self.every,
                           use_bucketization=True,
                           fragment_sync_delay=self.every // self.parts - 1 if is_streaming else 0,
                           fragment_update_alpha=0.5 if is_streaming else 0)
        self.outer.__enter__()  # hooks the optimizer, so that torchft exchanges after its steps

    def split(self, net):
        """Groups neighbouring tensors into parts with about equal numbers of entries."""
        tensors, sizes = list(net.parameters()), np.cumsum([p.numel() for p in net.parameters()])
        ends = np.searchsorted(sizes, sizes[-1] * np.arange(1, self.parts + 1) / self.parts) + 1
        return [torch.nn.ParameterList(tensors[begin:end])
                for begin, end in zip([0, *ends], ends)]

    def exchange(self):
        pass


RIVALS = {"ddp": Dense, "fp16": Dense, "powersgd": Dense, "alone": Alone, "local": Local,
          "diloco": DiLoCo, "sparseloco": SparseLoCo, "torchft": Torchft, "streaming": Torchft}


