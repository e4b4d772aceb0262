"""Foreign writes: changes of the weights that neither the optimizer nor the node made.

    optimizer's step, the node  ─► accept() records the version of each weight
    any other write             ─► a version has moved on; `foreign` names that weight

PyTorch counts the writes to each tensor (`_version`), except those through `.data` and `.numpy()`. So
accept() also keeps the first numbers of the first and the last weight. Calls of the node other than
a step compare them, and so does a step after every weight was written. A script that loads the weights of its best epoch, or swaps in averaged weights, has made
no progress that the swarm should learn. So in settle, finish, state_dict, save and close, the shared
model replaces foreign weights in the model.

The updates of other nodes move the shared model during such a call, and the foreign weights lack that
movement. The next step adds it to the weights, whatever the script has written by then. Otherwise a
script that restores its own weights after the call would publish the others' updates with a minus
sign.

Only the weights of the node's optimizer are watched: other optimizers step theirs, and each forward
pass writes the statistics of batch norms.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import torch

from hearsay.handle import Handle
from hearsay.shared import Shared

log = logging.getLogger("hearsay")

_SAMPLED = 8  # numbers kept of a weight, to find writes that PyTorch does not count


def _first_numbers(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a view of a tensor's first numbers along its last dimension."""
    row = tensor.detach()
    while row.dim() > 1:
        row = row[0]
    return row.reshape(-1)[:_SAMPLED]


class Writes:
    """The shared weights that the node's optimizer steps, and the writes to them."""

    def __init__(self, shared: Shared, optimizer: torch.optim.Optimizer | None) -> None:
        groups = optimizer.param_groups if optimizer is not None else []
        stepped = {id(parameter) for group in groups for parameter in group["params"]}
        self._shared = shared
        self._weights = [(n, t) for n, t in shared.tensors.items() if id(t) in stepped]
        self._versions: list[int] | None = None  # None before the first accept()
        ends = [self._weights[0], self._weights[-1]] if self._weights else []
        # The first and the last weight: name, tensor, and a view of its first numbers.
        self._ends = [(name, tensor, _first_numbers(tensor)) for name, tensor in ends]
        self._sampled: list[torch.Tensor] = []  # those numbers at the last accept()
        self._found: str | None = None  # foreign weight that aside() found; its own writes hide it
        self._missed: dict[str, torch.Tensor] = {}  # movement of the shared model that weights lack
        self._has_warned = False  # warned, or training has ended: no step publishes foreign writes
        self._is_stepping = False  # the optimizer's step has begun, and accept() was not called since

    def accept(self) -> None:
        """Counts everything written so far as progress."""
        self._versions = [tensor._version for _, tensor in self._weights]
        if any(view.data_ptr() != tensor.data_ptr() for _, tensor, view in self._ends):
            # the script has given a weight other memory
            self._ends = [(name, tensor, _first_numbers(tensor)) for name, tensor, _ in self._ends]
        self._sampled = [view.clone() for _, _, view in self._ends]
        self._found = None
        self._is_stepping = False

    def begin_step(self) -> None:
        """Warns of a foreign write, once per node, because the step publishes it. Writes from now on
        are the optimizer's, even if Ctrl+C interrupts its step."""
        name = self.foreign if not self._has_warned else None
        if name is not None and not self._are_restored():
            self._has_warned = True
            log.warning(
                "%s was changed by something else than the optimizer's step: this step publishes the "
                "change; settle, save and close leave it out unless the script calls adopt()",
                name,
            )
        self._is_stepping = True

    def _are_restored(self) -> bool:
        """Whether each weight was written since the last accept(), and the kept numbers are the same:
        the script has swapped other weights in and out again."""
        versions = zip(self._weights, self._versions or [])
        return all(tensor._version != version for (_, tensor), version in versions) and not self._uncounted()

    def adopt(self) -> None:
        """Counts everything written so far as progress, exactly as it is: the script chose these
        values, so no movement of the shared model is added to them."""
        self.accept()
        self._missed = {}

    @property
    def foreign(self) -> str | None:
        """The first weight with a foreign write since the last accept(); None if there is none."""
        if self._found is not None or self._versions is None or self._is_stepping:
            return self._found
        for (name, tensor), version in zip(self._weights, self._versions):
            if tensor._version != version:
                return name
        return None

    def _uncounted(self) -> str | None:
        """The first or the last weight, if its first numbers have changed; None if neither has."""
        for (name, tensor, _), before in zip(self._ends, self._sampled):
            if self._is_stepping:
                return None
            now = _first_numbers(tensor)
            if not bool(((now == before) | (now != now)).all()):  # a NaN is not equal to itself
                return name
        return None

    @property
    def are_foreign(self) -> bool:
        return self.foreign is not None

    def end(self) -> None:
        """Ends the warnings, because training has ended: no step publishes later writes."""
        self._has_warned = True

    @torch.no_grad()
    def catch_up(self) -> None:
        """Adds to the weights the movement of the shared model that they lack. Call it before the
        node reads the weights as progress."""
        for name, missed in self._missed.items():
            self._shared.move(name, missed)
        self._missed = {}

    @contextlib.contextmanager
    @torch.no_grad()
    def aside(self, handle: Handle | None) -> Iterator[None]:
        """Wraps a call of the node that publishes or applies updates.

        If there is a foreign write, the shared model replaces the weights during the call, and what
        this node had learned since its last publication is left out. Afterwards the weights are as
        the script wrote them. Without a foreign write, the call's own writes are accepted.
        """
        name = self._found = self.foreign or self._uncounted()
        if name is None or handle is None:
            self.catch_up()
            try:
                yield
            finally:
                self.accept()
            return
        tensors = self._shared.tensors
        kept = {each: tensor.detach().clone() for each, tensor in tensors.items()}
        try:
            handle.revert()
            before = {each: tensor.detach().clone() for each, tensor in tensors.items()}
            try:
                yield
            finally:  # a call that fails may have applied updates before
                for each in tensors:
                    if self._shared.is_statistic(each):
                        continue  # running statistics keep the script's values
                    self._add_missed(each, self._shared.movement(each, before.pop(each)))
        finally:
            for each, tensor in tensors.items():
                tensor.copy_(kept[each])

    def _add_missed(self, name: str, movement: torch.Tensor) -> None:
        if name in self._missed:
            self._missed[name] += movement
        elif bool(movement.any()):
            self._missed[name] = movement
