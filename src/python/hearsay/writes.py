"""Whose writes are in the weights: an optimizer's, the node's, or somebody else's.

    optimizer step, node  ─► accept: the versions of the weights as they are now
    any other write       ─► a version has moved on: `foreign` names the weight

PyTorch counts the writes to each tensor (`_version`), so nothing is copied or compared. A script
that loads the weights of its best epoch, or swaps in averaged ones, has made no progress that the
swarm should learn: where the node would publish them as it settles, saves or leaves, the shared
model takes their place for as long as that lasts.

Weights of another optimizer than the node's are not watched, and neither are the statistics of batch
norms: the one is stepped, the others are written in each pass.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import torch

from hearsay.handle import Handle
from hearsay.shared import Shared

log = logging.getLogger("hearsay")


class Writes:
    """The weights that an optimizer steps, of those that are shared."""

    def __init__(self, shared: Shared, optimizer: torch.optim.Optimizer | None) -> None:
        groups = optimizer.param_groups if optimizer is not None else []
        stepped = {id(parameter) for group in groups for parameter in group["params"]}
        self._shared = shared
        self._weights = [(n, t) for n, t in shared.tensors.items() if id(t) in stepped]
        self._versions: list[int] | None = None  # None: nothing was accepted yet
        self._found: str | None = None  # by aside, which writes as well
        self._has_warned = False

    def accept(self) -> None:
        """All that was written so far counts."""
        self._versions = [tensor._version for _, tensor in self._weights]
        self._found = None

    @property
    def foreign(self) -> str | None:
        """The first weight that was written to since by somebody else."""
        if self._found is not None or self._versions is None:
            return self._found
        for (name, tensor), version in zip(self._weights, self._versions):
            if tensor._version != version:
                return name
        return None

    @property
    def are_foreign(self) -> bool:
        return self.foreign is not None

    def warn(self) -> None:
        """Once, if there is a foreign write."""
        name = self.foreign if not self._has_warned else None
        if name is None:
            return
        self._has_warned = True
        log.warning(
            "%s was changed by something else than the optimizer's step: the shared model takes that in "
            "with the next step; it leaves it out if the node settles, saves or is closed before, "
            "unless the script calls adopt()",
            name,
        )

    @contextlib.contextmanager
    @torch.no_grad()
    def aside(self, handle: Handle | None) -> Iterator[None]:
        """While this lasts, the shared model takes the place of foreign weights. What this node had
        learned since its last publication goes with them. Else the node's writes are accepted."""
        name = self.foreign
        if name is None or handle is None:
            try:
                yield  # the node may write
            finally:
                self.accept()
            return
        self.warn()
        self._found = name
        kept = {each: tensor.detach().clone() for each, tensor in self._shared.tensors.items()}
        try:
            handle.revert()
            yield
        finally:
            for each, tensor in self._shared.tensors.items():
                tensor.copy_(kept[each])
