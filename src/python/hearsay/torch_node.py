"""A node for a PyTorch model and its optimizer."""

from __future__ import annotations

import io
import logging
import os
import re
import types
from collections.abc import Mapping
from typing import Any

import torch

from hearsay.errors import Closed, Error
from hearsay.handle import Handle, Info, Settings
from hearsay.ranks import unwrap
from hearsay.shared import Shared

log = logging.getLogger("hearsay")

_LOOK = 16  # steps whose losses are looked at together: each look at a GPU waits for it


def _optimizer_settings(optimizer: torch.optim.Optimizer | None) -> dict[str, Any]:
    """What the exchange has to know of it; nothing, where it is none of these."""
    name = type(optimizer).__name__.lower()
    group = optimizer.param_groups[0] if optimizer is not None else {}
    if name == "sgd":
        return {"train.optimizer": "sgd", "train.momentum": min(group["momentum"], 0.9999)}
    if name == "muon":
        return {"train.optimizer": "muon", "train.momentum": min(group["momentum"], 0.9999)}
    if name in ("adam", "adamw", "nadam", "radam"):
        return {"train.optimizer": "adam", "train.momentum": min(group["betas"][0], 0.9999)}
    return {}


def _load(kept: bytes) -> Any:
    """What this node's state folder holds. PyTorch 1 cannot read states of optimizers carefully."""
    careful = {"weights_only": True} if not torch.__version__.startswith("1.") else {}
    return torch.load(io.BytesIO(kept), "cpu", **careful)


def _run_of(model: torch.nn.Module) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", type(model).__name__)[:64]


