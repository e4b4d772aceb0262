"""Several processes that are one node: torch.distributed trains one model on the GPUs of a machine.

    rank 0        has the node; it reports the samples of all ranks, and applies received updates
    other ranks   have no node; they copy rank 0's weights after each call that moved them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed


class Ranks:
    """Collective calls of one process group: all ranks must make the same calls in the same order."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self._source = torch.distributed.get_global_rank(group, 0) if group is not None else 0
        self.is_first = torch.distributed.get_rank(group) == 0

    def total(self, device: torch.device, samples: int, loss: float) -> tuple[int, float]:
        """Returns the number of samples of all ranks, and the mean loss of these samples."""
        sums = torch.tensor([samples, loss * samples], dtype=torch.float64, device=device)
        torch.distributed.all_reduce(sums, group=self._group)
        total, loss_sum = sums.tolist()
        return int(total), loss_sum / total if total else 0.0

    def tell(self, device: torch.device, value: int) -> int:
        """Returns rank 0's `value` on all ranks."""
        number = torch.tensor([value], dtype=torch.int64, device=device)
        torch.distributed.broadcast(number, self._source, group=self._group)
        return int(number.item())

    def share(self, kept: bytes) -> bytes:
        """Returns rank 0's bytes on all ranks."""
        objects = [kept]
        torch.distributed.broadcast_object_list(objects, self._source, group=self._group)
        return objects[0]

    def follow(self, tensors: Sequence[torch.Tensor]) -> None:
        """Fills these tensors on all ranks with rank 0's numbers."""
        for tensor in tensors:
            target = tensor.detach()
            dense = target.contiguous()
            torch.distributed.broadcast(dense, self._source, group=self._group)
            if dense.data_ptr() != target.data_ptr():
                target.copy_(dense)


def unwrap(model: torch.nn.Module) -> tuple[torch.nn.Module, Ranks | None]:
    """Returns the model inside PyTorch's wrappers (torch.compile, DistributedDataParallel), and the
    ranks that train it together; None if one process trains it."""
    ranks = None
    inner: Any = model
    while True:
        if isinstance(inner, torch.nn.parallel.DistributedDataParallel):
            ranks, inner = Ranks(inner.process_group), inner.module
        elif hasattr(inner, "_orig_mod"):
            inner = inner._orig_mod
        else:
            return inner, ranks
