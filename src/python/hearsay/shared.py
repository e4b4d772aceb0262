"""How the library gets at the tensors of a PyTorch model that are shared (selection.py).

    what is dense, of float32 or sixteen bits, and where the library computes     used where it lies
    anything else (float64, a transposed one, another device's)                   copies, which are made
                                                                                  when they are needed

The library computes on the GPU that the model is on, if it can, and else on the CPU. Complex numbers are
shared as pairs of real ones. Variances of
batch norms are shared by their logarithms: what nodes add up may overshoot, and none falls below 0.
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
    """The same memory; complex numbers as pairs of real ones."""
    held = tensor.detach()
    return torch.view_as_real(held) if held.is_complex() else held


class Shared:
    """The tensors of a model that are shared, in the model's order, for a library that computes on
    this device."""

    def __init__(
        self,
        selection: Selection,
        names: Mapping[str, str] | None,
        device: torch.device,
        native: bool,
    ) -> None:
        """names: those of the swarm, by the model's; where one is missing, the model's. native: the
        swarm has variances as they are."""
        names = names or {}
        self.device = device
        self.is_ordered = False  # calls of the library come in the order of `stream`
        self.tensors = dict(selection.tensors)
        self._owners = selection.owners
        unknown = [name for name in names if name not in self.tensors]
        if unknown:
            raise ValueError(f"the model trains no {unknown[0]}, which names mentions")
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
        return (
            tensor.device == self.device
            and tensor.layout == torch.strided
            and tensor.is_contiguous()
            and tensor.dtype in _DTYPES
        )

    def _empty(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type == "meta":
            raise ValueError("the model has tensors without numbers (device meta): fill it first")
        dtype = tensor.dtype if tensor.dtype in _DTYPES else torch.float32
        pinned = tensor.device.type == "cuda" and self.device.type == "cpu"
        return torch.empty(tensor.shape, dtype=dtype, device=self.device, pin_memory=pinned)

    @property
    def needs_fetch(self) -> bool:
        """Before the library looks there is something to be done, and perhaps after it."""
        return bool(self._copies) or self.device.type == "cuda"

    def given(self) -> list[Tensor]:
        """As the library uses them."""
        return [
            self._tensor(name, self._copies.get(name, _real(tensor)))
            for name, tensor in self.tensors.items()
        ]

    def empty(self) -> tuple[dict[str, torch.Tensor], list[Tensor]]:
        """Room for another set of them, in the process's memory; the same as the library uses it."""
        room = {
            name: torch.empty(
                tensor.shape, dtype=tensor.dtype if tensor.dtype in _DTYPES else torch.float32
            )
            for name, tensor in ((name, _real(tensor)) for name, tensor in self.tensors.items())
        }
        return room, [self._tensor(name, tensor) for name, tensor in room.items()]

    def _tensor(self, name: str, tensor: torch.Tensor) -> Tensor:
        return Tensor(
            self._names[name],
            tensor.data_ptr(),
            tuple(tensor.shape),
            _DTYPES[tensor.dtype],
            tensor.detach(),  # this memory, whatever becomes of the parameter
            tensor.device.index if tensor.device.type == "cuda" else None,
        )

    def check(self) -> None:
        """They lie where they lay: the library writes there."""
        for name, address in self._addresses.items():
            if self.tensors[name].data_ptr() != address:
                raise RuntimeError(
                    f"{name} was moved to other memory; move or convert the model before its "
                    "node is made"
                )

    @torch.no_grad()
    def fetch(self) -> None:
        """What a GPU was asked for is done when this returns, unless the library follows its stream."""
        devices = {self.device} if self.device.type == "cuda" else set()
        for name, (module, key) in self._owners.items():
            self.tensors[name] = getattr(module, key)  # a script may have put another one there
        for name, copy in self._copies.items():
            tensor = self.tensors[name]
            held = _real(tensor)
            if held.shape != copy.shape:
                raise RuntimeError(f"{name} has another shape than when the node was made")
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
        """The address of the stream that PyTorch uses now, on the GPU that the tensors are on."""
        return int(torch.cuda.current_stream(self.device).cuda_stream)

    @torch.no_grad()
    def store(self) -> None:
        """A GPU's come in the order of its stream, which also the library or fetch follows."""
        for name, copy in self._copies.items():
            held = copy.exp() if name in self._logs else copy
            _real(self.tensors[name]).copy_(held, non_blocking=copy.is_pinned())

    def as_held(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """A shared tensor as the model has it."""
        if self.tensors[name].is_complex():
            return torch.view_as_complex(tensor.float().contiguous())
        return tensor.exp() if name in self._logs else tensor

    def movement(self, name: str, before: torch.Tensor) -> torch.Tensor:
        """Returns how far a shared tensor has moved since it had the values `before`: a difference, or a
        logarithm of the ratio for a variance, which the swarm shares as a logarithm."""
        after = self.tensors[name].detach()
        if name in self._logs:
            return after.clamp(min=_VARIANCE_MIN).log() - before.clamp(min=_VARIANCE_MIN).log()
        return after - before

    def move(self, name: str, movement: torch.Tensor) -> None:
        """Moves a shared tensor by what `movement` returned."""
        if name in self._logs:
            self.tensors[name].mul_(movement.exp())
        else:
            self.tensors[name].add_(movement)

    def guard(self) -> Any:
        """The library may choose another GPU for this thread: after it, it is as it was."""
        is_gpu = self.device.type == "cuda"
        return torch.cuda.device(torch.cuda.current_device()) if is_gpu else contextlib.nullcontext()


def device_of(selection: Selection) -> torch.device:
    """Where the library had best compute: the GPU that all is on, or the CPU."""
    devices = {tensor.device for tensor in selection.tensors.values()}
    first = next(iter(devices), torch.device("cpu"))
    return first if len(devices) == 1 and first.type == "cuda" else torch.device("cpu")
