"""Entry functions that behave as the tests need it, some of them badly."""

import ctypes
import fcntl
import json
import os
import random
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

Send = Callable[[bytes, bytes], None]


def echo(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Send the arguments, and the document unless it is empty."""
    send(b"A", json.dumps(arguments).encode())
    if content := document.read():
        send(b"T", content)


def count(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Send `count` frames of `size` bytes."""
    for _ in range(arguments["count"]):
        send(b"T", bytes(arguments["size"]))


def misbehave(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Send one frame, then do what `how` says."""
    send(b"T", b"before")
    _WAYS[arguments["how"]](send.args[0])  # type: ignore[attr-defined]


def _leave_and_hang(results: int) -> None:
    os.close(results)
    while True:
        signal.pause()


def _hang(results: int) -> None:
    while True:
        signal.pause()


def _spin(results: int) -> None:
    while True:
        pass


def _raise(results: int) -> None:
    raise KeyError("no entry")


def _allocate(results: int) -> None:
    blocks = []
    with suppress(MemoryError):
        while True:
            blocks.append(b"x" * (16 << 20))
    os.kill(os.getpid(), signal.SIGABRT)  # as a library does that runs out of memory


_WAYS: dict[str, Callable[[int], object]] = {
    "exit": lambda _: os._exit(3),
    "exit in good order": lambda _: sys.exit(0),
    "abort": lambda _: os.abort(),
    "segfault": lambda _: ctypes.string_at(0),
    "garbage": lambda results: os.write(results, b"\xff" * 4096),
    "half a header": lambda results: os.write(results, b"T\0") and os._exit(0),
    "half a frame": lambda results: os.write(results, b"T\0\0\0\x09half") and os._exit(0),
    "endless frame": lambda results: os.write(results, b"T\xff\xff\xff\xff"),
    "unknown type": lambda results: os.write(results, b"?\0\0\0\0"),
    "leave and hang": _leave_and_hang,
    "hang": _hang,
    "spin": _spin,
    "raise": _raise,
    "allocate": _allocate,
}


def wait_for_lock(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Send the document once nobody else has it locked; before that, a frame if `early`."""
    if arguments["early"]:
        send(b"T", b"early")
    fcntl.lockf(document, fcntl.LOCK_SH)
    send(b"T", document.read())


def probe(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Send what this process can see and do."""
    found = {name: _result(attempt) for name, attempt in _attempts(arguments).items()}
    send(b"T", json.dumps(found).encode())


def _attempts(arguments: dict[str, Any]) -> dict[str, Callable[[], object]]:
    limits = ("AS", "CORE", "CPU", "FSIZE", "NOFILE", "NPROC")
    return {
        "environment": lambda: dict(os.environ),
        "environ file": lambda: Path("/proc/self/environ").read_text(),
        "folder": os.getcwd,
        "limits": lambda: {n: resource.getrlimit(getattr(resource, f"RLIMIT_{n}")) for n in limits},
        "descriptors": _descriptors,
        "modules": lambda: sorted(sys.modules),
        "ids": lambda: [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "random": random.random,
        "capabilities": _capabilities,
        "no new privileges": lambda: ctypes.CDLL(None).prctl(39, 0, 0, 0, 0),
        "death signal": _death_signal,
        "dumpable": lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
        "read": lambda: Path(arguments["path"]).read_text(),
        "list": lambda: os.listdir(Path(arguments["path"]).parent),  # noqa: PTH208 - no generator
        "write": lambda: Path(arguments["path"]).write_text("written"),
        "create": lambda: Path(arguments["path"] + ".new").write_text("written"),
        "fork": _fork,
        "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "execute": lambda: os.execv("/nowhere", ["true"]),
        "thread": _start_thread,
        "connect": lambda: socket.socket().connect(("127.0.0.1", arguments["port"])),
        "reach": lambda: socket.socket(type=socket.SOCK_DGRAM).connect(("192.0.2.1", 53)),
        "interfaces": lambda: [name for _, name in socket.if_nameindex() if name != "lo"],
        "signal caller": lambda: os.kill(arguments["caller"], 0),
        "signal server": lambda: os.kill(os.getppid(), 0),
        "trace server": lambda: Path(f"/proc/{os.getppid()}/mem").open("rb"),
        "trace caller": lambda: Path(f"/proc/{arguments['caller']}/environ").read_bytes(),
    }


def _result(attempt: Callable[[], object]) -> object:
    try:
        result = attempt()
    except OSError as error:
        return {"error": type(error).__name__}
    return result if isinstance(result, int | float | str | list | dict) else str(result)


def _fork() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def _start_thread() -> str:
    try:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    except RuntimeError:
        raise OSError("no thread") from None
    return "started"


def _descriptors() -> list[int]:
    found = []
    for descriptor in range(resource.getrlimit(resource.RLIMIT_NOFILE)[0] * 16):
        with suppress(OSError):
            os.fstat(descriptor)
            found.append(descriptor)
    return found


def _death_signal() -> int:
    number = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(number), 0, 0, 0)
    return number.value


def _capabilities() -> list[int]:
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, sets)
    return list(sets)
