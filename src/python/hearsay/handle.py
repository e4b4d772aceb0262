"""Handle: a node with methods for the calls of hearsay.h. Tensors are given as memory addresses, and
error codes become exceptions.

Node (torch_node.py) and ArrayNode (array_node.py) use it.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import difflib
import json
import logging
import math
import operator
import os
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hearsay import _library
from hearsay._library import LIBRARY
from hearsay.errors import ArgumentError, error_of
from hearsay.signals import Deferred

Settings = Mapping[str, Any]  # {"node.listen": "0.0.0.0:7770", "node.sandbox": False, ...}

log = logging.getLogger("hearsay")


def similar(word: str, names: Iterable[str]) -> str:
    """Returns the names that are similar to a word which is none of them, as the end of a message.
    If no name is similar, returns the first names, preferably without a point; "" if there are none."""
    known = list(dict.fromkeys(names))
    if found := difflib.get_close_matches(word, known):
        return f": the most similar names are {', '.join(found)}"
    first = [name for name in known if "." not in name] or known
    more = ", …" if len(first) > _NAMES_MOST else ""
    return f": the names are {', '.join(first[:_NAMES_MOST])}{more}" if first else ""


_NAMES_MOST = 12  # names in a message about an unknown name

# Longest wait inside the library. Between two such waits Python runs signal handlers (Ctrl+C).
_WAIT_S = 0.2


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor given to the library: its numbers are dense and in C order at `address`."""

    name: str
    address: int
    shape: tuple[int, ...]
    dtype: str  # float32, bfloat16 or float16
    owner: object = None  # object that owns the memory; the Tensor keeps it alive
    gpu: int | None = None  # CUDA index of the GPU that has the memory; None: CPU memory
    is_statistic: bool = False  # running means and the like: HEARSAY_STATISTICS of hearsay.h


@dataclasses.dataclass(frozen=True)
class Info:
    """Current numbers of the node, some up to a second old."""

    joined: bool  # join has returned True
    neighbours: int  # neighbours with an open connection
    members: int  # live members, including this node
    parameters: int  # number of weights in all tensors
    steps: int  # steps of this node since open
    samples: int  # samples of this node since open
    swarm_samples: int  # samples that all nodes have learned since the swarm began
    digest: int  # digest of the shared model; equal digests mean equal models
    rumors: int  # rumors in the shared model, including those that wait
    waiting: int  # known rumors that the next calls will apply
    sent_bytes: int  # bytes sent to all other nodes since open
    received_bytes: int  # bytes received from all other nodes since open
    resets: int  # resets to the base after a weight became NaN or infinite
    saturated: int  # weights beyond the largest value that can be shared; the excess stays here


@dataclasses.dataclass(frozen=True)
class Finished:
    """Result of `finish`: true if all members have finished, false if the time limit came first."""

    all: bool  # all nodes that finished have the same shared model, and it stays unchanged
    waits_for: str  # if not all: "1a2b3c4d trains, 5e6f7a8b holds another model"; otherwise ""

    def __bool__(self) -> bool:
        return self.all


def checked_samples(samples: Any) -> int:
    """Returns the number of samples as an int. Raises TypeError if it is no integer, ArgumentError if
    it is not positive or too large."""
    try:
        count = operator.index(samples)
    except TypeError:
        raise TypeError(f"samples must be an integer, and is {type(samples).__name__}") from None
    if not 1 <= count < 2**32:
        raise ArgumentError(f"samples must be between 1 and {2**32 - 1}, and is {count}")
    return count


def checked_loss(loss: Any) -> float:
    """Returns the loss as a float. Raises TypeError or ValueError if it is not one number."""
    try:
        return float(loss)
    except TypeError:
        raise TypeError(
            f"loss must be a number or hold one number, and is {type(loss).__name__}: give the mean "
            "loss, or 0 if it is unknown"
        ) from None


def checked_rate(rate: Any) -> float:
    """Returns the learning rate as a float. Raises TypeError if it is no number, ValueError if it is
    negative, infinite or NaN."""
    try:
        number = None if isinstance(rate, str) else float(rate)
    except (TypeError, ValueError, RuntimeError):  # no number, or several
        number = None
    if number is None:
        raise TypeError(f"rate must be one number, and is {type(rate).__name__}")
    if not 0 <= number < math.inf:
        raise ValueError(f"rate must be finite and not negative, and is {number}")
    return number