class Node:
    """A node that shares what this model trains.

    It counts the optimizer's steps, and moves the weights in `count` or after the optimizer's
    step, whichever comes later, and never between. As a context it joins at the beginning and
    leaves at the end: at once where an exception ends it, but for Ctrl+C.

    model      on its device already; a DistributedDataParallel is one node with its node on rank 0
    optimizer  its step is counted; what the exchange has to know of it is read from it
    config     a file, as of `hearsay node --config`; else HEARSAY_CONFIG names it
    settings   after the file: {"node.listen": "0.0.0.0:7770"}
    run        name of the run, one on all nodes; else the name of the model's class
    native     the model is the one of [model] and [data], which `hearsay node` may train, too
    names      of tensors in the swarm, by their names in the model, where they differ
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        run: str | None = None,
        native: bool = False,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self._model, self._ranks = unwrap(model)
        self._optimizer = optimizer
        self._shared = Shared(self._model, names)
        self._device = next(iter(self._shared.tensors.values())).device
        self._samples = 0
        self._has_stepped = False
        self._losses: list[tuple[Any, int]] = []
        self._relapses = 0
        self._joined = False
        self._handle: Handle | None = None
        if self._ranks is None or self._ranks.is_first:
            self._handle = Handle(
                self._shared.given(),
                config=config,
                settings={**_optimizer_settings(optimizer), **(settings or {})},
                run=None if native else run or _run_of(self._model),
                fetch=self._shared.fetch if self._shared.has_copies else None,
                store=self._shared.store if self._shared.has_copies else None,
            )
        self._hook = self._hook_optimizer() if optimizer is not None else None

    def _hook_optimizer(self) -> Any:
        """Calls _on_step after each of its steps, and before `step` returns."""
        optimizer: Any = self._optimizer
        if hasattr(optimizer, "register_step_post_hook"):  # PyTorch 2
            return optimizer.register_step_post_hook(lambda *_: self._on_step())
        step = optimizer.step

        def stepped(*arguments: Any, **named: Any) -> Any:
            result = step(*arguments, **named)
            self._on_step()
            return result

        optimizer.step = stepped
        return types.SimpleNamespace(remove=lambda: setattr(optimizer, "step", step))

    def __enter__(self) -> Node:
        try:
            self.join()
        except BaseException:
            self.free()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.close()
        else:
            try:
                self.close(grace=0)
            except Error as error:
                log.warning("it could not be closed: %s", error)
        self.free()

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the swarm's model and fills the model with it, and the optimizer with what was
        kept of it here. False: the time was over first; call it again to go on waiting."""
        if self._joined:
            return True
        joined = self._handle.join(timeout) if self._handle is not None else False
        if self._ranks is not None:
            joined = bool(self._ranks.tell(self._device, joined))
        if not joined:
            return False
        self._joined = True
        self._changed()
        if self._handle is not None:
            self._restore(self._handle.extra())
            info = self._handle.info()
            log.info("joined; %d neighbours, %d samples so far", info.neighbours, info.swarm_samples)
        return True

    def count(self, samples: int, loss: torch.Tensor | float = 0.0) -> None:
        """So many samples, of this mean loss, are behind the optimizer's step: the one before, or
        the one that comes. Call it for each part, where several make one step."""
        if self._optimizer is None:
            raise TypeError("this node was given no optimizer to count the steps of: call step")
        self._samples += samples
        if self._handle is not None or self._ranks is not None:
            loss = loss.detach() if isinstance(loss, torch.Tensor) else loss
            self._losses.append((loss, samples))
        if self._has_stepped:
            self._step()

    def step(self, samples: int, loss: torch.Tensor | float = 0.0) -> None:
        """For a node without an optimizer: the weights have made a step, with so many samples."""
        self._samples += samples
        self._losses.append((loss.detach() if isinstance(loss, torch.Tensor) else loss, samples))
        self._step()

    def _on_step(self) -> None:
        self._has_stepped = True
        if self._samples > 0:
            self._step()

    def _loss(self, samples: int) -> float:
        """The mean loss to be said for this step, such that the sum over steps is right."""
        is_far = any(isinstance(loss, torch.Tensor) and loss.is_cuda for loss, _ in self._losses)
        if is_far and len(self._losses) < _LOOK:
            return 0.0
        losses, self._losses = self._losses, []
        return float(sum(loss * count for loss, count in losses)) / samples

    def _step(self) -> None:
        samples, self._samples, self._has_stepped = self._samples, 0, False
        if not self._joined:
            raise Closed("the node has not joined: use it as a context, or call join")
        loss = self._loss(samples)
        if self._ranks is not None:
            samples, loss = self._ranks.total(self._device, samples, loss)
        changed = False
        if self._handle is not None:
            self._shared.check()
            changed = self._handle.step(samples, loss)
        if self._ranks is not None:
            changed = bool(self._ranks.tell(self._device, changed))
        if changed:
            self._changed()

    def _changed(self) -> None:
        self._shared.mend()
        if self._ranks is not None:
            self._ranks.follow(list(self._shared.tensors.values()))
        relapses = self.info().relapses if self._handle is not None else 0
        if self._ranks is not None:
            relapses = self._ranks.tell(self._device, relapses)
        if relapses > self._relapses and self._optimizer is not None:
            log.warning("a weight was no number: training goes on from the shared model, anew")
            self._optimizer.state.clear()
        self._relapses = relapses

    def settle(self, timeout: float | None = None) -> bool:
        """Publishes what was learned, and waits until all that is known is applied and all
        neighbours have shown the same. False: the time was over first."""
        settled = self._first().settle(timeout) if self._is_first else True
        if self._ranks is not None:
            settled = bool(self._ranks.tell(self._device, settled))
        self._changed()
        return settled

    def state_dict(self) -> dict[str, Any]:
        """Of the model, with the shared model's weights and not those of this node: copies on the
        CPU, as torch.save and a model's load_state_dict have them."""
        room, given = self._shared.empty()
        self._first().base(given)
        shared = {id(tensor): room[name] for name, tensor in self._shared.tensors.items()}
        state: dict[str, Any] = {}
        for name, tensor in self._model.state_dict(keep_vars=True).items():
            if not isinstance(tensor, torch.Tensor):
                state[name] = tensor
            elif id(tensor) in shared:
                state[name] = shared[id(tensor)].to(tensor.dtype)
            else:
                state[name] = tensor.detach().cpu().clone()
        return state

    def save(self) -> None:
        """A checkpoint, now, with the optimizer's state: join gives it back after a restart."""
        if self._is_first:
            kept = io.BytesIO()
            if self._optimizer is not None:
                torch.save(self._optimizer.state_dict(), kept)
            self._first().save(kept.getvalue() or None)

    def _restore(self, kept: bytes) -> None:
        if not kept or self._optimizer is None:
            return
        try:
            self._optimizer.load_state_dict(_load(kept))
        except (ValueError, KeyError) as error:
            log.warning("the optimizer begins anew: its state that was kept does not fit: %s", error)

    def set_rate(self, rate: float) -> None:
        """The learning rate of the optimizer, all groups; as a schedule says for swarm_samples."""
        assert self._optimizer is not None
        for group in self._optimizer.param_groups:
            group["lr"] = rate

    @property
    def swarm_samples(self) -> int:
        """Samples that all have learned, ever: what schedules count."""
        samples = self._handle.info().swarm_samples if self._handle is not None else 0
        return self._ranks.tell(self._device, samples) if self._ranks is not None else samples

    def info(self) -> Info:
        return self._first().info()

    def status(self) -> dict[str, Any]:
        """As `hearsay status --json` says."""
        return self._first().status()

    @property
    def _is_first(self) -> bool:
        return self._ranks is None or self._ranks.is_first

    def _first(self) -> Handle:
        if self._handle is None:
            raise Closed("the node is closed" if self._is_first else "the node is on rank 0")
        return self._handle

    def close(self, grace: float | None = None) -> None:
        """Leaves: publishes the rest, waits for others to have it (seconds; None: [node] grace_s at
        most), and saves a checkpoint with the optimizer's state."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._handle is None:
            return
        try:
            if self._joined:
                self.save()
        finally:
            self._handle.close(grace)
        log.info("left")

    def free(self) -> None:
        """Ends it without grace, if it is open."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._handle is not None:
            self._handle.free()
            self._handle = None
