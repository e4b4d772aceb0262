"""Which tensors of a model are shared.

    parameters   trained when the node is made, or named by `share`; never those of `private`
    buffers      running means and variances of batch norms, and those that `buffers` names

The list is part of the model's description, so it is fixed when the node is made. A script that trains
other parameters later gets an exception; a buffer that changes and is not shared is a warning.
"""

from __future__ import annotations

import fnmatch
import logging
from collections.abc import Iterator, Sequence

import torch

log = logging.getLogger("hearsay")

_NORM = torch.nn.modules.batchnorm._NormBase
_NUMBERS = (
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.float64,
    torch.complex64,
    torch.complex128,
)
_LOOKED_AT = 1 << 20  # numbers of a buffer that are compared
_LOOK_FIRST, _LOOK_FACTOR = 8, 8  # counts at which buffers are compared: 8, 64, 512, …


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """A pattern is a name, the name of a module that has it, or has wildcards."""
    return any(
        name == pattern or name.startswith(pattern + ".") or fnmatch.fnmatchcase(name, pattern)
        for pattern in patterns
    )


def _must_be_numbers(name: str, tensor: torch.Tensor) -> None:
    if torch.nn.parameter.is_lazy(tensor):
        raise ValueError(f"{name} has no shape yet: run the model once before its node is made")
    if tensor.layout != torch.strided or tensor.is_quantized:
        kind = "quantized" if tensor.is_quantized else f"of layout {tensor.layout}"
        raise TypeError(f"{name} is {kind} and cannot be shared: make it dense, or name it in private")
    if tensor.dtype not in _NUMBERS:
        types = ", ".join(str(dtype)[6:] for dtype in _NUMBERS)
        raise TypeError(
            f"{name} is of {str(tensor.dtype)[6:]} and cannot be shared: convert it to one of "
            f"{types}, or name it in private"
        )


