"""A node for a PyTorch model and its optimizer."""

from __future__ import annotations

import functools
import hashlib
import io
import logging
import os
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from hearsay import _library
from hearsay import signals as _signals
from hearsay.errors import Closed, Ended, Refused, Unsupported, error_of
from hearsay.handle import (
    Finished,
    Handle,
    Info,
    Settings,
    checked_loss,
    checked_rate,
    checked_samples,
)
from hearsay.norms import Statistics, farthest, statistics_of
from hearsay.ranks import unwrap
from hearsay.selection import Selection
from hearsay.shared import Shared, device_of
from hearsay.writes import Writes

log = logging.getLogger("hearsay")

# Steps of the optimizer without count, or calls of count that find foreign writes without a step of the
# node's optimizer, before a warning.
_COUNTED_BESIDE = 64
_FROZEN_SAMPLED = 4096  # numbers of each frozen tensor that the checksum covers, at least (if it has them)
# Losses on a GPU are read once per 16 calls of count or step, because each read waits for the GPU.
_LOSSES_PER_READ = 16


def _optimizer_settings(optimizer: torch.optim.Optimizer | None) -> dict[str, Any]:
    """Returns the settings that describe this optimizer to the exchange: its kind and its momentum.
    Returns no settings if the kind is unknown or there is no optimizer."""
    name = type(optimizer).__name__.lower()
    group = optimizer.param_groups[0] if optimizer is not None else {}
    if name == "sgd":
        return {"train.optimizer": "sgd", "train.momentum": min(group["momentum"], 0.9999)}
    if name == "muon":
        return {"train.optimizer": "muon", "train.momentum": min(group["momentum"], 0.9999)}
    if name in ("adam", "adamw", "nadam", "radam"):
        return {"train.optimizer": "adam", "train.momentum": min(group["betas"][0], 0.9999)}
    return {}


