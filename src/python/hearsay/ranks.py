"""Several processes that are one node: GPUs of one machine, which torch.distributed keeps alike.

    rank 0   the node; hears what all ranks learned, tells them what came
    others   no node; the weights of rank 0 after each call that moved them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed


class Ranks:
    """All ranks make each of these calls, in one order."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self._source = torch.distributed.get_global_rank(group, 0) if group is not None else 0
        self.is_first = torch.distributed.get_rank(group) == 0

    def total(self, device: torch.device, samples: int, loss: float) -> tuple[int, float]:
        """The samples of all, and their mean loss."""
        sums = torch.tensor([samples, loss * samples], dtype=torch.float64, device=device)
        torch.distributed.all_reduce(sums, group=self._group)
        total, loss_sum = sums.tolist()
        return int(total), loss_sum / total if total else 0.0

    def tell(self, device: torch.device, value: int) -> int:
        """What rank 0 says."""
        told = torch.tensor([value], dtype=torch.int64, device=device)
        torch.distributed.broadcast(told, self._source, group=self._group)
        return int(told.item())

    def share(self, kept: bytes) -> bytes:
        """The bytes of rank 0."""
        told = [kept]
        torch.distributed.broadcast_object_list(told, self._source, group=self._group)
        return told[0]

    def follow(self, tensors: Sequence[torch.Tensor]) -> None:
        """All have these of rank 0."""
        for tensor in tensors:
            ours = tensor.detach()
            dense = ours.contiguous()
            torch.distributed.broadcast(dense, self._source, group=self._group)
            if dense.data_ptr() != ours.data_ptr():
                ours.copy_(dense)


def unwrap(model: torch.nn.Module) -> tuple[torch.nn.Module, Ranks | None]:
    """The model in a wrapper of PyTorch's (compiled, DistributedDataParallel), and the ranks that
    train it as one; None: it is one process's."""
    ranks = None
    inner: Any = model
    while True:
        if isinstance(inner, torch.nn.parallel.DistributedDataParallel):
            ranks, inner = Ranks(inner.process_group), inner.module
        elif hasattr(inner, "_orig_mod"):
            inner = inner._orig_mod
        else:
            return inner, ranks