def _text(value: Any) -> str:
    """Returns the value as text of a configuration file: True as "yes", a list with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return str(value)


def _tensors(tensors: Sequence[Tensor]) -> ctypes.Array[_library.Tensor]:
    """Returns the tensors as an array of C structs. Raises ValueError for too many dimensions."""
    structs = (_library.Tensor * len(tensors))()
    for struct, tensor in zip(structs, tensors):
        if len(tensor.shape) > _library.DIMENSIONS_MAX:
            raise ValueError(
                f"{tensor.name} has {len(tensor.shape)} dimensions, and at most "
                f"{_library.DIMENSIONS_MAX} can be shared: reshape it"
            )
        struct.name = tensor.name.encode()
        struct.data = tensor.address
        struct.shape[: len(tensor.shape)] = tensor.shape
        struct.dimensions = len(tensor.shape)
        struct.dtype = _library.DTYPES[tensor.dtype]
        struct.device = _library.CPU if tensor.gpu is None else _library.CUDA
        struct.device_index = tensor.gpu or 0
        struct.flags = _library.STATISTICS if tensor.is_statistic else 0
    return structs


class Handle:
    """A node of libhearsay. Each method makes the call of hearsay.h with the same name; hearsay.h has the
    rules of each call.

    Only one thread at a time may use a handle, except for `info` and `status`. Errors of the library
    are raised as subclasses of hearsay.Error. A wait takes `timeout`, in seconds (None: no limit);
    Ctrl+C interrupts it.
    """

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
        """Starts a node with the weights in these tensors.

        tensors    tensors to train and share
        config     path of the configuration file; None: HEARSAY_CONFIG, if it is set
        settings   values that override the file
        run        name of the run, equal on all nodes; None: [model] and [data] describe the model
        fetch      bound method that copies the trained weights into the tensors, called before the
                   library uses them; None: the tensors themselves are trained
        store      bound method that copies the tensors back after the library has written to them
        stream     returns the address of the CUDA stream that orders the next call; None: the tensors
                   are on the CPU, or calls follow no stream
        """
        self._raised: BaseException | None = None
        self._process = os.getpid()
        self._stream = stream
        # A signal handler that raises inside a callback would leave a copy half done, unnoticed by C.
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
        with Deferred():  # no signal handler may run between the open and the finalizer
            code = LIBRARY.hearsay_open(ctypes.byref(options), ctypes.byref(self._node))
            # The finalizer also runs when the program ends. Freeing reads the tensors and calls the
            # callbacks, so the finalizer keeps both alive.
            self._free = weakref.finalize(self, _free, self._node, copies, owners)
        try:
            self._check(code)
        except BaseException:
            self._free()
            raise

    def _callback(self, function: Callable[[], None] | None) -> Any:
        """Returns a C function that calls this bound method; NULL if there is none.

        The C function keeps neither the handle nor the method's object alive. It saves an exception
        for `_check`, because C cannot pass it on."""
        if function is None:
            return _library.COPY()
        method = weakref.WeakMethod(function)
        handle = weakref.ref(self)

        def call(_: int | None) -> None:
            bound, ours = method(), handle()
            try:
                if bound is not None:
                    bound()
            except BaseException as error:
                if ours is not None and ours._raised is None:
                    ours._raised = error

        return _library.COPY(call)

    def _pass_on(self) -> None:
        """Logs the node's unread notes, on the caller's thread: the node's own thread must not wait
        for Python."""
        level = ctypes.c_int()
        text = ctypes.create_string_buffer(600)
        while LIBRARY.hearsay_note(self._node, ctypes.byref(level), text, len(text)) == _library.OK:
            if level.value == 0:
                return
            log.log(_library.LEVELS[level.value], "%s", text.value.decode(errors="replace"))

    def _check(self, code: int) -> None:
        """Logs notes. Then raises the exception of a callback, if one failed; Closed after `free`; or the
        error `code`, if it is one."""
        self._pass_on()
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if not self._node:
            raise error_of(_library.CLOSED, "")
        if code != _library.OK:
            raise error_of(code, self._sentence(code))

    def _call(self, function: Callable[..., int], *arguments: Any) -> int:
        """Makes a call that may use the tensors and returns its error code. The call's GPU work runs
        in the order of the caller's stream."""
        with self._inside:
            if self._stream is not None:
                code: int = LIBRARY.hearsay_stream(self._node, self._stream())
                if code != _library.OK:
                    return code
            return function(self._node, *arguments)

    def _sentence(self, code: int) -> str:
        """Returns the library's explanation of this node's last error `code`."""
        text = ctypes.create_string_buffer(600)
        LIBRARY.hearsay_error_text(self._node, code, text, len(text))
        return text.value.decode(errors="replace")

    def _wait(self, function: Callable[[ctypes.c_void_p, float], int], timeout: float | None) -> bool:
        """Calls a function of the library until it no longer times out. Returns False if `timeout`
        (seconds; None: no limit) came first."""
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
        """Waits for the swarm's base and fills the tensors. Returns False if the time limit came
        first: another call continues the wait."""
        return self._wait(LIBRARY.hearsay_join, timeout)

    def settle(self, timeout: float | None = None) -> bool:
        """Publishes, and waits until all neighbours show the same version. Returns False if the time
        limit came first."""
        return self._wait(LIBRARY.hearsay_settle, timeout)

    def finish(self, timeout: float | None = None) -> Finished:
        """Ends training and waits until all members have finished. The result is false if the time
        limit came first."""
        if self._wait(LIBRARY.hearsay_finish, timeout):
            return Finished(True, "")
        return Finished(False, self._sentence(_library.TIMEOUT).partition("waits for ")[2])

    def step(self, samples: int, loss: float = 0.0) -> bool:
        """Reports a step of `samples` samples with this mean loss (0: unknown). Returns True if the
        library wrote to the tensors."""
        changed = ctypes.c_int()
        count = checked_samples(samples)
        self._check(self._call(LIBRARY.hearsay_step, count, loss, ctypes.byref(changed)))
        return bool(changed.value)

    def revert(self) -> None:
        """Sets the tensors to the shared model. Unpublished progress is lost."""
        self._check(self._call(LIBRARY.hearsay_revert))

    def base(self, tensors: Sequence[Tensor]) -> None:
        """Copies the shared model into these CPU tensors, which have the names and shapes given when
        the node was made."""
        given = _tensors(tensors)
        self._check(self._call(LIBRARY.hearsay_base, given, len(tensors)))

    def save(self, extra: bytes | None = None) -> None:
        """Saves these bytes and a checkpoint to disk. None: keeps the bytes saved before."""
        size = len(extra) if extra is not None else 0
        self._check(self._call(LIBRARY.hearsay_save, extra, size))

    def extra(self) -> bytes:
        """Returns the bytes that `save` saved last, also in an earlier process; b"" if none."""
        return self._read(LIBRARY.hearsay_extra)

    def status(self) -> dict[str, Any]:
        """Returns the object that `hearsay status --json` prints."""
        status: dict[str, Any] = json.loads(self._read(LIBRARY.hearsay_status)[:-1])
        return status

    def _read(self, function: Callable[..., int]) -> bytes:
        """Returns the bytes that a function writes to a buffer, which grows until they fit."""
        size = ctypes.c_size_t(0)
        while True:
            buffer = ctypes.create_string_buffer(max(size.value, 1))
            code = function(self._node, buffer, ctypes.byref(size))
            if code != _library.TOO_SMALL:
                self._check(code)
                return buffer.raw[: size.value]

    def info(self) -> Info:
        """Returns the node's current numbers, or its last ones after it has ended."""
        info = _library.Info(abi=_library.ABI)
        self._check(LIBRARY.hearsay_info(self._node, ctypes.byref(info)))
        fields = {field.name: getattr(info, field.name) for field in dataclasses.fields(Info)}
        fields["joined"] = bool(info.joined)
        return Info(**fields)

    @property
    def is_of_parent(self) -> bool:
        """True in a forked child of the process that made the node."""
        return os.getpid() != self._process

    def close(self, grace: float | None = None) -> None:
        """Leaves the swarm and saves a checkpoint. Waits `grace` seconds at most until other members
        have this node's progress; None: the configuration's [node] grace_s. Does nothing in a forked
        child."""
        if self.is_of_parent:
            return
        self._check(self._call(LIBRARY.hearsay_close, -1.0 if grace is None else grace))

    def free(self) -> None:
        """Frees the node. An open node leaves first, without grace time. Later calls raise Closed."""
        with self._inside:
            self._free()
        self._node = ctypes.c_void_p()


def _free(node: ctypes.c_void_p, *_: object) -> None:
    LIBRARY.hearsay_free(node)
