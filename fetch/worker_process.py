"""What runs inside a worker process: functions that are sent to it, one after the other.

Requests come in by standard input and replies go out by standard output, each a pickle with its length before it. See
`fetch.workers` for the other side.
"""

import ctypes
import logging
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Literal

if sys.platform != "win32":
    import resource

from fetch.errors import TabwrightError

LENGTH = struct.Struct("!Q")
"""How many bytes follow."""

Reply = tuple[Literal["done", "failed", "spent"], object]
"""What came of a call: its value; an exception; an exception after which the process should be replaced."""

_NICE = 5
_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, prctl(2)
_CHUNK = 1 << 20
_LONGEST = 10_000  # characters of a traceback


def send(descriptor: int, message: bytes) -> None:
    """Write a message whole; OSError when the other side is gone."""
    for part in (LENGTH.pack(len(message)), message):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(descriptor, rest[:_CHUNK]) :]


def receive(descriptor: int, limit: int) -> bytearray:
    """Read a message whole; EOFError when the other side is gone or sends more than `limit` bytes."""
    (length,) = LENGTH.unpack(_read(descriptor, LENGTH.size))
    if length > limit:
        raise EOFError
    return _read(descriptor, length)


def _read(descriptor: int, length: int) -> bytearray:
    message = bytearray(length)
    rest = memoryview(message)
    while rest:
        count = os.readv(descriptor, [rest])
        if not count:
            raise EOFError
        rest = rest[count:]
    return message


def serve(parent: int, memory: int) -> None:
    """Do what is asked for until the process `parent` hangs up; `memory` is the most address space to use, in bytes."""
    requests, replies = _descriptors()
    _settle(parent, memory)
    calls: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, calls), daemon=True).start()
    send(replies, b"")
    while True:
        request = calls.get()
        send(replies, b"")  # it is here: from now on a death is the call's
        send(replies, _pickled(_do(request)))


def _descriptors() -> tuple[int, int]:
    """Where messages come in and go out. What is printed goes to standard error instead."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, replies


def _settle(parent: int, memory: int) -> None:
    """Make this process one that does no harm: it ends with its parent, gives way to it, and stays within bounds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.getppid() != parent:  # it died before it could be told
        os._exit(0)
    # What libraries have to say about strangers' pages helps nobody.
    logging.disable()
    warnings.simplefilter("ignore")


def _listen(descriptor: int, calls: "queue.SimpleQueue[bytearray]") -> None:
    try:
        while True:
            calls.put(receive(descriptor, sys.maxsize))
    finally:
        os._exit(0)


def _do(request: bytearray) -> Reply:
    try:
        function: Callable[..., object]
        function, args = pickle.loads(request)  # noqa: S301  from our own parent
        return "done", function(*args)
    except MemoryError:
        return "spent", TabwrightError("Reading this needs more memory than is allowed.")
    except BaseException as fault:  # noqa: BLE001  the caller gets it; panics of Rust libraries are no Exceptions
        told = "".join(traceback.format_exception(fault))[-_LONGEST:]
        if not isinstance(fault, Exception):
            return "spent", RuntimeError(told)
        fault.add_note(told)
        return "failed", fault


def _pickled(reply: Reply) -> bytes:
    """The reply for the way; an exception that cannot make the way and back becomes a RuntimeError that tells of it."""
    kind, value = reply
    try:
        message = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
        if kind != "done":
            pickle.loads(message)  # noqa: S301  just made
    except Exception as fault:  # noqa: BLE001  anything may be raised by what cannot be pickled
        told = repr(fault if kind == "done" else value)[:_LONGEST]
        spent = kind == "spent" or isinstance(fault, MemoryError)
        return pickle.dumps(("spent" if spent else "failed", RuntimeError(told)), pickle.HIGHEST_PROTOCOL)
    return message
