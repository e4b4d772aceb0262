"""Selects the tensors of a PyTorch model that are shared.

    parameters   those that are trained when the node is made or are named by `share`
    buffers      running means and variances of batch norms, and those that `buffers` names
    neither      parameters and buffers that `private` names

The selection is fixed when the node is made, because all nodes must share the same tensors. If the script
trains other parameters later, `check` raises an exception. If a tensor changes that is neither shared nor
private, it logs a warning.
"""

from __future__ import annotations

import fnmatch
import itertools
import logging
from collections.abc import Collection, Iterator, Sequence

import torch

from hearsay.handle import similar

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
_COMPARED_MAX = 1 << 20  # numbers of a buffer that are compared, at most
_FROZEN_MAX = 1 << 12  # numbers of a frozen parameter that are compared, at most
_COMPARE_FIRST, _COMPARE_FACTOR = 8, 8  # watched tensors are compared in call 8, 64, 512, … of `check`

_FROZEN_CHANGES = (
    "the parameter %s%s is not trained (requires_grad) but changes, and is not shared, so it will "
    "differ between nodes: make the node with share=[names] to share it, or with private=[names] to "
    "keep it local"
)
_BUFFER_CHANGES = (
    "the buffer %s%s changes and is not shared, so it will differ between nodes: make the node with "
    "buffers='mean' or buffers=[names] to share it, or with buffers='local' to keep it local"
)
_INTEGERS_CHANGE = (
    "the buffer %s%s changes, has integers and cannot be shared, so it may differ between nodes: make "
    "the node with private=[names] to keep it local"
)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Returns whether a pattern matches the tensor's name: as that name, as the name of a module that
    contains the tensor, or with wildcards (`*`, `?`)."""
    return any(
        name == pattern or name.startswith(pattern + ".") or fnmatch.fnmatchcase(name, pattern)
        for pattern in patterns
    )


def _must_be_numbers(name: str, tensor: torch.Tensor) -> None:
    """Raises ValueError or TypeError if the tensor cannot be shared."""
    if torch.nn.parameter.is_lazy(tensor):
        raise ValueError(f"{name} has no shape yet: run the model once before its node is made")
    if tensor.layout != torch.strided or tensor.is_quantized:
        kind = "quantized" if tensor.is_quantized else f"of layout {tensor.layout}"
        raise TypeError(f"{name} is {kind} and cannot be shared: make it dense, or add it to private")
    if tensor.dtype not in _NUMBERS:
        types = ", ".join(str(dtype)[6:] for dtype in _NUMBERS)
        raise TypeError(
            f"{name} has type {str(tensor.dtype)[6:]} and cannot be shared: convert it to one of "
            f"{types}, or add it to private"
        )


def _buffers(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module, str]]:
    """Yields each buffer that a state_dict has, once: its name in the model, its module, and its name
    in that module."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        for name, buffer in module.named_buffers(recurse=False):
            if name not in module._non_persistent_buffers_set and id(buffer) not in seen:
                seen.add(id(buffer))
                yield (prefix + "." if prefix else "") + name, module, name


