"""Finds and loads libhearsay, and declares the functions and structs of include/hearsay.h for ctypes."""

from __future__ import annotations

import ctypes
import logging
import os
import pathlib
import sys

ABI = 2
DIMENSIONS_MAX = 8
CPU, CUDA = 1, 2  # hearsay_device

# hearsay_error
OK, TIMEOUT, ARGUMENT, ABI_UNKNOWN, UNSUPPORTED, BUSY, CLOSED, FORKED = range(8)
NOT_JOINED, TOO_SMALL, CONFIG, FAILED, REFUSED, ENDED = range(8, 14)

LEVELS = (logging.NOTSET, logging.INFO, logging.WARNING, logging.ERROR)  # hearsay_level

DTYPES = {"float32": 0, "bfloat16": 1, "float16": 2}  # hearsay_dtype

STATISTICS = 1  # a flag of hearsay_tensor

COPY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type of the callbacks fetch and store


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_int64 * DIMENSIONS_MAX),
        ("dimensions", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("device", ctypes.c_int32),
        ("device_index", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("tensors_count", ctypes.c_uint32),
        ("tensors", ctypes.POINTER(Tensor)),
        ("config", ctypes.c_char_p),
        ("settings", ctypes.POINTER(ctypes.c_char_p)),
        ("settings_count", ctypes.c_uint32),
        ("run", ctypes.c_char_p),
        ("fetch", COPY),
        ("store", COPY),
        ("self", ctypes.c_void_p),
    ]


class Info(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("joined", ctypes.c_uint32),
        ("neighbours", ctypes.c_uint32),
        ("members", ctypes.c_uint32),
        ("parameters", ctypes.c_uint64),
        ("steps", ctypes.c_uint64),
        ("samples", ctypes.c_uint64),
        ("swarm_samples", ctypes.c_uint64),
        ("digest", ctypes.c_uint64),
        ("rumors", ctypes.c_uint64),
        ("waiting", ctypes.c_uint64),
        ("sent_bytes", ctypes.c_uint64),
        ("received_bytes", ctypes.c_uint64),
        ("resets", ctypes.c_uint64),
        ("saturated", ctypes.c_uint64),
    ]


_NODE = ctypes.c_void_p
_SIZE = ctypes.POINTER(ctypes.c_size_t)
_ARGUMENTS = {
    "open": [ctypes.POINTER(Options), ctypes.POINTER(_NODE)],
    "stream": [_NODE, ctypes.c_void_p],
    "join": [_NODE, ctypes.c_double],
    "step": [_NODE, ctypes.c_uint64, ctypes.c_double, ctypes.POINTER(ctypes.c_int)],
    "settle": [_NODE, ctypes.c_double],
    "finish": [_NODE, ctypes.c_double],
    "revert": [_NODE],
    "base": [_NODE, ctypes.POINTER(Tensor), ctypes.c_uint32],
    "save": [_NODE, ctypes.c_char_p, ctypes.c_size_t],
    "extra": [_NODE, ctypes.c_char_p, _SIZE],
    "info": [_NODE, ctypes.POINTER(Info)],
    "note": [_NODE, ctypes.POINTER(ctypes.c_int), ctypes.c_char_p, ctypes.c_size_t],
    "status": [_NODE, ctypes.c_char_p, _SIZE],
    "close": [_NODE, ctypes.c_double],
    "free": [_NODE],
    "error_text": [_NODE, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t],
}


def _library_name() -> str:
    """Returns the file to load: HEARSAY_LIBRARY, or the library in this package, or the system's."""
    named = os.environ.get("HEARSAY_LIBRARY")
    inside = pathlib.Path(__file__).with_name("libhearsay.so.2")
    return named or (str(inside) if inside.exists() else "libhearsay.so.2")


def load() -> ctypes.CDLL:
    """Loads libhearsay and declares its functions. Raises ImportError if it is missing or has another
    ABI, or if the system is not Linux."""
    if sys.platform != "linux":
        raise ImportError("hearsay runs on Linux")
    name = _library_name()
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"libhearsay cannot be loaded: {error}. Install this package with pip install "
            "./src/python, or set HEARSAY_LIBRARY to the library's path"
        ) from None
    library.hearsay_abi.restype = ctypes.c_uint32
    if library.hearsay_abi() != ABI:
        raise ImportError(
            f"{name} has ABI {library.hearsay_abi()}, and this package needs ABI {ABI}: install both "
            "from the same release"
        )
    library.hearsay_version.restype = ctypes.c_char_p
    for function, arguments in _ARGUMENTS.items():
        getattr(library, "hearsay_" + function).argtypes = arguments
    return library


LIBRARY = load()
VERSION: str = LIBRARY.hearsay_version().decode()
