"""What of a PyTorch model is shared, and how the library gets at it.

    what is trained, CPU, dense, float32 or sixteen bits     used where it lies
    anything else (a GPU's, a transposed one, float64)       copies in the process's memory, which are
                                                             made when there is something to publish
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from hearsay.handle import Tensor

_DTYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}
_NORM = torch.nn.modules.batchnorm._NormBase


def _named(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Parameters that are trained, each once, and the statistics that a model which is used needs."""
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            yield name, parameter
    for prefix, module in model.named_modules():
        if isinstance(module, _NORM) and module.track_running_stats:
            dot = prefix + "." if prefix else ""
            for name in ("running_mean", "running_var"):
                statistic = getattr(module, name)
                if statistic is not None:
                    yield dot + name, statistic


def _is_usable(tensor: torch.Tensor) -> bool:
    return (
        tensor.device.type == "cpu"
        and tensor.layout == torch.strided
        and tensor.is_contiguous()
        and tensor.dtype in _DTYPES
    )


class Shared:
    """The tensors of a model that are shared, in the model's order."""

    def __init__(self, model: torch.nn.Module, names: Mapping[str, str] | None) -> None:
        """names: those of the swarm, by the model's; where one is missing, the model's."""
        names = names or {}
        self.tensors = dict(_named(model))
        if not self.tensors:
            raise ValueError("no parameter of the model is trained (requires_grad)")
        unknown = [name for name in names if name not in self.tensors]
        if unknown:
            raise ValueError(f"the model trains no {unknown[0]}, which names mentions")
        self._names = {name: names.get(name, name) for name in self.tensors}
        self._copies = {
            name: self._empty(tensor)
            for name, tensor in self.tensors.items()
            if not _is_usable(tensor)
        }
        self._addresses = {
            name: tensor.data_ptr()
            for name, tensor in self.tensors.items()
            if name not in self._copies
        }
        self._variances = [t for name, t in self.tensors.items() if name.endswith("running_var")]

    @staticmethod
    def _empty(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type == "meta":
            raise ValueError("the model has tensors without numbers (device meta): fill it first")
        dtype = tensor.dtype if tensor.dtype in _DTYPES else torch.float32
        return torch.empty(tensor.shape, dtype=dtype, pin_memory=tensor.device.type == "cuda")

    @property
    def has_copies(self) -> bool:
        return bool(self._copies)

    def given(self) -> list[Tensor]:
        """As the library uses them."""
        return [
            self._tensor(name, self._copies.get(name, tensor))
            for name, tensor in self.tensors.items()
        ]

    def empty(self) -> tuple[dict[str, torch.Tensor], list[Tensor]]:
        """Room for another set of them, in the process's memory; the same as the library uses it."""
        room = {
            name: torch.empty(
                tensor.shape, dtype=tensor.dtype if tensor.dtype in _DTYPES else torch.float32
            )
            for name, tensor in self.tensors.items()
        }
        return room, [self._tensor(name, tensor) for name, tensor in room.items()]

    def _tensor(self, name: str, tensor: torch.Tensor) -> Tensor:
        return Tensor(
            self._names[name],
            tensor.data_ptr(),
            tuple(tensor.shape),
            _DTYPES[tensor.dtype],
            tensor,
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
        devices = set()
        for name, copy in self._copies.items():
            copy.copy_(self.tensors[name].detach(), non_blocking=copy.is_pinned())
            devices.add(self.tensors[name].device)
        for device in devices:
            if device.type == "cuda":
                torch.cuda.synchronize(device)

    @torch.no_grad()
    def store(self) -> None:
        """A GPU's come in the order of its stream: fetch waits for it before copies are written."""
        for name, copy in self._copies.items():
            self.tensors[name].copy_(copy, non_blocking=copy.is_pinned())

    @torch.no_grad()
    def mend(self) -> None:
        """A mean of variances, a part of which is still to come, may fall below 0."""
        for variance in self._variances:
            variance.clamp_(min=0)
