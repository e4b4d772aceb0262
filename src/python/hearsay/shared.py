"""Gives the shared tensors of a PyTorch model (selection.py) to the library.

    dense parameters of float32, bfloat16 or float16 where the library computes    no copy
    others (float64, transposed, on another device), and buffers                   a copy, refreshed
                                                                                   before each use

The library computes on the model's GPU if it can, and otherwise on the CPU. Complex numbers are shared as
pairs of real numbers. Batch-norm variances are shared as logarithms, because sums of updates may
overshoot and a variance must not become negative.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import torch

from hearsay.handle import Tensor
from hearsay.selection import Selection

_DTYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}
_VARIANCE_MIN = 1e-12


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a view of the tensor's memory, with complex numbers as pairs of real numbers."""
    held = tensor.detach()
    return torch.view_as_real(held) if held.is_complex() else held


class Shared:
    """The shared tensors of a model, in the model's order."""

    def __init__(
        self,
        selection: Selection,
        names: Mapping[str, str] | None,
        device: torch.device,
        native: bool,
    ) -> None:
        """names      the swarm's name of a tensor, for each of the model's names that differs from it
        device     device on which the library computes
        native     True: variances are shared as they are, as `hearsay node` does
        Raises ValueError for a name that the model does not share, and for tensors without numbers.
        """
        names = names or {}
        self.device = device
        self.is_ordered = False  # True if the library's GPU work runs in the order of `stream`
        self.tensors = dict(selection.tensors)
        self._owners = selection.owners
        unknown = [name for name in names if name not in self.tensors]
        if unknown:
            raise ValueError(f"names has {unknown[0]!r}, which is no shared tensor of the model")
        self._statistics = set(selection.statistics)
        self._logs = set() if native else set(selection.variances)
        self._names = {
            name: names.get(name, name + ".log" if name in self._logs else name)
            for name in self.tensors
        }
        self._copies = {
            name: self._empty(_real(tensor))
            for name, tensor in self.tensors.items()
            if name in self._logs or name in self._owners or not self._is_usable(_real(tensor))
        }
        self._addresses = {
            name: tensor.data_ptr()
            for name, tensor in self.tensors.items()
            if name not in self._copies
        }

    def _is_usable(self, tensor: torch.Tensor) -> bool:
        """Returns whether the library can use the tensor's own memory, so that it needs no copy."""
        return (
            tensor.device == self.device
            and tensor.layout == torch.strided
            and tensor.is_contiguous()
            and tensor.dtype in _DTYPES
        )

    def _empty(self, tensor: torch.Tensor) -> torch.Tensor:
        """Allocates the copy of a tensor. Raises ValueError for a tensor on the meta device."""
        if tensor.device.type == "meta":
            raise ValueError(
                "the model has tensors without numbers (device meta): fill them before its node is made"
            )
        dtype = tensor.dtype if tensor.dtype in _DTYPES else torch.float32
        pinned = tensor.device.type == "cuda" and self.device.type == "cpu"
        return torch.empty(tensor.shape, dtype=dtype, device=self.device, pin_memory=pinned)

    @property
    def needs_fetch(self) -> bool:
        """Whether the library must call `fetch` before it uses the tensors, and `store` afterwards."""
        return bool(self._copies) or self.device.type == "cuda"

    def given(self) -> list[Tensor]:
        """Returns the shared tensors as the library uses them: their own memory or the copies."""
        return [
            self._tensor(name, self._copies.get(name, _real(tensor)))
            for name, tensor in self.tensors.items()
        ]

    def empty(self) -> tuple[dict[str, torch.Tensor], list[Tensor]]:
        """Allocates CPU tensors of the same shapes, by name. Returns them twice: for PyTorch, and for
        the library."""
        copies = {
            name: torch.empty(
                tensor.shape, dtype=tensor.dtype if tensor.dtype in _DTYPES else torch.float32
            )
            for name, tensor in ((name, _real(tensor)) for name, tensor in self.tensors.items())
        }
        return copies, [self._tensor(name, tensor) for name, tensor in copies.items()]

    def _tensor(self, name: str, tensor: torch.Tensor) -> Tensor:
        return Tensor(
            self._names[name],
            tensor.data_ptr(),
            tuple(tensor.shape),
            _DTYPES[tensor.dtype],
            tensor.detach(),  # keeps this memory even if the parameter gets other memory
            tensor.device.index if tensor.device.type == "cuda" else None,
            name in self._statistics,
        )

    def refresh(self) -> None:
        """Finds the buffers' current tensors: a script may replace them, as `update_bn` of PyTorch 1
        does. Raises RuntimeError if a module has no tensor there any more."""
        for name, (module, key) in self._owners.items():
            buffer = getattr(module, key, None)
            if not isinstance(buffer, torch.Tensor):
                raise RuntimeError(
                    f"{name} is no tensor any more: keep the buffers that the node shares"
                )
            self.tensors[name] = buffer

    def check(self) -> None:
        """Finds the buffers' current tensors. Raises RuntimeError if a tensor that the library uses
        without a copy has other memory than when the node was made."""
        self.refresh()
        for name, address in self._addresses.items():
            if self.tensors[name].data_ptr() != address:
                raise RuntimeError(
                    f"{name} has other memory than when the node was made: move or convert the model "
                    "before its node is made, and write to weights with tensor.copy_(), not by "
                    "assigning tensor.data"
                )

    @torch.no_grad()
    def fetch(self) -> None:
        """Copies the model's tensors into the copies for the library.

        Waits for the GPUs' work on them, except for a GPU whose stream the library follows. Raises
        RuntimeError if a tensor has another shape than when the node was made."""
        devices = {self.device} if self.device.type == "cuda" else set()
        self.refresh()
        for name, copy in self._copies.items():
            tensor = self.tensors[name]
            held = _real(tensor)
            if held.shape != copy.shape:
                raise RuntimeError(
                    f"{name} has shape {tuple(held.shape)}, and had {tuple(copy.shape)} when the node "
                    "was made: make a new node after such a change"
                )
            if name in self._logs:
                held = held.clamp(min=_VARIANCE_MIN).log()
            copy.copy_(held, non_blocking=copy.is_pinned())
            if tensor.device.type == "cuda":
                devices.add(tensor.device)
        if self.is_ordered:
            devices.discard(self.device)
        for device in devices:
            torch.cuda.synchronize(device)

    def stream(self) -> int:
        """Returns the address of PyTorch's current CUDA stream on the GPU where the library computes."""
        return int(torch.cuda.current_stream(self.device).cuda_stream)

    @torch.no_grad()
    def store(self) -> None:
        """Copies what the library wrote back into the model's tensors.

        On a GPU the copies run in the order of PyTorch's stream. The library's next call follows that
        stream, or `fetch` waits for it."""
        for name, copy in self._copies.items():
            held = copy.exp() if name in self._logs else copy
            _real(self.tensors[name]).copy_(held, non_blocking=copy.is_pinned())

    def as_held(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Returns the model's form of a shared tensor: complex numbers, and variances themselves."""
        if self.tensors[name].is_complex():
            return torch.view_as_complex(tensor.float().contiguous())
        return tensor.exp() if name in self._logs else tensor

    def is_statistic(self, name: str) -> bool:
        """Returns whether a shared tensor is a running mean or variance of a batch norm."""
        return name in self._statistics

    def movement(self, name: str, before: torch.Tensor) -> torch.Tensor:
        """Returns how far a shared tensor has moved since it had the values `before`: the difference,
        or the logarithm of the ratio for a variance that is shared as a logarithm."""
        after = self.tensors[name].detach()
        if name in self._logs:
            return after.clamp(min=_VARIANCE_MIN).log() - before.clamp(min=_VARIANCE_MIN).log()
        return after - before

    def move(self, name: str, movement: torch.Tensor) -> None:
        """Moves a shared tensor by a result of `movement`."""
        if name in self._logs:
            self.tensors[name].mul_(movement.exp())
        else:
            self.tensors[name].add_(movement)

    def guard(self) -> Any:
        """Returns a context that restores this thread's current GPU: the library may change it."""
        is_gpu = self.device.type == "cuda"
        return torch.cuda.device(torch.cuda.current_device()) if is_gpu else contextlib.nullcontext()


def device_of(selection: Selection) -> torch.device:
    """Returns the best device for the library: the GPU that has all shared tensors, or the CPU."""
    devices = {tensor.device for tensor in selection.tensors.values()}
    first = next(iter(devices), torch.device("cpu"))
    return first if len(devices) == 1 and first.type == "cuda" else torch.device("cpu")
