"""A node, by the calls of hearsay.h: tensors are addresses, and errors are exceptions.

Node (torch_node.py) and ArrayNode (array_node.py) stand on it.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import logging
import math
import os
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hearsay import _library
from hearsay._library import LIBRARY
from hearsay.errors import error_of
from hearsay.signals import Deferred

Settings = Mapping[str, Any]  # {"node.listen": "0.0.0.0:7770", "node.sandbox": False, ...}

log = logging.getLogger("hearsay")

_WAIT_S = 0.2  # of one call that waits: between two of them Python looks at signals


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Numbers at an address, dense and in C order."""

    name: str
    address: int
    shape: tuple[int, ...]
    dtype: str  # float32, bfloat16 or float16
    owner: object = None  # whose memory it is: kept while this is
    gpu: int | None = None  # which of CUDA's it lies on; None: in the process's memory


@dataclasses.dataclass(frozen=True)
class Info:
    """How the node stands: numbers that are at hand, some as of the last second."""

    joined: bool
    neighbours: int  # open conversations
    members: int  # alive, with this node
    parameters: int  # numbers in all tensors
    steps: int  # made here since open
    samples: int  # behind them
    swarm_samples: int  # learned by all, ever
    digest: int  # of the shared model: equal digests, equal models
    rumors: int  # that it is the sum of
    waiting: int  # of them, those that the next calls apply
    sent_bytes: int  # to all others, since open
    received_bytes: int  # from all others, since open
    resets: int  # how often a weight was no number, and training began anew
    saturated: int  # weights beyond what the swarm shares: the rest stays here


@dataclasses.dataclass(frozen=True)
class Finished:
    """How `finish` ended. It is true if all members have finished."""

    all: bool  # this node and the others hold one model, and keep it
    waits_for: str  # else why not: "1a2b3c4d trains, 5e6f7a8b holds another model"

    def __bool__(self) -> bool:
        return self.all