def _frozen_settings(frozen: Sequence[tuple[str, torch.Tensor]]) -> dict[str, Any]:
    """Returns the setting that lets neighbours find out that their frozen tensors differ: number, first
    name, and checksum of samples of all. The samples are rounded to bfloat16, so that sites may keep the
    tensors in different types."""
    checksum = hashlib.sha256()
    for name, tensor in frozen:
        checksum.update(f"{name} {tuple(tensor.shape)}".encode())
        if tensor.layout == torch.strided and not tensor.is_quantized and tensor.device.type != "meta":
            numbers = tensor.detach().reshape(-1)
            numbers = torch.view_as_real(numbers).reshape(-1) if numbers.is_complex() else numbers
            sample = numbers[:: max(1, numbers.numel() // _FROZEN_SAMPLED)].to("cpu", torch.bfloat16)
            checksum.update(sample.view(torch.int16).numpy().tobytes())
    if not frozen:
        return {}
    name = frozen[0][0]
    short = name if len(name) <= 20 else name[:17] + "..."
    text = f"checksum {checksum.hexdigest()[:8]} of {len(frozen)}, the first {short}"
    return {"train.frozen": text}


def _checked_loss(loss: Any) -> Any:
    """Returns the loss as a detached tensor of one number, which stays on its GPU, or as a float. Raises
    TypeError or ValueError for anything else."""
    if not isinstance(loss, torch.Tensor):
        return checked_loss(loss)
    if loss.numel() != 1:
        raise ValueError(
            f"loss must be one number, and has {loss.numel()}: give the mean loss of the batch"
        )
    return loss.detach()


def _must_be_model_and_optimizer(model: Any, optimizer: Any) -> None:
    """Raises TypeError if the arguments of Node are not a model and an optimizer."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model must be a torch.nn.Module, and is {type(model).__name__}: call Node(model, optimizer)"
        )
    if optimizer is not None and not hasattr(optimizer, "param_groups"):
        raise TypeError(
            f"optimizer must be an optimizer of PyTorch or None, and is {type(optimizer).__name__}"
        )


def _must_train(optimizer: torch.optim.Optimizer | None, selection: Selection) -> None:
    """Raises ValueError if the optimizer has parameters, and none of them is shared or private."""
    groups = optimizer.param_groups if optimizer is not None else []
    stepped = {id(parameter) for group in groups for parameter in group["params"]}
    known = [*selection.tensors.values(), *selection.own().values()]
    if stepped and not any(id(tensor) in stepped for tensor in known):
        raise ValueError(
            "the optimizer steps no shared or private parameter of the model, so the model would never "
            "learn: make it with model.parameters() of this model. If it steps copies of the weights, "
            "make the node without it, and call node.step after each step"
        )


def _load(kept: bytes) -> Any:
    """Returns the object that torch.save wrote to these bytes of the node's state folder.

    PyTorch 1 cannot read optimizer states with weights_only, so it may run code from the bytes."""
    options = {"weights_only": True} if not torch.__version__.startswith("1.") else {}
    return torch.load(io.BytesIO(kept), "cpu", **options)


def _run_of(model: torch.nn.Module) -> str:
    """Returns the default name of the run: the model's class, with only the allowed characters."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", type(model).__name__)[:64]


class Node:
    """A node that trains this model together with the other members of a swarm.

    The node counts the optimizer's steps. It writes to the weights only inside its own calls and at
    a counted step: in `count` or at the end of the optimizer's step, whichever comes later.

    As a context it joins at the start and leaves at the end. If an exception other than
    KeyboardInterrupt or SystemExit ends the context, the node leaves without grace time.

    model      the model, already on its device; a DistributedDataParallel is one node, on rank 0
    optimizer  optimizer whose steps count as progress; None: the script calls `step` instead
    config     path of a configuration file of `hearsay node`; None: HEARSAY_CONFIG, if it is set
    settings   values that override the file, such as {"node.listen": "0.0.0.0:7770"}
    run        name of the run, equal on all nodes; None: the name of the model's class
    native     True: the configuration's [model] and [data] describe the model, and members may run
               `hearsay node`
    names      the swarm's name of a tensor, for each of the model's names that differs from it
    share      names of parameters that are shared although they are frozen now
    private    names of parameters and buffers that are not shared; checkpoints keep them
    buffers    names of buffers to share in addition to batch-norm statistics; "mean": share all
               buffers of real or complex numbers; "local": share no buffer
    signals    True: SIGTERM and SIGHUP raise Terminated, so that the node saves and leaves. This
               needs the main thread, and a signal that the script neither handles nor ignores

    `share`, `private` and `buffers` also accept names of modules and wildcards (`*`, `?`).
    Raises Unsupported, ConfigError, Failed or another Error of the library, ValueError and TypeError
    for tensors that cannot be shared, and ValueError for an optimizer of another model.
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
        _must_be_model_and_optimizer(model, optimizer)
        self._model, self._ranks = unwrap(model)
        self._optimizer = optimizer
        self._selection = Selection(self._model, share, private, buffers)
        _must_train(optimizer, self._selection)
        self._shared = Shared(self._selection, names, device_of(self._selection), native)
        self._device = next(iter(self._shared.tensors.values())).device
        self._samples = 0
        self._has_stepped = False
        self._counted_beside = 0  # calls of count with foreign writes since the optimizer's last step
        self._uncounted = 0  # steps of the optimizer since the last call of count
        self._losses: list[tuple[Any, int]] = []
        self._resets = 0
        self._joined = False
        self._is_closed = False
        self._own_statistics: Statistics | None = None  # of the batch norms when training ended
        self._is_ahead = False  # a call between two steps may have moved only rank 0's weights
        self._handle: Handle | None = None
        if self._ranks is None or self._ranks.is_first:
            options = {
                "config": config,
                "settings": {
                    **_optimizer_settings(optimizer),
                    **_frozen_settings(self._selection.frozen),
                    **(settings or {}),
                },
                "run": None if native else run or _run_of(self._model),
            }
            try:
                self._handle = self._open(options)
            except Unsupported as error:
                if self._shared.device.type == "cpu":
                    raise
                log.warning("%s; the node copies the weights and computes on the CPU", error)
                self._shared = Shared(self._selection, names, torch.device("cpu"), native)
                self._handle = self._open(options)
        self._writes = Writes(self._shared, optimizer)
        self._hook = self._hook_optimizer() if optimizer is not None else None
        if signals and self._handle is not None:
            _signals.take(self)

    def _open(self, options: dict[str, Any]) -> Handle:
        """Starts the node of the shared tensors. Raises Unsupported if the library cannot use their
        device."""
        shared = self._shared
        fetch, store = (shared.fetch, shared.store) if shared.needs_fetch else (None, None)
        with shared.guard():
            stream = shared.stream if shared.device.type == "cuda" else None
            handle = Handle(shared.given(), fetch=fetch, store=store, stream=stream, **options)
            shared.is_ordered = stream is not None
            return handle

    def _hook_optimizer(self) -> Any:
        """Makes each step of the optimizer call _before_step first and _on_step last.

        Returns an object whose remove() undoes this."""
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

        optimizer.step = types.MethodType(stepped, optimizer)  # schedulers require a bound method
        return types.SimpleNamespace(remove=lambda: setattr(optimizer, "step", step))

    def __enter__(self) -> Node:
        try:
            self.join()
        except BaseException:
            self.free()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        is_wanted = kind is None or issubclass(kind, (KeyboardInterrupt, SystemExit))
        try:
            self.close(None if is_wanted else 0)
        except Exception as error:
            if is_wanted:
                raise
            # A warning, so that the exception that ends the context reaches the caller.
            log.warning("the node left without its last save (its state folder has a checkpoint): %s", error)
        finally:
            self.free()

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the swarm's model and fills the model with it.

        If no node answers for ten seconds, or all have left, the node continues alone. Private tensors
        and the optimizer's state are restored from this node's checkpoint, if it has them.

        timeout    seconds to wait at most; None: no limit
        Returns False if the time limit came first: call `join` again to continue the wait. Raises
        Refused if the swarm does not accept this node, Ended or Failed if the node has stopped.
        """
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
            self._log_joined(self._handle)
        return True

    @staticmethod
    def _log_joined(handle: Handle) -> None:
        status = handle.status()
        if status["alone_reason"]:
            log.warning(
                "no neighbour: %s; the node trains alone until it has one (run `hearsay doctor` to find "
                "the cause)",
                status["alone_reason"],
            )
        log.info("joined; the swarm has learned %d samples", handle.info().swarm_samples)

    def count(self, samples: int, loss: torch.Tensor | float = 0.0) -> None:
        """Counts samples for the optimizer's step: the step just made, or else the next one.

        A step is complete when both the optimizer's step and `count` have happened. The node then
        publishes if a publication is due, and applies received updates to the weights. If several
        batches make one step, call `count` for each batch before the optimizer's step.

        samples    number of samples in the batch
        loss       their mean loss, a number or a tensor with one element; 0: unknown
        Raises Closed before `join` and after `close`, Ended after `finish`, RuntimeError if the model has
        other tensors than when the node was made, and TypeError or ValueError for wrong arguments or if
        the node has no optimizer.
        """
        self._must_have_joined()
        if self._optimizer is None:
            raise TypeError("this node has no optimizer whose steps it could count: call step instead")
        self._selection.check(self._optimizer)
        samples, loss = checked_samples(samples), _checked_loss(loss)
        self._samples += samples
        self._uncounted = 0
        if self._handle is not None or self._ranks is not None:
            self._losses.append((loss, samples))
        if self._has_stepped:
            self._step()
        elif self._writes.are_foreign:
            self._warn_of_other_optimizer()

    def _warn_of_other_optimizer(self) -> None:
        self._counted_beside += 1
        if self._counted_beside == _COUNTED_BESIDE:
            log.warning(
                "count was called %d times without a step of the node's optimizer, while something else "
                "changed %s: only steps of the optimizer that the node was made with are progress; close "
                "the node and make it with the new optimizer, or without one and call step",
                _COUNTED_BESIDE,
                self._writes.foreign,
            )

    def step(self, samples: int, loss: torch.Tensor | float = 0.0) -> None:
        """Counts a step that the script itself made, for a node without an optimizer.

        The arguments are those of `count`, and so are the exceptions, but TypeError is raised if the node
        has an optimizer, whose steps it counts itself."""
        self._must_have_joined()
        if self._optimizer is not None:
            raise TypeError("this node counts the steps of its optimizer: call count instead")
        self._selection.check(None)
        samples, loss = checked_samples(samples), _checked_loss(loss)
        self._samples += samples
        self._losses.append((loss, samples))
        self._step()

    def _must_have_joined(self) -> None:
        if self._handle is not None and self._handle.is_of_parent:
            raise error_of(_library.FORKED, "")
        if not self._joined:
            raise Closed("the node has not joined or is closed: use it as a context, or call join first")

    def _before_step(self) -> None:
        """Warns of foreign writes just before the optimizer's step, whose own writes are progress."""
        if self._joined:
            self._writes.begin_step()

    def adopt(self) -> None:
        """Counts the script's own writes to the weights as progress, as if an optimizer step had made
        them: the next step publishes them.

        Without this call, `settle`, `finish`, `save`, `close` and `state_dict` leave such writes out
        of the shared model, and restore them in this model afterwards."""
        self._must_have_joined()
        self._writes.adopt()

    def _on_step(self) -> None:
        """Counts the step that the optimizer has just made: now if `count` has already reported its
        samples, otherwise at the next `count`."""
        self._writes.accept()
        self._has_stepped = True
        self._counted_beside = 0
        self._uncounted += 1
        if self._uncounted == _COUNTED_BESIDE and self._joined:
            log.warning(
                "the optimizer made %d steps without a call of count, so their progress is not shared: "
                "call node.count(samples, loss) for each step",
                _COUNTED_BESIDE,
            )
        if self._samples > 0:
            self._step()

    def _loss(self, samples: int) -> float:
        """Returns the mean loss to report for a step of `samples` samples.

        Losses on a GPU are collected: most steps report 0 (unknown), and the step with the 16th loss
        reports their sum over samples, divided by its own samples. So the sum over steps is exact."""
        is_on_gpu = any(isinstance(loss, torch.Tensor) and loss.is_cuda for loss, _ in self._losses)
        if is_on_gpu and len(self._losses) < _LOSSES_PER_READ:
            return 0.0
        losses, self._losses = self._losses, []
        return float(sum(loss * count for loss, count in losses)) / max(samples, 1)

    def _step(self) -> None:
        """Reports a complete step of all ranks to the library, and applies received updates."""
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
        """Finishes a call that may have moved rank 0's weights between two steps: copies them to the other
        ranks. If a foreign write has replaced them, leaves that to the next step."""
        is_foreign = self._writes.are_foreign
        if self._ranks is not None:
            is_foreign = bool(self._ranks.tell(self._device, is_foreign))
        if is_foreign:
            self._is_ahead = True  # the next step copies rank 0's weights to the other ranks
            return
        self._changed()
        self._writes.accept()

    def _changed(self) -> None:
        """Copies rank 0's weights to all ranks, and empties optimizer state that no longer fits.

        Call it after the library has written to the weights."""
        if self._ranks is not None:
            self._shared.refresh()
            self._ranks.follow(list(self._shared.tensors.values()))
        if isinstance(self._optimizer, torch.optim.LBFGS):
            # Its estimate of the curvature assumes that no one else moves the weights.
            self._optimizer.state.clear()
        resets = self.info().resets if self._handle is not None else 0
        if self._ranks is not None:
            resets = self._ranks.tell(self._device, resets)
        if resets > self._resets and self._optimizer is not None:
            log.warning(
                "a weight was NaN or infinite, so the weights were reset to the shared model: the "
                "optimizer restarts with empty state"
            )
            self._optimizer.state.clear()
        self._resets = resets

    def finish(self, timeout: float | None = None) -> Finished:
        """Ends training: publishes this node's progress, and waits until all members that train have
        also called `finish`, left or died.

        timeout    seconds to wait at most; None: no limit
        Returns a true result if all nodes that finished have the same shared model, bit for bit;
        this model then has its weights. Returns a false result if the time limit came first: its
        `waits_for` names the members that have not finished, and another call continues the wait.
        From now on `count` raises Ended. Raises Closed before `join` and after `close`.
        """
        finished = Finished(True, "")
        self._must_have_joined()
        if self._own_statistics is None:
            self._own_statistics = statistics_of(self._selection.norms())
        if self._is_first:
            self._selection.must_be_known()
            self._shared.check()
            with self._shared.guard(), self._writes.aside(self._first()):
                finished = self._first().finish(timeout)
        self._writes.end()
        if self._ranks is not None:
            told = self._ranks.share(finished.waits_for.encode() if not finished else b"")
            finished = Finished(not told, told.decode())
        self._follow_call()
        if not finished:
            log.warning(
                "not all members finished within the time limit: %s; call finish again to continue "
                "the wait",
                finished.waits_for,
            )
        elif self._is_first:
            self._warn_of_statistics(self._own_statistics)
        return finished

    def _warn_of_statistics(self, own: Statistics) -> None:
        """Warns if the shared running statistics are far from `own`."""
        moved = farthest(own, statistics_of(self._selection.norms()))
        if moved:
            log.warning(
                "the shared running statistics differ from this script's own (%s, on average over its "
                "channels), so the shared model may be less accurate here: "
                "torch.optim.swa_utils.update_bn(loader, model) computes them from this script's data",
                moved,
            )

    def settle(self, timeout: float | None = None) -> bool:
        """Makes one publication, then waits until all received updates are applied and all
        neighbours have shown the same version of the shared model.

        More publications follow if running statistics have to move farther than one can carry.
        Other progress that did not fit in the publication stays in this model. Other nodes may
        publish later, so only `finish` makes all models equal.

        timeout    seconds to wait at most; None: no limit
        Returns False if the time limit came first. Raises Closed before `join` and after `close`.
        """
        settled = True
        if self._is_first:
            self._selection.must_be_known()
            self._shared.check()
            with self._shared.guard(), self._writes.aside(self._first()):
                settled = self._first().settle(timeout)
        if self._ranks is not None:
            settled = bool(self._ranks.tell(self._device, settled))
        self._follow_call()
        return settled

    def state_dict(self) -> dict[str, Any]:
        """Returns a state_dict of the model with the weights of the shared model instead of this
        node's weights.

        All tensors are copies on the CPU, for torch.save or a model's load_state_dict. Tensors that
        are not shared have this node's values. Raises Closed on ranks other than 0."""
        self._selection.must_be_known()
        self._shared.check()
        copies, given = self._shared.empty()
        with self._shared.guard(), self._writes.aside(self._first()):
            self._first().base(given)
        self._is_ahead = True  # other ranks lack the updates that this call may have applied
        shared = {
            id(tensor): self._shared.as_held(name, copies[name])
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
        """Saves a checkpoint with the optimizer's state and the private tensors, and returns when it
        is on disk. After a restart, `join` restores them. Does nothing on ranks other than 0."""
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
        """Restores private tensors and the optimizer's state from the bytes that `save` kept.

        Learning rates and other options of the optimizer stay as the script set them. Bytes that do
        not fit the model or the optimizer are a warning."""
        if not kept:
            return
        try:
            found = _load(kept)
            self._restore_private(found.get("private", {}))
        except Exception as error:  # the bytes may be anything
            log.warning(
                "the checkpoint's private tensors and optimizer state do not fit this model, and are "
                "not used: %s",
                error,
            )
            found = {}
        if self._optimizer is None or "optimizer" not in found:
            return
        try:
            if found["optimizer"] != type(self._optimizer).__name__:
                raise ValueError(f"it belongs to {found['optimizer']}")
            self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": found["state"]})
        except Exception as error:  # the bytes may be anything
            log.warning(
                "the checkpoint's optimizer state does not fit: %s; the optimizer restarts with empty "
                "state",
                error,
            )

    @torch.no_grad()
    def _restore_private(self, kept: dict[str, torch.Tensor]) -> None:
        """Fills the private tensors. Raises ValueError if a shape differs; none is written then."""
        own = self._selection.own()
        for name, tensor in own.items():
            if name in kept and kept[name].shape != tensor.shape:
                raise ValueError(
                    f"{name} has shape {tuple(tensor.shape)}, and {tuple(kept[name].shape)} in the "
                    "checkpoint"
                )
        for name, tensor in own.items():
            if name in kept:
                tensor.copy_(kept[name])

    @property
    def not_shared(self) -> list[str]:
        """Names of the parameters and buffers that are not shared: frozen parameters, tensors of
        `private`, and most buffers. Buffers with persistent=False are left out."""
        return self._selection.not_shared

    def set_rate(self, rate: float) -> None:
        """Sets the learning rate of all parameter groups of the optimizer.

        A schedule should compute `rate` from `swarm_samples`, so that all nodes use the same rate.
        Raises TypeError or ValueError for a rate that is no finite number or negative, and TypeError if
        the node has no optimizer."""
        if self._optimizer is None:
            raise TypeError("this node has no optimizer whose learning rate it could set")
        checked_rate(rate)
        for group in self._optimizer.param_groups:
            group["lr"] = rate

    @property
    def swarm_samples(self) -> int:
        """Number of samples that all nodes have learned since the swarm began."""
        samples = self._handle.info().swarm_samples if self._handle is not None else 0
        return self._ranks.tell(self._device, samples) if self._ranks is not None else samples

    def info(self) -> Info:
        """Returns the node's numbers. Raises Closed after `free`, and on ranks other than 0."""
        return self._first().info()

    def status(self) -> dict[str, Any]:
        """Returns the object that `hearsay status --json` prints. Raises Closed after the node was
        closed, and on ranks other than 0."""
        return self._first().status()

    @property
    def _is_first(self) -> bool:
        """True on rank 0 of a distributed model, and for a model of one process."""
        return self._ranks is None or self._ranks.is_first

    def _first(self) -> Handle:
        if self._handle is None:
            raise Closed(
                "the node is closed"
                if self._is_first
                else "only rank 0 has the node: make this call on rank 0"
            )
        return self._handle

    def close(self, grace: float | None = None) -> None:
        """Leaves the swarm: publishes the remaining progress, waits until other members have it, and
        saves a checkpoint with the optimizer's state.

        grace      seconds to wait at most; None: the configuration's [node] grace_s
        Does nothing if the node is closed already, in a forked child, and on ranks other than 0.
        """
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._handle is None or self._is_closed or self._handle.is_of_parent:
            return
        self._is_closed = True
        joined, self._joined = self._joined, False
        try:
            if joined:
                self.save()
        except (Ended, Refused) as error:  # a step or the log has reported this before
            log.warning("the optimizer's state was not saved: %s", error)
        except BaseException:
            grace = 0
            raise
        finally:
            with self._shared.guard(), self._writes.aside(self._handle if joined else None):
                self._handle.close(grace)
            _signals.give(self)
        log.info("left the swarm")

    def free(self) -> None:
        """Frees the node. An open node leaves first, without grace time."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._handle is not None:
            self._handle.free()
            self._handle = None
            _signals.give(self)