class Selection:
    """The shared tensors of one model, and checks for changes that the selection does not cover."""

    def __init__(
        self,
        model: torch.nn.Module,
        share: Sequence[str] = (),
        private: Sequence[str] = (),
        buffers: str | Sequence[str] | None = None,
    ) -> None:
        """The arguments are those of Node (torch_node.py). Raises ValueError or TypeError for names
        that match no tensor, and for tensors that cannot be shared."""
        if isinstance(buffers, str) and buffers not in ("mean", "local"):
            raise ValueError(f'buffers must be "mean", "local" or a list of names, and is {buffers!r}')
        for argument, given in (("share", share), ("private", private)):
            if isinstance(given, str):
                raise TypeError(f"{argument} must be a list of names, and is the string {given!r}")
        named = buffers if buffers is not None and not isinstance(buffers, str) else ()
        self._model = model
        self._private = tuple(private)
        self._is_local, self._is_mean = buffers == "local", buffers == "mean"
        self.tensors: dict[str, torch.Tensor] = {}  # the shared tensors by name
        # Module, and name in it, of each shared buffer: the script may replace the tensor.
        self.owners: dict[str, tuple[torch.nn.Module, str]] = {}
        self.statistics: set[str] = set()  # names of the shared means and variances of batch norms
        self.variances: set[str] = set()  # names of the shared variances of batch norms
        self._frozen: list[tuple[str, torch.Tensor]] = []  # parameters not trained at the start
        self._own: list[str] = []  # names of tensors that are not shared, but kept in checkpoints
        # Initial values of tensors that are not shared, by name and the warning if they change.
        self._watched: dict[str, dict[str, torch.Tensor]] = {}
        self._checks, self._compare_at = 0, _COMPARE_FIRST  # calls of `check` so far; the next compare
        self._known = {id(parameter) for parameter in model.parameters()}
        self._optimized = -1  # number of parameters that the optimizer steps; -1: unknown
        for name, parameter in model.named_parameters():
            self._add_parameter(name, parameter, share)
        for name, module, key in _buffers(model):
            self._add_buffer(name, module, key, named)
        parameters = [name for name, _ in model.named_parameters()]
        all_buffers = [name for name, _, _ in _buffers(model)]
        shared = [name for name in self.tensors if name not in self.owners]
        self._must_match("private", private, self._own, parameters + all_buffers)
        self._must_match("share", share, shared, parameters)
        self._must_match("buffers", named, self.owners, all_buffers)
        if not any(isinstance(t, torch.nn.Parameter) for t in self.tensors.values()):
            raise ValueError(
                "no parameter of the model is trained (requires_grad) and shared: set requires_grad, or "
                "use share and private to select parameters"
            )

    @staticmethod
    def _must_match(
        argument: str, patterns: Sequence[str], selected: Collection[str], names: Sequence[str]
    ) -> None:
        """Raises ValueError if a pattern of this argument matches no selected tensor. `names` are the
        tensors that the argument may name."""
        for pattern in patterns:
            if any(_matches(name, [pattern]) for name in selected):
                continue
            if any(_matches(name, [pattern]) for name in names):
                raise ValueError(
                    f"{argument} has {pattern!r}, which names only tensors that are private or have "
                    "integers: remove it"
                )
            parts = (itertools.accumulate(name.split("."), "{}.{}".format) for name in names)
            kind = "buffer" if argument == "buffers" else "tensor"
            raise ValueError(
                f"{argument} has {pattern!r}, which names no {kind} of the model"
                + similar(pattern, itertools.chain(*parts))
            )

    def _add_parameter(self, name: str, parameter: torch.Tensor, share: Sequence[str]) -> None:
        if _matches(name, self._private):
            self._own.append(name)
        elif parameter.requires_grad or _matches(name, share):
            _must_be_numbers(name, parameter)
            self.tensors[name] = parameter
        else:
            self._frozen.append((name, parameter))
            self._watch(_FROZEN_CHANGES, name, parameter, _FROZEN_MAX)

    def _watch(self, warning: str, name: str, tensor: torch.Tensor, numbers: int = _COMPARED_MAX) -> None:
        """Makes `check` log this warning if the first numbers of a dense tensor change."""
        if tensor.layout == torch.strided and not tensor.is_quantized:
            before = tensor.detach().reshape(-1)[:numbers].clone()
            self._watched.setdefault(warning, {})[name] = before

    def _add_buffer(
        self, name: str, module: torch.nn.Module, key: str, named: Sequence[str]
    ) -> None:
        buffer = getattr(module, key)
        is_norm = isinstance(module, _NORM)
        is_number = buffer.is_floating_point() or buffer.is_complex()
        is_chosen = is_number and (self._is_mean or _matches(name, named))
        if _matches(name, self._private) or self._is_local:
            self._own.append(name)
        elif is_norm and key in ("running_mean", "running_var"):
            _must_be_numbers(name, buffer)
            self.tensors[name] = buffer
            self.owners[name] = (module, key)
            self.statistics.add(name)
            self.variances |= {name} if key == "running_var" else set()
        elif is_chosen or name in named:
            _must_be_numbers(name, buffer)
            self.tensors[name] = buffer
            self.owners[name] = (module, key)
        elif is_number:
            self._watch(_BUFFER_CHANGES, name, buffer)
        elif not is_norm:  # a batch norm counts its calls
            self._watch(_INTEGERS_CHANGE, name, buffer)

    @staticmethod
    def _has_moved(tensor: torch.Tensor, before: torch.Tensor) -> bool:
        """Returns whether a tensor begins with other numbers than `before`. False if it now is on
        another device or has another type: offloading and quantization do that without training."""
        if tensor.layout != torch.strided or tensor.is_quantized:
            return False
        part = tensor.detach().reshape(-1)[: before.numel()]
        is_like = part.device == before.device and part.dtype == before.dtype
        if not is_like or part.shape != before.shape or part.device.type == "meta":
            return False
        return not torch.equal(part, before)

    def norms(self) -> list[tuple[str, torch.nn.Module]]:
        """Returns the batch norms whose running statistics are shared, each with its name."""
        norms = []
        for name, module in self._model.named_modules():
            prefix = name + "." if name else ""
            if {prefix + "running_mean", prefix + "running_var"} <= self.statistics:
                norms.append((name or "the model", module))
        return norms

    @property
    def frozen(self) -> list[tuple[str, torch.Tensor]]:
        """The parameters that are neither trained nor private, each with its name."""
        return self._frozen

    @property
    def not_shared(self) -> list[str]:
        """Names of the model's parameters and buffers that are not shared."""
        names = [name for name, _ in self._model.named_parameters()]
        names += [name for name, _, _ in _buffers(self._model)]
        return [name for name in names if name not in self.tensors]

    def own(self) -> dict[str, torch.Tensor]:
        """Returns the tensors that only this node's checkpoints keep: those of `private`, and buffers
        with buffers="local"."""
        named = dict(self._model.named_parameters())
        named.update({name: getattr(module, key) for name, module, key in _buffers(self._model)})
        return {name: named[name] for name in self._own if name in named}

    def check(self, optimizer: torch.optim.Optimizer | None) -> None:
        """Raises RuntimeError if the script now trains a parameter that was frozen.

        In calls 8, 64, 512, … also compares the watched tensors (_watch), and warns of changed ones.
        Calls must_be_known in these calls, and whenever the optimizer has another number of parameters."""
        for name, parameter in self._frozen:
            if parameter.requires_grad:
                raise RuntimeError(
                    f"{name} is trained now (requires_grad) and is not shared, so it would differ "
                    f"between nodes: make the node with share=[{name!r}] to share it from the start, "
                    "or add it to private if each node should have its own"
                )
        groups = optimizer.param_groups if optimizer is not None else []
        optimized = sum(len(group["params"]) for group in groups)
        if optimized != self._optimized:
            self._optimized = optimized
            self.must_be_known()
        self._checks += 1
        if self._checks == self._compare_at:
            self._compare_at *= _COMPARE_FACTOR
            self.must_be_known()
            self._warn_of_changes()

    def must_be_known(self) -> None:
        """Raises RuntimeError if the model has a parameter that it did not have at the start and that
        `private` does not name."""
        for name, parameter in self._model.named_parameters():
            if id(parameter) not in self._known and not _matches(name, self._private):
                raise RuntimeError(
                    f"{name} is another parameter than when the node was made, and is not shared: "
                    "change the model before its node is made"
                )

    def _warn_of_changes(self) -> None:
        """Warns once of frozen parameters, once of buffers and once of integer buffers that have
        changed since the node was made."""
        now = {name: getattr(module, key) for name, module, key in _buffers(self._model)}
        now.update(self._frozen)
        for warning, watched in self._watched.items():
            changed = [
                name
                for name, before in watched.items()
                if name in now and self._has_moved(now[name], before)
            ]
            if changed:
                watched.clear()
                more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
                log.warning(warning, changed[0], more)