def _text(value: Any) -> str:
    """A setting as the configuration has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return str(value)


def _tensors(tensors: Sequence[Tensor]) -> ctypes.Array[_library.Tensor]:
    given = (_library.Tensor * len(tensors))()
    for place, tensor in zip(given, tensors):
        if len(tensor.shape) > _library.DIMENSIONS_MAX:
            raise ValueError(
                f"{tensor.name} has {len(tensor.shape)} dimensions; "
                f"there may be {_library.DIMENSIONS_MAX}"
            )
        place.name = tensor.name.encode()
        place.data = tensor.address
        place.shape[: len(tensor.shape)] = tensor.shape
        place.dimensions = len(tensor.shape)
        place.dtype = _library.DTYPES[tensor.dtype]
        place.device = _library.CPU if tensor.gpu is None else _library.CUDA
        place.device_index = tensor.gpu or 0
    return given


class Handle:
    """What hearsay.h says of each call holds here, too. One thread at a time may use it; info and
    status are for any."""

    def __init__(
        self,
        tensors: Sequence[Tensor],
        *,
        config: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        run: str | None = None,
        fetch: Callable[[], None] | None = None,
        store: Callable[[], None] | None = None,
        stream: Callable[[], int] | None = None,
    ) -> None:
        """fetch and store are methods; see hearsay_options. stream returns the address of the CUDA
        stream that the caller uses at the time; see hearsay_stream."""
        self._raised: BaseException | None = None
        self._stream = stream
        # Where C calls back, a handler that raises would interrupt a copy, and C would not know.
        calls_back = fetch is not None or store is not None
        self._inside: Any = Deferred() if calls_back else contextlib.nullcontext()
        copies = self._callback(fetch), self._callback(store)
        config = config if config is not None else os.environ.get("HEARSAY_CONFIG")
        lines = [f"{key}={_text(value)}".encode() for key, value in (settings or {}).items()]
        options = _library.Options(
            abi=_library.ABI,
            tensors_count=len(tensors),
            tensors=_tensors(tensors),
            config=os.fsencode(config) if config is not None else None,
            settings=(ctypes.c_char_p * len(lines))(*lines),
            settings_count=len(lines),
            run=run.encode() if run is not None else None,
            fetch=copies[0],
            store=copies[1],
        )
        self._node = ctypes.c_void_p()
        owners = [tensor.owner for tensor in tensors]
        with Deferred():  # a node that runs is freed in any case
            code = LIBRARY.hearsay_open(ctypes.byref(options), ctypes.byref(self._node))
            # Also at the end of the program; it looks at the memory once more, and calls the callbacks.
            self._free = weakref.finalize(self, _free, self._node, copies, owners)
        try:
            self._check(code)
        except BaseException:
            self._free()
            raise

    def _callback(self, function: Callable[[], None] | None) -> Any:
        """As C calls it. It keeps neither the handle nor the method's object."""
        if function is None:
            return _library.COPY()
        method = weakref.WeakMethod(function)
        handle = weakref.ref(self)

        def call(_: int | None) -> None:
            bound, ours = method(), handle()
            try:
                if bound is not None:
                    bound()
            except BaseException as error:  # C knows no exceptions: the call raises it
                if ours is not None and ours._raised is None:
                    ours._raised = error

        return _library.COPY(call)

    def _pass_on(self) -> None:
        """Logs what the node has to say: here, so that its own thread never waits for Python."""
        level = ctypes.c_int()
        text = ctypes.create_string_buffer(600)
        while LIBRARY.hearsay_note(self._node, ctypes.byref(level), text, len(text)) == _library.OK:
            if level.value == 0:
                return
            log.log(_library.LEVELS[level.value], "%s", text.value.decode(errors="replace"))

    def _check(self, code: int) -> None:
        self._pass_on()
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if not self._node:
            raise error_of(_library.CLOSED, "the node is closed; make a new one")
        if code != _library.OK:
            raise error_of(code, self._sentence(code))

    def _call(self, function: Callable[..., int], *arguments: Any) -> int:
        """A call that may use the tensors, in the order of the caller's stream."""
        with self._inside:
            if self._stream is not None:
                code: int = LIBRARY.hearsay_stream(self._node, self._stream())
                if code != _library.OK:
                    return code
            return function(self._node, *arguments)

    def _sentence(self, code: int) -> str:
        text = ctypes.create_string_buffer(600)
        LIBRARY.hearsay_error_text(self._node, code, text, len(text))
        return text.value.decode(errors="replace")

    def _wait(self, function: Callable[[ctypes.c_void_p, float], int], timeout: float | None) -> bool:
        """False: the time was over first. Ctrl+C ends it."""
        due = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = max(due - time.monotonic(), 0)
            code = self._call(function, min(left, _WAIT_S))
            if code != _library.TIMEOUT:
                self._check(code)
                return True
            self._check(_library.OK)
            if left <= _WAIT_S:
                return False

    def join(self, timeout: float | None = None) -> bool:
        return self._wait(LIBRARY.hearsay_join, timeout)

    def settle(self, timeout: float | None = None) -> bool:
        return self._wait(LIBRARY.hearsay_settle, timeout)

    def finish(self, timeout: float | None = None) -> Finished:
        if self._wait(LIBRARY.hearsay_finish, timeout):
            return Finished(True, "")
        return Finished(False, self._sentence(_library.TIMEOUT).partition("waits for ")[2])

    def step(self, samples: int, loss: float = 0.0) -> bool:
        """True: the tensors were written to."""
        changed = ctypes.c_int()
        if samples < 0:
            raise ValueError(f"a step has at least one sample, and not {samples}")
        self._check(self._call(LIBRARY.hearsay_step, samples, loss, ctypes.byref(changed)))
        return bool(changed.value)

    def revert(self) -> None:
        """The tensors become the shared model, and nothing is unpublished."""
        self._check(self._call(LIBRARY.hearsay_revert))

    def base(self, tensors: Sequence[Tensor]) -> None:
        given = _tensors(tensors)
        self._check(self._call(LIBRARY.hearsay_base, given, len(tensors)))

    def save(self, extra: bytes | None = None) -> None:
        """None: the bytes that were kept stay."""
        size = len(extra) if extra is not None else 0
        self._check(self._call(LIBRARY.hearsay_save, extra, size))

    def extra(self) -> bytes:
        return self._grow(LIBRARY.hearsay_extra)

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads(self._grow(LIBRARY.hearsay_status)[:-1])
        return status

    def _grow(self, function: Callable[..., int]) -> bytes:
        """With as much room as it asks for."""
        room = ctypes.c_size_t(0)
        while True:
            text = ctypes.create_string_buffer(max(room.value, 1))
            code = function(self._node, text, ctypes.byref(room))
            if code != _library.TOO_SMALL:
                self._check(code)
                return text.raw[: room.value]

    def info(self) -> Info:
        info = _library.Info(abi=_library.ABI)
        self._check(LIBRARY.hearsay_info(self._node, ctypes.byref(info)))
        fields = {field.name: getattr(info, field.name) for field in dataclasses.fields(Info)}
        fields["joined"] = bool(info.joined)
        return Info(**fields)

    def close(self, grace: float | None = None) -> None:
        """None: as long as the configuration says."""
        self._check(self._call(LIBRARY.hearsay_close, -1.0 if grace is None else grace))

    def free(self) -> None:
        """Closes it without grace, if it is open; nothing can be asked of it any more."""
        with self._inside:
            self._free()
        self._node = ctypes.c_void_p()


def _free(node: ctypes.c_void_p, *_: object) -> None:
    LIBRARY.hearsay_free(node)