def _buffers(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module, str]]:
    """Each that a state_dict has, once: its name, its module, its name there."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        for name, buffer in module.named_buffers(recurse=False):
            if name not in module._non_persistent_buffers_set and id(buffer) not in seen:
                seen.add(id(buffer))
                yield (prefix + "." if prefix else "") + name, module, name


class Selection:
    def __init__(
        self,
        model: torch.nn.Module,
        share: Sequence[str] = (),
        private: Sequence[str] = (),
        buffers: str | Sequence[str] | None = None,
    ) -> None:
        if isinstance(buffers, str) and buffers not in ("mean", "local"):
            raise ValueError(f'buffers is "mean", "local" or a list of names, and not {buffers!r}')
        for argument, given in (("share", share), ("private", private)):
            if isinstance(given, str):
                raise TypeError(f"{argument} is a list of names, and not one text")
        named = buffers if buffers is not None and not isinstance(buffers, str) else ()
        self._model = model
        self._private = tuple(private)
        self._is_local = buffers == "local"
        self.tensors: dict[str, torch.Tensor] = {}
        self.owners: dict[str, tuple[torch.nn.Module, str]] = {}  # of buffers that may be replaced
        self.variances: set[str] = set()  # of batch norms
        self._frozen: list[tuple[str, torch.Tensor]] = []
        self._own: list[str] = []  # not shared, and kept in checkpoints
        self._watched: dict[str, torch.Tensor] = {}  # buffers as they were
        self._counts, self._look_at = 0, _LOOK_FIRST
        self._known = {id(parameter) for parameter in model.parameters()}
        self._optimized = -1  # parameters that the optimizer steps
        for name, parameter in model.named_parameters():
            self._add_parameter(name, parameter, share)
        for name, module, key in _buffers(model):
            self._add_buffer(name, module, key, buffers == "mean" or _matches(name, named))
        self._must_match("private", private, [*self._own])
        self._must_match("share", share, [*self.tensors])
        self._must_match("buffers", named, [*self.tensors])
        if not any(isinstance(t, torch.nn.Parameter) for t in self.tensors.values()):
            raise ValueError("no parameter of the model is trained (requires_grad) and shared")

    @staticmethod
    def _must_match(argument: str, patterns: Sequence[str], names: Sequence[str]) -> None:
        for pattern in patterns:
            if not any(_matches(name, [pattern]) for name in names):
                raise ValueError(f"{argument} has {pattern!r}, which names no tensor of the model")

    def _add_parameter(self, name: str, parameter: torch.Tensor, share: Sequence[str]) -> None:
        if _matches(name, self._private):
            self._own.append(name)
        elif parameter.requires_grad or _matches(name, share):
            _must_be_numbers(name, parameter)
            self.tensors[name] = parameter
        else:
            self._frozen.append((name, parameter))

    def _add_buffer(self, name: str, module: torch.nn.Module, key: str, is_named: bool) -> None:
        buffer = getattr(module, key)
        is_number = buffer.is_floating_point() or buffer.is_complex()
        is_statistic = isinstance(module, _NORM) and key in ("running_mean", "running_var")
        if _matches(name, self._private) or (self._is_local and is_number):
            self._own.append(name)
        elif is_statistic:
            self.tensors[name] = buffer
            self.variances |= {name} if key == "running_var" else set()
        elif is_named and (is_number or not isinstance(module, _NORM)):
            if is_number or buffer.dtype != torch.int64:  # a counter is no state that nodes average
                _must_be_numbers(name, buffer)
                self.tensors[name] = buffer
                self.owners[name] = (module, key)
        elif is_number:
            self._watched[name] = self._part(buffer)

    @staticmethod
    def _part(buffer: torch.Tensor) -> torch.Tensor:
        part: torch.Tensor = buffer.detach().reshape(-1)[:_LOOKED_AT].clone()
        return part

    @property
    def not_shared(self) -> list[str]:
        """The names of the model's other parameters and buffers."""
        names = [name for name, _ in self._model.named_parameters()]
        names += [name for name, _, _ in _buffers(self._model)]
        return [name for name in names if name not in self.tensors]

    def own(self) -> dict[str, torch.Tensor]:
        """The tensors that belong to this node: those of `private`, and buffers that are local."""
        named = dict(self._model.named_parameters())
        named.update({name: getattr(module, key) for name, module, key in _buffers(self._model)})
        return {name: named[name] for name in self._own if name in named}

    def check(self, optimizer: torch.optim.Optimizer | None) -> None:
        """Raises RuntimeError if parameters are trained that were not when the node was made."""
        for name, parameter in self._frozen:
            if parameter.requires_grad:
                raise RuntimeError(
                    f"{name} is trained now (requires_grad) and is not shared, so nodes would drift "
                    f"apart: make the node with share=[{name!r}], which shares it from the "
                    "start, or with private, if each node is to have its own"
                )
        groups = optimizer.param_groups if optimizer is not None else []
        optimized = sum(len(group["params"]) for group in groups)
        if optimized != self._optimized:
            self._optimized = optimized
            self._must_be_known()
        self._counts += 1
        if self._counts == self._look_at:
            self._look_at *= _LOOK_FACTOR
            self._must_be_known()
            self._warn_of_buffers()

    def _must_be_known(self) -> None:
        for name, parameter in self._model.named_parameters():
            if id(parameter) not in self._known and not _matches(name, self._private):
                raise RuntimeError(
                    f"{name} is another parameter than when the node was made, and is not shared: "
                    "change the model first, and make its node then"
                )

    def _warn_of_buffers(self) -> None:
        now = {name: getattr(module, key) for name, module, key in _buffers(self._model)}
        changed = [
            name
            for name, before in self._watched.items()
            if name in now and not torch.equal(self._part(now[name]), before)
        ]
        if not changed:
            return
        self._watched = {}
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        log.warning(
            "the buffer %s%s changes and is not shared, so nodes drift apart in it: make the node with "
            "buffers='mean' or buffers=[names], which share it, or with buffers='local' if this is meant",
            changed[0],
            more,
        )
