"""A node for a PyTorch model and its optimizer."""

from __future__ import annotations

import functools
import io
import logging
import os
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from hearsay import signals as _signals
from hearsay.errors import Closed, Ended, Refused, Terminated, Unsupported
from hearsay.handle import Finished, Handle, Info, Settings
from hearsay.ranks import unwrap
from hearsay.selection import Selection
from hearsay.shared import Shared, device_of
from hearsay.writes import Writes

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
    leaves at the end: at once where an exception ends it, but for Ctrl+C and Terminated.

    model      on its device already; a DistributedDataParallel is one node with its node on rank 0
    optimizer  its step is counted; what the exchange has to know of it is read from it
    config     a file, as of `hearsay node --config`; else HEARSAY_CONFIG names it
    settings   after the file: {"node.listen": "0.0.0.0:7770"}
    run        name of the run, one on all nodes; else the name of the model's class
    native     the model is the one of [model] and [data], which `hearsay node` may train, too
    names      of tensors in the swarm, by their names in the model, where they differ
    share      names of parameters that are frozen now and trained later: they are shared as well
    private    names of parameters and buffers that stay this node's own, and in its checkpoints
    buffers    names of buffers that are shared beside those of batch norms; "mean": all that hold
               real or complex numbers; "local": none, not even those of batch norms
    signals    SIGTERM and SIGHUP end the script by Terminated, so that the node leaves and saves;
               only in the main thread, and where the script has no handler of its own
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
        share: Sequence[str] = (),
        private: Sequence[str] = (),
        buffers: str | Sequence[str] | None = None,
        signals: bool = True,
    ) -> None:
        self._model, self._ranks = unwrap(model)
        self._optimizer = optimizer
        self._selection = Selection(self._model, share, private, buffers)
        self._shared = Shared(self._selection, names, device_of(self._selection), native)
        self._device = next(iter(self._shared.tensors.values())).device
        self._samples = 0
        self._has_stepped = False
        self._losses: list[tuple[Any, int]] = []
        self._resets = 0
        self._joined = False
        self._is_closed = False
        self._is_ahead = False  # a call between two steps may have moved the weights
        self._handle: Handle | None = None
        if self._ranks is None or self._ranks.is_first:
            options = {
                "config": config,
                "settings": {**_optimizer_settings(optimizer), **(settings or {})},
                "run": None if native else run or _run_of(self._model),
            }
            try:
                self._handle = self._open(options)
            except Unsupported as error:
                if self._shared.device.type == "cpu":
                    raise
                log.warning("%s; the node computes on the CPU, on copies", error)
                self._shared = Shared(self._selection, names, torch.device("cpu"), native)
                self._handle = self._open(options)
        self._writes = Writes(self._shared, optimizer)
        self._hook = self._hook_optimizer() if optimizer is not None else None
        if signals and self._handle is not None:
            _signals.take(self)

    def _open(self, options: dict[str, Any]) -> Handle:
        shared = self._shared
        fetch, store = (shared.fetch, shared.store) if shared.needs_fetch else (None, None)
        with shared.guard():
            stream = shared.stream if shared.device.type == "cuda" else None
            handle = Handle(shared.given(), fetch=fetch, store=store, stream=stream, **options)
            shared.is_ordered = stream is not None
            return handle

    def _hook_optimizer(self) -> Any:
        """Calls _before_step and _on_step around each of its steps, and before `step` returns."""
        optimizer: Any = self._optimizer
        if hasattr(optimizer, "register_step_post_hook"):  # PyTorch 2
            hooks = [
                optimizer.register_step_pre_hook(lambda *_: self._before_step()),
                optimizer.register_step_post_hook(lambda *_: self._on_step()),
            ]
            return types.SimpleNamespace(remove=lambda: [hook.remove() for hook in hooks])
        step = optimizer.step

        @functools.wraps(step)
        def stepped(_: Any, *arguments: Any, **named: Any) -> Any:
            self._before_step()
            result = step(*arguments, **named)
            self._on_step()
            return result

        optimizer.step = types.MethodType(stepped, optimizer)  # as schedulers need it
        return types.SimpleNamespace(remove=lambda: setattr(optimizer, "step", step))

    def __enter__(self) -> Node:
        try:
            self.join()
        except BaseException:
            self.free()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        is_wanted = kind is None or issubclass(kind, (KeyboardInterrupt, Terminated))
        try:
            self.close(None if is_wanted else 0)
        except Exception as error:
            if is_wanted:
                raise
            log.warning("the node could not be closed: %s", error)  # what ends the context says more
        finally:
            self.free()

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the swarm's model, or until nobody has answered for ten seconds and the node goes
        on alone; fills the model, and the optimizer with what was kept of it here. False: the time
        was over first; call it again to go on waiting."""
        if self._joined:
            return True
        joined = False
        if self._handle is not None:
            with self._shared.guard():
                joined = self._handle.join(timeout)
        if self._ranks is not None:
            joined = bool(self._ranks.tell(self._device, joined))
        if not joined:
            return False
        self._joined = True
        self._changed()
        self._writes.accept()
        kept = self._handle.extra() if self._handle is not None else b""
        self._restore(self._ranks.share(kept) if self._ranks is not None else kept)
        if self._handle is not None:
            self._say_joined(self._handle)
        return True

    @staticmethod
    def _say_joined(handle: Handle) -> None:
        status = handle.status()
        if status["peers_configured"] and status["alone_reason"]:
            log.warning(
                "nobody answered, and it trains alone until somebody does: %s (`hearsay doctor`)",
                status["alone_reason"],
            )
        log.info("joined; %d samples so far", handle.info().swarm_samples)

    def count(self, samples: int, loss: torch.Tensor | float = 0.0) -> None:
        """So many samples, of this mean loss, are behind the optimizer's step: the one before, or
        the one that comes. Call it for each part, where several make one step."""
        self._must_have_joined()
        if self._optimizer is None:
            raise TypeError("this node was given no optimizer to count the steps of: call step")
        self._selection.check(self._optimizer)
        self._samples += samples
        if self._handle is not None or self._ranks is not None:
            loss = loss.detach() if isinstance(loss, torch.Tensor) else loss
            self._losses.append((loss, samples))
        if self._has_stepped:
            self._step()

    def step(self, samples: int, loss: torch.Tensor | float = 0.0) -> None:
        """For a node without an optimizer: the weights have made a step, with so many samples."""
        self._must_have_joined()
        self._selection.check(None)
        self._samples += samples
        self._losses.append((loss.detach() if isinstance(loss, torch.Tensor) else loss, samples))
        self._step()

    def _must_have_joined(self) -> None:
        if not self._joined:
            raise Closed("the node has not joined, or is closed: use it as a context, or call join")

    def _before_step(self) -> None:
        if self._joined:
            self._writes.warn()

    def adopt(self) -> None:
        """What the script has just written to the weights counts as progress, as optimizer steps do:
        it is published with the next step. Without this, `settle`, `save`, `close` and `state_dict` leave
        such writes out of the swarm's model, and in this one's."""
        self._must_have_joined()
        self._writes.adopt()

    def _on_step(self) -> None:
        self._writes.accept()
        self._has_stepped = True
        if self._samples > 0:
            self._step()

    def _loss(self, samples: int) -> float:
        """The mean loss to be said for this step, such that the sum over steps is right."""
        is_far = any(isinstance(loss, torch.Tensor) and loss.is_cuda for loss, _ in self._losses)
        if is_far and len(self._losses) < _LOOK:
            return 0.0
        losses, self._losses = self._losses, []
        return float(sum(loss * count for loss, count in losses)) / max(samples, 1)

    def _step(self) -> None:
        self._must_have_joined()
        samples, self._samples, self._has_stepped = self._samples, 0, False
        loss = self._loss(samples)
        if self._ranks is not None:
            samples, loss = self._ranks.total(self._device, samples, loss)
        changed, self._is_ahead = self._is_ahead, False
        if self._handle is not None:
            self._shared.check()
            self._writes.catch_up()
            with self._shared.guard():
                changed = self._handle.step(samples, loss) or changed
        if self._ranks is not None:
            changed = bool(self._ranks.tell(self._device, changed))
        if changed:
            self._changed()
        self._writes.accept()

    def _follow_call(self) -> None:
        """After a call between two steps that may have moved the weights."""
        is_foreign = self._writes.are_foreign
        if self._ranks is not None:
            is_foreign = bool(self._ranks.tell(self._device, is_foreign))
        if is_foreign:
            self._is_ahead = True  # the next step moves the weights of the other ranks as well
            return
        self._changed()
        self._writes.accept()

    def _changed(self) -> None:
        if self._ranks is not None:
            self._ranks.follow(list(self._shared.tensors.values()))
        if isinstance(self._optimizer, torch.optim.LBFGS):
            self._optimizer.state.clear()  # its curvature is that of weights that it moved itself
        resets = self.info().resets if self._handle is not None else 0
        if self._ranks is not None:
            resets = self._ranks.tell(self._device, resets)
        if resets > self._resets and self._optimizer is not None:
            log.warning("a weight was no number: the optimizer restarts from the shared model")
            self._optimizer.state.clear()
        self._resets = resets

    def finish(self, timeout: float | None = None) -> Finished:
        """Ends training here: publishes what was learned, and waits until all members that train
        have called it too, left or died. If the result is true, all of them hold one shared
        model, and so does this model. Else the time was over first, and its `waits_for` names the
        others; call it again to go on waiting. `count` raises Ended from now on."""
        finished = Finished(True, "")
        self._must_have_joined()
        if self._is_first:
            self._shared.check()
            with self._shared.guard(), self._writes.aside(self._first()):
                finished = self._first().finish(timeout)
        if self._ranks is not None:
            told = self._ranks.share(finished.waits_for.encode() if not finished else b"")
            finished = Finished(not told, told.decode())
        self._follow_call()
        if not finished:
            log.warning("not all have finished within the time: %s", finished.waits_for)
        return finished

    def settle(self, timeout: float | None = None) -> bool:
        """Publishes as much as one publication takes, and waits until all that is known is applied
        and all neighbours have shown the same. False: the time was over first. The rest stays in
        this model, and others may publish later: `finish` makes all models equal."""
        settled = True
        if self._is_first:
            self._shared.check()
            with self._shared.guard(), self._writes.aside(self._first()):
                settled = self._first().settle(timeout)
        if self._ranks is not None:
            settled = bool(self._ranks.tell(self._device, settled))
        self._follow_call()
        return settled

    def state_dict(self) -> dict[str, Any]:
        """Of the model, with the shared model's weights and not those of this node: copies on the
        CPU, as torch.save and a model's load_state_dict have them."""
        room, given = self._shared.empty()
        self._shared.check()
        with self._shared.guard(), self._writes.aside(self._first()):
            self._first().base(given)
        self._is_ahead = True  # other ranks have not what that may have applied
        shared = {
            id(tensor): self._shared.as_held(name, room[name])
            for name, tensor in self._shared.tensors.items()
        }
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
        """A checkpoint, now, with the optimizer's state and private tensors: join gives them back after
        a restart."""
        if not self._is_first:
            return
        kept = io.BytesIO()
        state: dict[str, Any] = {}
        if self._optimizer is not None:
            state["optimizer"] = type(self._optimizer).__name__
            state["state"] = self._optimizer.state_dict()["state"]
        private = {name: tensor.detach() for name, tensor in self._selection.own().items()}
        if private:
            state["private"] = private
        if state:
            torch.save(state, kept)
        self._shared.check()
        with self._shared.guard(), self._writes.aside(self._first()):
            self._first().save(kept.getvalue() or None)
        self._is_ahead = True

    def _restore(self, kept: bytes) -> None:
        """Private tensors and the optimizer's state; rates and the like are the script's."""
        if not kept:
            return
        try:
            found = _load(kept)
            self._restore_private(found.get("private", {}))
        except Exception as error:  # whatever lies there
            log.warning("private tensors begin as the script made them: what was kept does not fit: %s", error)
            found = {}
        if self._optimizer is None or "optimizer" not in found:
            return
        try:
            if found["optimizer"] != type(self._optimizer).__name__:
                raise ValueError(f"it is that of {found['optimizer']}")
            self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": found["state"]})
        except Exception as error:  # whatever lies there
            log.warning("the optimizer restarts: what was kept does not fit: %s", error)

    @torch.no_grad()
    def _restore_private(self, kept: dict[str, torch.Tensor]) -> None:
        own = self._selection.own()
        for name, tensor in own.items():
            if name in kept and kept[name].shape != tensor.shape:
                raise ValueError(f"{name} was of shape {tuple(kept[name].shape)}")
        for name, tensor in own.items():
            if name in kept:
                tensor.copy_(kept[name])

    @property
    def not_shared(self) -> list[str]:
        """The names of the model's parameters and buffers that stay this node's own: frozen ones,
        those of `private`, and buffers that are not shared."""
        return self._selection.not_shared

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
        if self._handle is None or self._is_closed:
            return
        self._is_closed = True
        joined, self._joined = self._joined, False
        try:
            if joined:
                self.save()
        except (Ended, Refused) as error:  # the last step or the log has said so
            log.warning("the optimizer's state is not saved: %s", error)
        except BaseException:
            grace = 0
            raise
        finally:
            with self._shared.guard(), self._writes.aside(self._handle if joined else None):
                self._handle.close(grace)
            _signals.give(self)
        log.info("left")

    def free(self) -> None:
        """Ends it without grace, if it is open."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._handle is not None:
            self._handle.free()
            self._handle = None
            _signals.give(self)
